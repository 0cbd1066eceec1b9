"""Eight networks on mindspore_lite and its rivals, in alternating runs of one process.

    python benchmarks/lite/run.py [network …] [--threads 1] [--runs 40] [--int8]

Weights are random and the graphs made here (`networks.py`), so this is about speed. CPU time counts on one thread (a shared
machine's wall clock does not), wall time otherwise. `--int8` quantises with each engine's own tools. Rivals that are not
installed are left out.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from typing import Any

import networks
import numpy as np

Feeds = dict[str, np.ndarray]
Call = Callable[[], np.ndarray]
_SAMPLES = 4


def feeds_of(path: str, seed: int = 0) -> Feeds:
    """Random numbers for each input."""
    import onnx

    random, found = np.random.default_rng(seed), {}
    for value in onnx.load(path, load_external_data=False).graph.input:
        shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
        whole = value.type.tensor_type.elem_type == onnx.TensorProto.INT64
        found[value.name] = random.integers(0, 1000, shape) if whole else random.standard_normal(shape).astype(np.float32)
    return found


def lite(path: str, feeds: Feeds, threads: int, int8: bool) -> Call:
    import mindspore_lite as mslite

    converter = mslite.Converter()
    target = path.removesuffix(".onnx")
    if int8:
        converter.set_config_info("common_quant_param", {"quant_type": "FULL_QUANT", "bit_num": "8"})
        converter.set_config_info("data_preprocess_param", _samples(path, target))
    converter.convert(mslite.FmkType.ONNX, path, target)
    context = mslite.Context()
    context.cpu.thread_num = threads
    model = mslite.Model()
    start = time.perf_counter()
    model.build_from_file(f"{target}.ms", mslite.ModelType.MINDIR_LITE, context)
    arrays = [feeds[tensor.name] for tensor in model.get_inputs()]
    lite.load = time.perf_counter() - start  # type: ignore[attr-defined]
    return lambda: model.predict(arrays)[0].get_data_to_numpy()


def _samples(path: str, target: str) -> dict[str, str]:
    """Files of random numbers to calibrate with."""
    folders = []
    for name in feeds_of(path):
        os.makedirs(f"{target}_{name}", exist_ok=True)
        folders.append(f"{name}:{target}_{name}")
    for seed in range(_SAMPLES):
        for name, array in feeds_of(path, seed).items():
            array.tofile(f"{target}_{name}/{seed}.bin")
    return {"calibrate_path": ",".join(folders), "calibrate_size": str(_SAMPLES), "input_type": "BIN"}


def onnxruntime(path: str, feeds: Feeds, threads: int, int8: bool) -> Call:
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    if int8:
        path = _ort_quantised(path)
    start = time.perf_counter()
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    onnxruntime.load = time.perf_counter() - start  # type: ignore[attr-defined]
    return lambda: session.run(None, feeds)[0]


def _ort_quantised(path: str) -> str:
    from onnxruntime import quantization

    class Reader(quantization.CalibrationDataReader):
        def __init__(self) -> None:
            self.samples = iter([feeds_of(path, seed) for seed in range(_SAMPLES)])

        def get_next(self) -> Any:
            return next(self.samples, None)

    target = path.replace(".onnx", "_int8.onnx")
    quantization.quantize_static(path, target, Reader(), per_channel=True, activation_type=quantization.QuantType.QUInt8)
    return target


def openvino(path: str, feeds: Feeds, threads: int, int8: bool) -> Call:
    import openvino as ov

    if int8:
        raise ImportError("its quantisation is a package of its own")
    settings = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
    start = time.perf_counter()
    model = ov.Core().compile_model(path, "CPU", settings)
    openvino.load = time.perf_counter() - start  # type: ignore[attr-defined]
    return lambda: model(feeds)[0]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("networks", nargs="*", default=list(networks.NETWORKS))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--int8", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        for name in given.networks:
            path = os.path.join(folder, f"{name}.onnx")
            networks.NETWORKS[name](path)
            compare(name, path, given)
    print(f"peak memory of all of it: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def compare(name: str, path: str, given: Any) -> None:
    clock = time.process_time if given.threads == 1 else time.perf_counter
    contenders: dict[str, tuple[Call, np.ndarray]] = {}
    feeds = feeds_of(path)
    for engine in (lite, onnxruntime, openvino):
        try:
            call = engine(path, feeds, given.threads, given.int8)
        except ImportError:
            continue
        contenders[engine.__name__] = (call, call())
    times: dict[str, list[float]] = {engine: [] for engine in contenders}
    for _ in range(given.runs):  # in turns, so that a busy moment hits all of them
        for engine, (call, _) in contenders.items():
            start = clock()
            call()
            times[engine].append(clock() - start)
    wanted = next((r for e, (_, r) in contenders.items() if e != "lite"), contenders["lite"][1])
    for engine, (_, result) in contenders.items():
        found = sorted(times[engine])
        p99, load = found[min(len(found) - 1, int(0.99 * len(found)))], getattr(globals()[engine], "load", 0.0)
        apart = float(np.linalg.norm(result - wanted) / max(np.linalg.norm(wanted), 1e-30))
        print(
            f"{name:16}{'int8' if given.int8 else 'f32':5}{engine:12} min {found[0] * 1e3:8.2f}  median "
            f"{statistics.median(found) * 1e3:8.2f}  p99 {p99 * 1e3:8.2f} ms  load {load:5.2f} s  apart {apart:.1e}",
            flush=True,
        )


if __name__ == "__main__":
    main()
