"""Write the ResNet-50 of mindspore_cases.py as an ONNX file, for the inference engines."""

from __future__ import annotations

import sys

import mindspore_cases as cases

import mindspore as ms

if __name__ == "__main__":
    net = cases.initialise(cases.ResNet50())
    net.set_train(False)
    ms.export(net, cases.normal(1, 3, 224, 224), file_name=sys.argv[1].removesuffix(".onnx"), file_format="ONNX")
