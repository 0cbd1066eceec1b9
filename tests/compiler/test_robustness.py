"""Compiled functions under load: many kinds of arguments, threads, copies, deep recursion, interrupts, forks."""

import copy
import gc
import pickle
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore._base.recursion import deep_recursion
from mindspore.common import compiled as compiling


class Scaler:
    def __init__(self, factor):
        self.factor = factor

    @ms.jit
    def scale(self, x):
        return x * self.factor


def test_objects_with_compiled_methods_are_freed():
    scaler = Scaler(2.0)
    assert scaler.scale(Tensor([1.0])).asnumpy() == [2.0]
    gone = weakref.ref(scaler)
    del scaler
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])
def test_copies_of_objects_with_compiled_methods_are_their_own(duplicate):
    scaler = Scaler(2.0)
    scaler.scale(Tensor([1.0]))
    other = duplicate(scaler)
    other.factor = 3.0
    assert other.scale(Tensor([1.0])).asnumpy() == [3.0]
    assert scaler.scale(Tensor([1.0])).asnumpy() == [2.0]


def test_kinds_of_arguments_are_bounded(monkeypatch):
    monkeypatch.setattr(compiling, "MAX_KINDS", 5)
    monkeypatch.setattr(compiling, "MANY_KINDS", 4)
    compiled = ms.jit(lambda x, n: x * n)
    with pytest.warns(UserWarning, match="compiled for 4 kinds of arguments"):
        for n in range(9):
            assert compiled(Tensor([1.0]), n).asnumpy() == [n]
    assert compiled.compile_cache_size == 5


def test_threads_call_and_compile_at_once():
    @ms.jit
    def f(x, y):
        return ops.matmul(x, y).sum() + x.mean()

    failures = []

    def work(seed):
        rng = np.random.default_rng(seed)
        try:
            for _ in range(10):
                n = int(rng.integers(2, 6))
                a, b = rng.standard_normal((n, 4)).astype("f4"), rng.standard_normal((4, n)).astype("f4")
                np.testing.assert_allclose(
                    f(Tensor(a), Tensor(b)).asnumpy(), (a @ b).sum() + a.mean(), rtol=1e-4, atol=1e-4
                )
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_recursion_without_end_is_told():
    @ms.jit
    def down(x, n):
        if n < 1:
            return x
        return down(x, n - 1) + 1

    assert down(Tensor(1.0), Tensor(500)) == 501
    with pytest.raises(RuntimeError, match="call depth limit"):
        down(Tensor(1.0), Tensor(10**6))


def test_a_thousand_layers():
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        net = nn.SequentialCell([nn.Dense(2, 2) for _ in range(300)] + [nn.ReLU() for _ in range(700)])
        assert net(Tensor(np.ones((1, 2), np.float32))).shape == (1, 2)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


FORKING = """
import multiprocessing
import numpy as np
import mindspore as ms
from mindspore import Tensor

compiled = ms.jit(lambda x: (x * 2).sum())
assert float(compiled(Tensor(np.ones(4, np.float32)))) == 8
context = multiprocessing.get_context("fork")
queue = context.Queue()
child = context.Process(target=lambda: queue.put(float(compiled(Tensor(np.ones(4, np.float32))))))
child.start()
assert queue.get(timeout=60) == 8
child.join(60)
assert child.exitcode == 0
"""


def test_a_forked_child_computes():
    subprocess.run([sys.executable, "-c", FORKING], check=True, timeout=120)


def test_threads_share_the_recursion_limit():
    before, failures = sys.getrecursionlimit(), []
    started, go_on = threading.Event(), threading.Event()

    def deep(n):
        return 0 if n == 0 else 1 + deep(n - 1)

    def longer():
        with deep_recursion(5000):
            started.set()
            go_on.wait(30)
            try:
                deep(4000)
            except RecursionError as error:
                failures.append(error)

    with deep_recursion(5000):
        thread = threading.Thread(target=longer)
        thread.start()
        started.wait(30)
    go_on.set()
    thread.join()
    assert not failures and sys.getrecursionlimit() == before


def test_functions_made_on_the_fly_are_freed(tmp_path):
    class Kept:
        pass

    path = tmp_path / "made.py"
    path.write_text("FACTOR = 3\n\ndef scale(x):\n    if x.sum() > 0:\n        return x * FACTOR\n    return x\n")
    names = {"__name__": "made", "kept": Kept()}
    exec(compile(path.read_text(), str(path), "exec"), names)
    gone = weakref.ref(names["kept"])
    assert ms.jit(names["scale"])(Tensor([2.0])).asnumpy() == [6.0]
    del names
    gc.collect()
    assert gone() is None
