"""Counter-based random numbers: Threefry-2x32 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).

Every sampler is a pure function of a key (two 32-bit words) and a shape, written against an array namespace, so NumPy
and XLA give the same numbers and nothing depends on the order of evaluation. Keys come from `mindspore.common.random`,
whose state advances through `NextKey`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore._base.optional import require
from mindspore.ir import AbstractTensor, AbstractTuple
from mindspore.prims import checks, values
from mindspore.prims.arrays import Stack
from mindspore.prims.batching import align
from mindspore.prims.factors import WHOLE, Factors, is_tensor, numbered
from mindspore.prims.primitive import Batched, Primitive

if TYPE_CHECKING:
    from mindspore._base.dtype import DType
    from mindspore.compiler.shard.device import Device
    from mindspore.prims.array_types import Array, Namespace

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))


def _rotate(x: Array, by: int) -> Any:
    return (x << np.uint32(by)) | (x >> np.uint32(32 - by))


def threefry(xp: Namespace, key: Array, high: Array, low: Array) -> tuple[Any, Any]:
    """20 rounds of Threefry-2x32 of the counters (high, low), uint32 arrays of at least one dimension."""
    k0, k1 = xp.reshape(key[0], (1,)), xp.reshape(key[1], (1,))
    schedule = (k0, k1, k0 ^ k1 ^ np.uint32(0x1BD11BDA))
    with np.errstate(over="ignore"):
        x0, x1 = high + schedule[0], low + schedule[1]
        for i in range(5):
            for by in _ROTATIONS[i % 2]:
                x0 = x0 + x1
                x1 = _rotate(x1, by) ^ x0
            x0 = x0 + schedule[(i + 1) % 3]
            x1 = x1 + schedule[(i + 2) % 3] + np.uint32(i + 1)
    return x0, x1


def random_bits(xp: Namespace, key: Array, count: int, stream: int = 0) -> Any:
    """`count` random 32-bit words; different streams are independent."""
    return xp.concatenate(random_pairs(xp, key, count, stream))


def random_pairs(xp: Namespace, key: Any, count: int, stream: int = 0) -> tuple[Any, Any]:
    """The same words in two parts, which can be used before they are joined."""
    pairs = (count + 1) // 2
    low = xp.arange(pairs, dtype=np.uint32)
    high = xp.full((pairs,), stream, np.uint32)
    x0, x1 = threefry(xp, xp.asarray(key).astype(np.uint32), high, low)
    return x0, x1[: count - pairs]


def _size(shape: tuple[int, ...]) -> int:
    return math.prod(shape)


def uniform01(xp: Namespace, key: Array, shape: tuple[int, ...], dtype: np.dtype, stream: int = 0) -> Any:
    """Numbers in [0, 1) with all the bits the type can hold (float64: 53, else 24)."""
    n = _size(shape)
    if dtype == np.float64:
        high = (random_bits(xp, key, n, 2 * stream) >> np.uint32(5)).astype(np.float64)
        low = (random_bits(xp, key, n, 2 * stream + 1) >> np.uint32(6)).astype(np.float64)
        return ((high * 67108864.0 + low) * (1.0 / 9007199254740992.0)).reshape(shape)
    bits = random_bits(xp, key, n, stream) >> np.uint32(8)
    return (bits.astype(np.float32) * np.float32(1 / 16777216)).reshape(shape).astype(dtype)


def normal01(xp: Namespace, key: Array, shape: tuple[int, ...], dtype: np.dtype, stream: int = 0) -> Any:
    """Standard normal numbers (Box and Muller, 1958)."""
    wide = np.dtype(np.float64) if dtype == np.float64 else np.dtype(np.float32)
    u = 1 - uniform01(xp, key, shape, wide, 2 * stream)  # (0, 1]
    v = uniform01(xp, key, shape, wide, 2 * stream + 1)
    radius = xp.sqrt(-2 * xp.log(u))
    return (radius * xp.cos((2 * math.pi) * v)).astype(dtype)


class NextKey(Primitive):
    """`prim(state)` -> (key, new state). The state is (seed word, seed word, counter); the key is theirs encrypted."""

    writes = ((0, 1),)
    effect = "random"

    def __init__(self) -> None:
        super().__init__("NextKey")

    def infer(self, state: AbstractTensor) -> Any:
        return AbstractTuple((AbstractTensor(mstype.uint32, (2,)), AbstractTensor(mstype.uint32, (3,))))

    def eval(self, xp: Namespace, state: Any) -> Any:
        state = xp.asarray(state)
        x0, x1 = threefry(xp, state[:2], state[2:], xp.zeros((1,), np.uint32))
        with np.errstate(over="ignore"):
            advanced = state + np.asarray([0, 0, 1], np.uint32)
        return xp.concatenate([x0, x1]), advanced

    def bprop(self, state: Any, out: Any, dout: Any) -> tuple:
        return (None,)


class FoldIn(Primitive):
    """`prim(key, number)` -> a key that depends on both."""

    def __init__(self) -> None:
        super().__init__("FoldIn")

    def infer(self, key: Any, number: Any) -> Any:
        return AbstractTensor(mstype.uint32, (2,))

    def eval(self, xp: Namespace, key: Any, number: Any) -> Any:
        low = xp.reshape(xp.asarray(number), (1,)).astype(np.uint32)
        x0, x1 = threefry(xp, xp.asarray(key), xp.ones((1,), np.uint32), low)
        return xp.concatenate([x0, x1])


class _Sampler(Primitive):
    """`prim(key, shape, dtype)`; both static."""

    kinds = "f"
    draws = True

    def __init__(self) -> None:
        super().__init__(type(self).__name__)

    def prepare(self, args: tuple) -> tuple:
        key, shape, *rest = args
        dims = checks.shape(self.name, values.static_value(shape))
        if any(d < 0 for d in dims):
            raise ValueError(f"For '{self.name}', the dimensions of 'shape' must not be negative, but got {dims}.")
        dtype = mstype.to_dtype(rest[0]) if rest else mstype.float32
        return key, dims, dtype, *rest[1:]

    def infer(self, key: AbstractTensor, shape: Any, dtype: DType, *parameters: Any) -> Any:
        checks.dtype_in(self.name, "dtype", dtype, self.kinds)
        return AbstractTensor(dtype, shape)

    def factors(self, key: Any, shape: Any, dtype: Any, *parameters: Any) -> Factors:
        whole = tuple((WHOLE,) * len(a.shape) if is_tensor(a) else None for a in (key, shape, dtype, *parameters))
        return Factors(whole, (numbered(len(shape)),)).filling(None)

    def on_device(self, device: Device, key: Any, shape: Any, *rest: Any) -> Any:
        """Numbers depend on the place in the whole tensor: drawn for all of it, and cut."""
        return device.part(self(key, device.full_shapes[0], *rest), 0)

    def bprop(self, *args: Any) -> tuple:
        return (None,) * (len(args) - 2)

    def vmap(self, size: int, key: Batched, shape: Batched, dtype: Batched, *parameters: Batched) -> Any:
        """One draw for all examples."""
        if key[1]:
            return None
        rank = len(shape[0])
        return self(key[0], (size, *shape[0]), dtype[0], *(align(p, size, rank) for p in parameters))


class RandomUniform(_Sampler):
    """Uniform in [0, 1)."""

    def eval(self, xp: Namespace, key: Array, shape: Any, dtype: DType) -> Any:
        return uniform01(xp, key, shape, dtype.np)


class RandomNormal(_Sampler):
    """Normal with mean 0 and variance 1."""

    def eval(self, xp: Namespace, key: Array, shape: Any, dtype: DType) -> Any:
        return normal01(xp, key, shape, dtype.np)


class RandomBits(_Sampler):
    """Uniform uint32 words."""

    kinds = "u"

    def eval(self, xp: Namespace, key: Any, shape: Any, dtype: Any) -> Any:
        return random_bits(xp, key, _size(shape)).reshape(shape).astype(dtype.np)


class RandomInteger(_Sampler):
    """`prim(key, shape, dtype, low, high)`: uniform integers in [low, high); the bounds are scalars or tensors."""

    kinds = "ui"

    def infer(self, key: AbstractTensor, shape: Any, dtype: DType, low: AbstractTensor, high: AbstractTensor) -> Any:
        return super().infer(key, shape, dtype)

    def eval(self, xp: Namespace, key: Array, shape: Any, dtype: DType, low: Any, high: Any) -> Any:
        n = _size(shape)
        high_word = random_bits(xp, key, n, 0).astype(np.uint64)
        word = ((high_word << np.uint64(32)) | random_bits(xp, key, n, 1).astype(np.uint64)).reshape(shape)
        low = xp.asarray(low).astype(np.int64)
        span = (xp.asarray(high).astype(np.int64) - low).astype(np.uint64)
        with np.errstate(over="ignore", divide="ignore"):
            return ((word % span).astype(np.int64) + low).astype(dtype.np)


class RandomGammaSample(_Sampler):
    """`prim(key, shape, dtype, alpha)`: gamma with scale 1; alpha broadcasts to the shape.

    Marsaglia and Tsang (2000): a fixed number of proposals per element, of which the first accepted is taken; each is
    accepted with probability above 0.95, so all rejected happens less than once in 10**20.
    """

    rounds = 16

    def infer(self, key: Any, shape: Any, dtype: Any, alpha: AbstractTensor) -> Any:
        if checks.broadcast(self.name, shape, alpha.shape) != shape:
            raise ValueError(f"For '{self.name}', 'alpha' of shape {alpha.shape} does not broadcast to {shape}.")
        return super().infer(key, shape, dtype)

    def eval(self, xp: Namespace, key: Any, shape: Any, dtype: Any, alpha: Any) -> Any:
        wide = np.dtype(np.float64)
        alpha = xp.broadcast_to(xp.asarray(alpha).astype(wide), shape)
        small = alpha < 1
        boosted = xp.where(small, alpha + 1, alpha)
        d = boosted - 1 / 3
        c = 1 / xp.sqrt(9 * d)
        out, done = d, xp.zeros(shape, bool)
        with np.errstate(all="ignore"):
            for i in range(self.rounds):
                x = normal01(xp, key, shape, wide, 2 * i)
                u = 1 - uniform01(xp, key, shape, wide, 4 * i + 3)
                v = (1 + c * x) ** 3
                accept = (v > 0) & (xp.log(u) < x * x / 2 + d - d * v + d * xp.log(xp.where(v > 0, v, 1)))
                out = xp.where(accept & ~done, d * v, out)
                done = done | accept
            u = 1 - uniform01(xp, key, shape, wide, 4 * self.rounds + 3)
            return xp.where(small, out * u ** (1 / alpha), out).astype(dtype.np)


class RandomPoissonSample(_Sampler):
    """`prim(key, shape, dtype, rate)`: Poisson; the rate broadcasts to the shape.

    Small rates by inversion (counting down the cumulative sum), large ones (from 64) by the rounded normal with the
    Cornish-Fisher correction of skewness.
    """

    kinds = "uif"
    steps = 192

    def infer(self, key: Any, shape: Any, dtype: Any, rate: AbstractTensor) -> Any:
        if checks.broadcast(self.name, shape, rate.shape) != shape:
            raise ValueError(f"For '{self.name}', the rate of shape {rate.shape} does not broadcast to {shape}.")
        return super().infer(key, shape, dtype)

    def eval(self, xp: Namespace, key: Any, shape: Any, dtype: Any, rate: Any) -> Any:
        wide = np.dtype(np.float64)
        rate = xp.broadcast_to(xp.asarray(rate).astype(wide), shape)
        large = rate >= 64
        lam = xp.where(large, 1.0, rate)
        u = uniform01(xp, key, shape, wide)
        term = xp.exp(-lam)
        below, count = term, xp.zeros(shape, wide)
        for k in range(1, self.steps):
            count = xp.where(u >= below, float(k), count)
            term = term * lam / k
            below = below + term
        z = normal01(xp, key, shape, wide, 3)
        approx = xp.floor(rate + xp.sqrt(rate) * z + (z * z - 1) / 6 + 0.5)
        return xp.where(large, xp.maximum(approx, 0), count).astype(dtype.np)


class RandomPermutation(Primitive):
    """`prim(key, n, dtype)`: a uniformly random order of 0 … n - 1, by sorting 64-bit random words."""

    draws = True

    def __init__(self) -> None:
        super().__init__("RandomPermutation")

    def infer(self, key: Any, n: Any, dtype: Any) -> Any:
        return AbstractTensor(dtype, (checks.integer(self.name, "n", n, 0),))

    def eval(self, xp: Namespace, key: Any, n: int, dtype: Any) -> Any:
        first, second = random_bits(xp, key, n, 0), random_bits(xp, key, n, 1)
        if xp is np:
            order = np.lexsort((second, first))
        else:
            order = require("jax.numpy", "xla", "this operation").lexsort((second, first))
        return order.astype(dtype.np)

    def vmap(self, size: int, key: Batched, n: Batched, dtype: Batched) -> Any:
        return None if key[1] else Stack(0)([self(FoldIn()(key[0], i), n[0], dtype[0]) for i in range(size)])
