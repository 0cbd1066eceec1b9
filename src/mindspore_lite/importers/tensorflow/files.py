"""Reading TensorFlow's files.

    frozen graph  = GraphDef: nodes with the weights as constants
    SavedModel    = folder: saved_model.pb (graphs, functions, signatures) and variables/ (a checkpoint)

A variable is known by the restoring part of the graph: RestoreV2 names the checkpoint's key, an assignment hands it to the variable.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from mindspore_lite.importers.tensorflow import checkpoint
from mindspore_lite.importers.tensorflow.graph import CALLS, OWN, Held, Importer, Use, node_of, order_of
from mindspore_lite.importers.tensorflow.messages import (
    FunctionDef,
    GraphDef,
    MetaGraph,
    NodeDef,
    SavedModel,
    SignatureDef,
    numpy_type,
)
from mindspore_lite.importers.tensorflow.rules import RULES
from mindspore_lite.source import UnsupportedError


def read(path: str) -> Any:
    """The ONNX message of a frozen graph's file, or of a SavedModel's folder (or its saved_model.pb)."""
    folder = path if os.path.isdir(path) else os.path.dirname(path) if os.path.basename(path) == "saved_model.pb" else None
    if folder is None:
        with open(path, "rb") as stream:
            return _frozen(GraphDef.decode(stream.read()))
    place = os.path.join(folder, "saved_model.pb")
    if not os.path.exists(place):
        raise ValueError(f"{folder} has no saved_model.pb")
    with open(place, "rb") as stream:
        graphs = SavedModel.decode(stream.read()).meta_graphs
    if not graphs:
        raise ValueError(f"{place} has no graph")
    serving = next((g for g in graphs if g.info is not None and "serve" in g.info.tags), graphs[0])
    return _saved(serving, checkpoint.read(os.path.join(folder, "variables")))


def _functions(graph: GraphDef) -> dict[str, FunctionDef]:
    listed = graph.library.function if graph.library is not None else []
    return {f.signature.name: f for f in listed if f.signature is not None}


def _check(nodes: Mapping[str, NodeDef], wanted: list[str], importer: Importer) -> None:
    """UnsupportedError with all operations that have no rule."""
    missing: dict[str, list[str]] = {}
    todo, seen = [(nodes, wanted, "")], set[str]()
    while todo:
        around, targets, inside = todo.pop()
        for name in order_of(around, targets, dict.fromkeys(_arguments(importer, inside), 0)):
            node = around[name]
            if node.op in CALLS:
                function = importer.function(node)
                if function.signature.name not in seen:
                    seen.add(function.signature.name)
                    inner = {n.name: n for n in function.node}
                    todo.append((inner, [node_of(e.value) for e in function.ret], function.signature.name))
            elif node.op not in importer.rules and node.op not in OWN:
                missing.setdefault(node.op or "?", []).append(name)
    if missing:
        listed = "; ".join(f"{op} (at {', '.join(at[:5])}{' …' * (len(at) > 5)})" for op, at in missing.items())
        raise UnsupportedError(f"the model uses TensorFlow operations that are not supported: {listed}")


def _arguments(importer: Importer, function: str) -> list[str]:
    return [a.name for a in importer.functions[function].signature.input_arg] if function else []


def _frozen(graph: GraphDef) -> Any:
    nodes = {n.name: n for n in graph.node if n.name}
    if not nodes:
        raise ValueError("the file has no nodes; is it a frozen graph (GraphDef)?")
    used = {node_of(i) for n in graph.node for i in n.input}
    outputs = [n.name for n in graph.node if n.name not in used and n.op not in ("NoOp", "Placeholder", "Const", "Assert", "SaveV2")]
    inputs = {n.name: n for n in graph.node if n.op == "Placeholder"}
    importer = Importer(RULES, _functions(graph), {})
    _check(nodes, outputs, importer)
    infos, known = [], {}
    for name, node in inputs.items():
        use = Use(importer, node, [])
        shape = use.attributes.get("shape")
        sizes = shape.shape.sizes() if shape is not None and shape.shape is not None else None
        infos.append(_input(importer, name, use.dtype("dtype"), sizes))
        known[name] = [Held(plain=name)]
    found = importer.follow(nodes, outputs, known)
    return _finished(importer, infos, list(zip(outputs, found)))


def _saved(meta: MetaGraph, values: Mapping[str, np.ndarray]) -> Any:
    graph = meta.graph
    if graph is None:
        raise ValueError("the SavedModel has no graph")
    signatures = {entry.key: entry.value for entry in meta.signature if entry.value is not None and not (entry.key or "").startswith("__")}
    signature: SignatureDef | None = signatures.get("serving_default") or next(iter(signatures.values()), None)
    if signature is None:
        raise ValueError("the SavedModel has no signature; save it with signatures=…")
    nodes = {n.name: n for n in graph.node if n.name}
    importer = Importer(RULES, _functions(graph), {})
    importer.variables = _restored(graph, importer, values)
    outputs = {entry.key: entry.value.name for entry in signature.outputs if entry.value is not None}
    _check(nodes, [node_of(o) for o in outputs.values()], importer)
    infos, known = [], {}
    for entry in signature.inputs:
        kind = numpy_type(entry.value.dtype)
        if kind is None:
            raise UnsupportedError(f"the input '{entry.key}' has elements of a type that is not supported")
        infos.append(_input(importer, entry.key, kind, entry.value.shape.sizes() if entry.value.shape is not None else None))
        known[node_of(entry.value.name)] = [Held(plain=entry.key)]
    return _finished(importer, infos, list(zip(outputs, importer.follow(nodes, outputs.values(), known))))


def _input(importer: Importer, name: str, kind: np.dtype, sizes: list[int] | None) -> Any:
    if sizes is None:
        raise UnsupportedError(f"the input '{name}' leaves its number of dimensions open; export the model with an input signature")
    return importer.writer.info(importer.writer.reserve(name), kind, [None if size < 0 else size for size in sizes])


def _finished(importer: Importer, inputs: list[Any], outputs: list[tuple[str, Held]]) -> Any:
    infos = []
    for name, held in outputs:
        shown = name if name not in importer.writer._taken else importer.writer.fresh(name)
        importer.writer.node("Identity", [importer.plain(held)], [importer.writer.reserve(shown)])
        infos.append(importer.writer.onnx.ValueInfoProto(name=shown))
    return importer.writer.model("main", inputs, infos)


# -- variables ----------------------------------------------------------------------------------------------------------
def _restored(graph: GraphDef, importer: Importer, values: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The values of variables by their nodes' names: assignments of what RestoreV2 reads, in the graph and in functions that restore."""
    found: dict[str, np.ndarray] = {}
    top = {n.name: n for n in graph.node if n.name}
    for variable, key in _assignments(top):
        if key in values:
            found[variable] = values[key]
    for node in graph.node:
        if node.op in CALLS:
            function = importer.function(node)
            places = {a.name: node_of(i) for a, i in zip(function.signature.input_arg, node.input)}
            for argument, key in _assignments({n.name: n for n in function.node}):
                if argument in places and key in values:
                    found[places[argument]] = values[key]
    return found


def _assignments(nodes: Mapping[str, NodeDef]) -> list[tuple[str, str]]:
    """(variable, key) of every assignment of a restored value."""
    found = []
    for node in nodes.values():
        if node.op not in ("AssignVariableOp", "Assign") or len(node.input) < 2:
            continue
        reference = node.input[1]
        while (source := nodes.get(node_of(reference))) is not None and source.op == "Identity" and source.input:
            reference = source.input[0]
        if source is None or source.op != "RestoreV2" or len(source.input) < 2:
            continue
        names = nodes.get(node_of(source.input[1]))
        number = int(reference.split(":")[-1]) if ":" in reference else 0
        keys = _strings(names)
        if number < len(keys):
            found.append((node_of(node.input[0]), keys[number]))
    return found


def _strings(node: NodeDef | None) -> list[str]:
    """The elements of a constant of strings."""
    tensor = next((e.value.tensor for e in node.attr if e.key == "value" and e.value is not None), None) if node is not None else None
    if tensor is None:
        return []
    return [bytes(s).decode("utf-8", "replace") for s in tensor.string_val]
