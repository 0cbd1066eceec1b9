"""Threads that begin at once in a fresh process: nothing is compiled yet, and everything is compiled by several of them."""

import subprocess
import sys
import threading

import pytest

from mindspore import nn
from mindspore.nn.utils import no_init_parameters

PROGRAM = """
import sys, threading
import numpy as np
import mindspore as ms
from mindspore import nn, Tensor

ms.set_context(mode=ms.MODE)
found = {}

def work(number):
    rng = np.random.default_rng(number)
    net = nn.SequentialCell(nn.Conv2d(1, 4, 3, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten(), nn.Dense(144, 10))
    for p in net.get_parameters():
        p.set_data(Tensor(rng.standard_normal(p.shape).astype(np.float32) * 0.1))
    optimizer, loss = nn.SGD(net.trainable_params(), 0.01), nn.CrossEntropyLoss()
    gradient = ms.value_and_grad(lambda x, y: loss(net(x), y), None, optimizer.parameters)
    for _ in range(5):
        x, y = rng.standard_normal((8, 1, 14, 14)).astype(np.float32), rng.integers(0, 10, 8).astype(np.int32)
        value, grads = gradient(Tensor(x), Tensor(y))
        optimizer(grads)
    found[number] = float(value)

threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
if sys.argv[1] == "together":
    [t.start() for t in threads]
    [t.join() for t in threads]
else:
    for t in threads:
        t.start()
        t.join()
print(sorted(found.items()))
"""


@pytest.mark.parametrize("mode", ["PYNATIVE_MODE", "GRAPH_MODE"])
def test_training_in_threads_that_start_together(mode):
    def run(how):
        done = subprocess.run([sys.executable, "-c", PROGRAM.replace("MODE)", f"{mode})"), how], capture_output=True, text=True)
        assert done.returncode == 0, f"{how}: {done.returncode}\n{done.stderr[-2000:]}"
        return done.stdout

    alone = run("one by one")
    assert alone.count("(") == 6
    for _ in range(2):
        assert run("together") == alone

NUMBERS = """
import sys, threading
import numpy as np
import mindspore as ms
from mindspore import Tensor, ops

sys.setswitchinterval(1e-5)
ms.set_context(mode=ms.PYNATIVE_MODE, pynative_deferred=True)
shared = Tensor(np.ones((4, 4), np.float32)) * 2
wrong = []

def work(number):
    for _ in range(30):
        found = (ops.tanh(shared * number) + shared).asnumpy()  # the number is a constant until another thread comes with its own
        if not np.allclose(found, np.tanh(2 * number) + 2, 1e-4):
            wrong.append((number, found[0, 0]))

threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
[t.start() for t in threads]
[t.join() for t in threads]
print(wrong)
"""


def test_threads_that_share_a_deferred_program_have_numbers_of_their_own():
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", NUMBERS], capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr[-2000:]


def test_threads_that_look_at_an_unfilled_parameter_see_the_same_values():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(20):
            with no_init_parameters():
                layer = nn.Dense(200, 200)
            found, together = [], threading.Barrier(4)

            def look(layer=layer, found=found, together=together):
                together.wait()
                found.append(layer.weight.asnumpy())

            threads = [threading.Thread(target=look) for _ in range(4)]
            [t.start() for t in threads]
            [t.join() for t in threads]
            assert len(found) == 4 and all(array is found[0] or (array == found[0]).all() for array in found)
    finally:
        sys.setswitchinterval(before)
