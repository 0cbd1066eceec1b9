"""Shapes: reshaping, permuting, repeating."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore.common.sparse import COOTensor, CSRTensor
from mindspore.common.tensor import Tensor
from mindspore.ops.arguments import (
    alias,
    as_tensor,
    concrete,
    is_variable,
    measured,
    normal_axes,
    normal_axis,
    require_operands,
    require_rank,
    require_tensor,
    require_tensors,
    static_ints,
)
from mindspore.ops.arguments import (
    cast as _cast,
)
from mindspore.ops.older_calls import renamed
from mindspore.prims import arrays as arr
from mindspore.prims import checks, values
from mindspore.prims import elementwise as ew
from mindspore.prims.broadcasting import BroadcastTo, Reshape
from mindspore.prims.gather_scatter import Gather
from mindspore.prims.setting_types import setting_types
from mindspore.prims.structural import Identity

if TYPE_CHECKING:
    from mindspore._base.dtype import DType

__all__ = [
    "adjoint", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_shapes", "broadcast_to", "cast", "deepcopy",
    "dtype", "dyn_shape", "expand", "expand_as", "expand_dims", "flatten", "flip", "fliplr", "flipud", "identity",
    "meshgrid", "moveaxis", "movedim", "numel", "permute", "rank", "ravel", "repeat_elements", "repeat_interleave",
    "reshape", "reverse", "roll", "rot90", "shape", "shape_", "size", "squeeze", "swapaxes", "swapdims", "t", "tile",
    "transpose", "type_as", "unsqueeze", "view_as",
]  # fmt: skip


# -- facts ----------------------------------------------------------------------------------------------------------
def shape(input_x: Tensor) -> tuple[int, ...]:
    """The size of each dimension.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.shape(Tensor([[1.0, 2.0]]))
        (1, 2)
    """
    return require_tensor("shape", "input_x", input_x).shape


shape_ = alias(shape, "shape_")


def dyn_shape(input_x: Tensor) -> Tensor:
    """The shape as an int64 tensor.

    Examples:
        >>> print(ops.dyn_shape(ops.ones((2, 5))))
        [2 5]
    """
    require_tensors("dyn_shape", input_x=input_x)
    return Tensor(np.asarray(input_x.shape, np.int64))


def size(input_x: Tensor) -> int:
    """The number of elements.

    Examples:
        >>> ops.size(ops.ones((2, 3)))
        6
    """
    return require_tensor("size", "input_x", input_x).size


def numel(input: Tensor) -> int:
    """The number of elements.

    Examples:
        >>> ops.numel(ops.ones((2, 3)))
        6
    """
    return require_tensor("numel", "input", input).size


def rank(input_x: Tensor) -> int:
    """The number of dimensions.

    Examples:
        >>> ops.rank(ops.ones((2, 3)))
        2
    """
    return require_tensor("rank", "input_x", input_x).ndim


def dtype(x: Any) -> Any:
    """The element type.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.dtype(Tensor([1.0]))
        mindspore.float32
    """
    return x.dtype if isinstance(x, (COOTensor, CSRTensor)) else require_tensor("dtype", "x", x).dtype


def cast(input: Any, dtype: DType) -> Tensor:
    """Convert the elements to another type.

    Examples:
        >>> import mindspore as ms
        >>> ms.ops.cast(ms.Tensor([1.7, -1.7]), ms.int32).tolist()
        [1, -1]
    """
    return ew.Cast()(input, dtype)


def type_as(input: Tensor, other: Tensor) -> Tensor:
    """input converted to the element type of other.

    Examples:
        >>> ops.type_as(Tensor([1.7]), Tensor([1], ms.int32)).dtype
        mindspore.int32
    """
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


def deepcopy(input_x: Tensor) -> Tensor:
    """A tensor with its own data.

    Examples:
        >>> x = Tensor([1.0, 2.0])
        >>> y = ops.deepcopy(x)
        >>> y[0] = 7.0
        >>> print(x, y)
        [1. 2.] [7. 2.]
    """
    require_tensors("deepcopy", input_x=input_x)
    return input_x.copy()


def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """The common shape under broadcasting.

    Examples:
        >>> ops.broadcast_shapes((3, 1), (1, 4), (4,))
        (3, 4)
    """
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


def view_as(input: Tensor, other: Tensor) -> Tensor:
    """input in the shape of other.

    Examples:
        >>> ops.view_as(Tensor([1, 2, 3, 4]), ops.ones((2, 2))).shape
        (2, 2)
    """
    require_tensors("view_as", other=other)
    return Reshape()(input, other.shape)


def ravel(input: Tensor) -> Tensor:
    """All elements in one dimension.

    Examples:
        >>> print(ops.ravel(Tensor([[1, 2], [3, 4]])))
        [1 2 3 4]
    """
    return Reshape()(input, (-1,))


def flatten(input: Tensor, order: str = "C", *, start_dim: int = 1, end_dim: int = -1) -> Tensor:
    """Merge the dimensions from `start_dim` to `end_dim`; order 'F' reverses the dimensions first.

    Examples:
        >>> ops.flatten(ops.ones((2, 3, 4))).shape
        (2, 12)
    """
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


def expand_dims(input_x: Tensor, axis: int) -> Tensor:
    """Insert a dimension of size 1.

    Examples:
        >>> from mindspore import Tensor
        >>> Tensor([1.0, 2.0]).expand_dims(-1).shape
        (2, 1)
    """
    return arr.ExpandDims()(input_x, values.static_number(axis))


def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """Insert a dimension of size 1.

    Examples:
        >>> from mindspore import Tensor
        >>> Tensor([1.0, 2.0]).unsqueeze(0).shape
        (1, 2)
    """
    return arr.ExpandDims()(input, values.static_number(dim))


def squeeze(input: Tensor, axis: Any = None) -> Tensor:
    """Drop dimensions of size 1: all of them, or those named. Named dimensions of another size stay.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.squeeze(Tensor([[1.0, 2.0]]), 0).shape
        (2,)
    """
    require_tensor("squeeze", "input", input)
    if axis is None:
        return arr.Squeeze(())(input)
    axes = normal_axes("squeeze", axis, input.ndim) if not isinstance(axis, tuple) or axis else ()
    drop = tuple(a for a in axes if input.shape[a] == 1)
    return Reshape()(input, tuple(n for d, n in enumerate(input.shape) if d not in drop))


def atleast_1d(inputs: Any) -> Any:
    """A tensor, or each of a list of tensors, with at least one dimension.

    Examples:
        >>> ops.atleast_1d(Tensor(3.0)).shape
        (1,)
    """
    return _atleast("atleast_1d", inputs, lambda x: Reshape()(x, (1,)) if x.ndim == 0 else x)


def atleast_2d(inputs: Any) -> Any:
    """A tensor, or each of a list of tensors, with at least two dimensions; new ones come first.

    Examples:
        >>> ops.atleast_2d(Tensor([1.0, 2.0])).shape
        (1, 2)
    """
    return _atleast("atleast_2d", inputs, lambda x: Reshape()(x, (1,) * (2 - x.ndim) + x.shape) if x.ndim < 2 else x)


def atleast_3d(inputs: Any) -> Any:
    """A tensor, or each of a list of tensors, with at least three dimensions: (N,) becomes (1, N, 1), (M, N) becomes (M, N, 1).

    Examples:
        >>> ops.atleast_3d(Tensor([[1.0, 2.0]])).shape
        (1, 2, 1)
    """

    def lift(x: Tensor) -> Any:
        if x.ndim < 2:
            return Reshape()(x, (1, x.size, 1))
        return Reshape()(x, (*x.shape, 1)) if x.ndim == 2 else x

    return _atleast("atleast_3d", inputs, lift)


def _atleast(name: str, inputs: Any, lift: Callable) -> Any:
    if isinstance(inputs, (tuple, list)):
        return tuple(lift(require_tensor(name, f"inputs[{i}]", x)) for i, x in enumerate(inputs))
    require_operands(name, inputs=inputs)
    return lift(as_tensor(inputs))


# -- permuting ------------------------------------------------------------------------------------------------------
@renamed(input_x="input", input_perm="dims", axes="dims")
def transpose(input: Tensor, dims: Any) -> Tensor:
    """Permute the dimensions.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.transpose(Tensor([[1, 2]]), (1, 0)).tolist()
        [[1], [2]]
    """
    return arr.Transpose()(input, static_ints("transpose", "dims", dims))


def permute(input: Tensor, axis: Any) -> Tensor:
    """Permute the dimensions.

    Examples:
        >>> ops.permute(ops.ones((2, 3, 4)), (2, 0, 1)).shape
        (4, 2, 3)
    """
    return arr.Transpose()(input, static_ints("permute", "axis", axis))


def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
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


def swapdims(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Exchange two dimensions.

    Examples:
        >>> ops.swapdims(ops.ones((2, 3, 4)), 0, 2).shape
        (4, 3, 2)
    """
    return swapaxes(input, dim0, dim1)


def moveaxis(x: Tensor, source: Any, destination: Any) -> Tensor:
    """Move dimensions to new places; the others keep their order.

    Examples:
        >>> ops.moveaxis(ops.ones((2, 3, 4)), 0, -1).shape
        (3, 4, 2)
    """
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


def t(input: Tensor) -> Tensor:
    """The transpose of a tensor of at most 2 dimensions.

    Examples:
        >>> print(ops.t(Tensor([[1, 2], [3, 4]])))
        [[1 3]
         [2 4]]
    """
    if require_tensor("t", "input", input).ndim > 2:
        raise ValueError(f"For 't', 'input' must have at most 2 dimensions, but its shape is {input.shape}.")
    return arr.Transpose()(input, (1, 0)) if input.ndim == 2 else input


def adjoint(x: Tensor) -> Tensor:
    """The conjugate transpose of the last two dimensions.

    Examples:
        >>> print(ops.adjoint(Tensor([[1 + 2j, 3], [0, 4j]])))
        [[1.-2.j 0.-0.j]
         [3.-0.j 0.-4.j]]
    """
    return ew.conj(swapaxes(x, -1, -2))


def flip(input: Tensor, dims: Any) -> Tensor:
    """Reverse the order along dimensions.

    Examples:
        >>> print(ops.flip(Tensor([[1, 2], [3, 4]]), (0, 1)))
        [[4 3]
         [2 1]]
    """
    require_tensor("flip", "input", input)
    axes = normal_axes("flip", dims, input.ndim, "dims") if not isinstance(dims, tuple) or dims else ()
    spec = tuple(slice(None, None, -1) if a in axes else slice(None) for a in range(input.ndim))
    return arr.GetItem(spec)(input)


def reverse(x: Tensor, axis: Any) -> Tensor:
    """Reverse the order along dimensions.

    Examples:
        >>> print(ops.reverse(Tensor([1, 2, 3]), (0,)))
        [3 2 1]
    """
    return flip(x, axis)


def fliplr(input: Tensor) -> Tensor:
    """Reverse the columns.

    Examples:
        >>> print(ops.fliplr(Tensor([[1, 2], [3, 4]])))
        [[2 1]
         [4 3]]
    """
    return flip(input, (1,))


def flipud(input: Tensor) -> Tensor:
    """Reverse the rows.

    Examples:
        >>> print(ops.flipud(Tensor([[1, 2], [3, 4]])))
        [[3 4]
         [1 2]]
    """
    return flip(input, (0,))


def rot90(input: Tensor, k: int, dims: Any) -> Tensor:
    """Rotate by k times 90 degrees in the plane of two dimensions.

    Examples:
        >>> print(ops.rot90(Tensor([[1, 2], [3, 4]]), 1, (0, 1)))
        [[2 4]
         [1 3]]
    """
    require_tensors("rot90", input=input)
    a, b = (normal_axis("rot90", d, input.ndim, "dims") for d in dims)
    if a == b:
        raise ValueError(f"For 'rot90', 'dims' must name two different dimensions, but got {tuple(dims)}.")
    turns = checks.integer("rot90", "k", k) % 4
    if turns == 0:
        return Identity()(input)
    if turns == 2:
        return flip(input, (a, b))
    return swapaxes(flip(input, (b,)), a, b) if turns == 1 else flip(swapaxes(input, a, b), (b,))


def roll(input: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    """Move elements along dimensions; those that leave at the end enter at the start.

    Examples:
        >>> print(ops.roll(Tensor([1, 2, 3, 4]), 1, 0))
        [4 1 2 3]
    """
    require_tensor("roll", "input", input)
    if dims is None:
        flat = roll(Reshape()(input, (-1,)), shifts, 0)
        return Reshape()(flat, input.shape)
    shifts, dims = static_ints("roll", "shifts", shifts), static_ints("roll", "dims", dims)
    if len(shifts) != len(dims):
        raise ValueError(f"For 'roll', 'shifts' and 'dims' must be equally long, but got {shifts} and {dims}.")
    input = Identity()(input)
    for by, dim in zip(shifts, dims):
        at = normal_axis("roll", dim, input.ndim, "dims")
        n = input.shape[at]
        by = by % n if n else 0
        if by:
            lead = (slice(None),) * at
            input = arr.Concat(at)([input[(*lead, slice(n - by, n))], input[(*lead, slice(0, n - by))]])
    return input


# -- repeating ------------------------------------------------------------------------------------------------------
def broadcast_to(input: Tensor, shape: Any) -> Tensor:
    """Repeat along new or size-1 dimensions; -1 keeps a dimension.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.broadcast_to(Tensor([1, 2]), (2, 2)).tolist()
        [[1, 2], [1, 2]]
    """
    return BroadcastTo(static_ints("broadcast_to", "shape", shape))(input)


def expand(input_x: Tensor, size: Tensor) -> Tensor:
    """Repeat along new or size-1 dimensions; -1 keeps a dimension.

    Examples:
        >>> print(ops.expand(Tensor([[1], [2]]), Tensor([-1, 3])))
        [[1 1 1]
         [2 2 2]]
    """
    return BroadcastTo(static_ints("expand", "size", size))(input_x)


def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """input repeated to the shape of other.

    Examples:
        >>> from mindspore import Tensor
        >>> Tensor([1.0]).expand_as(Tensor([1.0, 2.0])).shape
        (2,)
    """
    require_tensors("expand_as", other=other)
    return BroadcastTo(other.shape)(input)


def tile(input: Tensor, dims: Any) -> Tensor:
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
        return Reshape()(input, sizes) if sizes != input.shape else Identity()(input)
    paired = tuple(d for s in sizes for d in (1, s))
    spread = BroadcastTo(tuple(d for r, s in zip(reps, sizes) for d in (r, s)))(Reshape()(input, paired))
    return Reshape()(spread, tuple(r * s for r, s in zip(reps, sizes)))


def _check_counts(counts: Any) -> None:
    if any(c < 0 for c in counts):
        given = tuple(int(c) for c in counts)
        raise ValueError(f"For 'repeat_interleave', 'repeats' must not be negative, but got {given}.")


def _repeated_places(n: int, counts: np.ndarray) -> np.ndarray:
    _check_counts(counts)
    return np.repeat(np.arange(n), counts)


def repeat_interleave(input: Tensor, repeats: Any, axis: int | None = None) -> Tensor:
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
    if isinstance(repeats, Tensor) and repeats.shape == (n,) and is_variable(repeats):
        (places,) = measured("repeat_interleave", lambda counts: (_repeated_places(n, counts),), repeats)
        return Gather()(input, places, at)
    counts = concrete("repeat_interleave", repeats).tolist() if isinstance(repeats, Tensor) else repeats
    counts = static_ints("repeat_interleave", "repeats", counts)
    _check_counts(counts)
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


@setting_types(axis=int)
def repeat_elements(x: Tensor, rep: int, axis: int = 0) -> Tensor:
    """Repeat each element `rep` times along `axis`.

    Examples:
        >>> print(ops.repeat_elements(Tensor([[1, 2]]), 2, axis=1))
        [[1 1 2 2]]
    """
    require_rank("repeat_elements", "x", x, 1)
    return repeat_interleave(x, checks.integer("repeat_elements", "rep", rep, 1), axis)


def meshgrid(*inputs: Any, indexing: str = "xy") -> tuple[Tensor, ...]:
    """Coordinate grids from 1-D tensors.

    Examples:
        >>> x, y = ops.meshgrid(Tensor([1, 2]), Tensor([7, 8]))
        >>> print(x.tolist(), y.tolist())
        [[1, 2], [1, 2]] [[7, 7], [8, 8]]
    """
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
