"""Model and data lineage of all runs: tables, conditions, notes.

A run of TensorBoard has no lineage file; its HParams plugin says the same.
"""

from __future__ import annotations

import contextlib
import functools
import json
import operator
from collections.abc import Callable, Iterable
from typing import Any

from mindinsight.events import event, values
from mindinsight.events.lineage import COLUMNS, Lineage
from mindinsight.events.wire import Malformed
from mindinsight.index.store import Run
from mindinsight.server import errors
from mindinsight.server.calls import Call, check_page, route
from mindinsight.server.workspace import Workspace

_NUMBERS = ("train_dataset_count", "test_dataset_count", "learning_rate", "epoch", "batch_size", "device_num", "loss", "model_size")


# ---------------------------------------------------------------------------------------------------------------------
# Runs


def lineage_of(workspace: Workspace, run: Run) -> dict[str, Any] | None:
    """Model and data lineage of a run; None if it says nothing about itself."""
    return _lineage(workspace, run, run.revision)


@functools.lru_cache(maxsize=20000)
def _lineage(workspace: Workspace, run: Run, revision: int) -> dict[str, Any] | None:
    kinds = workspace.store.kinds(run.id)
    if not kinds & {event.LINEAGE, event.HPARAMS}:
        return None
    lineage = Lineage()
    for thing in workspace.store.things(run.id, event.LINEAGE):
        with contextlib.suppress(errors.ApiError):
            lineage.add(thing.tag, workspace.bytes_of(run, thing))
    model = lineage.model
    for thing in workspace.store.things(run.id, event.HPARAMS):
        with contextlib.suppress(Malformed, errors.ApiError):
            model["user_defined"] = model["user_defined"] | values.hyper_parameters(workspace.bytes_of(run, thing))
    return {"model": model, "dataset": lineage.dataset}


def model_of(workspace: Workspace, run: Run) -> dict[str, Any]:
    """Model lineage of a run, empty if there is none."""
    found = lineage_of(workspace, run)
    return found["model"] if found else {}


def all_lineages(workspace: Workspace) -> list[tuple[Run, dict[str, Any]]]:
    """Runs that say something about themselves, the latest first; the same pipelines get the same mark."""
    store = workspace.store
    known = store.runs_with(event.LINEAGE) | store.runs_with(event.HPARAMS)
    found = []
    marks = {"{}": "1"}  # no pipeline
    for run in sorted(store.runs(), key=lambda r: r.updated, reverse=True):
        lineage = lineage_of(workspace, run) if run.id in known else None
        if lineage:
            key = json.dumps(lineage["dataset"], sort_keys=True, default=str)
            mark = marks.setdefault(key, str(len(marks) + 1))
            found.append((run, {"model": lineage["model"] | {"dataset_mark": mark}, "dataset": lineage["dataset"]}))
    return found


# ---------------------------------------------------------------------------------------------------------------------
# Conditions


def value_by_key(run: Run, lineage: dict[str, Any], key: str) -> Any:
    """A column of a run, `metric/name` and `user_defined/name` included."""
    if key == "summary_dir":
        return run.name
    group, _, name = key.partition("/")
    if name and group in ("metric", "user_defined"):
        return lineage["model"][group].get(name)
    return lineage["model"].get(key)


_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "eq": operator.eq, "lt": operator.lt, "gt": operator.gt, "le": operator.le, "ge": operator.ge,
    "in": lambda value, some: value in some, "not_in": lambda value, some: value not in some,
}  # fmt: skip
_PAGING = ("limit", "offset", "sorted_name", "sorted_type", "lineage_type")


def _known(key: str) -> bool:
    return key in COLUMNS or key in ("summary_dir", "tag") or key.startswith(("metric/", "user_defined/"))


def _check(condition: dict[str, Any]) -> None:
    for key, value in condition.items():
        if key in _PAGING:
            continue
        if not _known(key) or key == "tag":  # runs are sorted by tags, not found by them
            raise _bad("The search attribute not supported.")
        if not isinstance(value, dict) or not set(value) <= set(_COMPARE):
            raise _bad(f"The compare condition of {key} should be a dict of {sorted(_COMPARE)}.")
        for name, wanted in value.items():
            if name in ("in", "not_in") and not isinstance(wanted, (list, tuple)):
                raise _bad(f"The value of '{name}' of {key} should be a list.")
            if key in _NUMBERS and name not in ("in", "not_in") and not isinstance(wanted, (int, float)):
                raise _bad(f"The parameter {key} should be a number.")
    for name in ("limit", "offset"):
        if not isinstance(condition.get(name, 1), int) or isinstance(condition.get(name), bool):
            raise _bad(f"The {name} must be int.")
    check_page(condition.get("offset", 0), condition.get("limit", 10), 100_000)
    if not isinstance(condition.get("lineage_type", {}), dict):
        raise _bad("The lineage_type should be a dict: {'eq': 'dataset'} or {'eq': 'model'}.")
    if condition.get("sorted_type") not in (None, "ascending", "descending"):
        raise _bad("The sorted_type should be 'ascending' or 'descending'.")
    if "sorted_type" in condition and "sorted_name" not in condition:
        raise _bad("The sorted_name must exist when sorted_type exists.")


def _bad(detail: str) -> errors.ApiError:
    return errors.ApiError(errors.LINEAGE, 0x218, f"Search_condition param error: ValueError. {detail}")


def _matches(run: Run, lineage: dict[str, Any], condition: dict[str, Any]) -> bool:
    for key, wanted in condition.items():
        if key in _PAGING:
            continue
        value = value_by_key(run, lineage, key)
        for name, bound in wanted.items():
            try:
                if (value is None and name in ("lt", "gt", "le", "ge")) or not _COMPARE[name](value, bound):
                    return False
            except TypeError:
                return False
    return True


def _order(value: Any) -> tuple[int, str, Any]:
    """Nothing first, then numbers, then texts."""
    if value is None:
        return 0, "", 0
    if isinstance(value, (int, float)):
        return 1, "", value
    return 2, type(value).__name__, str(value)


def search(workspace: Workspace, condition: dict[str, Any]) -> dict[str, Any]:
    """Runs that fit, a page of them, as official replies have them."""
    _check(condition)
    found = [(run, one) for run, one in all_lineages(workspace) if _matches(run, one, condition)]
    notes = workspace.store.notes()
    name = condition.get("sorted_name")
    if name is not None:
        if not _known(name):
            raise _bad(f"The sorted name {name} not supported.")

        def key(pair: tuple[Run, dict[str, Any]]) -> tuple[int, str, Any]:
            return _order(notes.get(pair[0].name, ("", ""))[1] if name == "tag" else value_by_key(*pair, name))

        found.sort(key=key, reverse=condition.get("sorted_type") == "descending")
    total = len(found)
    if "limit" in condition:
        first = condition.get("offset", 0) * condition["limit"]
        found = found[first : first + condition["limit"]]
    kinds = condition.get("lineage_type", {})
    shown = kinds.get("in", [kinds["eq"]] if "eq" in kinds else ["model", "dataset"])
    objects = []
    for run, one in found:
        row: dict[str, Any] = {"summary_dir": run.name}
        if "model" in shown:
            row["model_lineage"] = one["model"]
        if "dataset" in shown:
            row["dataset_graph"] = one["dataset"]
        row["added_info"] = _added(notes.get(run.name))
        objects.append(row)
    return {"customized": _customized(one["model"] for _, one in found), "object": objects, "count": total}


def _added(note: tuple[str, str] | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if note and note[0]:
        found["remark"] = note[0]
    if note and note[1].isdigit():
        found["tag"] = int(note[1])
    return found


def _customized(models: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The columns that only some runs have, and their types."""
    types: dict[str, set[str]] = {}
    for model in models:
        for group in ("metric", "user_defined"):
            for name, value in model[group].items():
                types.setdefault(f"{group}/{name}", set()).add(type(value).__name__)
    return {
        label: {
            "label": label,
            "required": label.startswith("metric/"),
            "type": next(iter(kinds)) if len(kinds) == 1 else "float" if kinds <= {"int", "float"} else "mixed",
        }
        for label, kinds in types.items()
    }


# ---------------------------------------------------------------------------------------------------------------------
# Routes


@route("POST", "/lineagemgr/lineages")
def lineages(call: Call) -> Any:
    """Runs and their lineage."""
    condition = call.json()
    if not isinstance(condition, dict):
        raise _bad("Invalid search_condition type, it should be dict.")
    return search(call.workspace, condition)


def _wrong_note(detail: str) -> errors.ApiError:
    return errors.ApiError(errors.LINEAGE, 0x81, f"ValueError. {detail}")


@route("PUT", "/lineagemgr/lineages")
def update_lineage(call: Call) -> Any:
    """Write a remark or a tag."""
    run = call.workspace.run(call.query.get("train_id"))
    given = call.body()
    if not set(given) <= {"tag", "remark"}:
        raise _wrong_note("The key in added_info must be in ['tag', 'remark'].")
    tag, remark = given.get("tag"), given.get("remark")
    if tag is not None and (not isinstance(tag, int) or isinstance(tag, bool) or not 0 <= tag <= 10):
        raise _wrong_note("The tag should be an int in [0, 10].")
    if remark is not None and (not isinstance(remark, str) or len(remark) > 128):
        raise _wrong_note("The remark should be a str of at most 128 characters.")
    old = call.workspace.store.notes().get(run.name, ("", ""))
    call.workspace.store.write_note(run.name, old[0] if remark is None else remark, old[1] if tag is None else str(tag))
    return {"status": "success"}


@route("GET", "/datasets/dataset_graph")
def dataset_graph(call: Call) -> Any:
    """The data pipeline of a run."""
    run = call.workspace.run(call.query.get("train_id"))
    found = lineage_of(call.workspace, run)
    return {"dataset_graph": found["dataset"], "summary_dir": run.name} if found and found["dataset"] else {}
