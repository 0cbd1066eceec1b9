"""Shared by the workers: time whole epochs and print the result."""

import json
import statistics
import time


def rate(epoch, rows, epochs=2):
    """Rows a second over `epochs` passes after one that is not counted. `epoch()` runs through the data once."""
    epoch()
    began = time.perf_counter()
    for _ in range(epochs):
        epoch()
    return rows * epochs / (time.perf_counter() - began)


def growth(epoch, epochs=10):
    """MiB by which the process has grown: medians of the last three passes and of the three after the first.

    A loader that runs ahead holds now a batch more, now one less; medians see through that.
    """
    epoch()
    sizes = []
    for _ in range(epochs - 1):
        epoch()
        sizes.append(resident())
    return statistics.median(sizes[-3:]) - statistics.median(sizes[:3])


def resident():
    with open("/proc/self/statm") as stream:
        return int(stream.read().split()[1]) * 4096 / 2**20


def show(results):
    print("RESULT " + json.dumps(results), flush=True)
