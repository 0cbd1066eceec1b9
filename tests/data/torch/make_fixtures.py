"""Writes the files beside it. Runs under PyTorch with the `onnx` package, not under this project."""

import os

import numpy as np
import torch
from torch import nn
from torch.nn import functional


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.LSTM(4, 6, 2, batch_first=True, bidirectional=True)
        self.head = nn.Linear(12, 3)

    def forward(self, x):
        return self.head(self.layers(x)[0][:, -1])


class Gru(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.GRU(4, 6, 1, batch_first=True)

    def forward(self, x):
        return self.layer(x)


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(50, 16)
        self.layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 2)
        self.head = nn.Linear(16, 50)

    def forward(self, x):
        return self.head(self.layers(self.table(x)))


class Misc(nn.Module):
    def forward(self, x):
        y = torch.where(x > 0, x, -x).cumsum(1)
        values, places = torch.topk(y, 2)
        return (
            y, values, places, torch.einsum("ij,kj->ik", x, y), x.flip(0),
            functional.interpolate(x[None, None], scale_factor=2, mode="bilinear", align_corners=False),
            functional.pad(x, (1, 1), mode="constant", value=2.0), x.argmax(1), torch.tril(x), x[:, [0, 2]],
            torch.gather(x, 1, places), functional.gelu(x), x.std(1), torch.logsumexp(x, 1),
            torch.meshgrid(x[0], x[1], indexing="ij")[0],
        )  # fmt: skip


def flat(value):
    if isinstance(value, (tuple, list)):
        return [array for item in value for array in flat(item)]
    return [value.detach().numpy()]


if __name__ == "__main__":
    torch.manual_seed(0)
    folder = os.path.dirname(os.path.abspath(__file__))
    cases = {
        "lstm": (Lstm(), torch.rand(2, 5, 4)), "gru": (Gru(), torch.rand(2, 5, 4)),
        "transformer": (Transformer(), torch.randint(0, 50, (2, 7))), "misc": (Misc(), torch.randn(3, 4)),
    }  # fmt: skip
    for name, (net, x) in cases.items():
        net.eval()
        torch.onnx.export(net, (x,), f"{folder}/{name}.onnx", opset_version=17, dynamo=False)
        outputs = {f"out{i}": a for i, a in enumerate(flat(net(x)))}
        np.savez(f"{folder}/{name}.npz", in0=x.numpy(), **outputs)
