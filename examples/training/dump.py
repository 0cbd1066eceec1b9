"""Dump the tensors of chosen steps to files, and look at what is in them."""

import json
import os
from pathlib import Path

from common import make_data, make_net

OUT = Path("out/dump").resolve()
OUT.mkdir(parents=True, exist_ok=True)
settings = {
    "common_dump_settings": {
        "dump_mode": 1, "kernels": ["MatMul", "Adam"], "path": str(OUT), "net_name": "Regression", "iteration": "0|5-6",
        "saved_data": "full", "input_output": 0, "support_device": [0],
        "statistic_category": ["max", "min", "avg", "nan count", "l2norm"],
    },
    "e2e_dump_settings": {"enable": True},
}  # fmt: skip
(OUT / "settings.json").write_text(json.dumps(settings))
os.environ["MINDSPORE_DUMP_CONFIG"] = str(OUT / "settings.json")  # usually set by whoever starts the script

import mindspore as ms  # noqa: E402 - after the variable
from mindspore import nn  # noqa: E402
from mindspore.train import Model  # noqa: E402

ms.set_context(mode=ms.GRAPH_MODE)
net = make_net()
Model(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 0.01)).train(1, make_data())
for folder in sorted(OUT.glob("rank_0/Regression/*/*")):
    print(folder.relative_to(OUT), len(list(folder.glob("*.npy"))), "tensors")
print((folder / "statistic.csv").read_text()[:600])
