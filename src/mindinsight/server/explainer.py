"""The explainer: samples, predictions, saliency maps and the measures of their quality, from explain files."""

from __future__ import annotations

import functools
import json
import math
import re
import time
import urllib.parse
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from starlette.responses import Response

from mindinsight.events import event
from mindinsight.events.values import image_type
from mindinsight.events.wire import BYTES, Field, Malformed, fields, float32, numbers, signed, text
from mindinsight.index.store import Run
from mindinsight.server import errors
from mindinsight.server.calls import API, Call, check_page, route
from mindinsight.server.saliency_images import colored, revealed
from mindinsight.server.workspace import Workspace

_LARGEST_IMAGE = 64 << 20
_LARGEST_MANIFEST = 1 << 20
#: of a class that counts as predicted; files do not say it
_LEAST_CONFIDENCE = 0.5
_DIGITS = 6
#: fields of a prediction: probability, standard deviation, and the ends of its 95 % interval, of true and of predicted classes
_TRUE, _PREDICTED = (1, 4, 5, 6), (3, 7, 8, 9)


@dataclass
class Sample:
    """An image, what was predicted for it, and the maps that explain it."""

    id: int = 0
    image: str = ""
    truth: list[int] = field(default_factory=list)
    predicted: list[int] = field(default_factory=list)
    numbers: dict[int, list[float]] = field(default_factory=dict)  #: by the fields of a prediction
    maps: list[dict[str, Any]] = field(default_factory=list)
    occlusions: dict[int, list[dict[str, Any]]] = field(default_factory=dict)  #: by class, layer after layer
    masks: dict[int, str] = field(default_factory=dict)  #: what hides the rest of the image, by class

    def shares(self, place: int) -> list[tuple[int, float]]:
        """A number (0: the probability) of each class, the true ones first."""
        true, said = self.numbers.get(_TRUE[place], []), self.numbers.get(_PREDICTED[place], [])
        return [*zip(self.truth, true), *zip(self.predicted, said)]


@dataclass
class Job:
    """All explanations of a run."""

    labels: list[str] = field(default_factory=list)
    explainers: list[str] = field(default_factory=list)
    metrics: list[str] = field(default_factory=list)
    samples: dict[int, Sample] = field(default_factory=dict)
    scores: list[dict[str, Any]] = field(default_factory=list)

    def label(self, number: int) -> str:
        """The name of a class."""
        return self.labels[number] if 0 <= number < len(self.labels) else str(number)


def _read(data: bytes, job: Job) -> None:
    parts = list(fields(data))
    number = next((signed(f.value) for f in parts if f.number == 1 and f.kind != BYTES), None)
    sample = job.samples.setdefault(number, Sample(number)) if number is not None else Sample()
    for part in parts:
        if part.number == 2 and part.kind == BYTES:
            sample.image = text(data, part)
        elif part.number == 3:
            sample.truth += [int(n) for n in numbers(data, part, "i8")]
        elif part.number == 4 and part.kind == BYTES:
            _read_inference(data, part, sample)
        elif part.number == 5 and part.kind == BYTES:
            sample.maps.append(_texts(data, part, {1: "explainer", 2: "label", 3: "overlay"}))
        elif part.number == 6 and part.kind == BYTES:
            score = _texts(data, part, {1: "metric", 2: "explainer", 3: "score"})
            score["by_label"] = [float(n) for f in fields(data, part.begin, part.end) if f.number == 4 for n in numbers(data, f, "<f4")]
            job.scores.append(score)
        elif part.number == 9 and part.kind == BYTES:
            _read_occlusion(data, part, sample)
        elif part.number == 7 and part.kind == BYTES:
            for one in fields(data, part.begin, part.end):
                {1: job.labels, 2: job.explainers, 3: job.metrics}.get(one.number, []).append(text(data, one))


def _texts(data: bytes, part: Field, names: dict[int, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for one in fields(data, part.begin, part.end):
        if one.number in names:
            plain = text(data, one) if one.kind == BYTES else float32(data, one) if one.kind == 5 else signed(one.value)
            found[names[one.number]] = plain
    return found


def _read_inference(data: bytes, part: Field, sample: Sample) -> None:
    for one in fields(data, part.begin, part.end):
        if one.number == 2:
            sample.predicted += [int(n) for n in numbers(data, one, "i8")]
        elif one.number in (*_TRUE, *_PREDICTED):
            sample.numbers.setdefault(one.number, []).extend(float(n) for n in numbers(data, one, "<f4"))


def _read_occlusion(data: bytes, part: Field, sample: Sample) -> None:
    """Which boxes of an image are enough for a class: from layer to layer fewer."""
    parts = list(fields(data, part.begin, part.end))
    label = next((signed(one.value) for one in parts if one.number == 1 and one.kind != BYTES), 0)
    sample.masks[label] = next((text(data, one) for one in parts if one.number == 2 and one.kind == BYTES), "")
    for one in parts:
        if one.number != 3 or one.kind != BYTES:
            continue
        inner = list(fields(data, one.begin, one.end))
        boxes = [int(n) for f in inner if f.number == 2 for n in numbers(data, f, "i8")]
        confidence = next((float32(data, f) for f in inner if f.number == 1 and f.kind == 5), None)
        layer = {"confidence": confidence, "boxes": [boxes[i : i + 4] for i in range(0, len(boxes) - 3, 4)]}
        sample.occlusions.setdefault(label, []).append(layer)


@functools.lru_cache(maxsize=8)
def _job(workspace: Workspace, run: Run) -> Job:
    job = Job()
    for thing in workspace.store.things(run.id, event.EXPLAIN):
        try:
            _read(workspace.bytes_of(run, thing), job)
        except Malformed:
            continue
    return job


def _asked(call: Call) -> tuple[Run, Job]:
    run = call.workspace.run(call.query.get("train_id"))
    return run, _job(call.workspace, run)


def _clock(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def _about(run: Run, job: Job) -> dict[str, Any]:
    classes = [{"id": number, "label": label, "sample_count": 0, "saliency_sample_count": 0, "hoc_sample_count": 0}
               for number, label in enumerate(job.labels)]  # fmt: skip
    for sample in job.samples.values():
        for number in {*sample.truth, *sample.predicted}:
            if 0 <= number < len(classes):
                classes[number]["sample_count"] += 1  # type: ignore[operator]
                classes[number]["saliency_sample_count"] += any(m.get("label") == number for m in sample.maps)  # type: ignore[operator]
                classes[number]["hoc_sample_count"] += bool(sample.occlusions.get(number))  # type: ignore[operator]
    methods, metrics = (list(dict.fromkeys(names)) for names in (job.explainers, job.metrics))
    return {"train_id": run.name, "create_time": _clock(run.created), "update_time": _clock(run.updated),
            "sample_count": len(job.samples), "classes": classes, "status": "LOADED",
            "saliency": {"min_confidence": _LEAST_CONFIDENCE, "explainers": methods, "metrics": metrics},
            "uncertainty": {"enabled": _is_uncertain(job)}}  # fmt: skip


def _is_uncertain(job: Job) -> bool:
    """Whether standard deviations of probabilities were recorded."""
    return any(sample.shares(1) for sample in job.samples.values())


@route("GET", "/explainer/explain-jobs")
def jobs(call: Call) -> Any:
    """Runs with explanations."""
    offset, limit = call.page(10, 999)
    known = call.workspace.store.runs_with(event.EXPLAIN)
    runs = sorted((run for run in call.workspace.store.runs() if run.id in known), key=lambda run: -run.updated)
    shown = [{"train_id": run.name, "create_time": _clock(run.created), "update_time": _clock(run.updated),
              **_kinds(call.workspace.path(run.name))} for run in runs[offset * limit : (offset + 1) * limit]]  # fmt: skip
    return {"name": call.workspace.folder.base.name, "total": len(runs), "explain_jobs": shown}


def _kinds(folder: Path) -> dict[str, bool]:
    """Which explanations a run has, as its manifest says; older ones have saliency maps."""
    found = {"saliency_map": True, "hierarchical_occlusion": False}
    for file in sorted(folder.glob("_explain_*/manifest.json"))[-1:]:
        try:
            said = json.loads(file.read_text()) if file.stat().st_size < _LARGEST_MANIFEST else {}
        except (OSError, ValueError):
            continue
        found |= {name: bool(said[name]) for name in found if isinstance(said, dict) and name in said}
    return found


@route("GET", "/explainer/explain-job")
def job(call: Call) -> Any:
    """What a run explains."""
    return _about(*_asked(call))


@route("POST", "/explainer/saliency")
def saliency(call: Call) -> Any:
    """Samples with their maps."""
    body = call.body()
    methods = _list_of_texts(body, "explainers")
    run = call.workspace.run(body.get("train_id"))
    found = _job(call.workspace, run)
    page = _page(body, found, [_sample(found, sample, methods) for sample in found.samples.values()])
    for row in page["samples"]:
        row["image"] = _address(run, row["image"], "original")
        for one in (m for inference in row["inferences"] for m in inference["saliency_maps"]):
            one["overlay"] = _address(run, one["overlay"], "overlay")
        for inference in row["inferences"]:
            inference["hoc_layers"] = inference["hoc_layers"] or {}  # as official replies say that there are none
    return page


@route("POST", "/explainer/hoc")
def occlusions(call: Call) -> Any:
    """Samples with the boxes of their images that are enough for a class (hierarchical occlusion)."""
    body = call.body()
    run = call.workspace.run(body.get("train_id"))
    found = _job(call.workspace, run)
    drop = body.get("drop_empty", True)
    if not isinstance(drop, bool):
        raise errors.wrong_type("drop_empty", "bool")
    rows = [_sample(found, sample, []) for sample in found.samples.values()]
    for row in rows:
        row["image"] = _address(run, row["image"], "original")
        for inference in row["inferences"]:
            inference["hoc_layers"] = [
                {**layer, "outcome": _address(run, f"{row['id']}_{inference['label']}_{number}.jpg", "outcome")}
                for number, layer in enumerate(inference["hoc_layers"])
            ]
    rows = [row for row in rows if not drop or any(i["hoc_layers"] for i in row["inferences"])]
    page = _page(body, found, rows)
    for row in page["samples"] if drop else ():
        row["inferences"] = [i for i in row["inferences"] if i["hoc_layers"]]
    return page


def _address(run: Run, path: str, kind: str) -> str:
    """Where an image is asked for."""
    return f"{API}/explainer/image?{urllib.parse.urlencode({'train_id': run.name, 'path': path, 'type': kind})}"


def _list_of_texts(body: dict[str, Any], name: str) -> list[str]:
    found = body.get(name)
    if found is not None and not isinstance(found, list):
        raise errors.wrong_type(name, "list")
    if not all(isinstance(one, str) for one in found or ()):
        raise errors.wrong_type(f"element of {name}", "str")
    return found or []


def _page(body: dict[str, Any], job: Job, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The samples with one of the classes and kinds of predictions that are asked for, sorted, a page of them."""
    offset, limit, labels = body.get("offset", 0), body.get("limit", 10), _list_of_texts(body, "labels")
    kinds, order, way = _list_of_texts(body, "prediction_types"), body.get("sorted_name", ""), body.get("sorted_type", "descending")
    check_page(offset, limit, 100)
    choices = (("sorted_name", [order], ("", "confidence", "uncertainty")), ("sorted_type", [way], ("ascending", "descending")),
               ("prediction_types", kinds, ("TP", "FN", "FP")))  # fmt: skip
    for name, given, allowed in choices:
        wrong = [one for one in given if one not in allowed]
        if wrong:
            raise errors.wrong_value(f"Valid options for {name} are {allowed}, but got {wrong[0]}.")
    if order == "uncertainty" and not _is_uncertain(job):
        raise errors.wrong_value("Uncertainty is not enabled, sorted_name cannot be 'uncertainty'.")
    rows = [row for row in rows if not labels or any(i["label"] in labels for i in row["inferences"])]
    rows = [row for row in rows if not kinds or any(i["prediction_type"] in kinds for i in row["inferences"])]
    if order:
        key = "confidence" if order == "confidence" else "confidence_sd"
        rows.sort(key=lambda row: _extreme(row, key, labels, way), reverse=way == "descending")
    return {"count": len(rows), "samples": rows[offset * limit : (offset + 1) * limit]}


def _extreme(row: dict[str, Any], key: str, labels: list[str], way: str) -> float:
    """The number of the class by which a sample is sorted: the largest going down, the smallest going up."""
    shown = [i[key] for i in row["inferences"] if (not labels or i["label"] in labels) and isinstance(i.get(key), float)]
    return max(shown, default=-math.inf) if way == "descending" else min(shown, default=math.inf)


def _sample(job: Job, sample: Sample, methods: list[str]) -> dict[str, Any]:
    found: dict[int, dict[str, Any]] = {}
    for number, share in sample.shares(0):
        maps = [m for m in sample.maps if m.get("label") == number and (not methods or m.get("explainer") in methods)]
        kind = None if not sample.truth else "FN" if share < _LEAST_CONFIDENCE else "TP" if number in sample.truth else "FP"
        found[number] = {
            "label": job.label(number), "confidence": round(share, _DIGITS), "prediction_type": kind,
            "saliency_maps": [{"explainer": m.get("explainer", ""), "overlay": m.get("overlay", "")} for m in maps],
            "hoc_layers": sample.occlusions.get(number, []),
        }  # fmt: skip
    for (number, spread), (_, low), (_, high) in zip(*(sample.shares(place) for place in (1, 2, 3))):
        if number in found:
            interval = [round(low, _DIGITS), round(high, _DIGITS)]
            found[number] |= {"confidence_sd": round(spread, _DIGITS), "confidence_itl95": interval}
    return {"id": sample.id, "name": str(sample.id), "image": sample.image, "inferences": list(found.values())}


@route("GET", "/explainer/evaluation")
def evaluation(call: Call) -> Any:
    """The measures of the methods."""
    _, found = _asked(call)
    rows: dict[str, dict[str, Any]] = {}
    for score in found.scores:
        row = rows.setdefault(score.get("explainer", ""), {"explainer": score.get("explainer", ""), "evaluations": [], "class_scores": []})
        row["evaluations"].append({"metric": score.get("metric", ""), "score": _shown(score.get("score"))})
        for number, value in enumerate(score["by_label"]):
            label = found.label(number)
            one = next((c for c in row["class_scores"] if c["label"] == label), None)
            if one is None:
                one = {"label": label, "evaluations": []}
                row["class_scores"].append(one)
            one["evaluations"].append({"metric": score.get("metric", ""), "score": _shown(value)})
    return {"explainer_scores": list(rows.values())}


def _shown(score: Any) -> Any:
    if not isinstance(score, float):
        return score
    return "NaN" if math.isnan(score) else round(score, _DIGITS)


@route("GET", "/explainer/image")
def image(call: Call) -> Any:
    """An image, a map, or what occlusion leaves of an image (`type`); only files inside the run's folder, and only images."""
    run = call.workspace.run(call.query.get("train_id"))
    path, kind = call.needed("path"), call.needed("type")
    if kind not in ("original", "overlay", "outcome"):
        raise errors.wrong_value(f"type:{kind}, valid options: 'original' 'overlay' 'outcome'")
    if kind == "outcome":
        sample, number, layer = _outcome(_job(call.workspace, run), path)
        data = revealed(_image(call, run, sample.image), sample.masks.get(number, ""), layer["boxes"])
    else:
        data = _image(call, run, path)
        data = colored(data) if kind == "overlay" else data
    if data is None:
        raise errors.no_image("The file is no image.")
    return Response(data, media_type=image_type(data))


def _outcome(job: Job, name: str) -> tuple[Sample, int, dict[str, Any]]:
    """Sample, class and layer that a name means: `SAMPLE_CLASS_LAYER.jpg`."""
    found = re.fullmatch(r"(\d{1,9})_(.*)_(\d{1,9})\.jpg", name, re.DOTALL)
    sample = job.samples.get(int(found[1])) if found else None
    number = job.labels.index(found[2]) if found and found[2] in job.labels else -1
    layers = sample.occlusions.get(number, []) if sample else []
    if not found or not sample or int(found[3]) >= len(layers):
        raise errors.no_image("Can not find the image.")
    return sample, number, layers[int(found[3])]


def _image(call: Call, run: Run, name: str) -> bytes:
    base = call.workspace.path(run.name)
    path = (base / name).resolve()
    try:
        if not path.is_relative_to(base) or not path.is_file() or path.stat().st_size > _LARGEST_IMAGE:
            raise errors.no_image("Can not find the image.")
        data = path.read_bytes()
    except (OSError, ValueError):
        raise errors.no_image("Can not find the image.") from None
    if image_type(data) == "application/octet-stream":
        raise errors.no_image("The file is no image.")
    return data
