"""What matters: how much each hyper-parameter goes with each target, over all runs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindinsight.events.values import Array
from mindinsight.server.calls import Call, route
from mindinsight.server.lineage import search

_NOT_TUNABLE = {"loss", "device_num", "model_size", "test_dataset_count", "train_dataset_count"}
_NOT_NUMBERS, _TOO_FEW, _NO_CORRELATION = 1, 2, 3
_BUCKETS = 5


def flattened(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Columns of all runs; metrics are marked `[M]`, what users wrote `[U]`."""
    table: dict[str, list[Any]] = {}
    for index, row in enumerate(rows):
        model = row.get("model_lineage", {})
        flat = {name: value for name, value in model.items() if name not in ("metric", "user_defined")}
        flat |= {f"[M]{name}": value for name, value in model.get("metric", {}).items()}
        flat |= {f"[U]{name}": value for name, value in model.get("user_defined", {}).items()}
        for name, value in flat.items():
            column = table.setdefault(name, [])
            column += [None] * (index - len(column)) + [value]
    for column in table.values():
        column += [None] * (len(rows) - len(column))
    return table


def as_numbers(column: list[Any]) -> Array | None:
    """A column as numbers, or None if it holds something else."""
    if any(isinstance(value, (str, bool, list, dict)) and str(value).lower() not in ("nan", "inf") for value in column):
        return None
    numbers = np.array([np.nan if value is None or isinstance(value, str) else float(value) for value in column])
    return None if np.isnan(numbers).all() else numbers


def importance(parameter: Array, target: Array) -> tuple[float, int]:
    """How strongly two columns go together (|Pearson|), and why not if that cannot be said."""
    both = np.isfinite(parameter) & np.isfinite(target)
    if both.sum() <= 2:
        return 0.0, _TOO_FEW
    a, b = parameter[both], target[both]
    if a.std() == 0 or b.std() == 0:
        return 0.0, _NO_CORRELATION
    return min(1.0, abs(float(np.corrcoef(a, b)[0, 1]))), 0


def _buckets(values: Array) -> list[list[float]]:
    finite = values[np.isfinite(values)]
    if not finite.size:
        return []
    low, high = float(finite.min()), float(finite.max())
    low, high = (low, high) if low < high else (low - 0.5, high + 0.5)
    counts, edges = np.histogram(finite, _BUCKETS, (low, high))
    return [[float(left), float(right - left), int(count)] for left, right, count in zip(edges, edges[1:], counts)]


def _listed(values: Array) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]


@route("POST", "/optimizer/targets/search")
def targets(call: Call) -> Any:
    """Targets, their distribution, and the hyper-parameters in the order of what they seem to matter."""
    rows = search(call.workspace, call.body())["object"]
    table = flattened(rows)
    numbers = {name: as_numbers(column) for name, column in table.items()}
    good = {name: column for name, column in numbers.items() if column is not None}
    names = [name for name in good if not name.startswith("[M]") and name not in _NOT_TUNABLE]
    reply = []
    for target in sorted(name for name in good if name.startswith("[M]") or name == "loss"):
        parameters: list[dict[str, Any]] = []
        for name in names:
            value, reason = importance(good[name], good[target])
            parameters.append({"name": name, "importance": value} | ({"reason_code": reason} if reason else {}))
        parameters.sort(key=lambda p: (-p["importance"], p["name"].startswith("["), p["name"]))
        reply.append({"name": target, "buckets": _buckets(good[target]), "hyper_parameters": parameters,
                      "data": _listed(good[target])})  # fmt: skip
    dropped = [{"name": name, "unselected": True, "reason_code": _NOT_NUMBERS}
               for name, column in numbers.items() if column is None and name.startswith("[U]")]  # fmt: skip
    possible = [{"name": name, "data": _listed(good[name])} for name in names]
    metadata = {"train_ids": [row["summary_dir"] for row in rows], "possible_hyper_parameters": possible, "unrecognized_params": dropped}
    return {"metadata": metadata, "targets": reply}
