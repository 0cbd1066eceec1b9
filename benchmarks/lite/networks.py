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
        return self.activation(y, act)

    def activation(self, x: str, kind: str) -> str:
        if kind == "relu6":
            return self.node("Clip", x, self.constant(np.float32(0)), self.constant(np.float32(6)))
        if kind == "swish":
            return self.node("Mul", x, self.node("Sigmoid", x))
        return self.node({"relu": "Relu", "hard": "HardSwish"}[kind], x) if kind else x

    def dense(self, x: str, inner: int, outer: int) -> str:
        weights = (self.random.standard_normal((inner, outer)) / np.sqrt(inner)).astype(np.float32)
        return self.node("Add", self.node("MatMul", x, self.constant(weights)), self.constant(np.zeros(outer, np.float32)))

    def normalised(self, x: str, size: int) -> str:
        scale, shift = self.constant(np.ones(size, np.float32)), self.constant(np.zeros(size, np.float32))
        return self.node("LayerNormalization", x, scale, shift, axis=-1)

    def squeezed(self, x: str, channels: int, inner: int, act: str, gate: str) -> str:
        """Squeeze and excitation."""
        y = self.conv(self.node("GlobalAveragePool", x), channels, inner, 1, act=act)
        return self.node("Mul", x, self.node(gate, self.conv(y, inner, channels, 1)))

    def classified(self, x: str, channels: int) -> str:
        flat = self.node("Flatten", self.node("GlobalAveragePool", x))
        weights = (self.random.standard_normal((1000, channels)) * 0.03).astype(np.float32)
        return self.node("Gemm", flat, self.constant(weights), self.constant(np.zeros(1000, np.float32)), transB=1)

    def save(self, path: str, outputs: dict[str, list[int]], **inputs: tuple[int, ...]) -> None:
        """Write the file. Inputs are float32, those called `ids` int64."""
        kinds = {name: TensorProto.INT64 if name == "ids" else TensorProto.FLOAT for name in inputs}
        graph = helper.make_graph(
            self.nodes, "net", [helper.make_tensor_value_info(n, kinds[n], list(s)) for n, s in inputs.items()],
            [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in outputs.items()], self.constants,
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
    y = net.classified(net.conv(x, channels, 1280, 1, act="relu6"), 1280)
    net.save(path, {y: [1, 1000]}, x=(1, 3, 224, 224))


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
    net.save(path, {net.classified(x, channels): [1, 1000]}, x=(1, 3, 224, 224))


def mobilenet_v3(path: str) -> None:
    """Large 1.0 (Howard et al. 2019)."""
    net = _Net()
    x, channels = net.conv("x", 3, 16, 3, 2, act="hard"), 16
    blocks = [  # kernel, expanded, outer, squeeze, activation, stride
        (3, 16, 16, 0, "relu", 1), (3, 64, 24, 0, "relu", 2), (3, 72, 24, 0, "relu", 1), (5, 72, 40, 1, "relu", 2),
        (5, 120, 40, 1, "relu", 1), (5, 120, 40, 1, "relu", 1), (3, 240, 80, 0, "hard", 2), (3, 200, 80, 0, "hard", 1),
        (3, 184, 80, 0, "hard", 1), (3, 184, 80, 0, "hard", 1), (3, 480, 112, 1, "hard", 1), (3, 672, 112, 1, "hard", 1),
        (5, 672, 160, 1, "hard", 2), (5, 960, 160, 1, "hard", 1), (5, 960, 160, 1, "hard", 1),
    ]  # fmt: skip
    for kernel, wide, outer, squeeze, act, stride in blocks:
        y = net.conv(x, channels, wide, 1, act=act) if wide != channels else x
        y = net.conv(y, wide, wide, kernel, stride, group=wide, act=act)
        y = net.squeezed(y, wide, max(8, wide // 4 // 8 * 8), "relu", "HardSigmoid") if squeeze else y
        y = net.conv(y, wide, outer, 1)
        x = net.node("Add", x, y) if stride == 1 and channels == outer else y
        channels = outer
    x = net.conv(x, channels, 960, 1, act="hard")
    x = net.conv(net.node("GlobalAveragePool", x), 960, 1280, 1, act="hard")
    net.save(path, {net.classified(x, 1280): [1, 1000]}, x=(1, 3, 224, 224))


def efficientnet_b0(path: str) -> None:
    """Tan & Le 2019."""
    net = _Net()
    x, channels = net.conv("x", 3, 32, 3, 2, act="swish"), 32
    for factor, outer, count, first, kernel in [(1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3),
                                                (6, 112, 3, 1, 5), (6, 192, 4, 2, 5), (6, 320, 1, 1, 3)]:  # fmt: skip
        for number in range(count):
            stride, wide = (first if number == 0 else 1), channels * factor
            y = net.conv(x, channels, wide, 1, act="swish") if factor > 1 else x
            y = net.conv(y, wide, wide, kernel, stride, group=wide, act="swish")
            y = net.conv(net.squeezed(y, wide, max(1, channels // 4), "swish", "Sigmoid"), wide, outer, 1)
            x = net.node("Add", x, y) if stride == 1 and channels == outer else y
            channels = outer
    y = net.classified(net.conv(x, channels, 1280, 1, act="swish"), 1280)
    net.save(path, {y: [1, 1000]}, x=(1, 3, 224, 224))


def ssd_mobilenet(path: str) -> None:
    """SSD on MobileNetV1, 300 x 300, 91 classes: boxes and scores of 1917 anchors before suppression."""
    net = _Net()
    x, channels, taps = net.conv("x", 3, 32, 3, 2, act="relu6"), 32, []
    for outer, stride in [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1)]:
        if outer == 1024 and stride == 2:
            taps.append((x, 512, 3))
        x = net.conv(x, channels, channels, 3, stride, group=channels, act="relu6")
        x, channels = net.conv(x, channels, outer, 1, act="relu6"), outer
    taps.append((x, 1024, 6))
    for outer in (512, 256, 256, 128):
        x = net.conv(x, channels, outer // 2, 1, act="relu6")
        x, channels = net.conv(x, outer // 2, outer, 3, 2, act="relu6"), outer
        taps.append((x, outer, 6))
    boxes, scores = [], []
    for tap, inner, anchors in taps:
        for found, size in ((boxes, 4), (scores, 91)):
            y = net.node("Transpose", net.conv(tap, inner, anchors * size, 1), perm=[0, 2, 3, 1])
            found.append(net.node("Reshape", y, net.constant(np.int64([1, -1, size]))))
    box, score = net.node("Concat", *boxes, axis=1), net.node("Sigmoid", net.node("Concat", *scores, axis=1))
    net.save(path, {box: [1, 1917, 4], score: [1, 1917, 91]}, x=(1, 3, 300, 300))


def yolo_n(path: str) -> None:
    """A network like YOLOv8-n, 640 x 640: three scales, 80 classes."""
    net = _Net()

    def part(x: str, inner: int, outer: int, count: int, shortcut: bool) -> str:
        """Two halves, one of them refined step by step, all joined."""
        half = outer // 2
        y = net.conv(x, inner, outer, 1, act="swish")
        first, last = (net.node("Slice", y, *(net.constant(np.int64([v])) for v in (lo, hi, 1))) for lo, hi in ((0, half), (half, outer)))
        found = [first, last]
        for _ in range(count):
            z = net.conv(net.conv(last, half, half, 3, act="swish"), half, half, 3, act="swish")
            last = net.node("Add", last, z) if shortcut else z
            found.append(last)
        return net.conv(net.node("Concat", *found, axis=1), half * (2 + count), outer, 1, act="swish")

    def doubled(x: str) -> str:
        return net.node("Resize", x, "", net.constant(np.float32([1, 1, 2, 2])), mode="nearest")

    x = net.conv(net.conv("x", 3, 16, 3, 2, act="swish"), 16, 32, 3, 2, act="swish")
    x = part(x, 32, 32, 1, True)
    p3 = part(net.conv(x, 32, 64, 3, 2, act="swish"), 64, 64, 2, True)
    p4 = part(net.conv(p3, 64, 128, 3, 2, act="swish"), 128, 128, 2, True)
    p5 = part(net.conv(p4, 128, 256, 3, 2, act="swish"), 256, 256, 1, True)
    y, pooled = net.conv(p5, 256, 128, 1, act="swish"), []
    for _ in range(3):
        pooled.append(y)
        y = net.node("MaxPool", y, kernel_shape=[5, 5], strides=[1, 1], pads=[2, 2, 2, 2])
    p5 = net.conv(net.node("Concat", *pooled, y, axis=1), 512, 256, 1, act="swish")
    n4 = part(net.node("Concat", doubled(p5), p4, axis=1), 384, 128, 1, False)
    n3 = part(net.node("Concat", doubled(n4), p3, axis=1), 192, 64, 1, False)
    n4 = part(net.node("Concat", net.conv(n3, 64, 64, 3, 2, act="swish"), n4, axis=1), 192, 128, 1, False)
    n5 = part(net.node("Concat", net.conv(n4, 128, 128, 3, 2, act="swish"), p5, axis=1), 384, 256, 1, False)
    outputs = []
    for tap, inner in ((n3, 64), (n4, 128), (n5, 256)):
        box = net.conv(net.conv(net.conv(tap, inner, 64, 3, act="swish"), 64, 64, 3, act="swish"), 64, 64, 1)
        score = net.conv(net.conv(net.conv(tap, inner, 80, 3, act="swish"), 80, 80, 3, act="swish"), 80, 80, 1)
        both = net.node("Concat", box, net.node("Sigmoid", score), axis=1)
        outputs.append(net.node("Reshape", both, net.constant(np.int64([1, 144, -1]))))
    net.save(path, {net.node("Concat", *outputs, axis=2): [1, 144, 8400]}, x=(1, 3, 640, 640))


def _block(net: _Net, x: str, width: int, heads: int, rows: int, past: tuple[str, str] | None = None) -> str:
    """Attention and two dense layers. `past`: keys and values of earlier positions, (1, heads, length, width / heads)."""
    size = width // heads
    y = net.normalised(x, width)
    parts = []
    for _ in range(3):
        z = net.node("Reshape", net.dense(y, width, width), net.constant(np.int64([1, rows, heads, size])))
        parts.append(net.node("Transpose", z, perm=[0, 2, 1, 3]))
    q, k, v = parts
    if past is not None:
        k, v = net.node("Concat", past[0], k, axis=2), net.node("Concat", past[1], v, axis=2)
    scores = net.node("MatMul", q, net.node("Transpose", k, perm=[0, 1, 3, 2]))
    scores = net.node("Softmax", net.node("Mul", scores, net.constant(np.float32(size**-0.5))), axis=-1)
    z = net.node("Transpose", net.node("MatMul", scores, v), perm=[0, 2, 1, 3])
    x = net.node("Add", x, net.dense(net.node("Reshape", z, net.constant(np.int64([1, rows, width]))), width, width))
    y = net.dense(net.normalised(x, width), width, 4 * width)
    half = net.node("Add", net.node("Erf", net.node("Mul", y, net.constant(np.float32(0.5**0.5)))), net.constant(np.float32(1)))
    y = net.node("Mul", net.node("Mul", y, half), net.constant(np.float32(0.5)))
    return net.node("Add", x, net.dense(y, 4 * width, width))


def _embedded(net: _Net, words: int, width: int, rows: int) -> str:
    table = net.constant((net.random.standard_normal((words, width)) * 0.02).astype(np.float32))
    places = net.constant((net.random.standard_normal((1, rows, width)) * 0.02).astype(np.float32))
    return net.node("Add", net.node("Gather", table, "ids", axis=0), places)


def encoder(path: str) -> None:
    """Twelve layers of width 384 on 128 words, the work of MobileBERT."""
    net = _Net()
    x = _embedded(net, 30522, 384, 128)
    for _ in range(12):
        x = _block(net, x, 384, 6, 128)
    net.save(path, {net.normalised(x, 384): [1, 128, 384]}, ids=(1, 128))


def gpt2_token(path: str) -> None:
    """GPT-2 124M: one token after 127 others."""
    net = _Net()
    x = _embedded(net, 50257, 768, 1)
    past = {}
    for layer in range(12):
        names = f"key{layer}", f"value{layer}"
        past |= dict.fromkeys(names, (1, 12, 127, 64))
        x = _block(net, x, 768, 12, 1, names)
    net.save(path, {net.dense(net.normalised(x, 768), 768, 50257): [1, 1, 50257]}, ids=(1, 1), **past)


NETWORKS = {
    "mobilenet_v2": mobilenet_v2, "mobilenet_v3": mobilenet_v3, "efficientnet_b0": efficientnet_b0, "resnet50": resnet50,
    "ssd_mobilenet": ssd_mobilenet, "yolo_n": yolo_n, "encoder": encoder, "gpt2_token": gpt2_token,
}  # fmt: skip
