"""Classes of official generated code that have no function of the same words."""

from __future__ import annotations

from typing import Any

from mindspore import mint, ops
from mindspore.ops.composition import composition, plain
from mindspore.prims.requirements import demand_between


def _slice(p: Any, x: Any, dim: int, start: int, end: int, step: int = 1) -> Any:
    """x[start:end:step] along `dim`."""
    return x[(*[slice(None)] * (dim % x.ndim), slice(start, end, step))]


SliceExt = composition("SliceExt", _slice, "Elements from `start` to `end` along a dimension.")
FmodScalar = plain("FmodScalar", ops.fmod)


def _adamw(
    p: Any, var: Any, m: Any, v: Any, max_v: Any, gradient: Any, step: Any, lr: float, beta1: float, beta2: float,
    decay: float, eps: float, amsgrad: bool = False, maximize: bool = False,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """One step of Adam with decoupled weight decay (Loshchilov & Hutter 2019); the tensors are updated in place."""
    gradient = -gradient if maximize else gradient
    ops.assign(m, beta1 * m + (1 - beta1) * gradient)
    ops.assign(v, beta2 * v + (1 - beta2) * gradient * gradient)
    if amsgrad:
        ops.assign(max_v, ops.maximum(max_v, v))
    t = step.astype(var.dtype)
    spread = ops.sqrt((max_v if amsgrad else v) / (1 - ops.pow(beta2, t))) + eps
    ops.assign(var, var * (1 - lr * decay) - lr / (1 - ops.pow(beta1, t)) * m / spread)
    return var, m, v


AdamW = composition("AdamW", _adamw, "A step of Adam with decoupled weight decay.")


def _scatter_cache(p: Any, var: Any, indices: Any, updates: Any, axis: int = -2, reduce: str = "update") -> Any:
    """Row `indices[b]` and those that follow along `axis` of cache b become `updates[b]`."""
    if reduce != "update":
        raise ValueError(f"For 'KVCacheScatterUpdate', 'reduce' must be 'update', but got {reduce!r}.")
    axis %= var.ndim
    length, size = updates.shape[axis], var.shape[axis]
    demand_between("KVCacheScatterUpdate", "indices", indices, 0, size - length)
    along = tuple(-1 if d == axis else 1 for d in range(var.ndim))
    place = ops.arange(size).reshape(along) - indices.reshape((-1, *(1,) * (var.ndim - 1)))  # in the updates
    rows = updates
    if length > 1:
        rows = ops.gather_elements(updates, axis, ops.clamp(place, 0, length - 1).broadcast_to(var.shape))
    ops.assign(var, ops.where(ops.logical_and(place >= 0, place < length), rows.astype(var.dtype), var))
    return var


KVCacheScatterUpdate = composition("KVCacheScatterUpdate", _scatter_cache, "New rows of a cache of keys or values.")


def in_place_class(stem: str, name: str) -> Any:
    """`InplaceAddExt`, by its stem `InplaceAdd`, calls `x.add_(…)`; None if tensors have no such method."""
    from mindspore import Tensor

    methods = {m.replace("_", ""): m for m in dir(Tensor) if m.endswith("_") and not m.startswith("_")}
    letters = _IN_PLACE.get(stem, stem.removeprefix("Inplace")).lower()
    method = methods.get(letters)
    if method is None:
        return None
    return composition(name, lambda p, x, *args, **kw: getattr(x, method)(*args, **kw), f"`x.{method}(…)`.")


#: classes whose letters are not those of the method
_IN_PLACE = {
    "InplaceDivs": "div", "InplaceMuls": "mul", "InplaceAdds": "add", "InplaceFloorDivides": "floordivide", "InplaceDivMod": "div",
    "InplaceScatterSrc": "scatter", "InplaceScatterValue": "scatter", "InplaceAddsExt": "add",
}  # fmt: skip


def _resized(mode: str, corners: bool) -> Any:
    def function(x: Any, output_size: Any = None, scales: Any = None, align_corners: bool = False) -> Any:
        return ops.interpolate(x, output_size, scales, mode, align_corners if corners else None)

    return function


def _padded(mode: str) -> Any:
    return lambda x, padding, value=None: ops.pad(x, padding, mode, value)


def _divmod(x: Any, y: Any, rounding_mode: str | None = None) -> Any:
    return ops.div(x, y, rounding_mode=rounding_mode)


def _scatter_value(x: Any, dim: int, index: Any, src: float, reduce: Any = "none") -> Any:
    return x.scatter(dim, index, src) if reduce in ("none", 0) else x.scatter(dim, index, src, reduce=reduce)


def _concat_offset(p: Any, inputs: Any) -> tuple:
    """Where each of some tensors begins in what `Concat` makes of them."""
    axis, begin, found = p.axis % inputs[0].ndim, 0, []
    for x in inputs:
        found.append(tuple(begin if dim == axis else 0 for dim in range(x.ndim)))
        begin += x.shape[axis]
    return tuple(found)


ConcatOffset = composition("ConcatOffset", _concat_offset, "Where tensors begin in their concatenation.", N=2, axis=0)


def _new(function: Any) -> Any:
    return lambda x, *args, dtype=None, **kw: function(*args, dtype=dtype or x.dtype)


_CALLS: dict[str, Any] = {
    **{f"UpsampleNearest{n}D": _resized("nearest", False) for n in (1, 2, 3)},
    "UpsampleLinear1D": _resized("linear", True), "UpsampleBilinear2D": _resized("bilinear", True),
    "UpsampleBicubic2D": _resized("bicubic", True), "UpsampleTrilinear3D": _resized("trilinear", True),
    **{f"ReflectionPad{n}D": _padded("reflect") for n in (1, 2, 3)},
    **{f"ReplicationPad{n}D": _padded("replicate") for n in (1, 2, 3)},
    "ConstantPadND": _padded("constant"),
    "DivMod": _divmod, "DivMods": _divmod, "ScatterValue": _scatter_value,
    "NewOnes": _new(ops.ones), "NewZeros": _new(ops.zeros), "NewFull": _new(ops.full),
    "Clone": lambda x: x.copy(), "Copy": lambda x: x.copy(), "Contiguous": lambda x: x, "Detach": ops.stop_gradient,
    "View": lambda x, shape: ops.reshape(x, shape), "Index": lambda x, indices: x[tuple(indices)],
    "ToDtype": lambda x, dtype=None, *rest: x.astype(dtype), "ToOther": lambda x, other, *rest: x.astype(other.dtype),
    "Repeat": lambda x, repeats: ops.tile(x, repeats), "FillScalar": lambda size, value, dtype=None: ops.full(size, value, dtype=dtype),
    "LinalgVectorNorm": lambda x, ord=2.0, dim=None, keepdim=False, dtype=None: mint.linalg.vector_norm(x, ord, dim, keepdim, dtype=dtype),
    "LpNormV2": lambda x, p=2.0, dim=None, keepdim=False, epsilon=1e-12: mint.linalg.vector_norm(x, p, dim, keepdim),
    "BitwiseNot": mint.bitwise_not,
    "IsNegInf": ops.isneginf, "ScalarBool": bool, "TupleToList": list, "ListToTuple": tuple,
    "CrossEntropyLoss": lambda x, target, weight=None, reduction="mean", ignore_index=-100, label_smoothing=0.0, *rest:
        ops.cross_entropy(x, target, weight, ignore_index, reduction, label_smoothing),
}  # fmt: skip

_MADE = {
    "AdamW": AdamW, "ConcatOffset": ConcatOffset, "FmodScalar": FmodScalar, "KVCacheScatterUpdate": KVCacheScatterUpdate,
    "SliceExt": SliceExt,
    **{name: plain(name, function) for name, function in _CALLS.items()},
}  # fmt: skip
globals().update(_MADE)
__all__ = list(_MADE)
