"""Routes of the pages themselves, under `board/`: made for hundreds of runs at once, without official limits.

Points travel as bytes: a JSON head that says which run has how many points, then for all runs together the steps (float64),
the seconds since the run's first point (float32) and the values (float32).
"""

from __future__ import annotations

import csv
import io
import time
from typing import Any

import numpy as np
import orjson
from starlette.responses import Response

from mindinsight import __version__
from mindinsight.events import event
from mindinsight.events.bulk import Columns
from mindinsight.events.lineage import COLUMNS
from mindinsight.index.store import Run
from mindinsight.server import errors
from mindinsight.server.calls import Call, route
from mindinsight.server.lineage import all_lineages
from mindinsight.server.profiles import has_profile

_PAGES = {"image": event.IMAGE, "histogram": event.HISTOGRAM, "tensor": event.TENSOR, "landscape": event.LANDSCAPE,
          "graph": event.GRAPH, "lineage": event.LINEAGE, "hparams": event.HPARAMS, "explain": event.EXPLAIN,
          "text": event.TEXT, "audio": event.AUDIO, "curve": event.CURVE, "unshown": event.UNSHOWN}  # fmt: skip
_MOST_POINTS = 4_000_000
_PATIENCE = 5.0  # seconds


@route("GET", "/board/state")
def state(call: Call) -> Any:
    """The folder, how much of it has been read, and which kinds of pages have something to show."""
    store = call.workspace.store
    read, size, damaged = store.progress()
    found = {name: sorted(store.runs_with(kind)) for name, kind in _PAGES.items()}
    found["profile"] = _profiled(call)
    return {
        "folder": str(call.workspace.folder.base), "version": __version__, "read": read, "size": size, "damaged": damaged,
        "revision": store.revision(), "kinds": found, "debugger": call.workspace.settings.enable_debugger,
        "debugger_port": call.workspace.settings.debugger_port, "trouble": call.workspace.trouble(),
    }  # fmt: skip


def _profiled(call: Call) -> list[int]:
    """Runs with a profile; a look into every folder, so not more than once in a few seconds."""
    when, found = call.state.get("profiled", (-_PATIENCE, []))
    if time.monotonic() - when >= _PATIENCE:
        found = [run.id for run in call.workspace.store.runs() if has_profile(call.workspace.path(run.name))]
        call.state["profiled"] = (time.monotonic(), found)
    return list(found)


@route("GET", "/board/runs")
def runs(call: Call) -> Any:
    """All runs with their hyper-parameters, results, notes and damage."""
    store = call.workspace.store
    notes, described = store.notes(), {run.id: one["model"] for run, one in all_lineages(call.workspace)}
    counts, broken = store.totals(), store.damage()
    return {"runs": [_run(run, counts.get(run.id, (0, 0, 0, 0.0)), described.get(run.id), notes.get(run.name), broken.get(run.id))
                     for run in store.runs()]}  # fmt: skip


def _run(run: Run, line: tuple[int, int, int, float], model: dict[str, Any] | None, note: tuple[str, str] | None,
         damage: str | None) -> dict[str, Any]:  # fmt: skip
    row = {"id": run.id, "name": run.name, "created": run.created, "updated": run.updated, "tags": line[0], "points": line[1],
           "step": line[2], "seconds": line[3], "note": note[0] if note else "", "labels": note[1] if note else "",
           "damage": damage or ""}  # fmt: skip
    if model:
        row["config"] = {n: model[n] for n in COLUMNS if model.get(n) is not None} | model["user_defined"]
        row["metric"] = model["metric"]
    return row


@route("GET", "/board/tags")
def tags(call: Call) -> Any:
    """Scalar tags, with how many runs have them."""
    store = call.workspace.store
    if not store.scalar_tags():
        call.workspace.have_some([run.name for run in store.runs()], lambda: bool(store.scalar_tags()))
    return {"tags": [{"tag": name, "runs": count} for name, count in store.scalar_tags()]}


@route("GET", "/board/things")
def things(call: Call) -> Any:
    """The tags and steps of what is no number."""
    kind = _PAGES.get(call.needed("kind"))
    if kind is None:
        raise errors.wrong_value(f"'kind' should be one of {sorted(_PAGES)}.")
    run = call.workspace.run(call.query.get("train_id"))
    found: dict[str, list[list[float]]] = {}
    for thing in call.workspace.store.things(run.id, kind):
        found.setdefault(thing.tag, []).append([thing.step, thing.wall_time, thing.length])
    return {"tags": found}


# ---------------------------------------------------------------------------------------------------------------------
# Points


def thinned(columns: Columns, most: int) -> Columns:
    """At most `most` points that look the same: the lowest and the highest of each stretch, and both ends."""
    count = len(columns.steps)
    if count <= most or most < 8:
        return columns
    stretches = (most - 2) // 2
    length = count // stretches
    body = np.asarray(columns.values[: stretches * length], np.float64).reshape(stretches, length)
    body = np.where(np.isfinite(body), body, np.nanmean(body) if np.isfinite(body).any() else 0.0)
    base = np.arange(stretches) * length
    keep = np.unique(np.concatenate(([0], base + body.argmin(1), base + body.argmax(1), [count - 1])))
    return columns.at(keep)


@route("POST", "/board/points")
def points(call: Call) -> Any:
    """The points of a tag in many runs, thinned to what a screen can show."""
    body = call.body()
    tag, wanted, most = body.get("tag"), body.get("runs"), body.get("most", 1000)
    if not isinstance(tag, str) or not isinstance(wanted, list) or not all(isinstance(run, int) for run in wanted):
        raise errors.wrong_value("'tag' should be a text and 'runs' a list of numbers.")
    if not isinstance(most, int) or not 8 <= most <= 1_000_000:
        raise errors.wrong_value("'most' should be in [8, 1000000].")
    low, high = body.get("from"), body.get("to")
    store = call.workspace.store
    if next(iter(store.points(tag, wanted)), None) is None:
        names = {run.id: run.name for run in store.runs()}
        first = [names[run] for run in wanted if run in names]
        call.workspace.have_some(first, lambda: next(iter(store.points(tag, wanted)), None) is not None)
    head: list[list[Any]] = []
    found: list[Columns] = []
    total = 0
    for run, columns in call.workspace.store.points(tag, wanted):
        begin = float(columns.times[0])
        if isinstance(low, (int, float)) and isinstance(high, (int, float)):
            columns = _window(columns, low, high)
        columns = thinned(columns, most)
        total += len(columns.steps)
        if total > _MOST_POINTS:
            break
        head.append([run, len(columns.steps), begin])
        found.append(columns._replace(times=columns.times - begin))
    return Response(_packed(head, found), media_type="application/octet-stream")


def _window(columns: Columns, low: float, high: float) -> Columns:
    """The points of some steps, and one more at each side so that lines reach the border."""
    inside = np.flatnonzero((columns.steps >= low) & (columns.steps <= high))
    if not inside.size:
        return columns.at(slice(0))
    return columns.at(slice(max(0, int(inside[0]) - 1), int(inside[-1]) + 2))


def _packed(head: list[list[Any]], found: list[Columns]) -> bytes:
    text = orjson.dumps({"runs": head})
    text += b" " * (-(len(text) + 4) % 8)
    parts = [np.uint32(len(text)).tobytes(), text]
    for column, dtype in enumerate((np.float64, np.float32, np.float32)):
        with np.errstate(over="ignore"):
            parts += [columns[column].astype(dtype).tobytes() for columns in found]
    return b"".join(parts)


@route("GET", "/board/csv")
def table(call: Call) -> Any:
    """All points of a tag as CSV, complete and exact."""
    tag = call.needed("tag")
    names = {run.id: run.name for run in call.workspace.store.runs()}
    wanted = [int(run) for run in call.query.get("runs", "").split(",") if run.isdigit()] or list(names)
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["run", "tag", "step", "wall_time", "value"])
    for run, (steps, times, numbers) in call.workspace.store.points(tag, wanted):
        for step, wall, value in zip(steps.tolist(), times.tolist(), numbers.tolist()):
            writer.writerow([_cell(names.get(run, "")), _cell(tag), step, f"{wall:.6f}", f"{value:.9g}"])
    return Response(out.getvalue(), media_type="text/csv", headers={"Content-Disposition": 'attachment; filename="scalars.csv"'})


def _cell(text: str) -> str:
    """Text that a spreadsheet does not take for a formula."""
    return f"'{text}" if text[:1] in "=+-@\t\r" else text


@route("POST", "/board/note")
def note(call: Call) -> Any:
    """Write a note and labels to a run."""
    body = call.body()
    run = call.workspace.run(body.get("run"))
    text, labels = body.get("note", ""), body.get("labels", "")
    if not isinstance(text, str) or not isinstance(labels, str) or len(text) > 10_000 or len(labels) > 1000:
        raise errors.wrong_value("'note' should be a text of at most 10,000 characters and 'labels' one of at most 1,000.")
    call.workspace.store.write_note(run.name, text, labels)
    return {"status": "success"}


@route("GET", "/board/files")
def files(call: Call) -> Any:
    """The files of a run and what is wrong with them."""
    run = call.workspace.run(call.query.get("train_id"))
    return {"files": call.workspace.store.run_files(run.id)}
