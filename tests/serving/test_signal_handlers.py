"""Handlers of signals: all that last are called, and what was there before them is put back, in whatever order they end."""

import itertools
import signal
import threading

import pytest

from mindspore_serving.engine.signals import Handlers

NUMBER = signal.SIGUSR1


@pytest.fixture
def own():
    """What the program has set itself."""
    heard = []
    before = signal.signal(NUMBER, lambda *_: heard.append("own"))
    yield heard
    signal.signal(NUMBER, before)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_in_any_order(own, order):
    mine = signal.getsignal(NUMBER)
    handlers = [Handlers([NUMBER], lambda _, name=name: own.append(name)) for name in range(3)]
    left = {0, 1, 2}
    for number in order:
        own.clear()
        signal.raise_signal(NUMBER)
        assert own == sorted(left, reverse=True)
        handlers[number].end()
        left.discard(number)
    assert signal.getsignal(NUMBER) is mine


def test_a_handler_that_came_later_stays(own):
    handlers = Handlers([NUMBER], lambda _: own.append("first"))
    before = signal.getsignal(NUMBER)

    def later(number, frame):
        own.append("later")
        before(number, frame)

    signal.signal(NUMBER, later)
    handlers.end()
    assert signal.getsignal(NUMBER) is later
    signal.raise_signal(NUMBER)
    assert own == ["later", "own"]


def test_an_end_in_another_thread_passes_signals_on(own):
    with Handlers([NUMBER], lambda _: own.append("outer")):
        handlers = Handlers([NUMBER], lambda _: own.append("inner"))
        thread = threading.Thread(target=handlers.end)
        thread.start()
        thread.join()
        signal.raise_signal(NUMBER)
        assert own == ["outer"]
    signal.raise_signal(NUMBER)
    assert own == ["outer", "own"]


def test_the_system_s_own_handling_returns():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    handlers = Handlers([signal.SIGINT], lambda _: None)
    thread = threading.Thread(target=handlers.end)
    thread.start()
    thread.join()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    signal.signal(signal.SIGINT, before)


def test_threads_set_nothing(own):
    mine = signal.getsignal(NUMBER)
    thread = threading.Thread(target=lambda: Handlers([NUMBER], lambda _: own.append("thread")))
    thread.start()
    thread.join()
    assert signal.getsignal(NUMBER) is mine
