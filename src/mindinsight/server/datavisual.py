"""The official routes of `datavisual/`: runs, scalars, images, histograms, tensors, landscapes."""

from __future__ import annotations

import math
import os
import time
from typing import Any

import numpy as np
from starlette.responses import Response

from mindinsight.events import event, values
from mindinsight.events.wire import Malformed
from mindinsight.index.store import Run, Thing
from mindinsight.server import errors, official
from mindinsight.server.calls import Call, route
from mindinsight.server.lineage import model_of
from mindinsight.server.workspace import damaged

_PLUGINS = ("graph", "optimized_graph", "image", "scalar", "histogram", "tensor", "loss_landscape")
_KINDS = {"image": event.IMAGE, "histogram": event.HISTOGRAM, "tensor": event.TENSOR, "loss_landscape": event.LANDSCAPE}
_LONGEST_LIST = 999
_LARGEST_TABLE = 1_000_000


# ---------------------------------------------------------------------------------------------------------------------
# Runs


@route("GET", "/datavisual/train-jobs")
def train_jobs(call: Call) -> Any:
    """A page of the list of runs, the latest first."""
    store = call.workspace.store
    offset, limit = call.page(10, _LONGEST_LIST)
    wanted = call.query.get("train_id")
    if wanted is not None:
        run = call.workspace.store.run(wanted)
        total, page = int(run is not None), [run] if run else []
    else:
        runs = sorted(store.runs(), key=lambda r: r.updated, reverse=True)
        total, page = len(runs), runs[offset * limit : (offset + 1) * limit]
    read, size, _ = store.progress()
    return {
        "name": call.workspace.folder.base.name,
        "total": total,
        "train_jobs": [_job(call, run) for run in page],
        "load_status": "loaded" if read >= size else "loading",
    }


def _job(call: Call, run: Run) -> dict[str, Any]:
    files = call.workspace.store.run_files(run.id)
    names = [file["name"] for file in files if not file["name"].endswith("/")]
    profiler = _profiler(call, run)
    return {
        "train_id": run.name,
        "relative_path": run.name,
        "create_time": _clock(run.created),
        "update_time": _clock(run.updated),
        "profiler_dir": profiler[0],
        "cache_status": "CACHED",
        "profiler_type": profiler[1],
        "summary_files": sum(not name.endswith(("_lineage", "_explain")) for name in names),
        "graph_files": 0,
        "lineage_files": sum(name.endswith("_lineage") for name in names),
        "dump_dir": None,
        "is_integrity": not any(file["damaged"] for file in files),
        "plugins": plugins_of(call, run),
    }


def _profiler(call: Call, run: Run) -> tuple[str | None, str]:
    """The folder of a run's profile, and what was profiled."""
    try:
        with os.scandir(call.workspace.path(run.name)) as entries:
            found = min((entry.name for entry in entries if entry.name.startswith("profiler") and entry.is_dir()), default=None)
    except OSError:
        return None, ""
    return found, official.about.kind_of(call.workspace.path(run.name) / found) or "cpu" if found else ""


def _clock(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def plugins_of(call: Call, run: Run) -> dict[str, list[str]]:
    """The tags of a run by kind."""
    store = call.workspace.store
    found: dict[str, list[str]] = {name: [] for name in _PLUGINS}
    found["scalar"] = sorted(f"{series.tag}/scalar" for series in store.series(run.id))
    kinds = store.kinds(run.id)
    for name, kind in _KINDS.items():
        if kind in kinds:
            found[name] = sorted(f"{tag}/{name}" for tag in store.thing_tags(run.id, kind))
    graphs = store.things(run.id, event.GRAPH) if event.GRAPH in kinds else []
    found["graph"] = graph_tags(graphs)
    found["optimized_graph"] = [f"{tag} (optimized)" for tag in found["graph"]]
    return found


def graph_tags(graphs: list[Thing]) -> list[str]:
    """Graphs have no tags; they are called after their files, and numbered where a file has several."""
    seen: dict[str, int] = {}
    tags = []
    for graph in graphs:
        number = seen[graph.file] = seen.get(graph.file, -1) + 1
        tags.append(f"{graph.file}#{number}" if number else graph.file)
    return tags


@route("GET", "/datavisual/plugins")
def plugins(call: Call) -> Any:
    """The tags of a run by kind."""
    call.flag("manual_update", False)
    run = call.workspace.run(call.query.get("train_id"), "Can not find the train job in data manager.")
    return {"plugins": plugins_of(call, run)}


@route("GET", "/datavisual/single-job")
def single_job(call: Call) -> Any:
    """The tags of one kind."""
    plugin = call.needed("plugin_name")
    if plugin not in _PLUGINS:
        raise errors.no_plugin(f"'plugin_name' only can be one of {list(_PLUGINS)}")
    run = call.workspace.run(call.query.get("train_id"))
    return {"train_jobs": [{"id": run.name, "name": run.name, "tags": plugins_of(call, run)[plugin]}]}


@route("POST", "/datavisual/train-job-caches")
def train_job_caches(call: Call) -> Any:
    """Runs need no cache here; each that is asked for is read if it has not been yet."""
    wanted = call.body().get("train_ids")
    if wanted is None:
        raise errors.missing("train_ids")
    if not isinstance(wanted, list):
        raise errors.wrong_type("train_ids", "<class 'list'>")
    if not all(isinstance(name, str) for name in wanted):
        raise errors.wrong_type("train_id", "<class 'str'>")
    found = [name for name in wanted if name.startswith("./") and ".." not in name and call.workspace.ensure(name)]
    return {"cache_result": [{"train_id": name, "cache_status": "CACHED"} for name in found]}


# ---------------------------------------------------------------------------------------------------------------------
# Scalars


def _spellings(tag: str, plugin: str) -> list[str]:
    """Official replies add the plugin to a tag (`loss/scalar`); requests may say it or not."""
    return [tag.removesuffix(f"/{plugin}"), tag] if tag.endswith(f"/{plugin}") else [tag]


def _points(call: Call, run: Run, tag: str) -> list[dict[str, Any]]:
    for spelling in _spellings(tag, "scalar"):
        for _, (steps, times, numbers) in call.workspace.store.points(spelling, [run.id]):
            finite = np.isfinite(numbers)
            rows = zip(times.tolist(), steps.tolist(), numbers.tolist(), finite.tolist())
            return [{"wall_time": wall, "step": step, "value": value if good else None} for wall, step, value, good in rows]
    return []


@route("GET", "/datavisual/scalar/metadata")
def scalar_metadata(call: Call) -> Any:
    """The points of a tag."""
    name, tag = call.needed("train_id"), call.needed("tag")
    points = _points(call, call.workspace.run(name), tag)
    if not points:
        raise errors.no_scalar()
    return {"metadatas": points}


@route("GET", "/datavisual/scalars")
def scalars(call: Call) -> Any:
    """The points of tags of runs; what is not there is left out."""
    found = []
    for name in call.query.getlist("train_id"):
        run = call.workspace.ensure(name) if name.startswith("./") and ".." not in name else None
        for tag in call.query.getlist("tag") if run else ():
            points = _points(call, run, tag)  # type: ignore[arg-type]
            if points:
                found.append({"train_id": name, "tag": tag, "values": points})
    return {"scalars": found}


# ---------------------------------------------------------------------------------------------------------------------
# Images, histograms


def _found(call: Call, run: Run, plugin: str, tag: str) -> list[Thing]:
    spellings = (call.workspace.store.things(run.id, _KINDS[plugin], spelling) for spelling in _spellings(tag, plugin))
    return next((things for things in spellings if things), [])


def _things(call: Call, plugin: str, otherwise: errors.ApiError) -> tuple[Run, list[Thing]]:
    name, tag = call.needed("train_id"), call.needed("tag")
    run = call.workspace.run(name)
    found = _found(call, run, plugin, tag)
    if not found:
        raise otherwise
    return run, found


@route("GET", "/datavisual/image/metadata")
def image_metadata(call: Call) -> Any:
    """The images of a tag, without the images."""
    run, found = _things(call, "image", errors.no_image())
    rows = []
    for thing in found:
        try:
            image = values.image(call.workspace.bytes_of(run, thing))
        except Malformed:
            continue
        rows.append({"wall_time": thing.wall_time, "step": thing.step, "width": image.width, "height": image.height})
    return {"metadatas": rows}


@route("GET", "/datavisual/image/single-image")
def single_image(call: Call) -> Any:
    """An image."""
    call.needed("train_id"), call.needed("tag"), call.needed("step")
    step = call.integer("step")
    run, found = _things(call, "image", errors.no_image())
    thing = found[-1] if step == -1 else next((t for t in found if t.step == step), None)
    if thing is None:
        raise errors.no_image("Can not find the step with given train job id and tag.")
    try:
        image = values.image(call.workspace.bytes_of(run, thing))
    except Malformed as error:
        raise damaged(error) from None
    return Response(image.data, media_type=values.image_type(image.data))


@route("GET", "/datavisual/histograms")
def histograms(call: Call) -> Any:
    """The distributions of a tag, all over the same buckets."""
    run, found = _things(call, "histogram", errors.no_histogram())
    read: list[tuple[Thing, values.Histogram]] = []
    for thing in found:
        try:
            read.append((thing, values.histogram(call.workspace.bytes_of(run, thing))))
        except Malformed:
            continue
    filled = [h for _, h in read if h.left.size]
    low = min((h.low for h in filled), default=0.0)
    high = max((h.high for h in filled), default=0.0)
    low, high = (low, high) if low < high else (low - 0.5, high + 0.5)
    bins = max((values.bins_for(h.total) for h in filled), default=1)
    width = (high - low) / bins
    rows = []
    for thing, histogram in read:
        counts = values.rebinned(histogram, low, high, bins)
        buckets = [[low + width * i, width, math.ceil(count - 1e-9)] for i, count in enumerate(counts.tolist())]
        rows.append({"wall_time": thing.wall_time, "step": thing.step, "buckets": buckets})
    return {"train_id": run.name, "tag": call.query["tag"], "histograms": rows}


# ---------------------------------------------------------------------------------------------------------------------
# Tensors


@route("GET", "/datavisual/tensors")
def tensors(call: Call) -> Any:
    """Tensors: their kinds, their statistics, their distribution, or a table of one of them."""
    runs, tags = call.query.getlist("train_id"), call.query.getlist("tag")
    if not runs:
        raise errors.missing("train_id")
    if not tags:
        raise errors.missing("tag")
    detail = call.query.get("detail")
    if detail not in (None, "stats", "histogram", "data"):
        raise errors.wrong_value(f"Can not support this value: {detail} of detail.")
    found = []
    for name in runs:
        run = call.workspace.run(name)
        for tag in tags:
            things = _found(call, run, "tensor", tag)
            if not things:
                raise errors.no_tensor()
            if detail == "data":
                shown = [_table(call, run, things)]
            else:
                shown = [_tensor_line(call, run, thing, detail) for thing in things]
            found.append({"train_id": name, "tag": tag, "values": shown})
    return {"tensors": found}


def _read_tensor(call: Call, run: Run, thing: Thing) -> values.Tensor:
    try:
        return values.tensor(call.workspace.bytes_of(run, thing))
    except Malformed as error:
        if "too big" in str(error):
            raise errors.too_large(thing.step) from None
        raise damaged(error) from None


def _overall(statistics: dict[str, float]) -> dict[str, float]:
    return {f"overall_{name}": value for name, value in statistics.items()}


_SHOWN = ("max", "min", "avg", "count", "nan_count", "neg_inf_count", "pos_inf_count")


def _tensor_line(call: Call, run: Run, thing: Thing, detail: str | None) -> dict[str, Any]:
    tensor = _read_tensor(call, run, thing)
    value: dict[str, Any] = {"dims": list(tensor.value.shape), "data_type": values.type_name(tensor.data_type)}
    if detail:
        statistics = values.statistics(tensor.value)
        if detail == "histogram":
            h = values.tensor_histogram(tensor.value)
            value["histogram_buckets"] = np.stack((h.left, h.width, h.counts), 1).tolist() if h.left.size else []
        value["statistics"] = {name: statistics[name] for name in _SHOWN} | _overall(statistics)
    return {"wall_time": thing.wall_time, "step": thing.step, "value": value}


def _table(call: Call, run: Run, things: list[Thing]) -> dict[str, Any]:
    step, dims = call.integer("step"), call.needed("dims")
    place = parse_dims(dims)
    thing = next((t for t in things if t.step == step), None)
    if thing is None:
        raise errors.no_step(step)
    tensor = _read_tensor(call, run, thing)
    part = sliced(tensor.value, place)
    if part.size > _LARGEST_TABLE:
        raise errors.too_much(f"the size of response data: {part.size} exceed max value: {_LARGEST_TABLE}.")
    statistics = values.statistics(part)
    value = {
        "dims": list(tensor.value.shape),
        "data_type": values.type_name(tensor.data_type),
        "data": _named(part),
        "statistics": {name: statistics[name] for name in _SHOWN} | _overall(values.statistics(tensor.value)),
    }
    return {"wall_time": thing.wall_time, "step": thing.step, "value": value}


def parse_dims(dims: str) -> tuple[int | slice, ...]:
    """`[0, 1:3, :]` as an index of at most two ranges."""
    inner = dims.strip()
    if not (inner.startswith("[") and inner.endswith("]")):
        raise errors.wrong_value(
            f"Invalid shape. The type of shape should be str and start with `[` and end with `]`. Received: {dims}.")  # fmt: skip
    parts = [part.strip() for part in inner[1:-1].split(",")] if inner[1:-1].strip() else []
    if sum(":" in part for part in parts) > 2:
        raise errors.wrong_value(f"Invalid shape. At most 2 dimensions are specified. Received: {dims}")
    try:
        return tuple(
            slice(*(int(p) if p.strip() else None for p in part.split(":"))) if ":" in part else int(part) for part in parts)
    except (ValueError, TypeError):
        raise errors.wrong_value(f"Invalid shape. Convert int from str failed. input_str: {dims}") from None  # fmt: skip


def sliced(array: values.Array, place: tuple[int | slice, ...]) -> values.Array:
    """A part of a tensor."""
    if array.ndim != len(place):
        raise errors.wrong_value("Invalid dims. The length of param dims and tensor shape should be the same.")
    try:
        return np.asarray(array[place])
    except (IndexError, ValueError):
        raise errors.wrong_value(f"Invalid shape. Shape unmatched. Received: {place}, tensor shape: {array.shape}") from None


def _named(array: values.Array) -> Any:
    """Numbers as lists; those that JSON has no word for by name."""
    if array.dtype.kind != "f" or np.isfinite(array).all():
        return array.tolist() if array.ndim else [array.item()]
    if array.ndim > 1:
        return [_named(row) for row in array]
    flat = array.reshape(-1).astype(np.float64)
    names = {True: "NAN"}
    return [names[True] if math.isnan(v) else v if math.isfinite(v) else "INF" if v > 0 else "-INF" for v in flat.tolist()]


# ---------------------------------------------------------------------------------------------------------------------
# Loss landscapes


def _landscapes(call: Call, run: Run) -> list[values.Landscape]:
    found = []
    for thing in call.workspace.store.things(run.id, event.LANDSCAPE):
        try:
            found.append(values.landscape(call.workspace.bytes_of(run, thing)))
        except Malformed:
            continue
    return found


def _interval(landscape: values.Landscape) -> str:
    return str(hash(str(landscape.intervals)))


@route("GET", "/datavisual/landscape/intervals")
def landscape_intervals(call: Call) -> Any:
    """The stretches of training that have a landscape."""
    run = call.workspace.run(call.query.get("train_id"), f"train_id {call.query.get('train_id')}")
    parts = [one for one in _landscapes(call, run) if one.intervals]
    rows = [{"id": _interval(one), "value": [one.intervals[0], one.intervals[-1]]} for one in parts]
    return {"intervals": sorted(rows, key=lambda row: row["value"][0])}


@route("GET", "/datavisual/landscape/landscapes")
def landscape_landscapes(call: Call) -> Any:
    """The landscapes of runs."""
    final = call.query.get("type", "interval") == "final"
    interval = call.query.get("interval_id", "0")
    return {"landscapes": [_landscape(call, name, final, interval) for name in call.query.getlist("train_id")]}


def _landscape(call: Call, name: str, final: bool, interval: str) -> dict[str, Any]:
    if not name.startswith("./"):
        return {"error_code": errors.WRONG_VALUE, "train_id": name}
    run = call.workspace.ensure(name) if ".." not in name else None
    if run is None:
        return {"error_code": errors.NO_RUN, "train_id": name}
    for one in _landscapes(call, run):
        if final != (not one.intervals) or (not final and _interval(one) != interval):
            continue
        found: dict[str, Any] = {"train_id": name, "points": one.points}
        if not final:
            found["path"] = {**one.path, "intervals": one.intervals}
        found["metadata"] = {"decomposition": one.decomposition, "unit": one.unit, "step_per_epoch": one.step_per_epoch,
                             **_about(model_of(call.workspace, run))}  # fmt: skip
        found["convergence_point"] = one.convergence
        return found
    return {"error_code": errors.NO_LANDSCAPE, "train_id": name}


def _about(model: dict[str, Any]) -> dict[str, Any]:
    """What a landscape's legend says about the run."""
    about = {"network": model.get("network"), "optimizer": model.get("optimizer"), "metric": model.get("metric") or {}}
    for name in ("learning_rate", "loss"):
        value = model.get(name)
        about[name] = f"{value:6e}" if value is not None else None
    return about
