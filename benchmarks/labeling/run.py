"""Labelling MNIST with few human labels: how far does asking well carry, and are planted label errors found?

    python benchmarks/labeling/run.py [--pool 20000] [--labels 300] [--data examples/data/mnist]

A pool of unlabelled digits; the true labels play the person. Prints the accuracy on the 10,000 test digits
- of `labeling.Project`: asking by clusters, then by BADGE, labels spread along the graph of neighbours;
- of the same with items chosen at random: what is left between the two is what choosing brings, the rest spreading does;
- of the same network trained on as many, and several times as many, random labels alone, without spreading;
and how many of 1 % planted errors stand among the 3 % most suspicious labels.
"""

import argparse
import time
from pathlib import Path

import numpy as np

import mindspore.dataset as ds
from mindspore import labeling, nn

DATA = Path(__file__).resolve().parents[2] / "examples" / "data" / "mnist"
CLASSES = [str(digit) for digit in range(10)]


class Network(nn.Cell):
    """Two convolutions and two dense layers."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 5, pad_mode="valid")
        self.conv2 = nn.Conv2d(16, 32, 5, pad_mode="valid")
        self.pool = nn.MaxPool2d(2, 2)
        self.relu = nn.ReLU()
        self.flatten = nn.Flatten()
        self.hidden = nn.Dense(512, 128)
        self.out = nn.Dense(128, 10)

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.pool(self.relu(self.conv2(x)))
        return self.out(self.relu(self.hidden(self.flatten(x))))


def digits(folder, usage, count):
    data = ds.MnistDataset(str(folder), usage=usage, shuffle=False)
    images, labels = zip(*data.create_tuple_iterator(output_numpy=True, num_epochs=1))
    order = np.random.default_rng(0).permutation(len(labels))[:count]
    images = (np.stack(images)[order].transpose(0, 3, 1, 2).astype(np.float32) / 255 - 0.13) / 0.31
    return images, np.array(labels)[order].astype(np.int64)


def learner():
    return labeling.Learner(Network(), augment=labeling.shifted_and_turned)


def accuracy(learner, images, labels):
    return float((learner.predict(images)[0].argmax(1) == labels).mean())


def by_asking(items, truth, test, limit, steps, strategy=""):
    """Rounds of a sixth of the labels, asked for by a strategy (the project's own if none); the person answers from the truth."""
    project = labeling.Project(items, CLASSES, learner())
    while len(project.store) < limit:
        for item in project.ask(max(limit // 6, 1), strategy):
            project.answer(item, int(truth[item]))
        project.learn(steps)
        print(f"  {strategy or 'asked for'} {len(project.store):4d}: {accuracy(project.learner, *test):.2%}", flush=True)
    for _ in range(2):  # the network's better features make a better graph
        project.learn(2 * steps)
    return accuracy(project.learner, *test)


def at_random(items, truth, test, count, steps):
    rows = np.random.default_rng(1).permutation(len(items))[:count]
    one = learner()
    one.fit(items[rows], truth[rows], steps=steps)
    return accuracy(one, *test)


def planted(items, truth, steps):
    """The share of 1 % planted errors among the 3 % most suspicious labels."""
    rng = np.random.default_rng(2)
    wrong = rng.choice(len(items), len(items) // 100, replace=False)
    labels = truth.copy()
    labels[wrong] = (labels[wrong] + rng.integers(1, 10, len(wrong))) % 10
    found = labeling.Project(items, CLASSES, learner()).mistakes(labels, steps=steps)
    top = found.items[: len(items) * 3 // 100]
    return len(set(top.tolist()) & set(wrong.tolist())) / len(wrong)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--pool", type=int, default=20_000)
    arguments.add_argument("--labels", type=int, default=300)
    arguments.add_argument("--steps", type=int, default=600)
    arguments.add_argument("--data", type=Path, default=DATA)
    given = arguments.parse_args()
    items, truth = digits(given.data, "train", given.pool)
    test = digits(given.data, "test", 10_000)
    began = time.process_time()
    print(f"| {given.labels} labels, asked for | {by_asking(items, truth, test, given.labels, given.steps):.2%} |", flush=True)
    at_chance = by_asking(items, truth, test, given.labels, given.steps, "random")
    print(f"| {given.labels} labels, chosen at random, spread as well | {at_chance:.2%} |", flush=True)
    for times in (1, 2, 4, 8):
        count = given.labels * times
        print(f"| {count} labels chosen at random, alone | {at_random(items, truth, test, count, 3 * given.steps):.2%} |", flush=True)
    print(f"| planted errors (1 %) among the 3 % most suspicious | {planted(items, truth, given.steps):.1%} |")
    print(f"CPU time: {time.process_time() - began:.0f} s")


if __name__ == "__main__":
    main()
