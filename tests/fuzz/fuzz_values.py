"""Random values and calls of operations on them: element types, sizes around the widths of vectors, special numbers, gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from fuzz_compare import Call

import mindspore as ms
from mindspore import Tensor, ops

FLOATS = ("float32", "float32", "float16", "bfloat16", "float64")
INTEGERS = ("int8", "uint8", "int16", "int32", "int64")
COMPLEX = ("complex64", "complex128")
SIZES = (0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33)


class Like(NamedTuple):
    """Which tensors an argument may be: random values of one shape and type, and what makes them fit."""

    shape: tuple[int, ...]
    kind: str
    fit: Callable[[Tensor], Tensor] = lambda x: x

    def draw(self, rng: np.random.Generator) -> Tensor:
        return self.fit(some_tensor(rng, self.shape, self.kind))


def some_shape(rng: np.random.Generator, rank: int | None = None) -> tuple[int, ...]:
    rank = int(rng.integers(0, 4)) if rank is None else rank
    return tuple(int(s) for s in rng.choice(SIZES, size=rank, p=None))


def some_tensor(rng: np.random.Generator, shape: tuple[int, ...], kind: str) -> Tensor:
    """Random values; now and then over memory that is not contiguous."""
    plain = _contiguous(rng, shape, kind)
    if rng.random() > 0.25 or kind == "bfloat16":
        return plain
    array = plain.asnumpy()
    if rng.random() < 0.5:
        wide = np.repeat(array.reshape(*shape, 1), 3, -1)
        return Tensor.from_numpy(wide[..., 1])
    return Tensor.from_numpy(np.asarray(array.T, order="C").T)


def _contiguous(rng: np.random.Generator, shape: tuple[int, ...], kind: str) -> Tensor:
    if kind == "bool":
        return Tensor(rng.random(shape) < 0.5)
    if kind in COMPLEX:
        return Tensor((rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(kind))
    if kind in INTEGERS:
        low = 0 if kind == "uint8" else -7
        return Tensor(rng.integers(low, 8, shape).astype(kind))
    values = np.asarray(rng.standard_normal(shape) * rng.choice([1.0, 1.0, 30.0]))
    if values.size and rng.random() < 0.3:
        flat = values.reshape(-1)
        special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-30, 8e37, -65000.0]  # of larger ones XLA divides by multiplying with 0
        flat[rng.integers(0, flat.size, 3)] = rng.choice(special, 3)
    return Tensor(values, getattr(ms, kind))


def broadcast(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape that goes with `shape`, or, now and then, one that does not."""
    other = tuple(1 if rng.random() < 0.3 else s for s in shape)[int(rng.integers(0, len(shape) + 1)) :]
    return other if rng.random() < 0.95 else some_shape(rng)


def _differentiable(kind: str, rng: np.random.Generator) -> bool:
    return kind in (*FLOATS, *COMPLEX) and rng.random() < 0.4


def called(
    name: str,
    function: Any,
    arguments: Sequence[Like],
    rng: np.random.Generator,
    grad: bool = True,
) -> Call:
    """The call or its gradient, on tensors like these."""
    kinds = ", ".join(f"{like.kind}{list(like.shape)}" for like in arguments)
    draw = lambda rng: [like.draw(rng) for like in arguments]
    if grad and all(_differentiable(like.kind, rng) for like in arguments):
        places = tuple(range(len(arguments)))
        return Call(f"grad of {name}({kinds})", ms.grad(lambda *xs: weighed(function(*xs)), places), draw, noise=0.05)
    return Call(f"{name}({kinds})", function, draw)


def weighed(out: Any) -> Tensor:
    """A sum in which elements count differently: of normalised values the plain sum has no gradient but rounding."""
    if isinstance(out, (tuple, list)):
        return sum(weighed(part) for part in out)
    if out.is_complex():
        return weighed(ops.real(out)) + weighed(ops.imag(out))
    out = out if out.dtype == ms.float64 else out.astype(ms.float32)
    return (out * ops.cos(ops.arange(out.size).astype(out.dtype)).reshape(out.shape)).sum()
