"""`benchmark --modelFile=net.ms`: how long a run takes, where the time goes, and whether results are right."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore_lite.context import Context
from mindspore_lite.model import Model, ModelType
from mindspore_lite.tensor import Tensor
from mindspore_lite.tools import options
from mindspore_lite.tools.inputs import fill


def main(arguments: Sequence[str] | None = None) -> int:
    """0 when the model ran, and agreed with the expected results where they were given."""
    parser = options.parser("benchmark", "Measures a model, and compares its results with a file.")
    parser.add_argument("--modelFile", required=True)
    options.add(parser, "inDataFile", [], "a file of raw data for each input, separated by commas", options.split_names)
    options.add(parser, "device", "CPU", "", choices=["CPU"])
    options.add(parser, "numThreads", 2, "threads", int)
    options.add(parser, "loopCount", 10, "runs that count", int)
    options.add(parser, "warmUpLoopCount", 3, "runs before", int)
    options.add(parser, "timeProfiling", False, "print the time of each operator", options.truth)
    options.add(parser, "inputShapes", [], "1,224,224,3:1,8", options.split_shapes)
    options.add(
        parser, "benchmarkDataFile", "", "expected results: for each output a line 'name rank sizes…' and one of values"
    )
    options.add(parser, "accuracyThreshold", 0.5, "mean relative error allowed, in percent", float)
    options.add(parser, "cosineDistanceThreshold", -1.1, "least cosine of the angle to the expected results", float)
    options.add(parser, "decryptKey", "", "in hexadecimal digits")
    return options.benchmarked(parser.parse_args(arguments), _run)


def _run(given: Any) -> int:
    context = Context()
    context.cpu.thread_num = given.numThreads
    model = Model()
    start = time.perf_counter()
    kind = ModelType.MINDIR if given.modelFile.endswith(".mindir") else ModelType.MINDIR_LITE
    model.build_from_file(given.modelFile, kind, context, dec_key=bytes.fromhex(given.decryptKey) or None)
    print(f"PrepareTime = {(time.perf_counter() - start) * 1000:.3f} ms")
    inputs = model.get_inputs()
    if given.inputShapes:
        model.resize(inputs, given.inputShapes)
    fill(inputs, given.inDataFile)
    if given.benchmarkDataFile:
        return _compare(model.predict(inputs), given)
    for _ in range(given.warmUpLoopCount):
        model.predict(inputs)
    times = []
    for _ in range(max(given.loopCount, 1)):
        start = time.perf_counter()
        model.predict(inputs)
        times.append((time.perf_counter() - start) * 1000)
    name = os.path.basename(given.modelFile)
    print(
        f"Model = {name}, NumThreads = {given.numThreads}, MinRunTime = {min(times):.6f} ms, "
        f"MaxRuntime = {max(times):.6f} ms, AvgRunTime = {sum(times) / len(times):.6f} ms"
    )
    if given.timeProfiling:
        _print_profile(model, inputs, given)
    print(f"Run Benchmark {name} Success.")
    return 0


def _print_profile(model: Model, inputs: list[Tensor], given: Any) -> None:
    """Two tables, as MindSpore Lite prints them: operator by operator, and kind by kind."""
    from mindspore_lite.profile import by_kind, profile

    program = model.program()
    arrays = {tensor.name: tensor.get_data_to_numpy() for tensor in inputs}
    rows = profile(program, [arrays[spec.name] for spec in program.inputs], given.numThreads, max(given.loopCount, 1))
    total = sum(row.seconds for row in rows) or 1.0
    head = f"{'avg(ms)':>10}  {'percent':>8}"
    print(f"{'opName':50}{head}  output")
    for row in rows:
        print(f"{row.name[:48]:50}{row.seconds * 1e3:10.4f}  {row.seconds / total:8.4f}  {list(row.shape)}")
    print(f"{'opType':50}{head}  calledTimes")
    for kind, seconds, count in by_kind(rows):
        print(f"{kind[:48]:50}{seconds * 1e3:10.4f}  {seconds / total:8.4f}  {count}")


def _compare(outputs: list[Tensor], given: Any) -> int:
    """The mean relative error and the cosine of each output against the expected one."""
    with open(given.benchmarkDataFile, encoding="utf-8") as stream:
        lines = [line.split() for line in stream if line.strip()]
    expected = {head[0]: np.array(body, np.float64) for head, body in zip(lines[0::2], lines[1::2])}
    worst, closest = 0.0, 1.0
    for place, tensor in enumerate(outputs):
        names = list(expected)
        wanted = expected.get(tensor.name, expected[names[place]] if place < len(names) else None)
        found = tensor.get_data_to_numpy().astype(np.float64).reshape(-1)
        if wanted is None or wanted.shape != found.shape:
            raise ValueError(f"the expected results have no output '{tensor.name}' with {found.size} elements")
        scale = np.abs(wanted).mean() or 1.0
        worst = max(worst, float(np.abs(found - wanted).mean() / scale * 100))
        lengths = np.linalg.norm(found) * np.linalg.norm(wanted)
        closest = min(closest, float(found @ wanted / lengths) if lengths else 1.0)
    print(f"Mean bias of all nodes/tensors: {worst:.6f}%\nCosine distance of all nodes/tensors: {closest:.6f}")
    return 0 if worst <= given.accuracyThreshold and closest >= given.cosineDistanceThreshold else 1


if __name__ == "__main__":
    sys.exit(main())
