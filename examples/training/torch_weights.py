"""Take the weights of a PyTorch model: a safetensors file, and the names that differ.

PyTorch and MindSpore lay out convolutions and dense layers alike; only names differ, and only in normalisation layers.
Here the file is written with NumPy under PyTorch's names, as `safetensors.torch.save_file(model.state_dict(), …)` would.
"""

import re

import numpy as np
from safetensors.numpy import save_file

import mindspore as ms
from mindspore import nn

NAMES = ((r"bn(\d*)\.weight$", r"bn\1.gamma"), (r"bn(\d*)\.bias$", r"bn\1.beta"),
         (r"running_mean$", "moving_mean"), (r"running_var$", "moving_variance"))  # fmt: skip


class Net(nn.Cell):
    """The MindSpore twin of a PyTorch module with the attributes conv, bn and fc."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, pad_mode="pad", padding=1, has_bias=True)
        self.bn = nn.BatchNorm2d(4)
        self.fc = nn.Dense(4, 2)

    def construct(self, x):
        return self.fc(ms.ops.relu(self.bn(self.conv(x))).mean((2, 3)))


def from_torch(name: str) -> str:
    """The MindSpore name of a PyTorch parameter."""
    for pattern, ours in NAMES:
        name = re.sub(pattern, ours, name)
    return name


rng = np.random.default_rng(0)
shapes = {"conv.weight": (4, 1, 3, 3), "conv.bias": (4,), "bn.weight": (4,), "bn.bias": (4,), "bn.running_mean": (4,),
          "bn.running_var": (4,), "fc.weight": (2, 4), "fc.bias": (2,)}  # fmt: skip
state = {name: rng.random(shape).astype(np.float32) for name, shape in shapes.items()}
state["bn.num_batches_tracked"] = np.array(7)
save_file(state, "torch_model.safetensors")

wanted = ms.load_checkpoint(
    "torch_model.safetensors", format="safetensors", choice_func=lambda name: not name.endswith("num_batches_tracked")
)
renamed = {from_torch(name): ms.Parameter(value, name=from_torch(name)) for name, value in wanted.items()}
net = Net().set_train(False)
missing, unused = ms.load_param_into_net(net, renamed, strict_load=True)
print("not found:", missing, "not used:", unused)
print("output:", net(ms.Tensor(np.ones((1, 1, 8, 8), np.float32))))
