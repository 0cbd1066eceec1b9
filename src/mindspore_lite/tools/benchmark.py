"""`benchmark --modelFile=net.ms`: how long a run takes, where the time goes, and whether results are right."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from mindspore_lite.context import Context
from mindspore_lite.model import Model, ModelParallelRunner, ModelType
from mindspore_lite.tensor import Tensor
from mindspore_lite.tools import options
from mindspore_lite.tools.inputs import fill


def main(arguments: Sequence[str] | None = None) -> int:
    """0 when the model ran, and agreed with the expected results where they were given."""
    parser = options.parser("benchmark", "Measures a model, and compares its results with a file.")
    parser.add_argument("--modelFile", required=True)
    options.add(parser, "inDataFile", [], "a file of raw data for each input, separated by commas", options.split_names)
    options.add(parser, "modelType", "", "MindIR or MindIR_Lite; by the file's name, unless told", choices=["", "MindIR", "MindIR_Lite"])
    options.add(parser, "configFile", "", "options for the model's build")
    options.add(parser, "device", "CPU", "", choices=["CPU", "Auto"])
    options.add(parser, "cpuBindMode", 1, "0: threads are free, 1: bound, fast cores first, 2: slow ones first", int, choices=[0, 1, 2])
    options.add(parser, "cpuCoreList", [], "cores to bind threads to, as 0,1", options.split_numbers)
    options.add(parser, "interOpParallelNum", 1, "operators that run at a time", int)
    options.add(parser, "numThreads", 2, "threads", int)
    options.add(parser, "loopCount", 10, "runs that count", int)
    options.add(parser, "warmUpLoopCount", 3, "runs before", int)
    options.add(parser, "timeProfiling", False, "print the time of each operator", options.truth)
    options.add(parser, "inputShapes", [], "1,224,224,3:1,8", options.split_shapes)
    options.add(parser, "inputShape", {}, "name:1,224,224,3;other:1,8", options.shapes)
    options.add(parser, "enableParallelPredict", False, "run in a ModelParallelRunner", options.truth)
    options.add(parser, "parallelNum", 2, "threads that ask for results at a time, of a ModelParallelRunner", int)
    options.add(parser, "workersNum", 2, "workers of a ModelParallelRunner", int)
    options.add(parser, "benchmarkDataType", "FLOAT", "of the expected results", choices=["FLOAT", "INT32", "INT8", "UINT8"])
    options.add(
        parser, "benchmarkDataFile", "", "expected results: for each output a line 'name rank sizes…' and one of values"
    )
    options.add(parser, "accuracyThreshold", 0.5, "mean relative error allowed, in percent", float)
    options.add(parser, "cosineDistanceThreshold", -1.1, "least cosine of the angle to the expected results", float)
    options.add(parser, "decryptKey", "", "in hexadecimal digits")
    options.add_absent(parser, _ABSENT)
    return options.benchmarked(parser.parse_args(arguments), _run)


#: options of MindSpore Lite's tool that would have no effect here
_ABSENT = {
    "enableFp16": "models compute with 32 bits; converter_lite stores 16 (--fp16=on) or computes with 8",
    "cryptoLibPath": "no library is needed", "perfEvent": "see perfProfiling", "GroupInfoFile": "there is one process",
    "perfProfiling": "--timeProfiling=true shows operators; perf stat counts events", "enableGLTexture": "there is no GPU",
    "enableParallel": "operators are not run beside one another; see numThreads", "delegateMode": "there is no other engine",
}  # fmt: skip


def _run(given: Any) -> int:
    options.refuse_absent(given, _ABSENT)
    context = _context(given)
    if given.enableParallelPredict:
        return _run_in_parallel(given, context)
    model = Model()
    start = time.perf_counter()
    model.build_from_file(given.modelFile, _kind(given), context, given.configFile, dec_key=bytes.fromhex(given.decryptKey) or None)
    print(f"PrepareTime = {(time.perf_counter() - start) * 1000:.3f} ms")
    inputs = model.get_inputs()
    shapes = given.inputShapes or _by_name(inputs, given.inputShape)
    if shapes:
        model.resize(inputs, shapes)
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
    _print_times(given, times)
    if given.timeProfiling:
        _print_profile(model, inputs, given)
    print(f"Run Benchmark {os.path.basename(given.modelFile)} Success.")
    return 0


def _context(given: Any) -> Context:
    context = Context()
    cpu = context.cpu
    cpu.thread_num, cpu.inter_op_parallel_num = given.numThreads, given.interOpParallelNum
    cpu.thread_affinity_mode, cpu.thread_affinity_core_list = given.cpuBindMode, given.cpuCoreList
    return context


def _kind(given: Any) -> ModelType:
    if given.modelType:
        return ModelType.MINDIR if given.modelType == "MindIR" else ModelType.MINDIR_LITE
    return ModelType.MINDIR if given.modelFile.endswith(".mindir") else ModelType.MINDIR_LITE


def _by_name(inputs: list[Tensor], shapes: dict[str, list[int]]) -> list[list[int]]:
    """New shapes in the order of the inputs; none where none is given."""
    unknown = [name for name in shapes if name not in {tensor.name for tensor in inputs}]
    if unknown:
        raise ValueError(f"--inputShape names '{unknown[0]}', but the model's inputs are {[tensor.name for tensor in inputs]}")
    return [shapes.get(tensor.name, list(tensor.shape)) for tensor in inputs] if shapes else []


def _print_times(given: Any, times: list[float]) -> None:
    print(
        f"Model = {os.path.basename(given.modelFile)}, NumThreads = {given.numThreads}, MinRunTime = {min(times):.6f} ms, "
        f"MaxRuntime = {max(times):.6f} ms, AvgRunTime = {sum(times) / len(times):.6f} ms"
    )


def _run_in_parallel(given: Any, context: Context) -> int:
    """Several threads ask a runner for results, each as often as `loopCount` says."""
    context.parallel.workers_num = given.workersNum
    context.cpu.thread_affinity_mode, context.cpu.thread_affinity_core_list = 0, []  # workers would share the first cores
    runner = ModelParallelRunner()
    runner.build_from_file(given.modelFile, context)
    inputs = runner.get_inputs()
    fill(inputs, given.inDataFile)

    def timed(_: int) -> float:
        start = time.perf_counter()
        runner.predict(inputs)
        return (time.perf_counter() - start) * 1000

    with ThreadPoolExecutor(given.parallelNum) as pool:
        list(pool.map(timed, range(given.warmUpLoopCount * given.parallelNum)))
        start = time.perf_counter()
        times = list(pool.map(timed, range(max(given.loopCount, 1) * given.parallelNum)))
        print(f"ParallelNum = {given.parallelNum}, Throughput = {len(times) / (time.perf_counter() - start):.3f} runs/s")
    _print_times(given, times)
    print(f"Run Benchmark {os.path.basename(given.modelFile)} Success.")
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
