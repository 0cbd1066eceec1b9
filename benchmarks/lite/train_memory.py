"""Memory of fine-tuning the last block of MobileNetV2 (batch 16, in pieces) beside that of inference.

    python benchmarks/lite/train_memory.py [--batch 16] [--limit 28M]

The bytes are those that the resident set of a process grows by from the moment before the model is loaded, at its highest, each in a
process of its own; code that is compiled meanwhile is part of it, so the model is loaded and run once before by the same process (its
memory is given back). Beside them: what the converter has planned, and the time of a step.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import networks
import numpy as np
import onnx
from onnx import TensorProto, helper


def with_loss(source: str, target: str, batch: int) -> str:
    """The network with a loss; returns a pattern of the last block's weights."""
    model = onnx.load(source)
    graph = model.graph
    scores = graph.output[0].name
    graph.node.append(helper.make_node("SoftmaxCrossEntropyLoss", [scores, "label"], ["loss"]))
    graph.input[0].type.tensor_type.shape.dim[0].dim_value = batch
    graph.input.append(helper.make_tensor_value_info("label", TensorProto.INT64, [batch]))
    del graph.output[:]
    graph.output.append(helper.make_tensor_value_info("loss", TensorProto.FLOAT, []))
    onnx.save(model, target)
    convolutions = [node for node in graph.node if node.op_type == "Conv"]
    names = [name for node in convolutions[-4:-1] for name in node.input[1:]]  # the last inverted residual block
    return "|".join(names)


def resident(what: str = "VmRSS") -> int:
    with open("/proc/self/status", encoding="ascii") as stream:
        found = re.search(rf"{what}:\s+(\d+) kB", stream.read())
    assert found is not None
    return int(found[1]) * 1024


def grown(start: int) -> int:
    return resident("VmHWM") - start


def forget_peak() -> int:
    """Make the highest resident set the one of now; returns it."""
    with open("/proc/self/clear_refs", "w", encoding="ascii") as stream:
        stream.write("5")
    return resident()


def infer(path: str) -> None:
    import mindspore_lite as mslite

    context = mslite.Context()
    context.cpu.thread_num = 1
    for last in (False, True):
        start = forget_peak()
        model = mslite.Model()
        model.build_from_file(path, mslite.ModelType.MINDIR_LITE, context)
        arrays = [np.ones(t.shape, np.float32) for t in model.get_inputs()]
        model.predict(arrays)
        begin = time.process_time()
        model.predict(arrays)
        took, peak = time.process_time() - begin, grown(start)
        if last:
            print(json.dumps({"peak": peak, "ms": took * 1e3}))
        del model, arrays


def train(path: str, batch: int) -> None:
    import mindspore_lite as mslite

    context = mslite.Context()
    context.cpu.thread_num = 1
    for last in (False, True):
        x, label = np.random.default_rng(0).standard_normal((batch, 3, 224, 224)).astype(np.float32), np.arange(batch)
        start = forget_peak()
        model = mslite.TrainModel()
        model.build_from_file(path, context)
        model.run_step([x, label])
        begin = time.process_time()
        model.run_step([x, label])
        took, peak = time.process_time() - begin, grown(start)
        if last:
            print(json.dumps({"peak": peak, "ms": took * 1e3}))
        del model


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--limit", default="")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        plain, learning = os.path.join(folder, "net.onnx"), os.path.join(folder, "train.onnx")
        networks.mobilenet_v2(plain)
        pattern = with_loss(plain, learning, given.batch)
        told = _converted(plain, {}, False)
        options = {"trainable": pattern, "momentum": "0", "memory_limit": given.limit or "1G"}
        if not given.limit:  # the least there is: refused with the bytes that it takes
            options["memory_limit"] = "1K"
            options["memory_limit"] = re.search(r"at least (\d+)", _converted(learning, options, True))[1]  # type: ignore[index]
        told = _converted(learning, options, True)
        print(next(line for line in told.splitlines() if line.startswith("TRAINING")))
        once = _measured("infer", plain.replace(".onnx", ".ms"))
        step = _measured("train", learning.replace(".onnx", ".ms"), str(given.batch))
    print(f"inference, one picture      {once['peak'] / 2**20:7.1f} MB  {once['ms']:8.1f} cpu-ms")
    print(f"training, batch of {given.batch:3}      {step['peak'] / 2**20:7.1f} MB  {step['ms']:8.1f} cpu-ms a step")
    print(f"ratio of memory             {step['peak'] / once['peak']:7.2f}")


def _converted(path: str, options: dict[str, str], training: bool) -> str:
    script = (
        "import sys, json, mindspore_lite as m\nc = m.Converter()\nc.train_model = sys.argv[3] == '1'\n"
        "o = json.loads(sys.argv[2])\nif o: c.set_config_info('train_param', o)\n"
        "c.convert(m.FmkType.ONNX, sys.argv[1], sys.argv[1].replace('.onnx', ''))"
    )
    command = [sys.executable, "-c", script, path, json.dumps(options), str(int(training))]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout + done.stderr


def _measured(*command: str) -> dict[str, float]:
    done = subprocess.run([sys.executable, __file__, *command], capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


if __name__ == "__main__":
    if sys.argv[1:2] == ["infer"]:
        infer(sys.argv[2])
    elif sys.argv[1:2] == ["train"]:
        train(sys.argv[2], int(sys.argv[3]))
    else:
        main()
