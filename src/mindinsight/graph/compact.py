"""A graph in columns, as pages draw it: they build the scopes themselves."""

from __future__ import annotations

from typing import Any

from mindinsight.graph.message import Message

_MOST_SHAPES = 4


def compact(graph: Message) -> dict[str, Any]:
    """Names, types, shapes and inputs (by number) of all nodes, parameters and constants, in this order."""
    place: dict[str, int] = {}
    shown: list[str] = []
    types: list[str] = []
    shapes: list[list[list[int]]] = []
    for node in graph.nodes:
        place[node.name] = place[node.name.split("/")[-1].split("op")[-1]] = len(shown)
        shown.append(node.full_name or "/".join(part for part in (node.scope, f"{node.op_type}-{node.name}") if part))
        types.append(node.op_type)
        shapes.append(node.type.shapes[:_MOST_SHAPES])
    named = [(name, kind, "Parameter") for name, kind in graph.parameters] + [(key, kind, "Const") for key, _, kind in graph.constants]
    for name, kind, sort in named:
        place[name] = len(shown)
        shown.append(name)
        types.append(sort)
        shapes.append(kind.shapes[:_MOST_SHAPES])
    inputs: list[list[int]] = []
    for node in graph.nodes:
        found = (place.get(source, place.get(source.split("op")[-1])) for source, _ in node.inputs)
        inputs.append([number for number in found if number is not None])
    return {"names": shown, "types": types, "shapes": shapes, "inputs": inputs}
