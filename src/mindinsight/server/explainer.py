"""The explainer: samples, predictions, saliency maps and the measures of their quality, from explain files."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import Response

from mindinsight.events import event
from mindinsight.events.values import image_type
from mindinsight.events.wire import BYTES, Field, Malformed, fields, float32, numbers, signed, text
from mindinsight.index.store import Run
from mindinsight.server import errors
from mindinsight.server.calls import Call, check_page, route
from mindinsight.server.workspace import Workspace

_LARGEST_IMAGE = 64 << 20


@dataclass
class Sample:
    """An image, what was predicted for it, and the maps that explain it."""

    id: int = 0
    image: str = ""
    truth: list[int] = field(default_factory=list)
    truth_prob: list[float] = field(default_factory=list)
    predicted: list[int] = field(default_factory=list)
    predicted_prob: list[float] = field(default_factory=list)
    maps: list[dict[str, Any]] = field(default_factory=list)
    occlusions: dict[int, list[dict[str, Any]]] = field(default_factory=dict)  #: by class, layer after layer


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
        if one.number == 1:
            sample.truth_prob += [float(n) for n in numbers(data, one, "<f4")]
        elif one.number == 2:
            sample.predicted += [int(n) for n in numbers(data, one, "i8")]
        elif one.number == 3:
            sample.predicted_prob += [float(n) for n in numbers(data, one, "<f4")]


def _read_occlusion(data: bytes, part: Field, sample: Sample) -> None:
    """Which boxes of an image are enough for a class: from layer to layer fewer."""
    parts = list(fields(data, part.begin, part.end))
    label = next((signed(one.value) for one in parts if one.number == 1 and one.kind != BYTES), 0)
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


def _about(run: Run, job: Job) -> dict[str, Any]:
    counts = [0] * len(job.labels)
    for sample in job.samples.values():
        for number in {*sample.truth, *sample.predicted}:
            if 0 <= number < len(counts):
                counts[number] += 1
    classes = [{"id": i, "label": label, "sample_count": counts[i]} for i, label in enumerate(job.labels)]
    return {"train_id": run.name, "create_time": run.created, "update_time": run.updated, "sample_count": len(job.samples),
            "classes": classes, "saliency": {"explainers": list(dict.fromkeys(job.explainers)), "metrics": job.metrics},
            "uncertainty": {"enabled": False}}  # fmt: skip


@route("GET", "/explainer/explain-jobs")
def jobs(call: Call) -> Any:
    """Runs with explanations."""
    offset, limit = call.page(10, 999)
    known = call.workspace.store.runs_with(event.EXPLAIN)
    runs = sorted((run for run in call.workspace.store.runs() if run.id in known), key=lambda run: -run.updated)
    shown = [_about(run, _job(call.workspace, run)) for run in runs[offset * limit : (offset + 1) * limit]]
    return {"name": call.workspace.folder.base.name, "total": len(runs), "explain_jobs": shown}


@route("GET", "/explainer/explain-job")
def job(call: Call) -> Any:
    """What a run explains."""
    return _about(*_asked(call))


@route("POST", "/explainer/saliency")
def saliency(call: Call) -> Any:
    """Samples with their maps."""
    body = call.body()
    run = call.workspace.run(body.get("train_id"))
    found = _job(call.workspace, run)
    return _page(body, [_sample(found, sample, body.get("explainers")) for sample in found.samples.values()])


@route("POST", "/explainer/hoc")
def occlusions(call: Call) -> Any:
    """Samples with the boxes of their images that are enough for a class (hierarchical occlusion)."""
    body = call.body()
    found = _job(call.workspace, call.workspace.run(body.get("train_id")))
    drop = body.get("drop_empty", True)
    if not isinstance(drop, bool):
        raise errors.wrong_type("drop_empty", "bool")
    rows = [_sample(found, sample, None) for sample in found.samples.values()]
    for row in rows if drop else ():
        row["inferences"] = [i for i in row["inferences"] if i["hoc_layers"]]
    return _page(body, [row for row in rows if row["inferences"] or not drop])


def _page(body: dict[str, Any], rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The samples with one of the classes that are asked for, a page of them."""
    offset, limit, labels = body.get("offset", 0), body.get("limit", 10), body.get("labels")
    check_page(offset, limit, 100)
    rows = [row for row in rows if not labels or any(i["label"] in labels for i in row["inferences"])]
    return {"count": len(rows), "samples": rows[offset * limit : (offset + 1) * limit]}


def _sample(job: Job, sample: Sample, methods: Any) -> dict[str, Any]:
    inferences = []
    for number in dict.fromkeys([*sample.truth, *sample.predicted]):
        truth, said = number in sample.truth, number in sample.predicted
        probabilities = sample.predicted_prob if said else sample.truth_prob
        place = (sample.predicted if said else sample.truth).index(number)
        maps = [m for m in sample.maps if m.get("label") == number and (not methods or m.get("explainer") in methods)]
        inferences.append({
            "label": job.label(number), "confidence": probabilities[place] if place < len(probabilities) else None,
            "prediction_type": "TP" if truth and said else "FP" if said else "FN",
            "saliency_maps": [{"explainer": m.get("explainer", ""), "overlay": m.get("overlay", "")} for m in maps],
            "hoc_layers": sample.occlusions.get(number, []),
        })  # fmt: skip
    return {"id": sample.id, "name": str(sample.id), "image": sample.image, "inferences": inferences}


@route("GET", "/explainer/evaluation")
def evaluation(call: Call) -> Any:
    """The measures of the methods."""
    _, found = _asked(call)
    rows: dict[str, dict[str, Any]] = {}
    for score in found.scores:
        row = rows.setdefault(score.get("explainer", ""), {"explainer": score.get("explainer", ""), "evaluations": [], "class_scores": []})
        row["evaluations"].append({"metric": score.get("metric", ""), "score": score.get("score")})
        for number, value in enumerate(score["by_label"]):
            label = found.label(number)
            one = next((c for c in row["class_scores"] if c["label"] == label), None)
            if one is None:
                one = {"label": label, "evaluations": []}
                row["class_scores"].append(one)
            one["evaluations"].append({"metric": score.get("metric", ""), "score": value})
    return {"explainer_scores": list(rows.values())}


@route("GET", "/explainer/image")
def image(call: Call) -> Any:
    """An image or a map; only files inside the run's folder, and only images."""
    run = call.workspace.run(call.query.get("train_id"))
    base = call.workspace.path(run.name)
    path = (base / call.needed("path")).resolve()
    try:
        if not path.is_relative_to(base) or not path.is_file() or path.stat().st_size > _LARGEST_IMAGE:
            raise errors.no_image("Can not find the image.")
        data = path.read_bytes()
    except (OSError, ValueError):
        raise errors.no_image("Can not find the image.") from None
    kind = image_type(data)
    if kind == "application/octet-stream":
        raise errors.no_image("The file is no image.")
    return Response(data, media_type=kind)
