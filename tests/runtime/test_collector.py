"""Compiling pauses the collector of cyclic garbage, and only then."""

import gc
import threading

import pytest

import mindspore as ms
from mindspore import Tensor
from mindspore._base import collector


def test_the_collector_rests_while_a_graph_is_compiled_and_not_after():
    seen = []

    @ms.jit
    def function(x):
        return x + 1

    trace = function._trace
    function._trace = lambda *args: seen.append(gc.isenabled()) or trace(*args)
    assert float(function(Tensor(1.0))) == 2
    assert seen == [False]
    assert gc.isenabled()


def test_it_goes_on_after_a_graph_that_cannot_be_compiled():
    @ms.jit
    def function(x):
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        function(Tensor(1.0))
    assert gc.isenabled()


def test_pauses_of_threads_overlap():
    inside, leave = threading.Event(), threading.Event()

    def pause():
        with collector.paused():
            inside.set()
            leave.wait(20)

    other = threading.Thread(target=pause)
    other.start()
    assert inside.wait(20)
    with collector.paused():
        pass
    assert not gc.isenabled()
    leave.set()
    other.join()
    assert gc.isenabled()


def test_who_has_switched_it_off_finds_it_off():
    gc.disable()
    try:
        with collector.paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
