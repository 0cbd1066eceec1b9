"""Methods that rearrange: reshape, transpose, repeat, split, diagonals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops import functional as F
from mindspore.ops.tensor_methods.adapters import gathered, renamed, second_name
from mindspore.prims.broadcasting import BroadcastTo, Reshape, sum_to_shape


def _repeat_interleave(self: Tensor, repeats: Any, axis: Any = None, **kwargs: Any) -> Tensor:
    """Each element repeated, along `axis` (or `dim`), or of the flattened tensor.

    Examples:
        >>> Tensor([1, 2]).repeat_interleave(2).tolist()
        [1, 1, 2, 2]
    """
    if "dim" in kwargs:
        axis = kwargs.pop("dim")
    kwargs.pop("output_size", None)  # a hint of what the repeats add up to
    return F.repeat_interleave(self, repeats, axis, **kwargs)


def _reverse_sequence(self: Tensor, seq_lengths: Any, seq_dim: int = 0, batch_dim: int = 0) -> Tensor:
    """Reverse the first `seq_lengths[i]` elements along `seq_dim` of each batch entry.

    Examples:
        >>> print(Tensor([[1, 2, 3], [4, 5, 6]]).reverse_sequence(Tensor([2, 3]), seq_dim=1))
        [[2 1 3]
         [6 5 4]]
    """

    return F.reverse_sequence(self, seq_lengths, seq_dim, batch_dim)


_reverse_sequence.__doc__ = F.reverse_sequence.__doc__


def _reshape(self: Tensor, *shape: Any) -> Tensor:
    """The same elements in another shape; one dimension may be -1.

    Examples:
        >>> from mindspore import Tensor
        >>> Tensor([1.0, 2.0, 3.0, 4.0]).reshape((2, 2)).tolist()
        [[1.0, 2.0], [3.0, 4.0]]
    """
    return Reshape()(self, gathered(shape))


def _view(self: Tensor, *shape: Any) -> Tensor:
    """The same elements in another shape, or their bytes as another type.

    Examples:
        >>> from mindspore import Tensor
        >>> Tensor([1.0, 2.0, 3.0, 4.0]).view(2, -1).shape
        (2, 2)
    """
    if len(shape) == 1 and isinstance(shape[0], mstype.DType):
        return _bitcast(self, shape[0])
    return Reshape()(self, gathered(shape))


def _bitcast(self: Tensor, dtype: mstype.DType) -> Tensor:
    from mindspore.prims.elementwise import Bitcast

    return Bitcast(dtype)(self)


def _transpose(self: Tensor, *axes: Any, **kwargs: Any) -> Tensor:
    """Two ints exchange those dimensions; otherwise a permutation (reversed when nothing is given).

    Examples:
        >>> from mindspore import Tensor
        >>> Tensor([[1.0, 2.0]]).transpose((1, 0)).tolist()
        [[1.0], [2.0]]
    """
    if kwargs:
        axes = (kwargs["dim0"], kwargs["dim1"]) if "dim0" in kwargs else tuple(kwargs.values())
    if len(axes) == 2 and all(isinstance(a, int) for a in axes):
        return F.swapaxes(self, *axes)
    order = gathered(axes)
    return F.transpose(self, tuple(order) if order not in ((), (None,)) else tuple(reversed(range(self.ndim))))


def _permute(self: Tensor, *axis: Any, **kwargs: Any) -> Tensor:
    """Permute the dimensions.

    Examples:
        >>> from mindspore import Tensor
        >>> Tensor([[1.0, 2.0]]).permute(1, 0).shape
        (2, 1)
    """
    return F.permute(self, gathered(axis) if axis else next(iter(kwargs.values())))


def _squeeze(self: Tensor, *axis: Any, **kwargs: Any) -> Tensor:
    """Drop dimensions of size 1: all of them, or those named.

    Examples:
        >>> from mindspore import Tensor
        >>> Tensor([[1.0, 2.0]]).squeeze(0).shape
        (2,)
    """
    if kwargs:
        axis = tuple(kwargs.values())
    return F.squeeze(self, None if axis in ((), (None,)) else gathered(axis))


def _flatten(self: Tensor, order: Any = "C", *args: int, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Merge the dimensions from `start_dim` to `end_dim`: all of them by default.

    Examples:
        >>> from mindspore import Tensor
        >>> Tensor([[1.0, 2.0], [3.0, 4.0]]).flatten().tolist()
        [1.0, 2.0, 3.0, 4.0]
    """
    if isinstance(order, int):
        start_dim, end_dim, order = order, args[0] if args else end_dim, "C"
    return F.flatten(self, order, start_dim=start_dim, end_dim=end_dim)


def _expand(self: Tensor, *size: Any) -> Tensor:
    """Repeat along new or size-1 dimensions; -1 keeps a dimension.

    Examples:
        >>> from mindspore import Tensor
        >>> Tensor([1.0, 2.0]).broadcast_to((2, 2)).tolist()
        [[1.0, 2.0], [1.0, 2.0]]
    """
    return F.broadcast_to(self, gathered(size))


def _repeat(self: Tensor, *given: Any, repeats: Any = None, axis: int | None = None) -> Tensor:
    """Repeat the whole tensor along its dimensions; with `axis`, repeat each element along it.

    Examples:
        >>> from mindspore import Tensor
        >>> Tensor([1.0, 2.0]).repeat(2).tolist()
        [1.0, 2.0, 1.0, 2.0]
    """
    if repeats is not None:
        given = (repeats,)
    elif len(given) == 2 and isinstance(given[0], (tuple, list)):
        amounts, axis = given
        given = (amounts,)
    if axis is not None:
        return F.repeat_interleave(self, given[0], axis)
    return F.tile(self, gathered(given))


def _tile(self: Tensor, *dims: Any, **kwargs: Any) -> Tensor:
    """Repeat the whole tensor along its dimensions.

    Examples:
        >>> from mindspore import Tensor
        >>> Tensor([1.0, 2.0]).tile((2,)).tolist()
        [1.0, 2.0, 1.0, 2.0]
    """
    return F.tile(self, gathered(dims) if dims else next(iter(kwargs.values())))


def _reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """This tensor in the shape of another.

    Examples:
        >>> Tensor([1, 2, 3, 4]).reshape_as(ops.ones((2, 2))).shape
        (2, 2)
    """
    return Reshape()(self, other.shape)


def _resize(self: Tensor, *new_shape: Any) -> Tensor:
    """The elements in another shape, cut off or filled up with zeros.

    Examples:
        >>> print(Tensor([1, 2, 3]).resize(2, 2))
        [[1 2]
         [3 0]]
    """
    shape = tuple(gathered(new_shape))
    flat, size = Reshape()(self, (-1,)), 1
    for d in shape:
        size *= d
    flat = flat[:size] if size <= flat.size else F.pad(flat, (0, size - flat.size))
    return Reshape()(flat, shape)


def _sum_to_size(self: Tensor, *size: Any) -> Tensor:
    """Undo broadcasting: sum down to the given shape.

    Examples:
        >>> print(ops.ones((2, 3)).sum_to_size(1, 3))
        [[2. 2. 2.]]
    """
    shape = tuple(gathered(size))
    BroadcastTo(self.shape)(F.zeros(shape, self.dtype))  # says what does not fit
    return sum_to_shape(self, shape)


def _narrow(self: Tensor, dim: int, start: int, length: int) -> Tensor:
    """`length` elements along `dim`, from `start` on.

    Examples:
        >>> print(Tensor([10, 20, 30, 40]).narrow(0, 1, 2))
        [20 30]
    """
    return F.narrow(self, dim, start, length)


def _diag(self: Tensor, diagonal: int | None = None) -> Tensor:
    """diag(): a tensor with this one on its diagonal; diag(k): also the k-th diagonal of a matrix.

    Examples:
        >>> print(Tensor([5, 6]).diag())
        [[5 0]
         [0 6]]
    """
    if diagonal is None:
        return F.diag(self)
    return F.diag_embed(self, diagonal) if self.ndim == 1 else F.diagonal(self, diagonal)


def swap_last(self: Tensor) -> Tensor:
    """The last two dimensions exchanged.

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).mT)
        [[1 3]
         [2 4]]
    """
    return F.swapaxes(self, -1, -2)

_expand_as = second_name(F.expand_as, "x")


METHODS: dict[str, Callable] = {
    "repeat_interleave": _repeat_interleave,
    "split": renamed(F.split, dim="axis", split_size="split_size_or_sections"),
    "chunk": renamed(F.chunk, dim="axis"),
    "reverse_sequence": _reverse_sequence,
    "diagonal": renamed(F.diagonal, axis1="dim1", axis2="dim2"),
    "unsqueeze": F.unsqueeze,
    "reshape": _reshape,
    "view": _view,
    "transpose": _transpose,
    "permute": _permute,
    "squeeze": _squeeze,
    "flatten": _flatten,
    "expand": _expand,
    "broadcast_to": _expand,
    "repeat": _repeat,
    "tile": _tile,
    "reshape_as": _reshape_as,
    "resize": _resize,
    "sum_to_size": _sum_to_size,
    "narrow": _narrow,
    "diag": _diag,
    "expand_as": _expand_as,
    "unfold": F.unfold,
    "fold": F.fold,
    "col2im": F.col2im,
}
