"""Checks of axes and shapes, and the small tuples of sizes that layers take."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from mindspore._compat.checkparam.basic import check_int_range, check_value_type


# -- axes -------------------------------------------------------------------------------------------------------------
def check_axis_in_range(axis: Any, ndim: int) -> int:
    """One axis, made non-negative."""
    check_value_type("axis", axis, [int])
    if not -ndim <= axis < ndim:
        raise ValueError(f"The 'axis' must be in the range of [{-ndim}, {ndim}), but got {axis}.")
    return axis % ndim


def check_axis_valid(axes: Any, ndim: int) -> tuple[int, ...]:
    """Axes without repetition, made non-negative; None means all of them."""
    if axes is None:
        return tuple(range(ndim))
    return check_and_canonicalize_axes(axes, ndim)


def check_and_canonicalize_axes(axes: Any, ndim: int) -> tuple[int, ...]:
    axes = axes if isinstance(axes, (tuple, list)) else (axes,)
    found = tuple(check_axis_in_range(axis, ndim) for axis in axes)
    if len(set(found)) != len(found):
        raise ValueError(f"The element of parameter 'axis' can not be duplicate, but got {found}.")
    return found


def check_axis_type(axis: Any, type_int: bool = True, type_tuple: bool = True, type_list: bool = True) -> bool:
    allowed = [t for t, wanted in ((int, type_int), (tuple, type_tuple), (list, type_list)) if wanted]
    if isinstance(axis, bool) or not isinstance(axis, tuple(allowed)):
        raise TypeError(f"The axis should be {', '.join(t.__name__ for t in allowed)}, but got {type(axis)}.")
    if isinstance(axis, (tuple, list)):
        for element in axis:
            check_value_type("axis", element, [int])
    return True


def check_swapaxes_axis(axes: Any, ndim: int) -> Any:
    if isinstance(axes, (tuple, list)):
        return tuple(check_axis_in_range(axis, ndim) for axis in axes)
    return check_axis_in_range(axes, ndim)


def check_transpose_axis(axes: tuple, ndim: int) -> tuple[int, ...]:
    """The order of axes given as separate ints, one tuple, or nothing (reversed)."""
    if not axes or axes == (None,):
        return tuple(range(ndim))[::-1]
    if len(axes) == 1 and isinstance(axes[0], (tuple, list)):
        axes = tuple(axes[0])
    if len(axes) != ndim:
        raise ValueError(
            f"The number of axes must be equal to the dimension of the tensor, {ndim}, but got {len(axes)}."
        )
    return check_and_canonicalize_axes(axes, ndim)


# -- shapes -----------------------------------------------------------------------------------------------------------
def check_reshape_shp(shp: tuple) -> tuple:
    """A shape given as separate ints or as one sequence."""
    if len(shp) == 1:
        only = shp[0]
        if isinstance(only, int):
            return shp
        if isinstance(only, (tuple, list)):
            return tuple(only)
        raise TypeError(f"The shape must be ints or one tuple of ints, but got {type(only).__name__}.")
    return shp


def check_flatten_order(order: Any) -> str:
    if order not in ("C", "F"):
        raise ValueError(f"For Tensor.flatten, the parameter 'order' must be 'C' or 'F', but got '{order}'")
    return order


def prepare_shape_for_squeeze(shape: tuple[int, ...], axes: Any) -> tuple[int, ...]:
    """The shape without some axes of size 1; without all of them when `axes` is None."""
    if axes is None:
        return tuple(size for size in shape if size != 1)
    dropped = set(check_and_canonicalize_axes(axes, len(shape)))
    for axis in dropped:
        if shape[axis] != 1:
            raise ValueError(
                f"Cannot select an axis to squeeze out which has size not equal to one: axis {axis} of {shape}."
            )
    return tuple(size for axis, size in enumerate(shape) if axis not in dropped)


def check_reduce_shape(
    ori_shape: Any, shape: Any, axis: Any, prim_name: str, arg_name1: str = "input_x", arg_name2: str = "grad"
) -> None:
    """`shape` is what remains of `ori_shape` after reducing over `axis`."""
    reduced = check_and_canonicalize_axes(axis, len(ori_shape))
    wanted = [size for i, size in enumerate(ori_shape) if i not in reduced]
    if list(shape) != wanted:
        raise ValueError(
            f"For '{prim_name}', the shape of '{arg_name1}' must be {wanted}, but got '{arg_name2}' of {shape}."
        )


def infer_out_shape(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The common shape under broadcasting."""
    rank = max((len(s) for s in shapes), default=0)
    padded = [(1,) * (rank - len(s)) + tuple(s) for s in shapes]
    out = []
    for sizes in zip(*padded):
        largest = 0 if 0 in sizes else max(sizes)
        if any(size not in (1, largest) for size in sizes):
            raise ValueError(
                f"The sizes on each axis must be equal or 1 to broadcast together, but got shapes {shapes}."
            )
        out.append(largest)
    return tuple(out)


def expanded_shape(ndim: int, axis_size: int, axis: int) -> tuple[int, ...]:
    """All ones, but `axis_size` at `axis`."""
    return tuple(axis_size if i == axis else 1 for i in range(ndim))


def tuple_slice(tup: tuple, start: int, end: int) -> tuple:
    return tup[start:end]


def max_(*args: Any) -> Any:
    return max(*args)


def min_(*args: Any) -> Any:
    return min(*args)


# -- sizes of layers --------------------------------------------------------------------------------------------------
def _expand(count: int, kinds: Any) -> Callable[[Any], tuple]:
    """A function that repeats an int `count` times and checks the length of a sequence."""

    def convert(m: Any) -> tuple:
        if isinstance(m, kinds):
            if len(m) == count and all(isinstance(e, int) for e in m):
                return tuple(m)
            raise TypeError(
                f"When expanding an int number to tuple, input tuple dimension must be {count}, but got {m}"
            )
        if isinstance(m, int):
            return (m,) * count
        raise TypeError(f"When expanding an int number to tuple, input type must be int or tuple[int], but got {m}")

    return convert


once, twice, triple = (_expand(n, (tuple,)) for n in (1, 2, 3))
once_sequence, twice_sequence, triple_sequence = (_expand(n, (tuple, list)) for n in (1, 2, 3))


def check_pad_value_by_mode(pad_mode: str, padding: Any, prim_name: str) -> Any:
    """Explicit padding makes sense with pad_mode 'pad' only."""
    if pad_mode != "pad" and padding != 0:
        raise ValueError(f"For '{prim_name}', padding must be zero when pad_mode is '{pad_mode}', but got {padding}.")
    return padding


def _check_3d_int_or_tuple(
    arg_name: str,
    arg_value: Any,
    prim_name: str,
    allow_five: bool = False,
    ret_five: bool = False,
    greater_zero: bool = True,
    third_one: bool = False,
    three_input: bool = False,
    pad_value: int = 1,
) -> tuple[int, ...]:
    """Sizes along depth, height and width from an int, three ints or (with `allow_five`) five ints."""
    three = _three_sizes(arg_name, arg_value, prim_name, allow_five, third_one and not three_input)
    low = 1 if greater_zero else 0
    wrong = any(isinstance(v, bool) or not isinstance(v, int) or v < low for v in three)
    if wrong or (three_input and third_one and three[0] != 1):
        raise ValueError(_message_3d(arg_name, arg_value, prim_name, allow_five))
    return (pad_value, pad_value, *three) if ret_five else three


def _three_sizes(arg_name: str, value: Any, prim_name: str, allow_five: bool, third_one: bool) -> tuple:
    check_value_type(arg_name, value, (int, tuple), prim_name)
    if isinstance(value, int):
        return (1, value, value) if third_one else (value,) * 3
    if len(value) == 3:
        return value
    if len(value) == 5 and allow_five:
        return value[2:]
    raise ValueError(_message_3d(arg_name, value, prim_name, allow_five))


def _message_3d(arg_name: str, value: Any, prim_name: str, allow_five: bool) -> str:
    lengths = "three or five" if allow_five else "three"
    return (
        f"For '{prim_name}', the parameter '{arg_name}' must be an positive integer or a tuple of {lengths} "
        f"positive integer, but got {value}"
    )


def check_input_format(input_param: Any) -> Any:
    """The layout of images."""
    if input_param not in ("NCHW", "NHWC", "NCDHW", "NC1HWC0"):
        raise ValueError(f"The data format must be NCHW, NHWC or NCDHW, but got {input_param}.")
    return input_param


# -- sparse tensors ---------------------------------------------------------------------------------------------------
def check_csr_tensor_shape(indptr_shp: tuple, indices_shp: tuple, values_shp: tuple, csr_shp: tuple) -> None:
    """Shapes of the parts of a CSR tensor agree."""
    if len(csr_shp) < 2:
        raise ValueError(f"A CSRTensor has at least 2 dimensions, but got shape {csr_shp}.")
    if len(indptr_shp) != 1 or len(indices_shp) != 1:
        raise ValueError(f"'indptr' and 'indices' must be 1-D, but got shapes {indptr_shp} and {indices_shp}.")
    if indptr_shp[0] != csr_shp[0] + 1:
        raise ValueError(f"'indptr' must have one element more than the {csr_shp[0]} rows, but got {indptr_shp[0]}.")
    if not values_shp or indices_shp[0] != values_shp[0]:
        raise ValueError(f"'indices' and 'values' must have the same length, but got {indices_shp} and {values_shp}.")
    if tuple(values_shp[1:]) != tuple(csr_shp[2:]):
        raise ValueError(f"'values' of shape {values_shp} do not fit a CSRTensor of shape {csr_shp}.")


def check_coo_tensor_shape(indices_shp: tuple, values_shp: tuple, coo_shp: tuple) -> None:
    """Shapes of the parts of a COO tensor agree."""
    check_value_type("shape", coo_shp, [tuple])
    if len(indices_shp) != 2:
        raise ValueError(f"For COOTensor, 'indices' must be 2-D, but got shape {indices_shp}.")
    if len(values_shp) != 1 or values_shp[0] != indices_shp[0]:
        raise ValueError(
            f"For COOTensor, 'values' must be 1-D with a value per index, but got {values_shp} for {indices_shp}."
        )
    check_int_range(len(coo_shp), indices_shp[1], indices_shp[1], 10, "length of shape", "COOTensor")


def check_sparse_tensor_input(indices: Any, values: Any, shape: Any) -> None:
    """The parts of a sparse tensor are tensors and a tuple of positive ints."""
    for name, part in (("indices", indices), ("values", values)):
        if not hasattr(part, "shape") or not hasattr(part, "dtype"):
            raise TypeError(f"'{name}' of a sparse tensor must be a Tensor, but got {type(part).__name__}.")
    check_value_type("shape", shape, [tuple])
    _positive(shape)


def _positive(shape: Iterable[Any]) -> None:
    for size in shape:
        check_value_type("element of shape", size, [int])
        if size <= 0:
            raise ValueError(f"The shape of a sparse tensor must be positive, but got {tuple(shape)}.")


check_coo_tensor_input = check_sparse_tensor_input


def check_csr_tensor_input(indptr: Any, indices: Any, values: Any, shape: Any) -> None:
    check_sparse_tensor_input(indptr, values, shape)
    check_sparse_tensor_input(indices, values, shape)
