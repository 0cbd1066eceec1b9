"""Joining, cutting and padding tensors."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops.arguments import (
    as_tensor,
    normal_axis,
    require_rank,
    require_tensor,
    require_tensors,
    static_ints,
)
from mindspore.ops.arguments import (
    cast as _cast,
)
from mindspore.ops.older_calls import older_call
from mindspore.ops.reshaping import atleast_1d, atleast_2d, atleast_3d
from mindspore.prims import arrays as arr
from mindspore.prims import checks, values
from mindspore.prims import elementwise as ew
from mindspore.prims.broadcasting import Reshape
from mindspore.prims.gather_scatter import Gather
from mindspore.prims.structural import Identity

__all__ = [
    "block_diag", "cat", "chunk", "column_stack", "concat", "dsplit", "dstack", "hsplit", "hstack", "mirror_pad",
    "narrow", "pad", "padding", "row_stack", "split", "stack", "strided_slice", "tensor_split", "unbind", "unstack",
    "vsplit", "vstack",
]  # fmt: skip


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
    return arr.Concat(values.static_number(axis))(_tensors("cat", tensors))


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
    """Join along the second dimension (the first for 1-D tensors).

    Examples:
        >>> print(ops.hstack((Tensor([1, 2]), Tensor([3]))))
        [1 2 3]
    """
    parts = [atleast_1d(x) for x in _tensors("hstack", tensors)]
    return arr.Concat(0 if parts[0].ndim == 1 else 1)(parts)


def vstack(inputs: Any) -> Tensor:
    """Join rows: along the first dimension, after making everything at least 2-D.

    Examples:
        >>> print(ops.vstack((Tensor([1, 2]), Tensor([3, 4]))))
        [[1 2]
         [3 4]]
    """
    return arr.Concat(0)([atleast_2d(x) for x in _tensors("vstack", inputs)])


def row_stack(tensors: Any) -> Tensor:
    """The same as `vstack`.

    Examples:
        >>> print(ops.row_stack((Tensor([1, 2]), Tensor([3, 4]))))
        [[1 2]
         [3 4]]
    """
    return vstack(tensors)


def dstack(tensors: Any) -> Tensor:
    """Join along the third dimension.

    Examples:
        >>> print(ops.dstack((Tensor([1, 2]), Tensor([3, 4]))))
        [[[1 3]
          [2 4]]]
    """
    return arr.Concat(2)([atleast_3d(x) for x in _tensors("dstack", tensors)])


def column_stack(tensors: Any) -> Tensor:
    """Join columns: 1-D tensors become columns of a matrix.

    Examples:
        >>> print(ops.column_stack((Tensor([1, 2]), Tensor([3, 4]))))
        [[1 3]
         [2 4]]
    """
    parts = [Reshape()(x, (-1, 1)) if x.ndim < 2 else x for x in _tensors("column_stack", tensors)]
    return arr.Concat(1)(parts)


def block_diag(*inputs: Any) -> Tensor:
    """A matrix with the given matrices along its diagonal.

    Examples:
        >>> print(ops.block_diag(Tensor([[1, 2]]), Tensor([[3], [4]])))
        [[1 2 0]
         [0 0 3]
         [0 0 4]]
    """
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
def _pieces(x: Tensor, axis: int, bounds: list[int]) -> tuple[Tensor, ...]:
    lead = (slice(None),) * axis
    return tuple(arr.GetItem((*lead, slice(a, b)))(x) for a, b in itertools.pairwise(bounds))


def _split_1x(input_x: Tensor, axis: int = 0, output_num: int = 1) -> tuple[Tensor, ...]:
    """`split` of MindSpore 1.x: into a number of equal parts."""
    size = require_tensor("split", "input_x", input_x).shape[normal_axis("split", axis, input_x.ndim)]
    if size % checks.integer("split", "output_num", output_num, 1):
        raise ValueError(f"For 'split', {size} elements cannot be cut into {output_num} equal parts.")
    return split(input_x, size // output_num, axis)


@older_call(_split_1x, "output_num", "input_x")
def split(tensor: Tensor, split_size_or_sections: Any, axis: int = 0) -> tuple[Tensor, ...]:
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


def chunk(input: Tensor, chunks: int, axis: int = 0) -> tuple[Tensor, ...]:
    """Cut into at most `chunks` pieces of equal size; the last may be smaller.

    Examples:
        >>> [part.tolist() for part in ops.chunk(Tensor([1, 2, 3, 4, 5]), 2)]
        [[1, 2, 3], [4, 5]]
    """
    require_tensor("chunk", "input", input)
    count = checks.integer("chunk", "chunks", chunks, 1)
    at = normal_axis("chunk", axis, input.ndim)
    return split(input, max(1, -(-input.shape[at] // count)), at)


_MOST_SECTIONS = 1 << 12  # of which those beyond the dimension's size are empty


def tensor_split(input: Tensor, indices_or_sections: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """Cut into nearly equal sections, or at the given indices.

    Examples:
        >>> [part.tolist() for part in ops.tensor_split(Tensor([1, 2, 3, 4, 5]), 2)]
        [[1, 2, 3], [4, 5]]
    """
    require_rank("tensor_split", "input", input, 1)
    require_tensor("tensor_split", "input", input)
    at = normal_axis("tensor_split", axis, input.ndim)
    n = input.shape[at]
    if isinstance(indices_or_sections, int):
        count = checks.integer("tensor_split", "indices_or_sections", indices_or_sections, 1)
        if count > max(n, _MOST_SECTIONS):
            raise ValueError(
                f"For 'tensor_split', 'indices_or_sections' must be at most {max(n, _MOST_SECTIONS)} for a dimension "
                f"of {n}, but got {count}."
            )
        sizes = [n // count + (1 if i < n % count else 0) for i in range(count)]
        bounds = np.concatenate([[0], np.cumsum(sizes)]).astype(int).tolist()
        return _pieces(input, at, bounds)
    cuts = static_ints("tensor_split", "indices_or_sections", indices_or_sections)
    return _pieces(input, at, [0, *cuts, n])


def hsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Cut along the second dimension (the first for 1-D tensors).

    Examples:
        >>> [part.tolist() for part in ops.hsplit(Tensor([[1, 2, 3, 4]]), 2)]
        [[[1, 2]], [[3, 4]]]
    """
    require_tensors("hsplit", input=input)
    return tensor_split(input, indices_or_sections, 0 if input.ndim == 1 else 1)


def vsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Cut along the first dimension.

    Examples:
        >>> [part.tolist() for part in ops.vsplit(Tensor([[1, 2], [3, 4]]), 2)]
        [[[1, 2]], [[3, 4]]]
    """
    return tensor_split(input, indices_or_sections, 0)


def dsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Cut along the third dimension.

    Examples:
        >>> [part.shape for part in ops.dsplit(ops.ones((1, 2, 4)), 2)]
        [(1, 2, 2), (1, 2, 2)]
    """
    return tensor_split(input, indices_or_sections, 2)


def unstack(input_x: Tensor, axis: int = 0) -> tuple[Tensor, ...]:
    """The slices along a dimension, which disappears.

    Examples:
        >>> [row.tolist() for row in ops.unstack(Tensor([[1, 2], [3, 4]]), axis=1)]
        [[1, 3], [2, 4]]
    """
    require_tensor("unstack", "input_x", input_x)
    at = normal_axis("unstack", axis, input_x.ndim)
    lead = (slice(None),) * at
    return tuple(arr.GetItem((*lead, i))(input_x) for i in range(input_x.shape[at]))


def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The slices along a dimension, which disappears.

    Examples:
        >>> [row.tolist() for row in ops.unbind(Tensor([[1, 2], [3, 4]]))]
        [[1, 2], [3, 4]]
    """
    return unstack(input, dim)


def narrow(input: Any, axis: int, start: int, length: int) -> Tensor:
    """The part [start, start + length) of a dimension.

    Examples:
        >>> print(ops.narrow(Tensor([10, 20, 30, 40]), 0, 1, 2))
        [20 30]
    """
    require_tensor("narrow", "input", input)
    at = normal_axis("narrow", axis, input.ndim)
    n = input.shape[at]
    start, length = values.static_number(start), values.static_number(length)
    start = start + n if start < 0 else start
    if not (0 <= start <= n and 0 <= length <= n - start):
        raise ValueError(f"For 'narrow', [{start}, {start} + {length}) is not a part of a dimension of size {n}.")
    return arr.GetItem((slice(None),) * at + (slice(start, start + length),))(input)


def slice_(input_x: Tensor, begin: Any, size: Any) -> Tensor:
    """The block of shape `size` at `begin`; a size of -1 runs to the end.

    Examples:
        >>> print(ops.slice(Tensor([[1, 2, 3], [4, 5, 6]]), (0, 1), (2, 2)))
        [[2 3]
         [5 6]]
    """
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
    input_x: Tensor, begin: Any, end: Any, strides: Any, begin_mask: int = 0, end_mask: int = 0,
    ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0,
) -> Tensor:  # fmt: skip
    """x[begin:end:strides]; bits of the masks mark entries to ignore, new axes, dropped axes and an ellipsis.

    Examples:
        >>> print(ops.strided_slice(Tensor([0, 1, 2, 3, 4, 5]), (1,), (6,), (2,)))
        [1 3 5]
    """
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
def pad(input_x: Tensor, padding: Any, mode: str = "constant", value: Any = None) -> Tensor:
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


def pad_pairs(x: Tensor, pairs: Any, mode: str, value: Any = None) -> Tensor:
    """Pad by one (before, after) pair per dimension."""
    cut = tuple(slice(max(0, -a), n - max(0, -b)) for (a, b), n in zip(pairs, x.shape))
    if any(min(p) < 0 for p in pairs):
        x = arr.GetItem(cut)(x)
    grow = tuple((max(0, a), max(0, b)) for a, b in pairs)
    if not any(max(p) for p in grow):
        return Identity()(x)
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


def mirror_pad(input_x: Tensor, paddings: Any, mode: str) -> Tensor:
    """Pad by mirroring; 'REFLECT' leaves the border element out, 'SYMMETRIC' repeats it.

    Examples:
        >>> print(ops.mirror_pad(Tensor([[1, 2, 3]]), Tensor([[0, 0], [2, 1]]), "REFLECT"))
        [[3 2 1 2 3 2]]
    """
    require_rank("mirror_pad", "input_x", input_x, 1)
    require_tensors("mirror_pad", input_x=input_x)
    checks.one_of("mirror_pad", "mode", mode, ("REFLECT", "SYMMETRIC"))
    paddings = values.static_value(paddings)
    if not isinstance(paddings, Tensor) and np.min(paddings, initial=0) < 0:
        raise ValueError(f"For 'mirror_pad', 'paddings' must not be negative, but got {paddings}.")
    return pad_pairs(input_x, paddings, mode.lower())


def padding(x: Tensor, pad_dim_size: int = 8) -> Tensor:
    """Extend the last dimension, of size 1, to `pad_dim_size` with zeros.

    Examples:
        >>> print(ops.padding(Tensor([[7.0]]), 4))
        [[7. 0. 0. 0.]]
    """
    checks.integer("padding", "pad_dim_size", pad_dim_size)
    require_tensors("padding", x=x)
    if x.ndim < 2 or x.shape[-1] != 1:
        raise ValueError(f"For 'padding', the last of at least 2 dimensions must be 1, but the shape is {x.shape}.")
    return arr.Pad(((0, 0),) * (x.ndim - 1) + ((0, pad_dim_size - 1),))(x)
