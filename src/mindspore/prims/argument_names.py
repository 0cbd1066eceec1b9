"""Arguments of primitives given by name: `ops.ReduceSum()(x, axis=1)`.

A primitive's rules take positions. Names are turned into positions here: those that users know, listed below where they
differ from the names in the primitive's `infer` rule, or that rule's own.
"""

from __future__ import annotations

import inspect
from typing import Any

#: how arguments are called where the `infer` rule calls them otherwise
_KNOWN = {
    "AdamWeightDecay": "var m v lr beta1 beta2 epsilon decay gradient",
    "Argmax": "input_x",
    "Argmin": "input_x",
    "BatchMatMul": "x y",
    "Betainc": "a b x",
    "Bmm": "input mat2",
    "BroadcastTo": "input",
    "Cholesky": "input_x",
    "Complex": "real imag",
    "Concat": "tensors",
    "CumSum": "input axis",
    "Cummax": "input",
    "Cummin": "input",
    "Elu": "input_x",
    "ExpandDims": "input_x axis",
    "Gather": "input_params input_indices axis",
    "GatherNd": "input_x indices",
    "Hardtanh": "input min_val max_val",
    "LayerNorm": "input_x gamma beta",
    "LeftShift": "x1 x2",
    "LogMatrixDeterminant": "input",
    "LogSoftmax": "logits",
    "MatMul": "input mat2",
    "MatrixDeterminant": "input",
    "MatrixExp": "input",
    "PReLU": "input weight",
    "Pow": "input exponent",
    "Range": "start end step",
    "ReduceAll": "input axis",
    "ReduceAny": "x axis",
    "Reshape": "input shape",
    "RightShift": "input_x input_y",
    "SearchSorted": "sorted_sequence values sorter",
    "Select": "condition input other",
    "Softmax": "input",
    "Squeeze": "input",
    "Stack": "tensors",
    "Svd": "input",
    "TensorScatterAdd": "input_x indices updates",
    "TensorScatterElements": "data indices updates",
    "TensorScatterUpdate": "input_x indices updates",
    "Threshold": "input threshold value",
    "Tile": "input dims",
    "Transpose": "input dims",
    "Triu": "input",
}
#: of element-by-element rules, which take any number of tensors
_ELEMENTWISE = (("input", "other"), ("x", "y"), ("x1", "x2"), ("input_x", "input_y"))


def positional(prim: Any, args: tuple, named: dict[str, Any]) -> tuple:
    """All arguments of a call in their positions."""
    for names in _spellings(prim):
        open_places = names[len(args) :]
        if set(open_places[: len(named)]) == set(named):
            return (*args, *(named[name] for name in open_places[: len(named)]))
    known = ", ".join(next(iter(_spellings(prim)))) or "none"
    unknown = ", ".join(f"'{name}'" for name in named)
    raise TypeError(f"For '{prim.name}', got arguments {unknown} by name, but its arguments are: {known}.")


def _spellings(prim: Any) -> list[tuple[str, ...]]:
    known = _KNOWN.get(prim.name) or _KNOWN.get(type(prim).__name__) or " ".join(getattr(prim, "arguments", ()))
    own = [p.name for p in inspect.signature(prim.infer).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    return [*([tuple(known.split())] if known else []), *([tuple(own)] if own else _ELEMENTWISE)]
