"""LeNet over 1,000 writers of MNIST, 100 of them a round, 5 local epochs, until 97 % of the test digits are right.

    python benchmarks/federated/mnist.py [--flower PYTHON] [--pfl PYTHON] [--seconds 240]

The rivals train the same network on the same digits in PyTorch; the options name interpreters of environments with
`flwr[simulation]` and torch, or `pfl` and torch. Wall time counts from the start of the process; a rival that has not arrived
after `--seconds` ends with what it reached.
"""
from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import subprocess
import sys
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
TARGET, ROUNDS, PER_ROUND, EPOCHS, BATCH, RATE = 0.97, 60, 100, 5, 10, 0.1


def network():
    from mindspore import nn

    return nn.SequentialCell(
        nn.Conv2d(1, 6, 5, pad_mode="valid", has_bias=True), nn.ReLU(), nn.MaxPool2d(2, 2),
        nn.Conv2d(6, 16, 5, pad_mode="valid", has_bias=True), nn.ReLU(), nn.MaxPool2d(2, 2),
        nn.Flatten(), nn.Dense(256, 120), nn.ReLU(), nn.Dense(120, 84), nn.ReLU(), nn.Dense(84, 10))


def ours(began, rounds):
    from writers import images, writers

    import mindspore
    from mindspore import Tensor, nn, ops
    from mindspore_federated import simulate

    mindspore.set_seed(0)
    x, y = images("train")
    test_x, test_y = images("t10k")
    net = network()
    loss = nn.WithLossCell(net, nn.CrossEntropyLoss())
    forward = mindspore.jit(net)
    curve = []

    class Done(Exception):
        pass

    def evaluate(weights):
        for parameter in net.trainable_params():
            parameter.set_data(Tensor(weights[parameter.name]))
        right = sum(int((ops.argmax(forward(Tensor(test_x[at:at + 1000])), 1).asnumpy() == test_y[at:at + 1000]).sum())
                    for at in range(0, 10000, 1000))
        curve.append((len(curve) + 1, right / 10000, round(time.time() - began, 1)))
        print(json.dumps({"round": curve[-1][0], "accuracy": curve[-1][1], "wall_s": curve[-1][2]}), file=sys.stderr)
        if right >= TARGET * 10000:
            raise Done
        return {}

    with contextlib.suppress(Done):
        simulate(loss, None, [(x[mine], y[mine]) for mine in writers()], rounds=rounds, clients_per_round=PER_ROUND,
                 epochs=EPOCHS, batch_size=BATCH, learning_rate=RATE, evaluate=evaluate)
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {"rounds": curve[-1][0], "accuracy": curve[-1][1], "wall_s": curve[-1][2],
            "cpu_s": round(used.ru_utime + used.ru_stime, 1), "rss_mb": used.ru_maxrss // 1024}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--flower", help="python of an environment with flwr[simulation] and torch")
    parser.add_argument("--pfl", help="python of an environment with pfl and torch")
    parser.add_argument("--seconds", type=float, default=240.0, help="time for each rival")
    parser.add_argument("--began", type=float, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.began is not None:
        print(json.dumps({"ours": ours(given.began, given.rounds)}))
        return
    rounds = ["--rounds", str(given.rounds)]
    subprocess.run([sys.executable, __file__, *rounds, "--began", str(time.time())], check=True)
    for name, python in (("flower", given.flower), ("pfl", given.pfl)):
        if python:
            subprocess.run([python, os.path.join(HERE, "rivals", f"{name}_mnist.py"), *rounds, "--seconds", str(given.seconds),
                            "--began", str(time.time())],
                           check=True)


if __name__ == "__main__":
    np.seterr(all="ignore")
    main()
