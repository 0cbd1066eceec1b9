"""Engines behind one interface, each in a process of its own.

    python engines.py ENGINE MODEL.onnx THREADS INT8

The process prints a line of JSON when the model is loaded and has run once (seconds of wall and CPU time, bytes on disk), and one for
every line it reads (a run: seconds of both). An engine that is not installed, or has no form for the model, prints {"refused": why}.
Conversion and quantisation are done by each engine's own tools, before the clock starts.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

Feeds = dict[str, np.ndarray]
Call = Callable[[], np.ndarray]
Loader = Callable[[], Call]  # what is timed
SAMPLES = 4


def feeds_of(path: str, seed: int = 0) -> Feeds:
    """Random numbers for each input."""
    import onnx

    random, found = np.random.default_rng(seed), {}
    for value in onnx.load(path, load_external_data=False).graph.input:
        shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
        whole = value.type.tensor_type.elem_type == onnx.TensorProto.INT64
        found[value.name] = random.integers(0, 1000, shape) if whole else random.standard_normal(shape).astype(np.float32)
    return found


def lite(path: str, feeds: Feeds, threads: int, int8: bool) -> tuple[str, Loader]:
    import mindspore_lite as mslite

    target = path.removesuffix(".onnx") + ("_int8" if int8 else "")
    command = [sys.executable, __file__, "convert", path, target, str(int(int8))]  # elsewhere: loading is to start from nothing
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def load() -> Call:
        context = mslite.Context()
        context.cpu.thread_num = threads
        model = mslite.Model()
        model.build_from_file(f"{target}.ms", mslite.ModelType.MINDIR_LITE, context)
        arrays = [feeds[tensor.name] for tensor in model.get_inputs()]
        return lambda: model.predict(arrays)[0].get_data_to_numpy()

    return f"{target}.ms", load


def convert(path: str, target: str, int8: str) -> None:
    """What `lite` has a process of its own do."""
    import mindspore_lite as mslite

    converter = mslite.Converter()
    if int8 == "1":
        converter.set_config_info("common_quant_param", {"quant_type": "FULL_QUANT", "bit_num": "8"})
        converter.set_config_info("data_preprocess_param", _samples(path, target))
    converter.convert(mslite.FmkType.ONNX, path, target)


def _samples(path: str, target: str) -> dict[str, str]:
    """Files of random numbers to calibrate with."""
    folders = []
    for name in feeds_of(path):
        os.makedirs(f"{target}_{name}", exist_ok=True)
        folders.append(f"{name}:{target}_{name}")
    for seed in range(SAMPLES):
        for name, array in feeds_of(path, seed).items():
            array.tofile(f"{target}_{name}/{seed}.bin")
    return {"calibrate_path": ",".join(folders), "calibrate_size": str(SAMPLES), "input_type": "BIN"}


def onnxruntime(path: str, feeds: Feeds, threads: int, int8: bool) -> tuple[str, Loader]:
    import onnxruntime as ort

    source = _ort_quantised(path) if int8 else path

    def load() -> Call:
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        session = ort.InferenceSession(source, options, providers=["CPUExecutionProvider"])
        return lambda: session.run(None, feeds)[0]

    return source, load


def _ort_quantised(path: str) -> str:
    from onnxruntime import quantization

    class Reader(quantization.CalibrationDataReader):
        def __init__(self) -> None:
            self.samples = iter([feeds_of(path, seed) for seed in range(SAMPLES)])

        def get_next(self) -> Any:
            return next(self.samples, None)

    target = path.replace(".onnx", "_ort8.onnx")
    quantization.quantize_static(path, target, Reader(), per_channel=True, activation_type=quantization.QuantType.QUInt8)
    return target


def openvino(path: str, feeds: Feeds, threads: int, int8: bool) -> tuple[str, Loader]:
    import openvino as ov

    source = path
    if int8:
        import nncf

        data = nncf.Dataset([feeds_of(path, seed) for seed in range(SAMPLES)])
        source = path.replace(".onnx", "_ov8.xml")
        ov.save_model(nncf.quantize(ov.convert_model(path), data), source)
    settings = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}

    def load() -> Call:
        model = ov.Core().compile_model(source, "CPU", settings)
        return lambda: model(feeds)[0]

    return source, load


def mnn(path: str, feeds: Feeds, threads: int, int8: bool) -> tuple[str, Loader]:
    import MNN

    if int8:
        raise ImportError("MNN's static quantisation takes pictures, not numbers")
    target = path.replace(".onnx", ".mnn")
    tool = os.path.join(os.path.dirname(sys.executable), "mnnconvert")
    command = [tool, "-f", "ONNX", "--modelFile", path, "--MNNModel", target, "--bizCode", "bench"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def load() -> Call:
        settings = {"precision": "high", "backend": 0, "numThread": threads}
        manager = MNN.nn.create_runtime_manager((settings,))
        names = list(feeds)
        module = MNN.nn.load_module_from_file(target, names, [], runtime_manager=manager)
        given = [MNN.expr.const(a.astype(np.int32) if a.dtype == np.int64 else a, a.shape, MNN.expr.NCHW) for a in feeds.values()]
        return lambda: np.array(module.forward(given)[0].read())

    return target, load


def ncnn(path: str, feeds: Feeds, threads: int, int8: bool) -> tuple[str, Loader]:
    import ncnn as engine

    if int8:
        raise ImportError("ncnn's quantisation tools are not in its package")
    base = path.removesuffix(".onnx")
    sizes = ",".join(f"[{','.join(map(str, a.shape))}]{'i64' if a.dtype == np.int64 else 'f32'}" for a in feeds.values())
    tool = os.path.join(os.path.dirname(sys.executable), "pnnx")
    command = [tool, path, f"inputshape={sizes}", "fp16=0"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300)

    def load() -> Call:
        net = engine.Net()
        net.opt.num_threads = threads
        net.opt.use_fp16_packed = net.opt.use_fp16_storage = net.opt.use_fp16_arithmetic = net.opt.use_bf16_storage = False
        if net.load_param(f"{base}.ncnn.param") or net.load_model(f"{base}.ncnn.bin"):
            raise ImportError("pnnx gave no model that ncnn reads")
        mats = [engine.Mat(np.ascontiguousarray(a[0] if a.ndim == 4 else a)).clone() for a in feeds.values()]

        def call() -> np.ndarray:
            extractor = net.create_extractor()
            for number, mat in enumerate(mats):
                extractor.input(f"in{number}", mat)
            return np.array(extractor.extract("out0")[1])

        return call

    return f"{base}.ncnn.bin", load


ENGINES = {engine.__name__: engine for engine in (lite, onnxruntime, openvino, mnn, ncnn)}


def _resident(what: str, forget: bool = False) -> int:
    """The memory of the process, now or at most; `forget`: what the most was until now."""
    if forget:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as stream:
            stream.write("5")
    with open("/proc/self/status", encoding="ascii") as stream:
        found = re.search(rf"{what}:\s+(\d+) kB", stream.read())
    assert found is not None
    return int(found[1]) * 1024


def main(engine: str, path: str, threads: str, int8: str) -> None:
    try:
        feeds = feeds_of(path)
        source, load = ENGINES[engine](path, feeds, int(threads), int8 == "1")
        start = _resident("VmRSS", forget=True)
        wall, cpu = time.perf_counter(), time.process_time()
        call = load()
        loaded = time.perf_counter() - wall, time.process_time() - cpu
        result = call()
        first = time.perf_counter() - wall, time.process_time() - cpu
    except (ImportError, RuntimeError, OSError, subprocess.SubprocessError, ValueError, KeyError) as error:
        print(json.dumps({"refused": f"{type(error).__name__}: {str(error)[:200]}"}), flush=True)
        return
    np.save(f"{path}.{engine}.npy", np.asarray(result, np.float32))
    size = os.path.getsize(source)
    print(json.dumps({"load": loaded, "first": first, "size": size}), flush=True)
    for _ in sys.stdin:
        wall, cpu = time.perf_counter(), time.process_time()
        call()
        took = time.perf_counter() - wall, time.process_time() - cpu
        print(json.dumps({"took": took, "peak": _resident("VmHWM") - start}), flush=True)


if __name__ == "__main__":
    (convert if sys.argv[1] == "convert" else main)(*(sys.argv[2:] if sys.argv[1] == "convert" else sys.argv[1:]))
