"""MobileNetV2 and ResNet-50 on mindspore_lite and its rivals, in alternating runs of one process.

    python benchmarks/lite/run.py [--threads 1] [--runs 60]

Weights are random and the graphs made here, so this is about speed. CPU time counts on one thread (a shared machine's wall clock does
not), wall time otherwise; minimum and median are printed. Rivals that are not installed are left out.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable

import networks
import numpy as np

X = np.random.default_rng(0).standard_normal((1, 3, 224, 224)).astype(np.float32)


def lite(path: str, threads: int) -> Callable[[], np.ndarray]:
    import mindspore_lite as mslite

    mslite.Converter().convert(mslite.FmkType.ONNX, path, path.removesuffix(".onnx"))
    context = mslite.Context()
    context.cpu.thread_num = threads
    model = mslite.Model()
    model.build_from_file(path.replace(".onnx", ".ms"), mslite.ModelType.MINDIR_LITE, context)
    return lambda: model.predict([X])[0].get_data_to_numpy()


def onnxruntime(path: str, threads: int) -> Callable[[], np.ndarray]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, {"x": X})[0]


def openvino(path: str, threads: int) -> Callable[[], np.ndarray]:
    import openvino

    settings = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
    model = openvino.Core().compile_model(path, "CPU", settings)
    return lambda: model([X])[0]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--runs", type=int, default=60)
    given = parser.parse_args()
    clock = time.process_time if given.threads == 1 else time.perf_counter
    with tempfile.TemporaryDirectory() as folder:
        for name, build in networks.NETWORKS.items():
            path = os.path.join(folder, f"{name}.onnx")
            build(path)
            contenders = {}
            for engine in (lite, onnxruntime, openvino):
                start = time.perf_counter()
                try:
                    call = engine(path, given.threads)
                except ImportError:
                    continue
                result = call()
                contenders[engine.__name__] = (call, result, time.perf_counter() - start)
            times: dict[str, list[float]] = {engine: [] for engine in contenders}
            for _ in range(given.runs):  # in turns, so that a busy moment hits all of them
                for engine, (call, _, _) in contenders.items():
                    start = clock()
                    call()
                    times[engine].append(clock() - start)
            wanted = next((r for e, (_, r, _) in contenders.items() if e != "lite"), contenders["lite"][1])
            for engine, (_, result, first) in contenders.items():
                least, median = min(times[engine]) * 1e3, statistics.median(times[engine]) * 1e3
                apart = float(np.abs(result - wanted).max())
                print(
                    f"{name:14}{engine:14}min {least:8.2f} ms  median {median:8.2f} ms  ready in {first:6.2f} s  apart {apart:.1e}"
                )


if __name__ == "__main__":
    main()
