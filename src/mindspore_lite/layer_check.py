"""`--check`: every value of an ONNX model, as mindspore_lite computes it and as ONNX Runtime does.

A copy of the model gives all values of its graph as outputs, so that both engines show what they have between layers. Values are
compared in the order of the nodes: the first that is apart names the layer where the two part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from mindspore._base.optional import require
from mindspore_lite.source import OnnxSource


class Difference(NamedTuple):
    """How far apart one value is: the largest difference, divided by the largest magnitude."""

    name: str
    operation: str
    apart: float


def check(origin: OnnxSource, shapes: Mapping[str, tuple[int, ...]], seed: int = 0) -> list[Difference]:
    """All values that both engines give, in order; random numbers go in."""
    from mindspore_lite import loading
    from mindspore_lite.session import Session

    runtime = require("onnxruntime", "dev", "comparing a model with its source")
    model, producers = _with_all_outputs(origin.model)
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    mine = Session(loading.prepare(OnnxSource(model), shapes=dict(shapes)))
    random = np.random.default_rng(seed)
    feeds = {spec.name: _numbers(random, spec.dtype.np, mine.shapes[spec.name]) for spec in mine.model.inputs}
    names = [value.name for value in model.graph.output]
    found = [array for _, array in mine.run([feeds[spec.name] for spec in mine.model.inputs])]
    wanted = session.run(names, feeds)
    return [Difference(n, producers.get(n, ""), _apart(a, b)) for n, a, b in zip(names, found, wanted)]


def _with_all_outputs(model: Any) -> tuple[Any, dict[str, str]]:
    """The model with every value of its main graph whose type is known as an output, and what makes each."""
    from onnx import shape_inference

    copied = type(model)()
    copied.CopyFrom(shape_inference.infer_shapes(model))
    given = {value.name for value in copied.graph.output}
    known = {value.name: value for value in copied.graph.value_info}
    producers: dict[str, str] = {}
    ordered = []
    for node in copied.graph.node:
        for name in filter(None, node.output):
            producers[name] = node.op_type
            if name in known and name not in given and known[name].type.tensor_type.elem_type in (1, 6, 7, 9, 10, 11):
                ordered.append(known[name])
    copied.graph.output.extend(ordered)
    order = {name: place for place, name in enumerate(producers)}
    values = sorted(copied.graph.output, key=lambda value: order.get(value.name, -1))
    del copied.graph.output[:]
    copied.graph.output.extend(values)
    return copied, producers


def _numbers(random: np.random.Generator, kind: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    if any(size < 0 for size in shape):
        raise ValueError("the model leaves sizes of its inputs open: give input_shape to check it")
    return np.asarray(random.standard_normal(shape) if kind.kind == "f" else random.integers(0, 2, shape), kind)


def _apart(found: np.ndarray, wanted: np.ndarray) -> float:
    if found.shape != wanted.shape:
        return float("inf")
    if found.dtype.kind not in "fiub" or not found.size:
        return 0.0
    a, b = found.astype(np.float64), np.asarray(wanted, np.float64)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    difference = np.where(same, 0.0, np.abs(a - b))
    largest = float(np.abs(b[np.isfinite(b)]).max(initial=0.0))
    worst = float(difference.max())
    return worst / max(largest, 1e-6) if np.isfinite(worst) else float("inf")


def report(rows: list[Difference], limit: float) -> Iterator[str]:
    """Lines for people: a summary, and where the engines part."""
    apart = [row for row in rows if not row.apart <= limit]
    worst = max((row.apart for row in rows), default=0.0)
    yield f"CHECK: {len(rows)} values compared with ONNX Runtime, the largest relative difference is {worst:.2e}"
    if apart:
        first = apart[0]
        yield f"CHECK FAILED: they part at '{first.name}' ({first.operation}), by {first.apart:.2e}; {len(apart)} values differ"
