"""Inference of a network on ONNX Runtime and OpenVINO, from the file named by BENCH_ONNX."""

from __future__ import annotations

import os

import numpy as np

X = np.random.default_rng(0).standard_normal((1, 3, 224, 224)).astype(np.float32)


class _Engine:
    name = ""


def prepare(contender: str) -> None:
    _Engine.name = contender


def inference():
    path = os.environ["BENCH_ONNX"]
    if _Engine.name == "openvino":
        import openvino

        settings = {"INFERENCE_NUM_THREADS": 2, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
        model = openvino.Core().compile_model(path, "CPU", settings)
        return lambda: model([X])
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return lambda: session.run(None, {name: X})


CASES = {"resnet50_inference": inference, "mobilenet_inference": inference}
