"""Functions whose `mint` form differs from the `ops` form: argument names, defaults or results follow PyTorch's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindspore._base import dtype as mstype
from mindspore.common.random import next_key
from mindspore.common.tensor import Tensor
from mindspore.ops import functional as F
from mindspore.ops.arguments import (
    as_tensor,
    cast,
    normal_axis,
    require_rank,
    require_tensor,
    static_int,
    static_ints,
    to_float,
)
from mindspore.ops.elementwise import scaled
from mindspore.ops.gather_scatter import added_along, scatter_along
from mindspore.ops.random import choices
from mindspore.prims import elementwise as ew
from mindspore.prims import random as rnd
from mindspore.prims import values

if TYPE_CHECKING:
    from mindspore._base.dtype import DType

__all__ = [
    "add", "addcdiv", "addcmul", "baddbmm", "bernoulli", "bitwise_not", "bmm", "cat", "cdist", "chunk", "clone",
    "concat", "diag", "empty", "empty_like", "equal", "fix", "flatten", "gather", "index_add", "index_select",
    "isnan", "item", "linspace", "meshgrid", "multinomial", "mv", "nan_to_num", "narrow", "normal", "ones", "permute", "rand",
    "rand_like", "randint", "randint_like", "randn", "randn_like", "randperm", "repeat_interleave", "scatter",
    "scatter_add", "select", "softmax", "split", "sqrt", "squeeze", "stack", "sub", "transpose", "triangular_solve",
    "vdot", "zeros",
]  # fmt: skip


# -- shapes ---------------------------------------------------------------------------------------------------------
def cat(tensors: Any, dim: int = 0) -> Tensor:
    """Join tensors along an existing dimension.

    Examples:
        >>> from mindspore import Tensor, mint
        >>> mint.cat((Tensor([1]), Tensor([2])), dim=0).tolist()
        [1, 2]
    """
    return F.cat(tensors, dim)


concat = cat


def stack(tensors: Any, dim: int = 0) -> Tensor:
    """Join tensors along a new dimension.

    Examples:
        >>> print(mint.stack((Tensor([1, 2]), Tensor([3, 4])), dim=1))
        [[1 3]
         [2 4]]
    """
    return F.stack(tensors, dim)


def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Cut into pieces of one size or of given sizes.

    Examples:
        >>> from mindspore import Tensor, mint
        >>> [t.tolist() for t in mint.split(Tensor([1, 2, 3, 4]), 2)]
        [[1, 2], [3, 4]]
    """
    return F.split(tensor, split_size_or_sections, dim)


def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Cut into at most `chunks` pieces of equal size.

    Examples:
        >>> [part.tolist() for part in mint.chunk(Tensor([1, 2, 3, 4, 5]), 2)]
        [[1, 2, 3], [4, 5]]
    """
    return F.chunk(input, chunks, dim)


def permute(input: Tensor, dims: Any) -> Tensor:
    """Permute the dimensions.

    Examples:
        >>> mint.permute(mint.ones((2, 3, 4)), (2, 0, 1)).shape
        (4, 2, 3)
    """
    return F.transpose(input, dims)


def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Exchange two dimensions.

    Examples:
        >>> print(mint.transpose(Tensor([[1, 2], [3, 4]]), 0, 1))
        [[1 3]
         [2 4]]
    """
    return F.swapaxes(input, dim0, dim1)


def squeeze(input: Tensor, dim: Any = None) -> Tensor:
    """Drop dimensions of size 1: all of them, or those named.

    Examples:
        >>> mint.squeeze(mint.ones((1, 3, 1))).shape
        (3,)
    """
    return F.squeeze(input, dim)


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Merge dimensions: all of them by default.

    Examples:
        >>> print(mint.flatten(Tensor([[1, 2], [3, 4]])))
        [1 2 3 4]
    """
    return F.flatten(input, start_dim=start_dim, end_dim=end_dim)


def repeat_interleave(input: Tensor, repeats: Any, dim: int | None = None, *, output_size: int | None = None) -> Tensor:
    """Repeat each element along `dim` (of the flattened tensor when None).

    Examples:
        >>> print(mint.repeat_interleave(Tensor([1, 2]), 2))
        [1 1 2 2]
    """
    return F.repeat_interleave(input, repeats, dim)


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Coordinate grids from 1-D tensors, by rows ('ij') unless told otherwise.

    Examples:
        >>> x, y = mint.meshgrid(Tensor([1, 2]), Tensor([7, 8]))
        >>> print(x.tolist(), y.tolist())
        [[1, 1], [2, 2]] [[7, 8], [7, 8]]
    """
    return F.meshgrid(*tensors, indexing=indexing or "ij")


def narrow(input: Any, dim: int, start: int, length: int) -> Tensor:
    """The part [start, start + length) of a dimension.

    Examples:
        >>> print(mint.narrow(Tensor([10, 20, 30, 40]), 0, 1, 2))
        [20 30]
    """
    return F.narrow(input, dim, start, length)


def select(input: Tensor, dim: int, index: int) -> Tensor:
    """One slice along a dimension, which disappears.

    Examples:
        >>> print(mint.select(Tensor([[1, 2], [3, 4]]), 1, 0))
        [1 3]
    """
    require_rank("select", "input", input, 1)
    return input[(slice(None),) * normal_axis("select", dim, input.ndim, "dim") + (index,)]


def clone(input: Tensor) -> Tensor:
    """A tensor with its own data.

    Examples:
        >>> x = Tensor([1.0, 2.0])
        >>> y = mint.clone(x)
        >>> y[0] = 7.0
        >>> print(x, y)
        [1. 2.] [7. 2.]
    """
    return input.copy()


def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """A matrix with the input on a diagonal, or the diagonal of a matrix.

    Examples:
        >>> print(mint.diag(Tensor([5, 6])))
        [[5 0]
         [0 6]]
    """
    return F.diag_embed(input, diagonal) if input.ndim == 1 else F.diagonal(input, diagonal)


# -- picking --------------------------------------------------------------------------------------------------------
def gather(input: Tensor, dim: int, index: Any) -> Tensor:
    """One position along `dim` per place of `index`.

    Examples:
        >>> print(mint.gather(Tensor([[1, 2], [3, 4]]), 1, Tensor([[1], [0]])))
        [[2]
         [3]]
    """
    return F.gather_elements(input, dim, index)


def index_select(input: Tensor, dim: int, index: Any) -> Tensor:
    """Slices along `dim`, picked by a 1-D index tensor.

    Examples:
        >>> print(mint.index_select(Tensor([[1, 2, 3], [4, 5, 6]]), 1, Tensor([2, 0])))
        [[3 1]
         [6 4]]
    """
    return F.index_select(input, dim, index)


def scatter(input: Tensor, dim: int, index: Any, src: Tensor) -> Tensor:
    """A copy with `src` written at one position along `dim` per place of `index`.

    Examples:
        >>> print(mint.scatter(mint.zeros((2, 3)), 1, Tensor([[2], [0]]), Tensor([[5.0], [6.0]])))
        [[0. 0. 5.]
         [6. 0. 0.]]
    """
    return F.scatter(input, dim, index, src)


def scatter_add(input: Tensor, dim: int, index: Any, src: Tensor) -> Tensor:
    """A copy with `src` added at one position along `dim` per place of `index`.

    Examples:
        >>> print(mint.scatter_add(mint.ones(3), 0, Tensor([0, 0]), Tensor([5.0, 6.0])))
        [12.  1.  1.]
    """
    return scatter_along(input, dim, index, src, "add")


def index_add(input: Tensor, dim: int, index: Any, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """A copy with slices added along `dim`.

    Examples:
        >>> print(mint.index_add(mint.zeros(3), 0, Tensor([0, 2]), Tensor([5.0, 6.0])))
        [5. 0. 6.]
    """
    return added_along(input, index, source * alpha, dim)


def equal(input: Tensor, other: Tensor) -> Any:
    """Whether both have the same shape and elements.

    Examples:
        >>> mint.equal(Tensor([1, 2]), Tensor([1, 2]))
        True
    """
    if input.shape != other.shape:
        return False
    same = F.all(ew.Equal()(input, other))
    return same if values.is_symbolic(same) else bool(same)


def isnan(tensor: Tensor) -> Tensor:
    """Where an element is NaN.

    Examples:
        >>> print(mint.isnan(Tensor([1.0, float("nan")])))
        [False  True]
    """
    return ew.IsNan()(tensor)


# -- arithmetic -----------------------------------------------------------------------------------------------------
def add(input: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """input + alpha * other.

    Examples:
        >>> print(mint.add(Tensor([1.0, 2.0]), Tensor([10.0, 20.0]), alpha=0.5))
        [ 6. 12.]
    """
    return ew.Add()(input, scaled("add", input, other, alpha))


def sub(input: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """input - alpha * other.

    Examples:
        >>> print(mint.sub(Tensor([5.0, 7.0]), Tensor([1.0, 2.0]), alpha=3))
        [2. 1.]
    """
    return F.subtract(input, other, alpha=alpha)


def addcdiv(input: Tensor, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Tensor:
    """input + value * tensor1 / tensor2.

    Examples:
        >>> print(mint.addcdiv(Tensor([1.0, 1.0]), Tensor([6.0, 9.0]), Tensor([2.0, 3.0]), value=0.5))
        [2.5 2.5]
    """
    return F.addcdiv(input, tensor1, tensor2, value)


def addcmul(input: Tensor, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Tensor:
    """input + value * tensor1 * tensor2.

    Examples:
        >>> print(mint.addcmul(Tensor([1.0, 1.0]), Tensor([2.0, 3.0]), Tensor([4.0, 5.0]), value=0.5))
        [5.  8.5]
    """
    return F.addcmul(input, tensor1, tensor2, value)


def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """beta * input + alpha * (batch1 @ batch2).

    Examples:
        >>> mint.baddbmm(mint.ones((1, 1, 1)), Tensor([[[1.0, 2.0]]]), Tensor([[[3.0], [4.0]]]), beta=10).tolist()
        [[[21.0]]]
    """
    return F.baddbmm(input, batch1, batch2, beta, alpha)


def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """Products of batches of matrices.

    Examples:
        >>> mint.bmm(Tensor([[[1.0, 2.0]]]), Tensor([[[3.0], [4.0]]])).tolist()
        [[[11.0]]]
    """
    for name, x in (("input", input), ("mat2", mat2)):
        require_rank("bmm", name, x, 3, 3)
    return F.bmm(input, mat2)


def mv(input: Tensor, vec: Tensor) -> Tensor:
    """A matrix times a vector.

    Examples:
        >>> print(mint.mv(Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([1.0, 10.0])))
        [21. 43.]
    """
    return F.mv(input, vec)


def vdot(input: Tensor, other: Any) -> Tensor:
    """The sum of conj(input) * other.

    Examples:
        >>> print(mint.vdot(Tensor([1.0, 2.0]), Tensor([3.0, 4.0])))
        11.0
    """
    return F.vecdot(input, other)


def cdist(x1: Any, x2: Any, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Tensor:
    """The p-norm distances between all rows of x1 and all rows of x2.

    Examples:
        >>> print(mint.cdist(Tensor([[0.0, 0.0]]), Tensor([[3.0, 4.0], [0.0, 1.0]])))
        [[5. 1.]]
    """
    return F.cdist(x1, x2, p)


def sqrt(input: Tensor) -> Tensor:
    """The square root.

    Examples:
        >>> print(mint.sqrt(Tensor([9.0, 2.25])))
        [3.  1.5]
    """
    return F.sqrt(input)


def bitwise_not(input: Tensor) -> Tensor:
    """Every bit flipped; bools negated.

    Examples:
        >>> print(mint.bitwise_not(Tensor([0, 5])))
        [-1 -6]
    """
    return F.logical_not(input) if input.dtype.kind == "b" else F.invert(input)


def fix(input: Tensor) -> Tensor:
    """The integer part.

    Examples:
        >>> print(mint.fix(Tensor([1.7, -1.7])))
        [ 1. -1.]
    """
    return ew.Trunc()(input)


def nan_to_num(input: Tensor, nan: Any = None, posinf: Any = None, neginf: Any = None) -> Tensor:
    """Replace NaN and infinities.

    Examples:
        >>> print(mint.nan_to_num(Tensor([float("nan"), float("inf"), 1.0]), nan=0.0, posinf=99.0))
        [ 0. 99.  1.]
    """
    return F.nan_to_num(input, nan, posinf, neginf)


def implied_dim(input: Tensor) -> int:
    """The dimension along which softmax of layers goes when none is given: that of the classes, if the first one counts samples."""
    return 0 if require_tensor("softmax", "input", input).ndim in (0, 1, 3) else 1


def softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Exponentials that add up to 1 along `dim`.

    Examples:
        >>> print(mint.softmax(Tensor([0.0, 0.0]), dim=0))
        [0.5 0.5]
    """
    from mindspore.ops.activation import softmax as apply

    return apply(cast(input, dtype), dim)


def triangular_solve(
    b: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[Tensor, Tensor]:
    """(x, A) with A x = b for triangular A.

    Examples:
        >>> x, _ = mint.triangular_solve(Tensor([[2.0], [8.0]]), Tensor([[1.0, 0.0], [0.0, 4.0]]))
        >>> print(x)
        [[2.]
         [2.]]
    """
    return F.solve_triangular(A, b, 1 if transpose else 0, not upper, unitriangular), A


# -- new tensors ----------------------------------------------------------------------------------------------------
def zeros(size: Any, *more: int, dtype: DType | None = None) -> Tensor:
    """Zeros of the given shape, a tuple or separate ints.

    Examples:
        >>> from mindspore import mint
        >>> mint.zeros((2, 2)).tolist()
        [[0.0, 0.0], [0.0, 0.0]]
    """
    return F.zeros(_size((size, *more), "zeros"), dtype)


def ones(size: Any, *more: int, dtype: Any = None) -> Tensor:
    """Ones of the given shape, a tuple or separate ints.

    Examples:
        >>> from mindspore import mint
        >>> mint.ones(2, 2).tolist()
        [[1.0, 1.0], [1.0, 1.0]]
    """
    return F.ones(_size((size, *more), "ones"), dtype)


def _size(size: tuple, op: str) -> tuple[int, ...]:
    shape = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
    return static_ints(op, "size", shape)


def _leading(size: tuple) -> tuple:
    """A whole shape as the first argument counts alone, whatever follows it."""
    return size[:1] if size and isinstance(size[0], (tuple, list)) else size


def empty(*size: Any, dtype: Any = None, device: Any = None, pin_memory: bool = False) -> Tensor:
    """A tensor of the given shape; its elements are 0.

    Examples:
        >>> mint.empty(2, 3).shape
        (2, 3)
    """
    return F.empty(_size(size, "empty"), dtype=dtype, device=device)


def empty_like(input: Tensor, *, dtype: Any = None, device: Any = None, pin_memory: bool = False) -> Tensor:
    """A tensor in the shape of the input; its elements are 0.

    Examples:
        >>> mint.empty_like(Tensor([[1.0, 2.0]])).shape
        (1, 2)
    """
    return F.empty(input.shape, dtype=dtype or input.dtype, device=device or ("meta" if input.is_meta else None))


def item(input: Tensor) -> Any:
    """The one element of a tensor as a Python number.

    Examples:
        >>> from mindspore import Tensor, mint
        >>> mint.item(Tensor([2.5]))
        2.5
    """
    return input.item()


def linspace(start: Any, end: Any, steps: int, *, dtype: Any = None) -> Tensor:
    """Evenly spaced numbers, both ends included.

    Examples:
        >>> print(mint.linspace(0, 1, 5))
        [0.   0.25 0.5  0.75 1.  ]
    """
    return cast(F.linspace(start, end, steps), dtype)


# -- random ---------------------------------------------------------------------------------------------------------
def rand(*size: Any, generator: Any = None, dtype: Any = None, device: Any = None) -> Tensor:
    """Uniform numbers in [0, 1).

    Examples:
        >>> mint.rand(2, 3).shape
        (2, 3)
    """
    return rnd.RandomUniform()(next_key(None, generator), _size(_leading(size), "rand"), dtype or mstype.float32)


def randn(*size: Any, generator: Any = None, dtype: Any = None, device: Any = None) -> Tensor:
    """Standard normal numbers.

    Examples:
        >>> mint.randn(2, 3).shape
        (2, 3)
    """
    return rnd.RandomNormal()(next_key(None, generator), _size(_leading(size), "randn"), dtype or mstype.float32)


def rand_like(input: Tensor, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Uniform numbers in the shape of the input.

    Examples:
        >>> mint.rand_like(mint.ones((2, 3))).shape
        (2, 3)
    """
    return rand(input.shape, dtype=dtype or input.dtype)


def randn_like(input: Tensor, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Standard normal numbers in the shape of the input.

    Examples:
        >>> mint.randn_like(mint.ones((2, 3))).shape
        (2, 3)
    """
    return randn(input.shape, dtype=dtype or input.dtype)


def randint(*args: Any, generator: Any = None, dtype: Any = None, device: Any = None, **kwargs: Any) -> Tensor:
    """randint(low=0, high, size): uniform integers in [low, high).

    Examples:
        >>> x = mint.randint(5, 8, (4,))
        >>> bool(((x >= 5) & (x < 8)).all())
        True
    """
    low, high, size = _randint_arguments(args, kwargs)
    key = next_key(None, generator)
    return rnd.RandomInteger()(key, _size((size,), "randint"), dtype or mstype.int64, as_tensor(low), as_tensor(high))


def _randint_arguments(args: tuple, kwargs: dict) -> tuple:
    bounds = list(args)
    size = kwargs["size"] if "size" in kwargs else bounds.pop()
    if "high" in kwargs:
        return kwargs.get("low", bounds[0] if bounds else 0), kwargs["high"], size
    low, high = (0, bounds[0]) if len(bounds) == 1 else bounds
    return kwargs.get("low", low), high, size


def randint_like(input: Tensor, *args: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """Uniform integers in [low, high) in the shape of the input.

    Examples:
        >>> x = mint.randint_like(mint.ones(4), 5, 8)
        >>> bool(((x >= 5) & (x < 8)).all())
        True
    """
    low, high = (0, args[0]) if len(args) == 1 else args
    return cast(randint(low, high, input.shape), dtype or input.dtype)


def randperm(n: int | Tensor, *, generator: Any = None, dtype: Any = mstype.int64) -> Tensor:
    """A random order of 0 … n - 1.

    Examples:
        >>> print(mint.sort(mint.randperm(4))[0])
        [0 1 2 3]
    """
    return rnd.RandomPermutation()(next_key(None, generator), static_int("randperm", "n", n, 0), mstype.to_dtype(dtype))


def normal(mean: Any = 0.0, std: Any = 1.0, size: Any = None, generator: Any = None) -> Tensor:
    """Normal numbers; the shape is `size` or that of the (broadcast) mean and standard deviation.

    Examples:
        >>> mint.normal(0.0, 1.0, (2, 3)).shape
        (2, 3)
    """
    centre, spread = to_float(as_tensor(mean)), to_float(as_tensor(std))
    shape = F.broadcast_shapes(centre.shape, spread.shape) if size is None else _size((size,), "normal")
    return rnd.RandomNormal()(next_key(None, generator), shape, mstype.float32) * spread + centre


def bernoulli(input: Tensor, *, generator: Any = None) -> Tensor:
    """1 with the probability each element gives, else 0.

    Examples:
        >>> print(mint.bernoulli(Tensor([0.0, 1.0])))
        [0. 1.]
    """
    u = rnd.RandomUniform()(next_key(None, generator), input.shape, mstype.float32)
    return cast(ew.Less()(u, input), input.dtype)


def multinomial(input: Tensor, num_samples: int, replacement: bool = False, *, generator: Any = None) -> Tensor:
    """Indices drawn with probabilities proportional to each row.

    Examples:
        >>> print(mint.multinomial(Tensor([0.0, 1.0, 0.0]), 3, True))
        [1 1 1]
    """
    return cast(choices(input, num_samples, replacement, next_key(None, generator)), mstype.int64)
