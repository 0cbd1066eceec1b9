"""`benchmark_train --modelFile=net.ms`: how long a training step takes, and whether its results are right."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore_lite.context import Context
from mindspore_lite.tools import options
from mindspore_lite.training.trainer import TrainModel


def main(arguments: Sequence[str] | None = None) -> int:
    """0 when the model was trained, and agreed with the expected losses where they were given."""
    parser = options.parser("benchmark_train", "Measures the training of a model.")
    parser.add_argument("--modelFile", required=True)
    options.add(parser, "inDataFile", [], "a file of raw data for each input, separated by commas", options.split_names)
    options.add(parser, "epochs", 1, "steps that count", int)
    options.add(parser, "warmUpLoopCount", 3, "steps before", int)
    options.add(parser, "numThreads", 2, "threads", int)
    options.add(parser, "virtualBatch", 1, "steps whose gradients are added up", int)
    options.add(parser, "expectedDataFile", "", "a file with the expected loss of the last step")
    options.add(parser, "accuracyThreshold", 0.5, "relative error of the loss allowed, in percent", float)
    options.add(parser, "exportFile", "", "where the trained model goes, for inference")
    options.add(parser, "inferenceFile", "", "the same, under the name that MindSpore Lite has for it")
    options.add_absent(parser, _ABSENT)
    return options.benchmarked(parser.parse_args(arguments), _run)


#: options of MindSpore Lite's tool that conversion decides here, or that have no counterpart
_ABSENT = {
    "enableFp16": "mixed_precision in [train_param] decides at conversion", "lossName": "loss in [train_param] decides at conversion",
    "inputShapes": "shapes are fixed at conversion", "bbModelFile": "trainable in [train_param] freezes layers at conversion",
    "timeProfiling": "benchmark shows operators of inference", "layerCheckSum": "converter_lite --check=true compares layers",
}  # fmt: skip


def _run(given: Any) -> int:
    options.refuse_absent(given, _ABSENT)
    context = Context()
    context.cpu.thread_num = given.numThreads
    model = TrainModel()
    model.build_from_file(given.modelFile, context)
    if given.virtualBatch > 1:
        model.setup_virtual_batch(given.virtualBatch)
    inputs = _data(model, given.inDataFile)
    for _ in range(given.warmUpLoopCount):
        model.run_step(inputs)
    times, loss = [], float("nan")
    for _ in range(max(given.epochs, 1)):
        start = time.perf_counter()
        loss = model.run_step(inputs)
        times.append((time.perf_counter() - start) * 1000)
    name = os.path.basename(given.modelFile)
    print(
        f"Model = {name}, NumThreads = {given.numThreads}, MinRunTime = {min(times):.6f} ms, MaxRuntime = {max(times):.6f} ms, "
        f"AvgRunTime = {sum(times) / len(times):.6f} ms\nLoss = {loss:.8g}"
    )
    for path in filter(None, (given.exportFile, given.inferenceFile)):
        model.export_model(path)
    if given.expectedDataFile:
        with open(given.expectedDataFile, encoding="utf-8") as stream:
            expected = float(stream.read())
        apart = abs(loss - expected) / max(abs(expected), 1e-12) * 100
        print(f"Mean bias of the loss: {apart:.6f}%")
        return 0 if apart <= given.accuracyThreshold else 1
    print(f"Run Benchmark {name} Success.")
    return 0


def _data(model: TrainModel, files: list[str]) -> list[np.ndarray]:
    """Data from files, or random numbers (zeros for whole numbers, such as labels)."""
    specs = model.inputs()
    if files and len(files) != len(specs):
        raise ValueError(f"the model takes {len(specs)} inputs, but --inDataFile names {len(files)} files")
    random, found = np.random.default_rng(0), []
    for place, spec in enumerate(specs):
        kind = spec.dtype.np
        if files:
            data = np.fromfile(files[place], kind)
            if data.size != int(np.prod(spec.shape)):
                raise ValueError(f"the file {files[place]} has {data.size} elements, but '{spec.name}' takes {spec.shape}")
        else:
            data = random.random(spec.shape) if kind.kind == "f" else np.zeros(spec.shape)
        found.append(np.asarray(data, kind).reshape(spec.shape))
    return found


if __name__ == "__main__":
    sys.exit(main())
