"""The debugger's routes, as official MindInsight has them. Session "0" is the training that is connected, others are dump folders."""

from __future__ import annotations

import io
import re
from typing import Any

import numpy as np
from starlette.responses import Response

from mindinsight.graph.compact import compact
from mindinsight.graph.tree import Node
from mindinsight.online import conditions, tensors, watching
from mindinsight.online.dumped import DumpSession
from mindinsight.online.graphs import Graph, full_name
from mindinsight.online.messages import DTYPES
from mindinsight.online.session import PENDING, Session, refused
from mindinsight.server import dump_sessions, errors
from mindinsight.server.calls import Call, Handler, route

_BASE = "/debugger/sessions/{session}"
_NUMBERS = {name: f"DT_{name.upper()}" for name in DTYPES.values()}
_MOST_STEPS = 2**31 - 1
_ERRORS = ("NaN", "INF", "no_previous_step", "exceeds_memory_limit", "graph_history_missing", "no_value")


def _session(call: Call) -> Session:
    number = call.parts.get("session") or call.query.get("session", "0")
    if number != "0":
        return dump_sessions.find(call, number)
    found = call.state.get("debugger")
    if not isinstance(found, Session):
        raise refused("The debugger is off: start the server with --enable-debugger True.")
    return found


def _locked(method: str, path: str) -> Any:
    """A route whose handler sees the session as it is at one moment."""

    def add(handler: Any) -> Handler:
        def answer(call: Call) -> Any:
            session = _session(call)
            with session.lock:
                return handler(call, session)

        answer.__doc__ = handler.__doc__
        return route(method, _BASE + path)(answer)

    return add


def _text(given: dict[str, Any], name: str, default: str = "") -> str:
    value = given.get(name)
    if value is None:
        return default
    if not isinstance(value, str):
        raise errors.wrong_type(name, "str")
    return value


# -- what there is ------------------------------------------------------------------------------------------------------------
@_locked("POST", "/retrieve")
def retrieve(call: Call, session: Session) -> Any:
    """Everything, the nodes of a scope, or the watchpoints."""
    body = call.body()
    mode, params = body.get("mode"), body.get("params") or {}
    if mode == "all":
        if session.state == PENDING:
            return {"metadata": session.metadata()}
        graph = {"graph_names": session.graphs.names, "nodes": session.graphs.listed("")} if session.graphs.names else {}
        return {"metadata": session.metadata(), "graph": graph, "devices": session.devices(), "watch_points": _watchpoints(session)}
    if mode == "node":
        name, graph_name = _text(params, "name"), _text(params, "graph_name") or None
        if not session.graphs.names:
            return {"graph": {}}
        if params.get("single_node"):
            return {"graph": session.graphs.path(name, graph_name)}
        return {"graph": {"nodes": session.graphs.listed(name, graph_name)}}
    if mode == "watchpoint":
        return {"watch_points": _watchpoints(session)}
    if mode == "watchpoint_hit":
        return _hits(session, params)
    raise errors.wrong_value(f"'mode' should be one of all, node, watchpoint, watchpoint_hit, not {mode!r}.")


def _watchpoints(session: Session) -> list[dict[str, Any]]:
    return [watch.reply(number) for number, watch in session.watchpoints.items()]


@route("GET", f"{_BASE}/poll-data")
def poll(call: Call) -> Any:
    """News since a position; waits for some."""
    session = _session(call)
    return session.poll(call.integer("pos", 0))


@_locked("GET", "/condition-collections")
def condition_collections(call: Call, session: Session) -> Any:
    """The conditions that tensors may be watched by."""
    return conditions.collections(session.about.backend)


@_locked("GET", "/search")
def search(call: Call, session: Session) -> Any:
    """Nodes by name, category or source line; with a watchpoint, which of them it watches."""
    category = call.query.get("node_category") or ""
    if category not in ("", "weight", "gradient", "activation"):
        raise errors.wrong_value("'node_category' should be one of weight, gradient, activation.")
    number = call.integer("watch_point_id", 0)
    watched = None
    if number:
        watched = _watchpoint(session, number).nodes
    lines = call.query.get("stack_pattern") or ""
    graph_name = call.query.get("graph_name") or None
    if lines:
        return {"nodes": _by_line(session, lines, graph_name)}
    return {"nodes": session.graphs.search(call.query.get("name") or "", category, graph_name, watched)}


def _by_line(session: Session, pattern: str, graph_name: str | None) -> list[dict[str, Any]]:
    found = []
    for graph in session.graphs.by_name.values():
        if graph_name in (None, graph.name):
            fitting = [n for n in graph.leaves.values() if any(pattern in f"{s['file_path']}:{s['line_no']}" for s in n.stack)]
            found += graph.tree.nested(fitting)
    return found


@_locked("GET", "/stacks")
def stacks(call: Call, session: Session) -> Any:
    """Source lines with the nodes that come from them."""
    wanted = call.query.get("key_word") or ""
    found: dict[str, dict[int, Any]] = {}
    for graph in session.graphs.by_name.values():
        for name, node in graph.leaves.items():
            for line in node.stack:
                if wanted in f"{line['file_path']}:{line['line_no']} {line['code_line']}":
                    found.setdefault(line["file_path"], {}).setdefault(line["line_no"], {**line, "nodes": []})["nodes"].append(name)
    return {"stacks": [{"file_path": path, "items": [lines[n] for n in sorted(lines)]} for path, lines in sorted(found.items())]}


# -- commands -----------------------------------------------------------------------------------------------------------------
@_locked("POST", "/control")
def control(call: Call, session: Session) -> Any:
    """Continue, pause or end the training."""
    body = call.body()
    mode = body.get("mode")
    if mode == "continue":
        level, steps = body.get("level", "step"), body.get("steps", 1)
        if level not in ("step", "node", "line", "recheck"):
            raise errors.wrong_value(f"'level' should be one of step, node, line, recheck, not {level!r}.")
        if not isinstance(steps, int) or isinstance(steps, bool) or not (steps == -1 or 1 <= steps <= _MOST_STEPS):
            raise errors.wrong_value("'steps' should be -1, for no end, or a number of steps.")
        if level == "line":
            session.go_on("node", steps, _next_of_line(session, _text(body, "line")))
        else:
            session.go_on(level, steps, _target(session, body) if level == "node" else "")
    elif mode == "reset":
        if not isinstance(session, DumpSession) or not isinstance(body.get("steps"), int):
            raise errors.wrong_value("'reset' is for dump folders, and needs the number of a step as 'steps'.")
        session.reset(body["steps"])
    elif mode == "pause":
        session.pause()
    elif mode == "terminate":
        session.terminate()
    else:
        raise errors.wrong_value(f"'mode' should be one of continue, pause, reset, terminate, not {mode!r}.")
    return {"metadata": {"state": session.state, "enable_recheck": False, **_place(session)}}


def _place(session: Session) -> dict[str, Any]:
    """A dump is where it was told to go at once; a training gets there later, and says so."""
    return {"step": session.about.cur_step} if isinstance(session, DumpSession) else {}


def _target(session: Session, body: dict[str, Any]) -> str:
    name = _text(body, "name")
    if not name:
        return ""
    _, node, _ = session.graphs.leaf(name, _text(body, "graph_name") or None)
    return full_name(node)


def _next_of_line(session: Session, line: str) -> str:
    """The node of a source line ("path:number") that runs next, in this step or the following one."""
    for graph in session.graphs.by_name.values():
        order = {node.full_name: number for number, node in enumerate(graph.message.nodes)}
        of_line = [n.full_name for n in graph.message.nodes if any(line == f"{s['file_path']}:{s['line_no']}" for s in n.stack)]
        if of_line:
            here = order.get(session.about.cur_node, -1)
            return next((name for name in of_line if order[name] > here), of_line[0])
    raise errors.wrong_value(f"'line' should be a file, a colon and a number, where an operation comes from; {line!r} has none.")


@_locked("POST", "/recheck")
def recheck(call: Call, session: Session) -> Any:
    """Check the step again with the watchpoints as they are now."""
    if not session.may_recheck:
        raise refused("There is nothing to check again: no watchpoint has changed since the step was checked.")
    session.go_on("recheck", 1, "")
    return {"metadata": {"state": session.state, "enable_recheck": False}}


@_locked("POST", "/create-watchpoint")
def create_watchpoint(call: Call, session: Session) -> Any:
    """Watch nodes by a condition."""
    body = call.body()
    watch = watching.checked(body.get("condition"))
    watch.nodes = watching.nodes_of(session.graphs, body.get("watch_nodes") or [], _text(body, "graph_name") or None)
    watch.name = _text(body, "watch_point_name")
    return {"id": session.add_watchpoint(watch), **session.short_metadata()}


@_locked("POST", "/set-recommended-watch-points")
def recommend(call: Call, session: Session) -> Any:
    """Watch what is worth watching in most networks, or note that this is not wanted."""
    wanted = (call.body().get("requestBody") or {}).get("set_recommended")
    if not isinstance(wanted, bool):
        raise errors.wrong_value("Bool param should be given.")
    if session.recommended and session.watchpoints:
        raise refused("The recommended watchpoints have been set already.")
    session.recommended = True
    about = session.about
    numbers = [session.add_watchpoint(w) for w in watching.recommended(session.graphs, about.backend, about.cur_step)] if wanted else []
    return {**session.short_metadata(), **({"id": numbers} if wanted else {})}


@_locked("POST", "/update-watchpoint")
def update_watchpoint(call: Call, session: Session) -> Any:
    """Add nodes to a watchpoint (mode 1), or take them out (mode 0)."""
    body = call.body()
    watch = _watchpoint(session, body.get("watch_point_id"))
    nodes = watching.nodes_of(session.graphs, body.get("watch_nodes") or [], _text(body, "graph_name") or None)
    watch.nodes = watch.nodes | nodes if body.get("mode") == 1 else watch.nodes - nodes
    watch.changed = True
    return session.short_metadata()


@_locked("POST", "/delete-watchpoint")
def delete_watchpoint(call: Call, session: Session) -> Any:
    """Drop a watchpoint, or all."""
    session.drop_watchpoint(call.body().get("watch_point_id"))
    return session.short_metadata()


def _watchpoint(session: Session, number: Any) -> watching.Watchpoint:
    if number not in session.watchpoints:
        raise refused(f"There is no watchpoint {number}.")
    return session.watchpoints[number]


# -- hits ---------------------------------------------------------------------------------------------------------------------
@_locked("POST", "/search-watchpoint-hits")
def watchpoint_hits(call: Call, session: Session) -> Any:
    """What watchpoints have found in the step."""
    return _hits(session, call.body().get("group_condition") or {})


def _hits(session: Session, group: dict[str, Any]) -> dict[str, Any]:
    grouped: dict[tuple[str, str], dict[str, list[Any]]] = {}
    for hit in session.hits:
        grouped.setdefault(session.graphs.where(hit.node), {}).setdefault(hit.slot, []).append(hit)
    found = []
    for (graph, name), slots in grouped.items():
        about = [{"slot": slot, "watch_points": _hit_points(session, hits)} for slot, hits in slots.items()]
        found.append({"node_name": name, "tensors": about, "graph_name": graph})
    limit, offset = group.get("limit"), group.get("offset", 0)
    outdated = session.may_recheck
    if isinstance(limit, int) and isinstance(offset, int) and limit > 0 and offset >= 0:
        return {"watch_point_hits": found[offset * limit : (offset + 1) * limit], "outdated": outdated, "offset": offset,
                "total": len(found)}  # fmt: skip
    return {"watch_point_hits": found, "outdated": outdated}


def _hit_points(session: Session, hits: list[Any]) -> list[dict[str, Any]]:
    found = []
    for hit in hits:
        watch = session.watchpoints.get(hit.watchpoint)
        if watch is not None:
            words = [word for bit, word in enumerate(_ERRORS) if hit.error_code >> bit & 1]
            found.append({**watch.reply(hit.watchpoint, hit.actual), "error_code": hit.error_code, "error_list": words})
    return found


@_locked("GET", "/tensor-hits")
def tensor_hits(call: Call, session: Session) -> Any:
    """The watchpoints that a tensor has passed."""
    node, slot, _, _ = _tensor(call, session, "tensor_name")
    full = full_name(node)
    return {"watch_points": _hit_points(session, [h for h in session.hits if h.node == full and h.slot == slot])}


# -- tensors ------------------------------------------------------------------------------------------------------------------
def _tensor(call: Call, session: Session, parameter: str = "name") -> tuple[Node, str, Graph, str]:
    """The node, slot and graph of a tensor's name, and the name as given."""
    name = call.needed(parameter)
    found = re.fullmatch(r"(.+):(\d+)", name)
    if found is None:
        raise errors.wrong_value(f"'{parameter}' should be the name of a node, a colon and a number, not {name}.")
    graph, node, _ = session.graphs.leaf(found[1], call.query.get("graph_name") or None)
    if int(found[2]) >= _slots(node):
        raise errors.wrong_value(f"{found[1]} has {_slots(node)} outputs.")
    return node, found[2], graph, name


def _slots(node: Node) -> int:
    return max(1, len(node.shapes))


def _has_before(session: Session, node: Node, key: str) -> bool:
    return key in session.shelf.before or (node.kind == "Parameter" and session.about.cur_step > 0)


def _about(session: Session, node: Node, slot: int | str) -> dict[str, Any] | None:
    """Type, shape and size of a tensor that has come; None while it has not."""
    key = f"{full_name(node)}:{slot}"
    value = session.shelf.now.get(key)
    if value is None:
        return None
    return {"step": session.about.cur_step, "dtype": _NUMBERS[value.dtype.name], "shape": list(value.shape),
            "bytes": tensors.size_in_memory(value), "tensor_status": "cached" if key in session.shelf.viewed else "uncached",
            "has_prev_step": _has_before(session, node, key)}  # fmt: skip


@_locked("POST", "/tensor-history")
def tensor_history(call: Call, session: Session) -> Any:
    """The outputs and inputs of a node; those that are not there are asked for."""
    body = call.body()
    name = _text(body, "name")
    graph, node, prefixed = session.graphs.leaf(name, _text(body, "graph_name") or None)
    sources = [graph.leaves[n] for n in node.edges["input"] if n in graph.leaves and graph.leaves[n].kind != "Const"]
    rows = [(node, slot, "output") for slot in range(_slots(node))] + [(source, 0, "input") for source in sources]
    found, missing = [], []
    for one, slot, way in rows:
        shown = f"{graph.name}/{one.name}" if prefixed else one.name
        entry = {"name": f"{shown}:{slot}", "full_name": f"{full_name(one)}:{slot}", "node_type": one.kind, "type": way,
                 "graph_name": graph.name}  # fmt: skip
        about = _about(session, one, slot)
        if about is None:
            missing.append((full_name(one), str(slot), ""))
        found.append({**entry, **about, "value": "click to view"} if about else entry)
    session.ask_for(missing, {"node_name": name, "graph_name": graph.name})
    return {"tensor_history": found, "metadata": {"step": session.about.cur_step}}


@_locked("GET", "/tensors")
def tensor_value(call: Call, session: Session) -> Any:
    """The values of a tensor, or of a part of it."""
    node, slot, graph, name = _tensor(call, session)
    key = f"{full_name(node)}:{slot}"
    entry: dict[str, Any] = {"full_name": key, "step": session.about.cur_step, "name": name}
    if key not in session.shelf.viewed:
        session.ask_for([(full_name(node), slot, "")], {"node_name": name.rpartition(":")[0], "graph_name": graph.name})
        session.shelf.viewed.add(key)
    value, about = session.shelf.now.get(key), _about(session, node, slot)
    if value is None or about is None:
        return {"tensor_value": {**entry, "tensor_status": "empty"}}
    shown = tensors.listed(tensors.cut(value, call.query.get("shape")))
    return {"tensor_value": {**entry, **about, "value": shown, "statistics": tensors.statistics(value)}}


@_locked("GET", "/tensor-comparisons")
def tensor_comparison(call: Call, session: Session) -> Any:
    """A tensor beside that of the step before."""
    node, slot, graph, name = _tensor(call, session)
    try:
        tolerance = float(call.query.get("tolerance", "0"))
    except ValueError:
        raise errors.wrong_type("tolerance", "float") from None
    key = f"{full_name(node)}:{slot}"
    session.shelf.viewed.add(key)
    missing = [(full_name(node), slot, when) for when, kept in (("", session.shelf.now), ("prev", session.shelf.before)) if key not in kept]
    session.ask_for(missing, {"node_name": name.rpartition(":")[0], "graph_name": graph.name})
    now, before, about = session.shelf.now.get(key), session.shelf.before.get(key), _about(session, node, slot)
    if now is None or before is None or about is None or now.shape != before.shape:
        return {"tensor_status": "empty", "tensor_value": {"full_name": key, "step": session.about.cur_step}}
    del about["has_prev_step"]
    shown = {"full_name": key, **about, "diff": tensors.differences(now, before, call.query.get("shape"), tolerance),
             "curr_step_statistics": tensors.statistics(now), "prev_step_statistics": tensors.statistics(before),
             "statistics": tensors.statistics(now.astype("float64") - before.astype("float64"))}  # fmt: skip
    return {"tensor_status": "cached", "tensor_value": shown}


@_locked("GET", "/tensor-graphs")
def tensor_graph(call: Call, session: Session) -> Any:
    """A node with those it reads from and those that read from it, and the statistics of what they give."""
    center, _, graph, name = _tensor(call, session, "tensor_name")
    sources = [graph.leaves[n] for n in center.edges["input"] if n in graph.leaves]
    readers = [graph.leaves[n] for n in center.edges["output"] if n in graph.leaves]
    around = [*((one, (), ("output",)) for one in sources), *((one, ("input",), ()) for one in readers),
              (center, ("input", "output"), ())]  # fmt: skip
    missing = [
        (full_name(one), str(slot), "")
        for one, _, _ in around if one.kind != "Const"
        for slot in range(_slots(one)) if f"{full_name(one)}:{slot}" not in session.shelf.now
    ]  # fmt: skip
    session.ask_for(missing, {"tensor_name": name, "graph_name": graph.name})
    return {"graph": {"nodes": [_graph_node(session, graph, one, center) for one, _, _ in around]}}


def _graph_node(session: Session, graph: Graph, node: Node, center: Node) -> dict[str, Any]:
    edges: dict[str, dict[str, Any]] = {}
    for way in ("input", "output"):
        kept = {n: a for n, a in node.edges[way].items() if node is center or n == center.name}
        edges[way] = {n: {**about, "independent_layout": False, "slot_mapping": [["0", ""]]} for n, about in kept.items()}
    return {"name": node.name, "full_name": full_name(node), "type": node.kind, **edges,
            "slots": [_slot(session, node, slot) for slot in range(_slots(node))], "stack_info": node.stack,
            "graph_name": graph.name}  # fmt: skip


def _slot(session: Session, node: Node, slot: int) -> dict[str, Any]:
    full = full_name(node)
    entry: dict[str, Any] = {"slot": str(slot)}
    points = _hit_points(session, [h for h in session.hits if h.node == full and h.slot == str(slot)])
    if points:
        entry["watch_points"] = points
    value = session.shelf.now.get(f"{full}:{slot}")
    if value is not None:
        entry |= {"statistics": tensors.statistics(value), "shape": list(value.shape)}
        if _has_before(session, node, f"{full}:{slot}"):
            entry["has_prev_step"] = True
    return entry


@_locked("POST", "/tensor-files/load")
def load_tensor(call: Call, session: Session) -> Any:
    """Have a tensor sent whole."""
    body = call.body()
    name = _text(body, "name")
    graph, node, _ = session.graphs.leaf(name.rpartition(":")[0], _text(body, "graph_name") or None)
    slot = name.rpartition(":")[2]
    session.shelf.viewed.add(f"{full_name(node)}:{slot}")
    session.ask_for([(full_name(node), slot, "")], {"node_name": name.rpartition(":")[0], "graph_name": graph.name})
    return {"node_name": name}


@_locked("GET", "/tensor-files/download")
def download(call: Call, session: Session) -> Any:
    """A tensor as a NumPy file."""
    node, slot, _, name = _tensor(call, session)
    kept = session.shelf.before if call.flag("prev", False) else session.shelf.now
    value = kept.get(f"{full_name(node)}:{slot}")
    if value is None:
        raise refused(f"{name} has not been loaded: ask for it by tensor-files/load.")
    out = io.BytesIO()
    np.save(out, np.asarray(value), allow_pickle=False)
    file = re.sub(r"[^\w.-]+", "_", name)[-120:]
    return Response(out.getvalue(), media_type="application/octet-stream",
                    headers={"Content-Disposition": f'attachment; filename="{file}.npy"'})  # fmt: skip


# -- for the page: all nodes in columns ---------------------------------------------------------------------------------------
@route("GET", "/board/debugger/graph")
def page_graph(call: Call) -> Any:
    """A graph of the training as the page draws it: `asked` are the names to ask the other routes by, `lines` the numbers of the
    source lines of each operation in `sources`."""
    session = _session(call)
    with session.lock:
        if not session.graphs.names:
            raise refused("No graph has come yet.")
        graph = session.graphs.by_name.get(call.query.get("graph_name") or session.graphs.names[0])
        if graph is None:
            raise errors.wrong_value(f"There is no graph {call.query.get('graph_name')!r}.")
    columns = compact(graph.message)
    parameters = {name.rpartition("/")[2]: name for name, node in graph.leaves.items() if node.kind == "Parameter"}
    asked = [parameters.get(name, name) if kind == "Parameter" else name for name, kind in zip(columns["names"], columns["types"])]
    sources: dict[tuple[str, int], int] = {}
    lines = [[sources.setdefault((s["file_path"], s["line_no"]), len(sources)) for s in node.stack] for node in graph.message.nodes]
    code = {(s["file_path"], s["line_no"]): s["code_line"] for node in graph.message.nodes for s in node.stack}
    return {**columns, "asked": asked, "graph_name": graph.name, "lines": lines,
            "sources": [{"file_path": path, "line_no": line, "code_line": code[path, line]} for path, line in sources]}  # fmt: skip
