"""A data pipeline as a message for the dashboard: the form that `dataset.serialize` gives, field by field."""

from __future__ import annotations

import json
from typing import Any

from mindspore.formats.events.messages import (
    BoolEntry,
    DatasetGraph,
    DoubleEntry,
    Entry,
    IntEntry,
    ListEntry,
    Operation,
    OperationParameter,
    StringList,
)

_DEEPEST = 100
_OPERATIONS, _SAMPLER, _CHILDREN = "operations", "sampler", "children"


def dataset_message(dataset: Any) -> DatasetGraph:
    """The steps of a dataset, the last one at the root; empty for data that is no pipeline."""
    form = dataset.to_json() if hasattr(dataset, "to_json") else {"op_type": type(dataset).__name__}
    return _step_message(form, 0)


def _step_message(form: dict[str, Any], depth: int) -> DatasetGraph:
    graph = DatasetGraph(parameter=OperationParameter())
    for child in form.get(_CHILDREN, ()) if depth < _DEEPEST else ():
        graph.children.append(_step_message(child, depth + 1))
    for name, value in sorted(form.items()):
        if name == _OPERATIONS:
            graph.operations += [_operation(operation) for operation in value or ()]
        elif name == _SAMPLER and isinstance(value, dict):
            graph.sampler = _operation(value)
        elif name not in (_CHILDREN, _SAMPLER):
            _add(graph.parameter, name, value)
    return graph


def _operation(form: Any) -> Operation:
    parameter = OperationParameter()
    for name, value in form.items() if isinstance(form, dict) else [("tensor_op_name", str(form))]:
        _add(parameter, name, value)
    return Operation(operationParam=parameter)


def _add(parameter: OperationParameter, name: str, value: Any) -> None:
    """Lists are lists of JSON texts, and what has no field of its own is one; empty lists are left out."""
    if isinstance(value, bool):
        parameter.mapBool.append(BoolEntry(key=name, value=value))
    elif isinstance(value, int) and abs(value) < 2**31:
        parameter.mapInt.append(IntEntry(key=name, value=value))
    elif isinstance(value, (int, float)):
        parameter.mapDouble.append(DoubleEntry(key=name, value=float(value)))
    elif isinstance(value, (list, tuple)):
        if value:
            parameter.mapStrList.append(ListEntry(key=name, value=StringList(strValue=[json.dumps(v) for v in value])))
    else:
        text = value if isinstance(value, str) else json.dumps(value) if isinstance(value, dict) else str(value)
        parameter.mapStr.append(Entry(key=name, value=text))
