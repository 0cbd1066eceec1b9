"""A data pipeline as a message for the dashboard."""

from __future__ import annotations

from typing import Any

from mindspore.train.summary.messages import (
    BoolEntry,
    DatasetGraph,
    DoubleEntry,
    Entry,
    IntEntry,
    ListEntry,
    OperationParameter,
    StringList,
)

_DEEPEST = 100


def dataset_message(dataset: Any, depth: int = 0) -> DatasetGraph:
    """The steps of a dataset, the last one at the root."""
    graph = DatasetGraph(parameter=_parameters(dataset))
    if depth < _DEEPEST:
        for child in getattr(dataset, "children", None) or ():
            graph.children.append(dataset_message(child, depth + 1))
    return graph


def _parameters(dataset: Any) -> OperationParameter:
    found = OperationParameter(mapStr=[Entry(key="op_type", value=type(dataset).__name__.removesuffix("Dataset"))])
    for name, value in sorted(getattr(dataset, "__dict__", {}).items()):
        if name.startswith("_") or name in ("children", "parent"):
            continue
        if isinstance(value, bool):
            found.mapBool.append(BoolEntry(key=name, value=value))
        elif isinstance(value, int) and abs(value) < 2**31:
            found.mapInt.append(IntEntry(key=name, value=value))
        elif isinstance(value, float):
            found.mapDouble.append(DoubleEntry(key=name, value=value))
        elif isinstance(value, str):
            found.mapStr.append(Entry(key=name, value=value))
        elif isinstance(value, (list, tuple)) and value and all(isinstance(v, str) for v in value):
            found.mapStrList.append(ListEntry(key=name, value=StringList(strValue=list(value))))
    return found
