"""Shapes: reshaping, permuting, repeating, joining and splitting."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops.function._common import (
    alias,
    as_tensor,
    concrete,
    normal_axes,
    normal_axis,
    require_operands,
    require_rank,
    require_tensor,
    require_tensors,
    static_ints,
)
from mindspore.ops.function._common import (
    cast as _cast,
)
from mindspore.ops.function.older_calls import older_call, renamed
from mindspore.prims import arrays as arr
from mindspore.prims import checks, values
from mindspore.prims import elementwise as ew
from mindspore.prims.gather_scatter import Gather
from mindspore.prims.reduction import BroadcastTo, Reshape

__all__ = [
    "adjoint", "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes", "broadcast_to", "cast",
    "cat", "chunk", "column_stack", "concat", "deepcopy", "dsplit", "dstack", "dtype", "dyn_shape", "expand",
    "expand_as", "expand_dims", "flatten", "flip", "fliplr", "flipud", "hsplit", "hstack", "identity", "meshgrid",
    "mirror_pad", "moveaxis", "movedim", "narrow", "numel", "pad", "padding", "permute", "rank", "ravel",
    "repeat_elements", "repeat_interleave", "reshape", "reverse", "roll", "rot90", "row_stack", "shape", "shape_",
    "size", "split", "squeeze", "stack", "strided_slice", "swapaxes", "swapdims", "t", "tensor_split", "tile",
    "transpose", "type_as", "unbind", "unsqueeze", "unstack", "view_as", "vsplit", "vstack",
]  # fmt: skip


# -- facts ----------------------------------------------------------------------------------------------------------
def shape(input_x: Any) -> tuple[int, ...]:
    """The size of each dimension.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.shape(Tensor([[1.0, 2.0]]))
        (1, 2)
    """
    return require_tensor("shape", "input_x", input_x).shape


shape_ = alias(shape, "shape_")


def dyn_shape(input_x: Any) -> Tensor:
    """The shape as an int64 tensor."""
    require_tensors("dyn_shape", input_x=input_x)
    return Tensor(np.asarray(input_x.shape, np.int64))


def size(input_x: Any) -> int:
    """The number of elements."""
    return require_tensor("size", "input_x", input_x).size


def numel(input: Any) -> int:
    """The number of elements."""
    return require_tensor("numel", "input", input).size


def rank(input_x: Any) -> int:
    """The number of dimensions."""
    return require_tensor("rank", "input_x", input_x).ndim


def dtype(x: Any) -> Any:
    """The element type.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.dtype(Tensor([1.0]))
        mindspore.float32
    """
    return require_tensor("dtype", "x", x).dtype


def cast(input: Any, dtype: Any) -> Tensor:
    """Convert the elements to another type.

    Examples:
        >>> import mindspore as ms
        >>> ms.ops.cast(ms.Tensor([1.7, -1.7]), ms.int32).tolist()
        [1, -1]
    """
    return ew.Cast()(input, dtype)


def type_as(input: Any, other: Any) -> Tensor:
    """input converted to the element type of other."""
    require_tensors("type_as", input=input, other=other)
    return _cast(input, other.dtype)


def identity(x: Any) -> Any:
    """The argument itself.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.identity(Tensor([1.0])).tolist()
        [1.0]
    """
    return x


def deepcopy(input_x: Any) -> Tensor:
    """A tensor with its own data."""
    require_tensors("deepcopy", input_x=input_x)
    return input_x.copy()


def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """The common shape under broadcasting."""
    return checks.broadcast("broadcast_shapes", *(static_ints("broadcast_shapes", "shapes", s) for s in shapes))


# -- reshaping ------------------------------------------------------------------------------------------------------
def reshape(input: Any, shape: Any) -> Tensor:
    """The same elements in another shape; one dimension may be -1.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.reshape(Tensor([1, 2, 3, 4]), (2, -1)).shape
        (2, 2)
    """
    return Reshape()(input, shape)


def view_as(input: Any, other: Any) -> Tensor:
    """input in the shape of other."""
    require_tensors("view_as", other=other)
    return Reshape()(input, other.shape)


def ravel(input: Any) -> Tensor:
    """All elements in one dimension."""
    return Reshape()(input, (-1,))


def flatten(input: Any, order: str = "C", *, start_dim: int = 1, end_dim: int = -1) -> Tensor:
    """Merge the dimensions from `start_dim` to `end_dim`; order 'F' reverses the dimensions first."""
    require_tensor("flatten", "input", input)
    if not isinstance(order, str):
        raise TypeError(f"For 'flatten', 'order' must be a string, but got {order!r}.")
    checks.one_of("flatten", "order", order, ("C", "F"))
    for name, value in (("start_dim", start_dim), ("end_dim", end_dim)):
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"For 'flatten', '{name}' must be an int, but got {value!r}.")
    if order == "F":
        perm = tuple(reversed(range(input.ndim)))
        input = arr.Transpose()(input, perm)
    if input.ndim < 2 and (start_dim == 1 or input.ndim == 0):
        return Reshape()(input, (-1,))
    start, end = normal_axis("flatten", start_dim, input.ndim), normal_axis("flatten", end_dim, input.ndim)
    if start > end:
        raise ValueError(
            f"For 'flatten', 'start_dim' must not come after 'end_dim', but got {start_dim} and {end_dim}."
        )
    merged = math.prod(input.shape[start : end + 1])
    return Reshape()(input, input.shape[:start] + (merged,) + input.shape[end + 1 :])


def expand_dims(input_x: Any, axis: int) -> Tensor:
    """Insert a dimension of size 1.

    Examples:
        >>> from mindspore import Tensor
        >>> Tensor([1.0, 2.0]).expand_dims(-1).shape
        (2, 1)
    """
    return arr.ExpandDims()(input_x, values.static_value(axis))


def unsqueeze(input: Any, dim: int) -> Tensor:
    """Insert a dimension of size 1.

    Examples:
        >>> from mindspore import Tensor
        >>> Tensor([1.0, 2.0]).unsqueeze(0).shape
        (1, 2)
    """
    return arr.ExpandDims()(input, values.static_value(dim))


def squeeze(input: Any, axis: Any = None) -> Tensor:
    """Drop dimensions of size 1: all of them, or those named. Named dimensions of another size stay.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.squeeze(Tensor([[1.0, 2.0]]), 0).shape
        (2,)
    """
    require_tensor("squeeze", "input", input)
    if axis is None:
        return arr.Squeeze(())(input)
    axes = normal_axes("squeeze", axis, input.ndim) if axis != () else ()
    drop = tuple(a for a in axes if input.shape[a] == 1)
    return Reshape()(input, tuple(n for d, n in enumerate(input.shape) if d not in drop))


def atleast_1d(inputs: Any) -> Any:
    """Tensors with at least one dimension."""
    require_operands("atleast_1d", inputs=inputs)
    return _atleast(inputs, lambda x: Reshape()(x, (1,)) if x.ndim == 0 else x)


def atleast_2d(inputs: Any) -> Any:
    """Tensors with at least two dimensions; new ones come first."""
    require_operands("atleast_2d", inputs=inputs)
    return _atleast(inputs, lambda x: Reshape()(x, (1,) * (2 - x.ndim) + x.shape) if x.ndim < 2 else x)


def atleast_3d(inputs: Any) -> Any:
    """Tensors with at least three dimensions: (N,) becomes (1, N, 1), (M, N) becomes (M, N, 1)."""
    require_operands("atleast_3d", inputs=inputs)

    def lift(x: Any) -> Any:
        if x.ndim < 2:
            return Reshape()(x, (1, x.size, 1))
        return Reshape()(x, (*x.shape, 1)) if x.ndim == 2 else x

    return _atleast(inputs, lift)


def _atleast(inputs: Any, lift: Any) -> Any:
    if isinstance(inputs, (tuple, list)):
        return tuple(lift(as_tensor(x)) for x in inputs)
    return lift(as_tensor(inputs))


# -- permuting ------------------------------------------------------------------------------------------------------
@renamed(input_x="input", input_perm="dims", axes="dims")
def transpose(input: Any, dims: Any) -> Tensor:
    """Permute the dimensions.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.transpose(Tensor([[1, 2]]), (1, 0)).tolist()
        [[1], [2]]
    """
    return arr.Transpose()(input, static_ints("transpose", "dims", dims))


def permute(input: Any, axis: Any) -> Tensor:
    """Permute the dimensions."""
    return arr.Transpose()(input, static_ints("permute", "axis", axis))


def swapaxes(input: Any, axis0: int, axis1: int) -> Tensor:
    """Exchange two dimensions.

    Examples:
        >>> from mindspore import Tensor
        >>> Tensor([[1.0, 2.0]]).swapaxes(0, 1).shape
        (2, 1)
    """
    require_tensor("swapaxes", "input", input)
    a, b = (normal_axis("swapaxes", v, input.ndim, n) for v, n in ((axis0, "axis0"), (axis1, "axis1")))
    order = list(range(input.ndim))
    if a != b:
        order[a], order[b] = order[b], order[a]
    return arr.Transpose()(input, tuple(order))


def swapdims(input: Any, dim0: int, dim1: int) -> Tensor:
    """Exchange two dimensions."""
    return swapaxes(input, dim0, dim1)


def moveaxis(x: Any, source: Any, destination: Any) -> Tensor:
    """Move dimensions to new places; the others keep their order."""
    require_tensors("moveaxis", x=x)
    src = tuple(normal_axis("moveaxis", a, x.ndim, "source") for a in static_ints("moveaxis", "source", source))
    dst = tuple(normal_axis("moveaxis", a, x.ndim, "destination") for a in static_ints("moveaxis", "d", destination))
    if len(src) != len(dst) or len(set(src)) != len(src) or len(set(dst)) != len(dst):
        raise ValueError(
            "For 'moveaxis', 'source' and 'destination' must name equally many different dimensions, but got "
            f"{source} and {destination}."
        )
    order = [a for a in range(x.ndim) if a not in src]
    for place, axis in sorted(zip(dst, src)):
        order.insert(place, axis)
    return arr.Transpose()(x, tuple(order))


movedim = alias(moveaxis, "movedim")


def t(input: Any) -> Tensor:
    """The transpose of a tensor of at most 2 dimensions."""
    if require_tensor("t", "input", input).ndim > 2:
        raise ValueError(f"For 't', 'input' must have at most 2 dimensions, but its shape is {input.shape}.")
    return arr.Transpose()(input, (1, 0)) if input.ndim == 2 else input


def adjoint(x: Any) -> Tensor:
    """The conjugate transpose of the last two dimensions."""
    return ew.conj(swapaxes(x, -1, -2))


def flip(input: Any, dims: Any) -> Tensor:
    """Reverse the order along dimensions."""
    require_tensor("flip", "input", input)
    axes = normal_axes("flip", dims, input.ndim, "dims") if dims != () else ()
    spec = tuple(slice(None, None, -1) if a in axes else slice(None) for a in range(input.ndim))
    return arr.GetItem(spec)(input)


def reverse(x: Any, axis: Any) -> Tensor:
    """Reverse the order along dimensions."""
    return flip(x, axis)


def fliplr(input: Any) -> Tensor:
    """Reverse the columns."""
    return flip(input, (1,))


def flipud(input: Any) -> Tensor:
    """Reverse the rows."""
    return flip(input, (0,))


def rot90(input: Any, k: int, dims: Any) -> Tensor:
    """Rotate by k times 90 degrees in the plane of two dimensions."""
    require_tensors("rot90", input=input)
    a, b = (normal_axis("rot90", d, input.ndim, "dims") for d in dims)
    if a == b:
        raise ValueError(f"For 'rot90', 'dims' must name two different dimensions, but got {tuple(dims)}.")
    turns = checks.integer("rot90", "k", k) % 4
    if turns == 0:
        return input
    if turns == 2:
        return flip(input, (a, b))
    return swapaxes(flip(input, (b,)), a, b) if turns == 1 else flip(swapaxes(input, a, b), (b,))


def roll(input: Any, shifts: Any, dims: Any = None) -> Tensor:
    """Move elements along dimensions; those that leave at the end enter at the start."""
    require_tensor("roll", "input", input)
    if dims is None:
        flat = roll(Reshape()(input, (-1,)), shifts, 0)
        return Reshape()(flat, input.shape)
    shifts, dims = static_ints("roll", "shifts", shifts), static_ints("roll", "dims", dims)
    if len(shifts) != len(dims):
        raise ValueError(f"For 'roll', 'shifts' and 'dims' must be equally long, but got {shifts} and {dims}.")
    for by, dim in zip(shifts, dims):
        at = normal_axis("roll", dim, input.ndim, "dims")
        n = input.shape[at]
        by = by % n if n else 0
        if by:
            lead = (slice(None),) * at
            input = arr.Concat(at)([input[(*lead, slice(n - by, n))], input[(*lead, slice(0, n - by))]])
    return input


# -- repeating ------------------------------------------------------------------------------------------------------
def broadcast_to(input: Any, shape: Any) -> Tensor:
    """Repeat along new or size-1 dimensions; -1 keeps a dimension.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.broadcast_to(Tensor([1, 2]), (2, 2)).tolist()
        [[1, 2], [1, 2]]
    """
    return BroadcastTo(static_ints("broadcast_to", "shape", shape))(input)


def expand(input_x: Any, size: Any) -> Tensor:
    """Repeat along new or size-1 dimensions; -1 keeps a dimension."""
    return BroadcastTo(static_ints("expand", "size", size))(input_x)


def expand_as(input: Any, other: Any) -> Tensor:
    """input repeated to the shape of other.

    Examples:
        >>> from mindspore import Tensor
        >>> Tensor([1.0]).expand_as(Tensor([1.0, 2.0])).shape
        (2,)
    """
    require_tensors("expand_as", other=other)
    return BroadcastTo(other.shape)(input)


def tile(input: Any, dims: Any) -> Tensor:
    """Repeat the whole tensor `dims` times along its dimensions.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.tile(Tensor([1, 2]), (2,)).tolist()
        [1, 2, 1, 2]
    """
    require_tensor("tile", "input", input)
    if isinstance(dims, int) and not isinstance(dims, bool):
        dims = (dims,)
    reps = static_ints("tile", "dims", dims)
    if any(r < 0 for r in reps):
        raise ValueError(f"For 'tile', the repetitions must not be negative, but got {reps}.")
    rank = max(len(reps), input.ndim)
    reps = (1,) * (rank - len(reps)) + reps
    sizes = (1,) * (rank - input.ndim) + input.shape
    if all(r == 1 for r in reps):
        return Reshape()(input, sizes) if sizes != input.shape else input
    paired = tuple(d for s in sizes for d in (1, s))
    spread = BroadcastTo(tuple(d for r, s in zip(reps, sizes) for d in (r, s)))(Reshape()(input, paired))
    return Reshape()(spread, tuple(r * s for r, s in zip(reps, sizes)))


def repeat_interleave(input: Any, repeats: Any, axis: int | None = None) -> Tensor:
    """Repeat each element along `axis` (of the flattened tensor when None).

    Examples:
        >>> from mindspore import Tensor
        >>> Tensor([1, 2]).repeat_interleave(2).tolist()
        [1, 1, 2, 2]
    """
    require_tensor("repeat_interleave", "input", input)
    if axis is None:
        input, axis = Reshape()(input, (-1,)), 0
    at = normal_axis("repeat_interleave", axis, input.ndim)
    n = input.shape[at]
    counts = repeats
    if isinstance(repeats, Tensor):
        counts = concrete("repeat_interleave", repeats).tolist()
    counts = static_ints("repeat_interleave", "repeats", counts)
    if any(c < 0 for c in counts):
        raise ValueError(f"For 'repeat_interleave', 'repeats' must not be negative, but got {counts}.")
    if len(counts) == 1:
        grown = BroadcastTo((*input.shape[: at + 1], counts[0], *input.shape[at + 1 :]))(
            arr.ExpandDims()(input, at + 1)
        )
        return Reshape()(grown, input.shape[:at] + (n * counts[0],) + input.shape[at + 1 :])
    if len(counts) != n:
        raise ValueError(
            f"For 'repeat_interleave', 'repeats' must have one entry or one per element ({n}), but got {len(counts)}."
        )
    index = np.repeat(np.arange(n), counts)
    return Gather()(input, Tensor(index), at)


def repeat_elements(x: Any, rep: int, axis: int = 0) -> Tensor:
    """Repeat each element `rep` times along `axis`."""
    require_rank("repeat_elements", "x", x, 1)
    return repeat_interleave(x, checks.integer("repeat_elements", "rep", rep, 1), axis)


def meshgrid(*inputs: Any, indexing: str = "xy") -> tuple[Tensor, ...]:
    """Coordinate grids from 1-D tensors."""
    if len(inputs) == 1 and isinstance(inputs[0], (tuple, list)):
        inputs = tuple(inputs[0])
    checks.one_of("meshgrid", "indexing", indexing, ("xy", "ij"))
    for i, x in enumerate(inputs):
        if require_tensor("meshgrid", f"inputs[{i}]", x).ndim > 1:
            raise ValueError(f"For 'meshgrid', the inputs must be 1-D, but inputs[{i}] has shape {x.shape}.")
    n = len(inputs)
    places = list(range(n))
    if indexing == "xy" and n > 1:
        places[0], places[1] = 1, 0
    full = [1] * n
    for x, place in zip(inputs, places):
        full[place] = x.size
    return tuple(
        BroadcastTo(tuple(full))(Reshape()(x, tuple(x.size if d == place else 1 for d in range(n))))
        for x, place in zip(inputs, places)
    )


# -- joining --------------------------------------------------------------------------------------------------------
def _tensors(op: str, tensors: Any) -> list:
    if isinstance(tensors, Tensor):
        return list(tensors)
    if not isinstance(tensors, (tuple, list)):
        raise TypeError(f"For '{op}', a tuple or list of tensors is needed, but got {checks.describe(tensors)}.")
    if not tensors:
        raise ValueError(f"For '{op}', at least one tensor is needed.")
    return [require_tensor(op, f"tensors[{i}]", x) for i, x in enumerate(tensors)]


def cat(tensors: Any, axis: int = 0) -> Tensor:
    """Join tensors along an existing dimension.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.cat((Tensor([1, 2]), Tensor([3]))).tolist()
        [1, 2, 3]
    """
    return arr.Concat(values.static_value(axis))(_tensors("cat", tensors))


def concat(tensors: Any, axis: int = 0) -> Tensor:
    """Join tensors along an existing dimension.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.concat((Tensor([1, 2]), Tensor([3]))).tolist()
        [1, 2, 3]
    """
    return cat(tensors, axis)


def stack(tensors: Any, axis: int = 0) -> Tensor:
    """Join tensors along a new dimension.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.stack((Tensor([1, 2]), Tensor([3, 4])), axis=1).tolist()
        [[1, 3], [2, 4]]
    """
    return arr.Stack(axis)(_tensors("stack", tensors))


def hstack(tensors: Any) -> Tensor:
    """Join along the second dimension (the first for 1-D tensors)."""
    parts = [atleast_1d(x) for x in _tensors("hstack", tensors)]
    return arr.Concat(0 if parts[0].ndim == 1 else 1)(parts)


def vstack(inputs: Any) -> Tensor:
    """Join rows: along the first dimension, after making everything at least 2-D."""
    return arr.Concat(0)([atleast_2d(x) for x in _tensors("vstack", inputs)])


def row_stack(tensors: Any) -> Tensor:
    """The same as `vstack`."""
    return vstack(tensors)


def dstack(tensors: Any) -> Tensor:
    """Join along the third dimension."""
    return arr.Concat(2)([atleast_3d(x) for x in _tensors("dstack", tensors)])


def column_stack(tensors: Any) -> Tensor:
    """Join columns: 1-D tensors become columns of a matrix."""
    parts = [Reshape()(x, (-1, 1)) if x.ndim < 2 else x for x in _tensors("column_stack", tensors)]
    return arr.Concat(1)(parts)


def block_diag(*inputs: Any) -> Tensor:
    """A matrix with the given matrices along its diagonal."""
    blocks = [atleast_2d(as_tensor(x)) for x in inputs]
    if any(b.ndim > 2 for b in blocks):
        raise ValueError("For 'block_diag', the inputs must have at most 2 dimensions.")
    width = sum(b.shape[1] for b in blocks)
    rows, left = [], 0
    for b in blocks:
        rows.append(arr.Pad(((0, 0), (left, width - left - b.shape[1])))(b))
        left += b.shape[1]
    return arr.Concat(0)(rows)


# -- splitting ------------------------------------------------------------------------------------------------------
def _pieces(x: Any, axis: int, bounds: list[int]) -> tuple[Tensor, ...]:
    lead = (slice(None),) * axis
    return tuple(arr.GetItem((*lead, slice(a, b)))(x) for a, b in itertools.pairwise(bounds))


def _split_1x(input_x: Any, axis: int = 0, output_num: int = 1) -> tuple[Tensor, ...]:
    """`split` of MindSpore 1.x: into a number of equal parts."""
    size = require_tensor("split", "input_x", input_x).shape[normal_axis("split", axis, input_x.ndim)]
    if size % checks.integer("split", "output_num", output_num, 1):
        raise ValueError(f"For 'split', {size} elements cannot be cut into {output_num} equal parts.")
    return split(input_x, size // output_num, axis)


@older_call(_split_1x, "output_num", "input_x")
def split(tensor: Any, split_size_or_sections: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """Cut into pieces of one size (the last may be smaller) or of given sizes.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> [t.tolist() for t in ops.split(Tensor([1, 2, 3, 4]), 2)]
        [[1, 2], [3, 4]]
    """
    require_rank("split", "tensor", tensor, 1)
    require_tensor("split", "tensor", tensor)
    at = normal_axis("split", axis, tensor.ndim)
    n = tensor.shape[at]
    sections = values.static_value(split_size_or_sections)
    if isinstance(sections, int) and not isinstance(sections, bool):
        step = checks.integer("split", "split_size_or_sections", sections, 1)
        return _pieces(tensor, at, [*range(0, n, step), n] if n else [0, 0])
    sizes = static_ints("split", "split_size_or_sections", sections)
    if sum(sizes) != n or any(s < 0 for s in sizes):
        raise ValueError(f"For 'split', the sizes {sizes} must not be negative and add up to {n}.")
    bounds = np.concatenate([[0], np.cumsum(sizes)]).astype(int).tolist()
    return _pieces(tensor, at, bounds)


def chunk(input: Any, chunks: int, axis: int = 0) -> tuple[Tensor, ...]:
    """Cut into at most `chunks` pieces of equal size; the last may be smaller."""
    require_tensor("chunk", "input", input)
    count = checks.integer("chunk", "chunks", chunks, 1)
    at = normal_axis("chunk", axis, input.ndim)
    return split(input, max(1, -(-input.shape[at] // count)), at)


def tensor_split(input: Any, indices_or_sections: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """Cut into nearly equal sections, or at the given indices."""
    require_rank("tensor_split", "input", input, 1)
    require_tensor("tensor_split", "input", input)
    at = normal_axis("tensor_split", axis, input.ndim)
    n = input.shape[at]
    if isinstance(indices_or_sections, int):
        count = checks.integer("tensor_split", "indices_or_sections", indices_or_sections, 1)
        sizes = [n // count + (1 if i < n % count else 0) for i in range(count)]
        bounds = np.concatenate([[0], np.cumsum(sizes)]).astype(int).tolist()
        return _pieces(input, at, bounds)
    cuts = static_ints("tensor_split", "indices_or_sections", indices_or_sections)
    return _pieces(input, at, [0, *cuts, n])


def hsplit(input: Any, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Cut along the second dimension (the first for 1-D tensors)."""
    require_tensors("hsplit", input=input)
    return tensor_split(input, indices_or_sections, 0 if input.ndim == 1 else 1)


def vsplit(input: Any, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Cut along the first dimension."""
    return tensor_split(input, indices_or_sections, 0)


def dsplit(input: Any, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Cut along the third dimension."""
    return tensor_split(input, indices_or_sections, 2)


def unstack(input_x: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """The slices along a dimension, which disappears."""
    require_tensor("unstack", "input_x", input_x)
    at = normal_axis("unstack", axis, input_x.ndim)
    lead = (slice(None),) * at
    return tuple(arr.GetItem((*lead, i))(input_x) for i in range(input_x.shape[at]))


def unbind(input: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """The slices along a dimension, which disappears."""
    return unstack(input, dim)


def narrow(input: Any, axis: int, start: int, length: int) -> Tensor:
    """The part [start, start + length) of a dimension."""
    require_tensor("narrow", "input", input)
    at = normal_axis("narrow", axis, input.ndim)
    n = input.shape[at]
    start, length = values.static_value(start), values.static_value(length)
    start = start + n if start < 0 else start
    if not (0 <= start <= n and 0 <= length <= n - start):
        raise ValueError(f"For 'narrow', [{start}, {start} + {length}) is not a part of a dimension of size {n}.")
    return arr.GetItem((slice(None),) * at + (slice(start, start + length),))(input)


def slice_(input_x: Any, begin: Any, size: Any) -> Tensor:
    """The block of shape `size` at `begin`; a size of -1 runs to the end."""
    require_tensors("slice_", input_x=input_x)
    starts, sizes = static_ints("slice", "begin", begin), static_ints("slice", "size", size)
    if not len(starts) == len(sizes) == input_x.ndim:
        raise ValueError(
            f"For 'slice', 'begin' and 'size' must have {input_x.ndim} entries, but got {len(starts)} and {len(sizes)}."
        )
    ends = tuple(n if s == -1 else b + s for b, s, n in zip(starts, sizes, input_x.shape))
    if any(b < 0 or e > n or e < b for b, e, n in zip(starts, ends, input_x.shape)):
        raise ValueError(f"For 'slice', the block at {starts} of size {sizes} exceeds the shape {input_x.shape}.")
    return arr.GetItem(tuple(slice(b, e) for b, e in zip(starts, ends)))(input_x)


def strided_slice(
    input_x: Any, begin: Any, end: Any, strides: Any, begin_mask: int = 0, end_mask: int = 0,
    ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0,
) -> Tensor:  # fmt: skip
    """x[begin:end:strides]; bits of the masks mark entries to ignore, new axes, dropped axes and an ellipsis."""
    begins, ends = static_ints("strided_slice", "begin", begin), static_ints("strided_slice", "end", end)
    steps = static_ints("strided_slice", "strides", strides)
    if not len(begins) == len(ends) == len(steps):
        raise ValueError("For 'strided_slice', 'begin', 'end' and 'strides' must be equally long.")
    spec: list[Any] = []
    for i, (b, e, s) in enumerate(zip(begins, ends, steps)):
        bit = 1 << i
        if s == 0:
            raise ValueError("For 'strided_slice', the strides must not be 0.")
        if ellipsis_mask & bit:
            spec.append(Ellipsis)
        elif new_axis_mask & bit:
            spec.append(None)
        elif shrink_axis_mask & bit:
            spec.append(b)
        else:
            spec.append(slice(None if begin_mask & bit else b, None if end_mask & bit else e, s))
    return arr.GetItem(tuple(spec))(input_x)


# -- padding --------------------------------------------------------------------------------------------------------
def pad(input_x: Any, padding: Any, mode: str = "constant", value: Any = None) -> Tensor:
    """Surround the last dimensions; `padding` is (left, right, top, bottom, …), starting from the last dimension.

    Modes are 'constant' (with `value`, default 0), 'reflect', 'replicate' and 'circular'. Negative amounts crop.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.pad(Tensor([[1.0, 2.0]]), (1, 0), value=9.0).tolist()
        [[9.0, 1.0, 2.0]]
    """
    require_tensor("pad", "input_x", input_x)
    amounts = static_ints("pad", "padding", padding)
    checks.one_of("pad", "mode", mode, ("constant", "reflect", "replicate", "circular"))
    if len(amounts) % 2 or len(amounts) // 2 > input_x.ndim:
        raise ValueError(
            f"For 'pad', 'padding' must have an even number of entries, at most {2 * input_x.ndim}, but got {amounts}."
        )
    if mode != "constant" and value is not None and value != 0:
        raise ValueError(f"For 'pad', 'value' is only used by mode 'constant', but got mode {mode!r}.")
    pairs = [(0, 0)] * input_x.ndim
    for i in range(len(amounts) // 2):
        pairs[input_x.ndim - 1 - i] = (amounts[2 * i], amounts[2 * i + 1])
    return pad_pairs(input_x, pairs, mode, value)


def pad_pairs(x: Any, pairs: Any, mode: str, value: Any = None) -> Tensor:
    """Pad by one (before, after) pair per dimension."""
    cut = tuple(slice(max(0, -a), n - max(0, -b)) for (a, b), n in zip(pairs, x.shape))
    if any(min(p) < 0 for p in pairs):
        x = arr.GetItem(cut)(x)
    grow = tuple((max(0, a), max(0, b)) for a, b in pairs)
    if not any(max(p) for p in grow):
        return x
    if mode == "constant":
        fill = values.static_value(0 if value is None else value)
        if values.is_symbolic(fill):
            inside = arr.Pad(grow, 0)(ew.ones_like(_cast(x, mstype.int32)))
            return ew.Select()(ew.Equal()(inside, 1), arr.Pad(grow, 0)(x), _cast(fill, x.dtype))
        return arr.Pad(grow, fill[0] if isinstance(fill, list) else fill)(x)
    for axis, (before, after) in enumerate(grow):
        if before or after:
            index = Tensor(_border_index(x.shape[axis], before, after, mode))
            x = Gather()(x, index, axis)
    return x


def _border_index(n: int, before: int, after: int, mode: str) -> np.ndarray:
    """Which element stands at each place of a padded dimension."""
    if mode == "reflect" and max(before, after) >= n:
        raise ValueError(f"For 'pad', mode 'reflect' can add less than the size of the dimension, {n}, on each side.")
    if mode in ("symmetric", "circular") and max(before, after) > n:
        raise ValueError(f"For 'pad', mode '{mode}' can add at most the size of the dimension, {n}, on each side.")
    how: Any = {"reflect": "reflect", "symmetric": "symmetric", "replicate": "edge", "circular": "wrap"}[mode]
    return np.pad(np.arange(n), (before, after), mode=how)


def mirror_pad(input_x: Any, paddings: Any, mode: str) -> Tensor:
    """Pad by mirroring; 'REFLECT' leaves the border element out, 'SYMMETRIC' repeats it."""
    require_rank("mirror_pad", "input_x", input_x, 1)
    require_tensors("mirror_pad", input_x=input_x)
    checks.one_of("mirror_pad", "mode", mode, ("REFLECT", "SYMMETRIC"))
    return pad_pairs(input_x, values.static_value(paddings), mode.lower())


def padding(x: Any, pad_dim_size: int = 8) -> Tensor:
    """Extend the last dimension, of size 1, to `pad_dim_size` with zeros."""
    checks.integer("padding", "pad_dim_size", pad_dim_size)
    require_tensors("padding", x=x)
    if x.ndim < 2 or x.shape[-1] != 1:
        raise ValueError(f"For 'padding', the last of at least 2 dimensions must be 1, but the shape is {x.shape}.")
    return arr.Pad(((0, 0),) * (x.ndim - 1) + ((0, pad_dim_size - 1),))(x)
