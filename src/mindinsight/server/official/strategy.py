"""How a network was cut over devices, from what each rank wrote of its graph.

The ranks of a stage of a pipeline have the same operators, so one graph is shown for a stage: that of its first rank, with the groups in
which any of its ranks communicates.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from mindinsight.server import errors
from mindinsight.server.official.files import ANALYSER, GENERAL, devices, json_file

_KINDS = ("data_parallel", "semi_auto_parallel", "auto_parallel")
_LONGEST_ATTRIBUTE = 1024
_SUMMARIES = ("[:graph]", "[:scalar]", "[:image]", "[:histogram]", "[:tensor]", "[:landscape]")
Proto = dict[str, Any]


def about(folder: Path) -> dict[str, Any]:
    """The kind of parallelism and the devices of each stage."""
    info = json_file(folder, f"profiler_info_{devices(folder)[0]}.json")
    kind, stages, size = (info.get(key) for key in ("parallel_mode", "stage_num", "rank_size"))
    if not kind or not isinstance(stages, int) or not isinstance(size, int) or stages < 1 or size < stages:
        raise errors.ApiError(errors.PROFILER, 6 | GENERAL, "fields: parallel_mode, stage_num, rank_size")
    files = _files(folder)
    if not files:
        raise errors.ApiError(errors.PROFILER, 11 | ANALYSER, "Can not find any parallel strategy data.")
    if len(files) != size:
        raise errors.ApiError(errors.PROFILER, 13 | ANALYSER, "The num of parallel data is not match the rank size")
    if kind not in _KINDS:
        detail = f"Only support {list(_KINDS)} parallel type, but current parallel type is {kind}."
        raise errors.ApiError(errors.PROFILER, 9 | ANALYSER, f"This parallel type is not supported. Detail: {detail}")
    width = size // stages
    return {
        "parallel_type": kind,
        "stage_devices": {str(s): list(range(s * width, (s + 1) * width)) for s in range(stages)},
    }


def _files(folder: Path) -> list[Path]:
    """What the ranks wrote, in their order."""
    found = ((re.fullmatch(r"parallel_strategy_(\d+)\.json", file.name), file) for file in folder.iterdir())
    return [file for _, file in sorted((int(match[1]), file) for match, file in found if match)]


def stage(folder: Path, members: list[int]) -> dict[str, Any]:
    """The graph of a stage."""
    graphs: dict[int, Proto] = {}
    for file in _files(folder)[members[0] : members[-1] + 1]:
        written = json_file(folder, file.name)
        if not isinstance(written.get("config"), dict):
            raise _wrong("Can not find 'config' key in the given data.")
        rank = int(written["config"]["rankId"])
        if rank in graphs:
            raise _wrong("The file with the same rank id was found. There should be no file names with the same rank id.")
        graphs[rank] = written["graph"]
    ranks = [rank for rank in members if rank in graphs]
    if not ranks:
        return {"rank_ids": [], "op_nodes": [], "const_nodes": [], "parameter_nodes": []}
    first, *others = (_operators(graphs[rank]) for rank in ranks)
    for name, node in first.items():
        node["parallel_group"] = sorted({group for one in (first, *others) for group in one[name]["parallel_group"]})
    constants = [_constant(name) for name in _constants(graphs[ranks[0]])]
    return {"rank_ids": ranks, "op_nodes": list(first.values()), "const_nodes": constants, "parameter_nodes": []}


def _wrong(detail: str) -> errors.ApiError:
    return errors.ApiError(errors.PROFILER, 10 | ANALYSER, f"The provided parallel strategy data is wrong. Detail: {detail}")


def _constants(graph: Proto) -> dict[str, None]:
    """Names of constants and Parameters, which are shown alike."""
    names = [*(one.get("key") for one in graph["constVals"]), *(one.get("name") for one in graph["parameters"])]
    return dict.fromkeys(name for name in names if name)


def _constant(name: str) -> dict[str, Any]:
    return _shown(name, name, "", "Const", {}, [])


def _shown(number: str, name: str, scope: str, kind: str, attributes: Proto, inputs: list[str]) -> dict[str, Any]:
    group = [attributes["group"]] if "group" in attributes else []
    return {"node_id": number, "name": name, "scope": scope, "type": kind, "instance_type": "", "attr": attributes, "input": inputs,
            "output_shape": [], "output_data_type": "", "parallel_group": group, "parallel_shard": attributes.get("in_strategy", []),
            "parallel_group_rank": attributes.get("group_ranks", "")}  # fmt: skip


def _operators(graph: Proto) -> dict[str, dict[str, Any]]:
    """The operators of a rank by their names in the file; replies number them in their order."""
    written = [node for node in graph["node"] if node.get("name") and node.get("fullName")]
    numbers = {node["name"]: str(place) for place, node in enumerate(written, 1)}
    known = _constants(graph).keys()
    found = {}
    for node in written:
        kind, scope = node.get("opType", ""), node.get("scope", "")
        attributes = _attributes(node.get("attribute", []))
        given = [one["name"] for one in node.get("input", []) if one["name"]]
        inputs = [name if name in known else numbers[name] for name in given if name in known or name in numbers]
        shown = _shown(numbers[node["name"]], _full_name(node, scope, kind), scope, kind, attributes, inputs)
        output = node.get("outputType") or {}
        shown |= {"instance_type": _role(node.get("instanceName", "")), "output_shape": attributes.get("shapes", _shape(output)),
                  "output_data_type": _data_type(output)}  # fmt: skip
        found[node["name"]] = shown
    return found


def _full_name(node: Proto, scope: str, kind: str) -> str:
    """The name of an operator; Load has that of its Parameter and summaries that of their tag."""
    if kind == "Load" or node["fullName"].lower().endswith(_SUMMARIES):
        return f"{scope}/{kind}-op{node['name']}"
    return str(node["fullName"])


def _role(name: str) -> str:
    return "GradientAggregation" if "grad_mirror" in name else "Redistribution" if "redistribution" in name else ""


def _attributes(written: list[Proto]) -> dict[str, str]:
    """Attributes as texts; `gen_strategy` says what `in_strategy` says."""
    kept = (one for one in written if one["name"] != "gen_strategy" and sys.getsizeof(one["value"]) <= _LONGEST_ATTRIBUTE)
    return {one["name"]: str(_value(one["value"])) for one in kept}


def _value(value: Proto) -> Any:
    kind = value["dtype"]
    if kind in ("DT_STRING", "DT_NONE"):
        return value["strVal"]
    if kind == "DT_BOOL":
        return bool(int(value["boolVal"]))
    if kind in ("DT_TUPLE", "DT_LIST"):
        return [_value(one) for one in value.get("values", [])]
    if kind == "DT_TYPE":
        return value.get("typeVal", {}).get("dataType", "")
    if kind.startswith("DT_INT"):
        return int(value["intVal"])
    if kind.startswith("DT_UINT"):
        return int(value["uintVal"])
    if kind.startswith("DT_FLOAT"):
        return float(value["floatVal"]) if value["floatVal"] else value.get("doubleVal", 0)
    return value


def _shape(kind: Proto) -> list[Any]:
    if kind.get("dataType", "DT_TENSOR") not in ("DT_TENSOR", "DT_TUPLE"):
        return []
    shapes = [dim["size"] for dim in kind.get("tensorType", {}).get("shape", {}).get("dim", [])]
    parts = (_shape(one) for one in kind.get("sequenceType", {}).get("elemTypes", []))
    return [*shapes, *(shape for shape in parts if shape)]


def _data_type(kind: Proto) -> str:
    if not kind:
        return ""
    name = str(kind["dataType"])
    if name == "DT_TENSOR":
        return f"{name}[{kind['tensorType']['elemType']}]"
    if name == "DT_TUPLE":
        return f"{name}{[_data_type(one) for one in kind['sequenceType']['elemTypes']]}"
    return name
