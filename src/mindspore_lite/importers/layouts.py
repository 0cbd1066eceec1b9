"""`inputDataFormat` and `outputDataFormat`: images of a model in another order of dimensions than its source has them.

Every input or output with four dimensions gets a transposition, which conversion moves and joins with others where it can.
"""

from __future__ import annotations

from typing import Any

from onnx import helper

LAYOUTS = ("NCHW", "NHWC")
#: order of the dimensions of the other layout, by the layout that is turned
_TO_OTHER = {"NCHW": (0, 2, 3, 1), "NHWC": (0, 3, 1, 2)}
_RANK = 4


def turned_shape(shape: tuple[int, ...], have: str) -> tuple[int, ...]:
    """The sizes of an image in the layout other than the one it has."""
    return tuple(shape[place] for place in _TO_OTHER[have]) if len(shape) == _RANK else shape


def with_inputs_turned(model: Any, have: str) -> Any:
    """The model message with its images coming in the layout other than the one it has."""
    made = _copy(model)
    constants = {t.name for t in made.graph.initializer}
    other = _other(have)
    nodes = []
    for value in made.graph.input:
        if value.name in constants or not _is_image(value):
            continue
        inner = f"{value.name}/{have.lower()}"
        _turn_sizes(value, have)
        nodes.append(helper.make_node("Transpose", [value.name], [inner], name=inner, perm=_TO_OTHER[other]))
        for node in made.graph.node:
            for place, name in enumerate(node.input):
                if name == value.name:
                    node.input[place] = inner
    _set_nodes(made, [*nodes, *made.graph.node])
    return made


def with_outputs_turned(model: Any, have: str) -> Any:
    """The model message with its images going out in the layout other than the one it has."""
    made = _copy(model)
    nodes = list(made.graph.node)
    for value in made.graph.output:
        if not _is_image(value):
            continue
        inner = f"{value.name}/{have.lower()}"
        for node in made.graph.node:
            for names in (node.input, node.output):
                for place, name in enumerate(names):
                    if name == value.name:
                        names[place] = inner
        _turn_sizes(value, have)
        nodes.append(helper.make_node("Transpose", [inner], [value.name], name=value.name, perm=_TO_OTHER[have]))
    _set_nodes(made, nodes)
    return made


def _other(layout: str) -> str:
    return LAYOUTS[1 - LAYOUTS.index(layout)]


def _copy(model: Any) -> Any:
    made = type(model)()
    made.CopyFrom(model)
    return made


def _set_nodes(model: Any, nodes: list[Any]) -> None:
    kept = [type(node).FromString(node.SerializeToString()) for node in nodes]
    del model.graph.node[:]
    model.graph.node.extend(kept)


def _is_image(value: Any) -> bool:
    return value.type.HasField("tensor_type") and len(value.type.tensor_type.shape.dim) == _RANK


def _turn_sizes(value: Any, have: str) -> None:
    sizes = value.type.tensor_type.shape.dim
    found = [type(size).FromString(size.SerializeToString()) for size in sizes]
    del sizes[:]
    sizes.extend(found[place] for place in _TO_OTHER[have])
