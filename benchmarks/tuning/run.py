"""What `ms.auto_tune` brings to networks of the zoo: a step with the defaults and with what was found, by turns.

    python benchmarks/tuning/run.py [--minutes 8] [NAME …]

Steps are those of `model_zoo.training` on made-up data, in graph mode, after tuning with at most 20 s each. The last line is the
geometric mean of the shares of time; nothing may be slower. After `--minutes` no network is begun; those left are named.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from typing import Any

import mindspore as ms
from mindspore import model_zoo
from mindspore.model_zoo.tasks import TASKS
from mindspore.nn.cell import Cell
from mindspore.train import Model
from mindspore.train.tuning import Settings

#: networks of a size that trains on a CPU
CASES: dict[str, tuple[int, dict[str, Any]]] = {
    "lenet5": (64, {"image_size": 32}),
    "resnet18": (16, {"image_size": 64, "num_classes": 10}),
    "resnet50": (8, {"image_size": 64, "num_classes": 10}),
    "mobilenet_v2": (16, {"image_size": 64, "num_classes": 10}),
    "vit_b_16": (8, {"image_size": 64, "num_classes": 10, "depth": 4, "width": 256, "heads": 4}),
    "unet": (4, {"image_size": 64, "num_classes": 3}),
    "gpt2": (8, {"depth": 4, "width": 256, "heads": 4, "vocabulary": 1024, "length": 128}),
    "bert_base": (8, {"depth": 4, "width": 256, "heads": 4, "vocabulary": 1024, "length": 128}),
    "transformer_base": (16, {"depth": 2, "width": 256, "heads": 4, "vocabulary": 1024, "length": 64}),
    "deepfm": (512, {"vocabulary": 10000}),
}
TURNS = 6


def step_time(step: Cell, settings: Settings, batch: Any) -> float:
    """The milliseconds of the middle one of some steps."""
    times = []
    with ms.context.local_context(**settings.in_context()):
        end = time.perf_counter() + 0.4
        while len(times) < 2 or time.perf_counter() < end:
            begun = time.perf_counter()
            step(*batch).asnumpy()
            times.append(1e3 * (time.perf_counter() - begun))
    return statistics.median(times)


def measure(name: str) -> tuple[float, float, Settings]:
    batch, options = CASES[name]
    ms.set_seed(1)
    entry = model_zoo.entry(name)
    known = entry.options()
    net = model_zoo.create(name, **{k: v for k, v in options.items() if k in known}).set_train(True)
    task = TASKS[entry.task]
    data = task.data("synthetic", net, batch, True, limit=4 * batch)
    with_loss = task.training_network(net, entry.recipe)
    model = Model(with_loss, optimizer=entry.recipe.make_optimizer(with_loss.trainable_params(), 10000))
    plain = model.train_network
    columns = tuple(next(data.create_tuple_iterator(num_epochs=1)))
    with ms.context.local_context():
        found = ms.auto_tune(model, data, budget=20.0)
    tuned = model.train_network
    before, after = [], []
    for _ in range(TURNS):
        before.append(step_time(plain, Settings(), columns))
        after.append(step_time(tuned, found.settings, columns))
    return statistics.median(before), statistics.median(after), found.settings


def main(names: list[str], minutes: float) -> None:
    ms.set_context(mode=ms.GRAPH_MODE)
    shares, rows, left = [], [], []
    end = time.monotonic() + 60 * minutes
    with tempfile.TemporaryDirectory() as folder:
        os.environ["MS_COMPILER_CACHE_PATH"] = folder
        for name in names or CASES:
            if time.monotonic() > end:
                left.append(name)
                continue
            before, after, settings = measure(name)
            shares.append(after / before)
            rows.append(f"{name:18} {before:10.2f} ms {after:10.2f} ms {before / after:6.2f} x  {settings.named(Settings())}")
    print("\n".join(["", *rows]))
    if left:
        print(f"the time was up before {', '.join(left)}")
    print(f"geometric mean {1 / statistics.geometric_mean(shares):.2f} x, worst {1 / max(shares):.2f} x")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=8)
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    main(given.names, given.minutes)
