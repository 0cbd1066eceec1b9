"""What sinking saves: a small network, one call of the executable per step against one per 64 steps.

python benchmarks/train/sink.py [--steps 2048] [--backend cpu] [--cpu-time]
"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np

import mindspore as ms
from mindspore import dataset as ds
from mindspore import nn
from mindspore.train import Model


def model_and_data(steps: int) -> tuple[Model, ds.NumpySlicesDataset]:
    x = np.random.default_rng(0).random((steps * 16, 32)).astype(np.float32)
    data = ds.NumpySlicesDataset({"x": x, "y": x[:, :1]}, shuffle=False).batch(16)
    net = nn.SequentialCell([nn.Dense(32, 64), nn.ReLU(), nn.Dense(64, 1)])
    return Model(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 1e-3)), data


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=2048)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--backend", default="xla", choices=["xla", "cpu"])
    parser.add_argument("--cpu-time", action="store_true", help="of all threads, instead of the clock: for busy machines")
    options = parser.parse_args()
    now = time.process_time if options.cpu_time else time.perf_counter
    ms.set_context(mode=ms.GRAPH_MODE, device_target="Ascend")  # the best device there is
    ms.set_context(backend=options.backend)
    times: dict[bool, list[float]] = {False: [], True: []}
    models = {sink: model_and_data(options.steps) for sink in times}
    for model, data in models.values():
        model.train(1, data, dataset_sink_mode=model is models[True][0])
    for _ in range(options.rounds):
        for sink, (model, data) in models.items():
            begin = now()
            model.train(1, data, dataset_sink_mode=sink)
            times[sink].append(now() - begin)
    for sink, name in ((False, "one step per call"), (True, "sunk")):
        print(f"{name:18} {statistics.median(times[sink]) / options.steps * 1e6:8.1f} µs a step, data included")


if __name__ == "__main__":
    main()
