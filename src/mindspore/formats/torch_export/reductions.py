"""ATen reductions, sorts and running sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore.formats.torch_export.registry import RULES, Rule, Value, rule
from mindspore.formats.torch_export.writer import AtenWriter as Writer


def _axes(x: Value, axes: Any) -> np.ndarray:
    """The dimensions meant; all of them for None and nothing."""
    chosen = [axes] if isinstance(axes, int) and not isinstance(axes, bool) else axes
    return np.array(sorted(a % x.rank for a in chosen) if chosen else range(x.rank), np.int64)


def _reduced(op: str) -> Callable[..., str]:
    def write(w: Writer, x: Value, axes: Any = None, keep: Any = False, *_: Any) -> str:
        name = w.as_type(x, w.dtype)
        return w.op(op, name, _axes(x, axes), keepdims=int(keep is True)) if x.rank else name

    return write


for _name, _op in {"sum.dim_IntList": "ReduceSum", "mean.dim": "ReduceMean", "amax": "ReduceMax", "amin": "ReduceMin",
                   "logsumexp": "ReduceLogSumExp"}.items():  # fmt: skip
    RULES[_name] = _reduced(_op)
for _name, _op in {"sum.default": "ReduceSum", "mean.default": "ReduceMean", "max.default": "ReduceMax", "min.default": "ReduceMin",
                   "prod.default": "ReduceProd"}.items():  # fmt: skip
    RULES[_name] = lambda w, x, *_, op=_op: _reduced(op)(w, x, None, False)
RULES["prod.dim_int"] = _reduced("ReduceProd")


def _logical(op: str) -> Rule:
    def write(w: Writer, x: Value, axes: Any = None, keep: bool = False) -> str:
        whole = w.cast(w.as_type(x, "bool"), "int32")
        found = w.op(op, whole, _axes(x, axes), keepdims=int(keep)) if x.rank else whole
        return w.cast(found, "bool")

    return write


RULES["any"], RULES["all"] = _logical("ReduceMax"), _logical("ReduceMin")


def _found(reduce: str, arg: str) -> Rule:
    def write(w: Writer, x: Value, axis: int, keep: bool = False) -> list[str]:
        if not x.rank:
            return [x.name, w.number(0, "int64")]
        values = w.op(reduce, x, np.array([axis % x.rank]), keepdims=int(keep))
        return [values, w.op(arg, x, axis=axis % x.rank, keepdims=int(keep))]

    return write


RULES["max.dim"], RULES["min.dim"] = _found("ReduceMax", "ArgMax"), _found("ReduceMin", "ArgMin")


def _arg(op: str) -> Rule:
    def write(w: Writer, x: Value, axis: int | None = None, keep: bool = False) -> str:
        if axis is None:
            return w.op(op, w.op("Reshape", x, np.array([-1])), axis=0, keepdims=0)
        return w.op(op, x, axis=axis % x.rank, keepdims=int(keep))

    return write


RULES["argmax"], RULES["argmin"] = _arg("ArgMax"), _arg("ArgMin")


def _variance(w: Writer, x: Value, axes: Any, correction: Any, keep: Any) -> tuple[str, str]:
    """The variance and the mean."""
    chosen = _axes(x, axes)
    sizes = [x.size(int(a)) for a in chosen]
    if None in sizes:
        raise ValueError("a variance along a size that is left open is not supported")
    mean = w.op("ReduceMean", x, chosen, keepdims=1)
    apart = w.op("Sub", x, mean)
    total = w.op("ReduceSum", w.op("Mul", apart, apart), chosen, keepdims=int(keep is True))
    less = 1 if correction is None or correction is True else float(correction)
    count = max(float(np.prod([s for s in sizes if s is not None])) - less, 0.0)
    shown = mean if keep is True else w.op("Squeeze", mean, chosen)
    return w.op("Div", total, w.number(count, w.dtype)), shown


@rule("var.correction")
def _var(w: Writer, x: Value, axes: Any = None, correction: Any = None, keep: bool = False) -> str:
    return _variance(w, x, axes, correction, keep)[0]


@rule("std.correction")
def _std(w: Writer, x: Value, axes: Any = None, correction: Any = None, keep: bool = False) -> str:
    return w.op("Sqrt", _variance(w, x, axes, correction, keep)[0])


@rule("var_mean.correction")
def _var_mean(w: Writer, x: Value, axes: Any = None, correction: Any = None, keep: bool = False) -> list[str]:
    return list(_variance(w, x, axes, correction, keep))


@rule("linalg_vector_norm")
def _norm(w: Writer, x: Value, order: Any = 2, axes: Any = None, keep: bool = False, *_: Any) -> str:
    ops = {1: "ReduceL1", 2: "ReduceL2"}
    if order in ops:
        return _reduced(ops[order])(w, x, axes, keep)
    size = w.op("Abs", x)
    if order in (float("inf"), float("-inf")):
        return w.op("ReduceMax" if order > 0 else "ReduceMin", size, _axes(x, axes), keepdims=int(keep))
    total = w.op("ReduceSum", w.op("Pow", size, w.number(order, w.dtype)), _axes(x, axes), keepdims=int(keep))
    return w.op("Pow", total, w.number(1 / order, w.dtype))


@rule("cumsum")
def _cumsum(w: Writer, x: Value, axis: int, *_: Any) -> str:
    name = w.as_type(x, w.dtype)
    return w.op("CumSum", name, np.array(axis % x.rank, np.int64)) if x.rank else name


@rule("topk")
def _topk(w: Writer, x: Value, count: Any, axis: int = -1, largest: bool = True, ordered: bool = True) -> list[str]:
    return w.ops("TopK", 2, x, w.sizes([count]), axis=axis % x.rank, largest=int(largest), sorted=int(ordered))


@rule("sort.default")
def _sort(w: Writer, x: Value, axis: int = -1, descending: bool = False) -> list[str]:
    count = w.op("Slice", w.op("Shape", x), np.array([axis % x.rank]), np.array([axis % x.rank + 1]))
    size = x.size(axis)
    return w.ops("TopK", 2, x, count if size is None else np.array([size], np.int64), axis=axis % x.rank, largest=int(descending))


RULES["sort.stable"] = lambda w, x, stable=None, axis=-1, descending=False: _sort(w, x, axis, descending)
RULES["argsort"] = lambda w, x, axis=-1, descending=False: _sort(w, x, axis, descending)[1]
