"""Classes of official generated code that have no function of the same words."""

from __future__ import annotations

from typing import Any

from mindspore import ops
from mindspore.ops.composition import composition, plain

__all__ = ["AdamW", "FmodScalar", "KVCacheScatterUpdate", "SliceExt"]


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
    length = updates.shape[axis]
    for b, start in enumerate(indices.reshape(-1).asnumpy().tolist()):
        place = (b, *[slice(None)] * (axis - 1), slice(start, start + length))
        var[place] = updates[b]
    return var


KVCacheScatterUpdate = composition("KVCacheScatterUpdate", _scatter_cache, "New rows of a cache of keys or values.")


def in_place_class(name: str) -> Any:
    """`InplaceAddExt` calls `x.add_(…)`; None if tensors have no such method."""
    from mindspore import Tensor

    method = f"{name.removeprefix('Inplace').removesuffix('Ext').lower()}_"
    if not hasattr(Tensor, method):
        return None
    return composition(name, lambda p, x, *args, **kw: getattr(x, method)(*args, **kw), f"`x.{method}(…)`.")
