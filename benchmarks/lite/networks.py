"""Networks as ONNX files with random weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class _Net:
    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.random = np.random.default_rng(0)
        self.count = 0

    def constant(self, array: Any) -> str:
        self.count += 1
        self.constants.append(numpy_helper.from_array(np.asarray(array), f"c{self.count}"))
        return f"c{self.count}"

    def node(self, op: str, *inputs: str, **attributes: Any) -> str:
        self.count += 1
        self.nodes.append(helper.make_node(op, list(inputs), [f"v{self.count}"], **attributes))
        return f"v{self.count}"

    def conv(self, x: str, inner: int, outer: int, kernel: int, stride: int = 1, group: int = 1, act: str = "") -> str:
        spread = np.sqrt(2 / (inner // group * kernel * kernel))
        weights = self.random.standard_normal((outer, inner // group, kernel, kernel)).astype(np.float32) * spread
        bias = self.constant(np.zeros(outer, np.float32))
        y = self.node(
            "Conv", x, self.constant(weights.astype(np.float32)), bias, kernel_shape=[kernel, kernel],
            strides=[stride, stride], pads=[kernel // 2] * 4, group=group,
        )  # fmt: skip
        if act == "relu6":
            return self.node("Clip", y, self.constant(np.float32(0)), self.constant(np.float32(6)))
        return self.node("Relu", y) if act else y

    def save(self, x: str, channels: int, path: str) -> None:
        """Add pooling and a classifier, and write the file."""
        flat = self.node("Flatten", self.node("GlobalAveragePool", x))
        weights = (self.random.standard_normal((1000, channels)) * 0.03).astype(np.float32)
        y = self.node("Gemm", flat, self.constant(weights), self.constant(np.zeros(1000, np.float32)), transB=1)
        graph = helper.make_graph(
            self.nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 224, 224])],
            [helper.make_tensor_value_info(y, TensorProto.FLOAT, [1, 1000])], self.constants,
        )  # fmt: skip
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def mobilenet_v2(path: str) -> None:
    net = _Net()
    x, channels = net.conv("x", 3, 32, 3, 2, act="relu6"), 32
    blocks = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
    for factor, outer, count, first in blocks:
        for number in range(count):
            stride, wide = (first if number == 0 else 1), channels * factor
            y = net.conv(x, channels, wide, 1, act="relu6") if factor > 1 else x
            y = net.conv(y, wide, wide, 3, stride, group=wide, act="relu6")
            y = net.conv(y, wide, outer, 1)
            x = net.node("Add", x, y) if stride == 1 and channels == outer else y
            channels = outer
    net.save(net.conv(x, channels, 1280, 1, act="relu6"), 1280, path)


def resnet50(path: str) -> None:
    net = _Net()
    x = net.conv("x", 3, 64, 7, 2, act="relu")
    x, channels = net.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]), 64
    for width, count, first in [(64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)]:
        for number in range(count):
            stride = first if number == 0 else 1
            y = net.conv(x, channels, width, 1, act="relu")
            y = net.conv(y, width, width, 3, stride, act="relu")
            y = net.conv(y, width, width * 4, 1)
            short = net.conv(x, channels, width * 4, 1, stride) if number == 0 else x
            x, channels = net.node("Relu", net.node("Add", short, y)), width * 4
    net.save(x, channels, path)


NETWORKS = {"mobilenet_v2": mobilenet_v2, "resnet50": resnet50}
