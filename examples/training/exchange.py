"""Write a network as MindIR and ONNX and read both back."""

import numpy as np
from common import make_net

import mindspore as ms
from mindspore import nn
from mindspore.train.serialization import get_model_info, load_onnx

net, x = make_net(), ms.Tensor(np.ones((2, 3), np.float32))
expected = net(x).asnumpy()

ms.export(net, x, file_name="out/net", file_format="MINDIR")
print("operations:", get_model_info("out/net.mindir")["operations"])
again = nn.GraphCell(ms.load("out/net.mindir"))
print("MindIR differs by", float(np.abs(again(x).asnumpy() - expected).max()))

ms.export(net, x, file_name="out/net", file_format="ONNX")
trainable = load_onnx("out/net.onnx")
print("ONNX differs by", float(np.abs(trainable(x).asnumpy() - expected).max()))
print("parameters:", [p.name for p in trainable.trainable_params()])
