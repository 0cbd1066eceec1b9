"""Random operations as generated code calls them: the seed and the offset are arguments, so equal ones give equal results."""

from __future__ import annotations

from typing import Any

from mindspore import mint, ops
from mindspore._base import dtype as mstype
from mindspore.common.random import Generator
from mindspore.ops.composition import plain
from mindspore.prims.dropout import DropoutWithKey

__all__ = [
    "DropoutExt", "bernoulli_ext_op", "dropout_ext_op", "inplace_normal_op", "inplace_uniform_op", "matmul_ext_op",
    "multinomial_ext_op", "randint_op",
]  # fmt: skip


def _generator(seed: Any, offset: Any) -> Generator:
    return Generator().manual_seed((int(seed) * 1_000_003 + int(offset)) % 2**62)


def _dropped(input: Any, p: float, seed: Any, offset: Any) -> tuple[Any, Any]:
    if p >= 1:
        return ops.zeros_like(input), ops.zeros_like(input).astype(mstype.bool_)
    key = ops.stack([ops.cast(ops.reshape(n, ()), mstype.uint32) for n in (seed, offset)])
    return DropoutWithKey(1.0 - p)(input, key)


DropoutExt = plain(
    "DropoutExt", _dropped, "Elements kept with the probability 1 - p and enlarged, and the mask of those kept."
)
#: one for the whole program, as generated code has it: its strategy is that of all who use it
dropout_ext_op = DropoutExt()


def bernoulli_ext_op(input: Any, seed: Any, offset: Any) -> Any:
    """1 with the probability that each element gives, else 0."""
    return mint.bernoulli(input, generator=_generator(seed, offset))


def randint_op(low: int, high: int, size: Any, seed: Any, offset: Any, dtype: Any = None) -> Any:
    """Integers from `low` up to, but without, `high`."""
    return mint.randint(low, high, size, generator=_generator(seed, offset), dtype=dtype)


def multinomial_ext_op(input: Any, num_samples: int, replacement: bool, seed: Any, offset: Any) -> Any:
    """Places drawn by the weights in each row."""
    return mint.multinomial(input, num_samples, replacement, generator=_generator(seed, offset))


def inplace_uniform_op(input: Any, from_: float, to: float, seed: Any, offset: Any) -> Any:
    """Fill a tensor evenly from a range."""
    return input.uniform_(from_, to, generator=_generator(seed, offset))


def inplace_normal_op(input: Any, mean: float, std: float, seed: Any, offset: Any) -> Any:
    """Fill a tensor from a normal distribution."""
    return input.normal_(mean, std, generator=_generator(seed, offset))


matmul_ext_op = mint.matmul
