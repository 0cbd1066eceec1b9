"""`export_onnx.py CASE FILE`: write a network of mindspore_cases.py as an ONNX file, for the inference engines."""

from __future__ import annotations

import sys

import mindspore_cases as cases

import mindspore as ms

if __name__ == "__main__":
    network = {"resnet50_inference": cases.ResNet50, "mobilenet_inference": cases.MobileNet}[sys.argv[1]]
    net = cases.initialise(network())
    net.set_train(False)
    ms.export(net, cases.normal(1, 3, 224, 224), file_name=sys.argv[2].removesuffix(".onnx"), file_format="ONNX")
