"""Watchpoints as the user edits them: a condition, its parameters, and the nodes it is for."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from mindinsight.online.conditions import CONDITIONS
from mindinsight.online.graphs import Graph, Graphs, full_name
from mindinsight.server import errors


@dataclass
class Watchpoint:
    """A condition for some nodes."""

    condition: str
    params: list[dict[str, Any]]
    nodes: set[tuple[str, str]] = field(default_factory=set)  #: graph and shown name
    name: str = ""
    changed: bool = True
    is_new: bool = True

    def reply(self, number: int, actual: dict[str, float] | None = None) -> dict[str, Any]:
        """As official replies have it; `actual`: the measures of a hit."""
        params = self.params if actual is None else [{**p, "actual_value": actual.get(p["name"])} for p in self.params]
        condition = {"id": self.condition, "params": params, "abbr": CONDITIONS[self.condition].abbr}
        return {"id": number, "watch_condition": condition, **({"name": self.name} if self.name else {})}

    def suits(self, graphs: Graphs) -> list[tuple[Graph, str]]:
        """The nodes that the condition is for, with their graphs."""
        wanted = CONDITIONS[self.condition].target
        places = ((graphs.by_name.get(graph), name) for graph, name in sorted(self.nodes))
        return [(graph, name) for graph, name in places
                if graph and name in graph.leaves and wanted in ("tensor", graph.category(name))]  # fmt: skip

    def targets(self, graphs: Graphs) -> list[tuple[tuple[str, str], str]]:
        """((graph, full name), type) of these nodes, for the training."""
        self.is_new = False
        return [((graph.name, full_name(graph.leaves[name])), graph.leaves[name].kind) for graph, name in self.suits(graphs)]

    def protocol_params(self) -> list[tuple[str, bool, float]]:
        """Name, whether it is off, value of every parameter of the condition."""
        given = {p["name"]: p["value"] for p in self.params}
        found = []
        for parameter in CONDITIONS[self.condition].parameters:
            hidden = parameter.default if not parameter.shown else None
            value = given.get(parameter.name, hidden)
            found.append((parameter.name, value is None, float(value or 0)))
        return found


def checked(condition: Any) -> Watchpoint:
    """A watchpoint of what a request says."""
    if not isinstance(condition, dict) or condition.get("id") not in CONDITIONS:
        raise errors.wrong_value("'condition' should have the id of a condition that is offered.")
    kind = CONDITIONS[condition["id"]]
    params = condition.get("params") or []
    names = {p.name for p in kind.parameters}
    good = isinstance(params, list) and all(
        isinstance(p, dict) and p.get("name") in names and isinstance(p.get("value"), (int, float)) for p in params
    )
    if not good:
        raise errors.wrong_value(f"'params' of {kind.id} should be a list of name and value; names are {sorted(names)}.")
    checks = [p for p in kind.parameters if not p.supports]
    if checks and not any(p["name"] in {c.name for c in checks} for p in params):
        raise errors.wrong_value(f"{kind.id} needs at least one of {', '.join(c.name for c in checks)}.")
    return Watchpoint(kind.id, [{"name": p["name"], "value": p["value"]} for p in params])


def nodes_of(graphs: Graphs, names: Any, graph_name: str | None) -> set[tuple[str, str]]:
    """The operations and Parameters that names of nodes and scopes stand for."""
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise errors.wrong_type("watch_nodes", "list of str")
    found: set[tuple[str, str]] = set()
    for name in names:
        many = not graph_name and len(graphs.by_name) > 1 and name in graphs.by_name
        graph, inner, _ = (graphs.by_name[name], "", True) if many else graphs.split(name, graph_name)
        below = list(graph.leaves) if many else graph.below(inner)
        if not below:
            raise errors.no_node(name)
        found |= {(graph.name, leaf) for leaf in below}
    return found


# -- what is worth watching from the start ------------------------------------------------------------------------------------
_ENDS = ("range_start_inclusive", "range_end_inclusive")
#: by the operation's type: the range in which an activation says something, and the share of values that is suspicious
_ACTIVATIONS: dict[str, dict[str, float]] = {
    "Tanh": {**dict(zip(_ENDS, (math.tanh(-8.8), math.tanh(8.8)))), "range_percentage_lt": 0.1},
    "Sigmoid": {**dict(zip(_ENDS, (1 / (1 + math.exp(16.2)), 1 / (1 + math.exp(-16.2))))), "range_percentage_lt": 0.1},
    "ReLU": {**dict(zip(_ENDS, (-1.0, 0.0))), "range_percentage_gt": 99.9},
}
_RECOMMENDED: dict[str, dict[str, float]] = {
    "weight_initialization": {"zero_percentage_ge": 100},
    "weight_change_too_large": {"abs_mean_update_ratio_gt": 1},
    "operator_overflow": {},
    "tensor_overflow": {},
}


def recommended(graphs: Graphs, backend: str, step: int) -> list[Watchpoint]:
    """Watchpoints that suit most networks; only those that have something to watch.

    They are the official ones without tensors of zeros, and without offsets that begin as zeros, so that any change of them is
    large: these would stop nearly every training. For the same reason vanishing gradients are looked for where the backward pass
    ends, at what optimizers get: within it masks and `ZerosLike` are zero in every step.
    """
    everything = {(graph.name, name) for graph in graphs.by_name.values() for name in graph.leaves}
    found = []
    for kind, params in _RECOMMENDED.items():
        condition = CONDITIONS[kind]
        if condition.only_for in ("", backend) and not (condition.before_training and step):
            nodes = everything if condition.target != "weight" else {one for one in everything if not one[1].endswith((".bias", ".beta"))}
            found.append(_named(kind, params, nodes, f"recommend_{kind}_watchpoint"))
    found.append(_named("gradient_vanishing", {"abs_mean_lt": 1e-9}, _gradients(graphs), "recommend_gradient_vanishing_watchpoint"))
    for operation, params in _ACTIVATIONS.items():
        nodes = {(graph, name) for graph, name in everything if graphs.by_name[graph].leaves[name].kind in (operation, f"{operation}V2")}
        found.append(_named("activation_range", params, nodes, f"recommend_{operation.lower()}_activation_range_watchpoint"))
    return [watch for watch in found if watch.suits(graphs)]


def _gradients(graphs: Graphs) -> set[tuple[str, str]]:
    """Gradients that leave the backward pass; where nothing uses them, all."""
    found = {(graph.name, name) for graph in graphs.by_name.values() for name in graph.leaves if graph.category(name) == "gradient"}
    leaving = {(graph, name) for graph, name in found
               if any(not user.startswith("Gradients/") for user in graphs.by_name[graph].leaves[name].edges["output"])}  # fmt: skip
    return leaving or found


def _named(kind: str, params: dict[str, float], nodes: set[tuple[str, str]], name: str) -> Watchpoint:
    return Watchpoint(kind, [{"name": key, "value": value} for key, value in params.items()], nodes, name)
