"""What quantisation costs: networks trained on MNIST here, converted in several ways, and judged by all 10,000 test pictures.

    python benchmarks/lite/accuracy.py [plain] [gated] [--pictures 20000] [--epochs 2] [--seed 1]

`plain`: convolutions with ReLU, and dense layers. `gated`: what is hard for 8 bits, depthwise convolutions in inverted residual blocks
with SiLU and squeeze-and-excitation (Sandler et al. 2018, Hu et al. 2018, Tan and Le 2019). Told are the accuracy in percent, the points
lost to the float model, and the size of the weights. Ranges are calibrated by 300 training pictures.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import tempfile
from pathlib import Path

import numpy as np

import mindspore as ms
import mindspore_lite as mslite
from mindspore import nn, ops
from mindspore_lite.container import Container

_DATA = Path(__file__).resolve().parent.parent.parent / "examples" / "data" / "mnist"
_BATCH = 100
_QUANT = "common_quant_param"
WAYS: dict[str, dict[str, dict[str, str]]] = {
    "float32": {},
    "int8, MAX_MIN": {_QUANT: {"quant_type": "FULL_QUANT"}, "full_quant_param": {"activation_quant_method": "MAX_MIN"}},
    "int8, KL": {_QUANT: {"quant_type": "FULL_QUANT"}, "full_quant_param": {"activation_quant_method": "KL"}},
    "int8, REMOVAL_OUTLIER": {_QUANT: {"quant_type": "FULL_QUANT"}, "full_quant_param": {"activation_quant_method": "REMOVAL_OUTLIER"}},
    "dynamic": {_QUANT: {"quant_type": "DYNAMIC_QUANT"}},
    "weights of 8 bits": {_QUANT: {"quant_type": "WEIGHT_QUANT", "bit_num": "8"}},
    "weights of 4 bits": {_QUANT: {"quant_type": "WEIGHT_QUANT", "bit_num": "4"}},
}


class Plain(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.SequentialCell(
            nn.Conv2d(1, 16, 3, has_bias=True), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Conv2d(16, 32, 3, has_bias=True), nn.ReLU(),
            nn.MaxPool2d(2, 2), nn.Flatten(), nn.Dense(32 * 49, 64), nn.ReLU(), nn.Dense(64, 10),
        )  # fmt: skip

    def construct(self, x: ms.Tensor) -> ms.Tensor:
        return self.features(x)


def _normed(inputs: int, outputs: int, size: int, stride: int = 1, group: int = 1) -> list[nn.Cell]:
    return [nn.Conv2d(inputs, outputs, size, stride, group=group), nn.BatchNorm2d(outputs)]


class Block(nn.Cell):
    """Widened, filtered channel by channel, gated, narrowed; with a way around where sizes allow it."""

    def __init__(self, inputs: int, outputs: int, stride: int):
        super().__init__()
        wide = 4 * inputs
        self.around = stride == 1 and inputs == outputs
        self.widen = nn.SequentialCell(*_normed(inputs, wide, 1), nn.SiLU(), *_normed(wide, wide, 3, stride, wide), nn.SiLU())
        self.squeeze, self.excite = nn.Conv2d(wide, 4, 1, has_bias=True), nn.Conv2d(4, wide, 1, has_bias=True)
        self.silu, self.sigmoid = nn.SiLU(), nn.Sigmoid()
        self.narrow = nn.SequentialCell(*_normed(wide, outputs, 1))

    def construct(self, x: ms.Tensor) -> ms.Tensor:
        y = self.widen(x)
        gate = self.sigmoid(self.excite(self.silu(self.squeeze(ops.mean(y, (2, 3), True)))))
        y = self.narrow(y * gate)
        return x + y if self.around else y


class Gated(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        blocks = [Block(8, 8, 1), Block(8, 16, 2), Block(16, 16, 1), Block(16, 24, 2), Block(24, 24, 1)]
        self.first = nn.SequentialCell(*_normed(1, 8, 3, 2), nn.SiLU(), *blocks, *_normed(24, 64, 1), nn.SiLU())
        self.classes = nn.Dense(64, 10)

    def construct(self, x: ms.Tensor) -> ms.Tensor:
        return self.classes(ops.mean(self.first(x), (2, 3)))


NETWORKS = {"plain": Plain, "gated": Gated}


def pictures(usage: str, count: int | None) -> tuple[np.ndarray, np.ndarray]:
    data = ms.dataset.MnistDataset(str(_DATA), usage=usage, num_samples=count, shuffle=False).batch(1000)
    rows = list(data.create_tuple_iterator(output_numpy=True, num_epochs=1))
    images = np.concatenate([row[0] for row in rows]).astype(np.float32).reshape(-1, 1, 28, 28)
    return (images / 255 - 0.1307) / 0.3081, np.concatenate([row[1] for row in rows]).astype(np.int32)


def trained(net: nn.Cell, images: np.ndarray, labels: np.ndarray, epochs: int) -> nn.Cell:
    steps = epochs * (len(images) // _BATCH)
    rates = nn.cosine_decay_lr(0.0, 0.004, steps, len(images) // _BATCH, epochs)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), nn.Adam(net.trainable_params(), rates))
    step.set_train()
    random = np.random.default_rng(0)
    for _ in range(epochs):
        order = random.permutation(len(images))
        for at in range(0, len(images) - _BATCH + 1, _BATCH):
            chosen = order[at : at + _BATCH]
            step(ms.Tensor(images[chosen]), ms.Tensor(labels[chosen]))
    return net.set_train(False)


def _input_name(path: str) -> str:
    model = mslite.Model()
    model.build_from_file(path, mslite.ModelType.MINDIR)
    return str(model.get_inputs()[0].name)


def converted(folder: str, sections: dict[str, dict[str, str]], samples: np.ndarray) -> str:
    converter = mslite.Converter()
    for name, section in sections.items():
        converter.set_config_info(name, section)
    if sections.get(_QUANT, {}).get("quant_type") == "FULL_QUANT":
        place = os.path.join(folder, "samples")
        os.makedirs(place, exist_ok=True)
        for number, batch in enumerate(np.split(samples, len(samples) // _BATCH)):
            batch.tofile(os.path.join(place, f"{number}.bin"))
        name = _input_name(os.path.join(folder, "net.mindir"))
        given = {"calibrate_path": f"{name}:{place}", "calibrate_size": str(len(samples) // _BATCH), "input_type": "BIN"}
        converter.set_config_info("data_preprocess_param", given)
    with contextlib.redirect_stdout(io.StringIO()):
        converter.convert(mslite.FmkType.MINDIR, os.path.join(folder, "net.mindir"), os.path.join(folder, "net"))
    return os.path.join(folder, "net.ms")


def accuracy(path: str, images: np.ndarray, labels: np.ndarray) -> float:
    model = mslite.Model()
    model.build_from_file(path, mslite.ModelType.MINDIR_LITE)
    batches = np.split(images, len(images) // _BATCH)
    found = [model.predict([batch])[0].get_data_to_numpy().argmax(1) for batch in batches]
    return 100 * float(np.mean(np.concatenate(found) == labels))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", default=list(NETWORKS), help=f"of {', '.join(NETWORKS)}")
    parser.add_argument("--pictures", type=int, default=20000)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    ms.set_context(mode=ms.GRAPH_MODE)
    train, test = pictures("train", given.pictures), pictures("test", None)
    for name in given.networks:
        ms.set_seed(given.seed)
        net = trained(NETWORKS[name](), *train, given.epochs)
        with tempfile.TemporaryDirectory() as folder:
            example = ms.Tensor(np.zeros((_BATCH, 1, 28, 28), np.float32))
            ms.export(net, example, file_name=os.path.join(folder, "net"), file_format="MINDIR")
            exact = None
            for way, sections in WAYS.items():
                path = converted(folder, sections, train[0][:300])
                found = accuracy(path, *test)
                exact = found if exact is None else exact
                size = Container.open(path, None, "AES-GCM").size("data") / 1024
                print(f"{name:6} {way:22} {found:6.2f} %   lost {exact - found:+5.2f}   weights {size:6.0f} KB", flush=True)


if __name__ == "__main__":
    main()
