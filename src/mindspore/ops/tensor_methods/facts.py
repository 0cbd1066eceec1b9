"""Methods about a tensor itself: its type and conversion, its dimensions, where it lives, whether it is trained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore import context
from mindspore._base import dtype as mstype
from mindspore.common.sparse import dense_to_coo, dense_to_csr
from mindspore.common.symbol import Symbol
from mindspore.common.tensor import Tensor
from mindspore.ops import functional as F
from mindspore.ops.arguments import cast
from mindspore.prims import checks, values
from mindspore.prims import elementwise as ew
from mindspore.prims.valueless import Valueless


def _stride(self: Tensor, dim: int | None = None) -> Any:
    """How many elements apart neighbours along each dimension (or one) are.

    Examples:
        >>> ops.ones((2, 3)).stride()
        [3, 1]
    """
    steps = [s // self.itemsize for s in self.strides]
    return steps if dim is None else steps[dim]


def _dim(self: Tensor) -> int:
    """The number of dimensions.

    Examples:
        >>> Tensor([[1.0]]).dim()
        2
    """
    return self.ndim


def _ndimension(self: Tensor) -> int:
    """The number of dimensions.

    Examples:
        >>> Tensor([[1.0]]).ndimension()
        2
    """
    return self.ndim


def _nelement(self: Tensor) -> int:
    """The number of elements.

    Examples:
        >>> Tensor([1.0, 2.0]).nelement()
        2
    """
    return self.size


def _is_signed(self: Tensor) -> bool:
    """Whether elements can be negative.

    Examples:
        >>> Tensor([1, 2]).is_signed()
        True
    """
    return self.dtype.kind in "ifc"


def _value(self: Tensor) -> Tensor:
    """The tensor itself.

    Examples:
        >>> Tensor([1.0]).value().tolist()
        [1.0]
    """
    return self


def _cpu(self: Tensor) -> Tensor:
    """This tensor in the memory of the CPU.

    Examples:
        >>> Tensor([1.0]).cpu().tolist()
        [1.0]
    """
    return self


def _is_pinned(self: Tensor) -> bool:
    """False: memory that a device reads by itself is none of the host's here.

    Examples:
        >>> Tensor([1.0]).is_pinned()
        False
    """
    return False


def _is_shared(self: Tensor) -> bool:
    """False: tensors are memory of one process.

    Examples:
        >>> Tensor([1.0]).is_shared()
        False
    """
    return False


def _move_to(self: Tensor, to: str = "CPU", blocking: bool = True) -> Tensor:
    """This tensor: there is one memory here, that of the device in use.

    Examples:
        >>> Tensor([1.0]).move_to('CPU').tolist()
        [1.0]
    """
    checks.one_of("move_to", "to", to, ("CPU", "GPU", "Ascend"))
    checks.boolean("move_to", "blocking", blocking)
    here = context.get_context("device_target")
    if to not in ("CPU", here):
        raise RuntimeError(
            f"For 'move_to', 'to' must be 'CPU' or the device in use, {here!r}, but got {to!r}. "
            "Choose another device with set_device before tensors are made."
        )
    return self


def _set_const_arg(self: Tensor, const_arg: bool = True) -> Tensor:
    """Kept for older programs: compiled functions ask for the values that they need, of any argument.

    Examples:
        >>> Tensor([1.0]).set_const_arg().tolist()
        [1.0]
    """
    checks.boolean("set_const_arg", "const_arg", const_arg)
    return self


def symbolic_shape(self: Tensor) -> list[Any]:
    """The sizes that are known; what a Symbol says of others, or None. Of a tensor of any rank: [-2].

    Examples:
        >>> Tensor(shape=(ms.Symbol(divisor=8), None, 3), dtype=ms.float32).symbolic_shape
        [{'divisor': 8}, None, 3]
    """
    shape = getattr(self, "_declared_shape", self.shape)
    if shape is None:
        return [-2]
    return [size.to_dict() if isinstance(size, Symbol) else None if size == -1 else size for size in shape]


def _storage_offset(self: Tensor) -> int:
    """0: tensors share no memory.

    Examples:
        >>> Tensor([1.0]).storage_offset()
        0
    """
    return 0


def data(self: Tensor) -> Tensor:
    """The tensor itself.

    Examples:
        >>> Tensor([1.0]).data.tolist()
        [1.0]
    """
    return self


def _requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """Set whether optimizers update this tensor.

    Examples:
        >>> print(Parameter(Tensor([1.0]), name="w").requires_grad_(False).requires_grad)
        False
    """
    self.requires_grad = requires_grad  # type: ignore[attr-defined]
    return self


def _to(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """This tensor converted to the dtype given (by itself, by keyword, or as that of another tensor).

    On the device 'meta' it has no values any more.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import Tensor
        >>> Tensor([1.0]).to(ms.float16).dtype
        mindspore.float16
    """
    wanted, device = kwargs.get("dtype"), kwargs.get("device")
    for arg in (*args, kwargs.get("other")):
        if isinstance(arg, Tensor):
            wanted = arg.dtype
        elif isinstance(arg, (mstype.DType, type)) or (isinstance(arg, str) and arg in mstype._BY_NAME):
            wanted = arg
        elif isinstance(arg, str):
            device = arg
    out = cast(self, wanted)
    if device is not None and checks.is_meta("Tensor.to", device) is not out.is_meta:
        return values.from_array(Valueless(out.shape, out.dtype.np) if not out.is_meta else np.asarray(out._data))
    return out.copy() if kwargs.get("copy") and out is self else out


def _astype(self: Tensor, dtype: Any, copy: bool = True) -> Tensor:
    """The elements converted to another type.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import Tensor
        >>> Tensor([1.5, 2.5]).astype(ms.int32).tolist()
        [1, 2]
    """
    dtype = mstype.to_dtype(dtype)
    return self if self.dtype is dtype and not copy else ew.Cast()(self, dtype)


def _type(self: Tensor, dtype: Any = None) -> Any:
    """The element type's name, or this tensor converted.

    Examples:
        >>> Tensor([1.0]).type()
        'Float32'
    """
    return str(self.dtype) if dtype is None else cast(self, dtype)


def converter(dtype: mstype.DType, name: str) -> Callable:
    def method(self: Tensor) -> Tensor:
        return cast(self, dtype)

    method.__name__ = name
    method.__doc__ = f"""This tensor as {dtype}.

    Examples:
        >>> Tensor([1, 2]).{name}().dtype
        {dtype!r}
    """
    return method


METHODS: dict[str, Callable] = {
    "is_pinned": _is_pinned,
    "is_shared": _is_shared,
    "stride": _stride,
    "to": _to,
    "astype": _astype,
    "type": _type,
    "to_tensor": Tensor.init_data,
    "requires_grad_": _requires_grad_,
    "clone": Tensor.copy,
    "dim": _dim,
    "ndimension": _ndimension,
    "nelement": _nelement,
    "is_signed": _is_signed,
    "detach": F.stop_gradient,
    "value": _value,
    "cpu": _cpu,
    "move_to": _move_to,
    "set_const_arg": _set_const_arg,
    "storage_offset": _storage_offset,
    "to_coo": dense_to_coo,
    "to_csr": dense_to_csr,
}
