"""Ctrl-C ends a program at whatever point of a pipeline it comes."""

import contextlib
import gc
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
import weakref

import pytest

import mindspore.dataset as ds

PATIENCE = 110  # seconds; a busy machine needs some


@contextlib.contextmanager
def program(text, *arguments):
    """A Python program in a process group of its own, which is gone afterwards whatever happens."""
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(text), *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@contextlib.contextmanager
def busy_machine(processes=4):
    with contextlib.ExitStack() as stack:
        for _ in range(processes):
            stack.enter_context(program("while True: pass"))
        yield


def wait_for_interrupt():
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        time.sleep(0.01)


@pytest.fixture(autouse=True)
def as_in_a_new_program():
    """Ctrl-C is Python's own affair when a program begins, whatever ran before in this process."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Signalling:
    """An object in whose destructor Ctrl-C is pressed."""

    def __del__(self):
        signal.raise_signal(signal.SIGINT)


def test_an_interrupt_in_a_destructor_is_raised_after_it():
    ds.keep_interrupts()
    with pytest.raises(KeyboardInterrupt):
        Signalling()
        wait_for_interrupt()


def test_an_interrupt_in_a_callback_of_the_collector_is_raised_after_it():
    ds.keep_interrupts()
    with pytest.raises(KeyboardInterrupt):
        cycle = Signalling.__new__(type("Plain", (), {}))
        cycle.itself = cycle
        weakref.finalize(cycle, signal.raise_signal, signal.SIGINT)
        del cycle
        gc.collect()
        wait_for_interrupt()


def test_other_exceptions_that_cannot_be_raised_go_to_the_hook_before(monkeypatch):
    seen = []
    monkeypatch.setattr(sys, "unraisablehook", seen.append)
    ds.keep_interrupts()
    ds.keep_interrupts()

    class Failing:
        def __del__(self):
            raise ValueError("in vain")

    Failing()
    assert [found.exc_type for found in seen] == [ValueError]


SHOTS = """
    import faulthandler, os, signal, sys, traceback
    import numpy as np
    import mindspore.dataset as ds
    from mindspore.dataset.dataloader import DataLoader

    def pipeline():
        data = ds.NumpySlicesDataset(np.arange(1000), "x").map(lambda x: x, python_multiprocessing=True, num_parallel_workers=2)
        for i, row in enumerate(data.create_tuple_iterator(output_numpy=True)):
            if i == 2:
                break

    def loader():
        for i, batch in enumerate(DataLoader(list(range(100)), num_workers=1, collate_fn=list)):
            if i == 2:
                break

    class Shot:  # Ctrl-C at the n-th point at which Python would look for signals
        def __init__(self, at):
            self.at, self.count = at, 0

        def __call__(self, frame, event, argument):
            if event in ("call", "c_return") and not frame.f_code.co_flags & 0x20:  # a generator may be closing
                self.count += 1
                if self.count == self.at:
                    sys.setprofile(None)
                    signal.raise_signal(signal.SIGINT)

    def waited():
        import time
        for _ in range(6000):
            time.sleep(0.01)

    def outcome(work, at):
        faulthandler.dump_traceback_later(40, exit=True)
        shot = Shot(at)
        try:
            sys.setprofile(shot)
            work()
            sys.setprofile(None)
            if shot.count < at:
                return 2  # the work was over before
            waited()
            return 1
        except BaseException:
            return 0 if "KeyboardInterrupt" in traceback.format_exc() else 3
        finally:
            sys.setprofile(None)

    work, first, step = dict(pipeline=pipeline, loader=loader)[sys.argv[1]], int(sys.argv[2]), int(sys.argv[3])
    results, at = [], first
    while not results or results[-1] != 2:
        child = os.fork()
        if not child:
            os._exit(outcome(work, at))
        results.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        at += step
    print(results)
"""


@pytest.mark.parametrize("work, step", [("pipeline", 31), ("loader", 37)])
def test_an_interrupt_at_any_point_of_start_and_end_is_raised(work, step):
    with program(SHOTS, work, random.Random(0).randrange(1, step), step) as process:
        output, errors = process.communicate(timeout=PATIENCE)
    assert output, errors
    *results, last = eval(output)
    assert last == 2
    assert len(results) > 20
    assert set(results) == {0}, errors


ITERATING = """
    import sys, time
    import numpy as np
    print("started", flush=True)
    import mindspore.dataset as ds
    print("imported", flush=True)
    data = ds.NumpySlicesDataset(np.arange(100000), "x")
    data = data.map(lambda x: x, python_multiprocessing=True, num_parallel_workers=2)
    print("built", flush=True)
    for epoch in range(100000):
        for i, row in enumerate(data.create_tuple_iterator(output_numpy=True, num_epochs=1)):
            if not epoch and not i:
                print("first", flush=True)
            if i == 3:
                break
"""


@pytest.mark.parametrize("stage, delay", [("started", 0.1), ("imported", 0.01), ("built", 0.05), ("first", 0.02)])
def test_an_interrupt_at_every_stage_ends_the_program_on_a_busy_machine(stage, delay):
    with busy_machine(), program(ITERATING) as process:
        while process.stdout.readline().strip() != stage:
            assert process.poll() is None
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode != 0
        assert "KeyboardInterrupt" in errors
