"""A run that is observed in every way; official MindSpore and this package run the same program.

python observed.py FOLDER       trains and evaluates LeNet; leaves summaries, graphs, lineage and landscapes in FOLDER
"""

from __future__ import annotations

import sys

import numpy as np

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore import dataset as ds
from mindspore.dataset import transforms, vision
from mindspore.train import Loss, Model, ModelCheckpoint, SummaryCollector, SummaryLandscape

SAMPLES, BATCH, EPOCHS = 64, 8, 4
LANDSCAPE = {
    "landscape_size": 5, "unit": "epoch", "create_landscape": {"train": True, "result": True}, "num_samples": 16,
    "intervals": [[1, 2, 3, 4]],
}  # fmt: skip


class Observed(nn.Cell):
    """LeNet with a summary operation of each kind."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, pad_mode="valid")
        self.pool = nn.MaxPool2d(2, 2)
        self.flatten = nn.Flatten()
        self.fc = nn.Dense(4 * 5 * 5, 10)
        self.relu = nn.ReLU()
        self.image, self.scalar = ops.ImageSummary(), ops.ScalarSummary()
        self.histogram, self.tensor = ops.HistogramSummary(), ops.TensorSummary()

    def construct(self, x):
        self.image("picture", x)
        x = self.pool(self.relu(self.conv(x)))
        self.histogram("activation", x)
        x = self.fc(self.flatten(x))
        self.scalar("mean", ops.ReduceMean()(x))
        self.tensor("logits", x)
        return x


def data() -> ds.Dataset:
    random = np.random.default_rng(0)
    images = random.integers(0, 255, (SAMPLES, 12, 12, 1)).astype(np.uint8)
    labels = random.integers(0, 10, SAMPLES).astype(np.int32)
    made = ds.NumpySlicesDataset({"image": images, "label": labels}, shuffle=False)
    made = made.map([vision.Rescale(1 / 255, 0.0), vision.HWC2CHW()], "image")
    return made.map(transforms.TypeCast(ms.int32), "label").shuffle(32).batch(BATCH).repeat(1)


def for_landscape() -> tuple:
    net, metrics = Observed(), {"Loss": Loss()}
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    return Model(net, loss, metrics=metrics), net, data(), metrics


def main(folder: str) -> None:
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_seed(1)
    net = Observed()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    model = Model(net, loss, nn.Momentum(net.trainable_params(), 0.01, 0.9), metrics={"accuracy", "loss"})
    collector = SummaryCollector(
        folder, collect_freq=2, custom_lineage_data={"version": "v1", "runs": 3, "rate": 0.5},
        collect_specified_data={"collect_landscape": LANDSCAPE}, collect_tensor_freq=2,
    )  # fmt: skip
    model.train(EPOCHS, data(), [collector, ModelCheckpoint("net", f"{folder}/ckpt")], dataset_sink_mode=False)
    model.eval(data(), callbacks=[SummaryCollector(folder)], dataset_sink_mode=False)
    by_hand(folder)
    SummaryLandscape(folder).gen_landscapes_with_multi_process(for_landscape, device_ids=[0])


def by_hand(folder: str) -> None:
    """A record with a name that TensorBoard looks for."""
    with ms.SummaryRecord(folder, file_prefix="events.tfevents") as record:
        for step in (1, 2):
            record.add_value("scalar", "hand scalar", Tensor(np.float32(0.25 * step)))
            record.add_value("histogram", "hand histogram", Tensor(np.arange(100, dtype=np.float32)))
            record.add_value("image", "hand image", Tensor(np.full((1, 3, 4, 6), 128, np.uint8)))
            record.add_value("tensor", "hand tensor", Tensor(np.arange(6, dtype=np.int32).reshape(2, 3)))
            record.record(step)


if __name__ == "__main__":
    main(sys.argv[1])
