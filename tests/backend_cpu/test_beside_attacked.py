"""Machine code made beside lowering while processes fork, threads cannot be had, errors and interrupts come and Python ends."""

import os
import signal
import subprocess
import sys
import textwrap
import threading

import pytest

from mindspore.backends.cpu import backend, beside, jit

pytestmark = pytest.mark.skipif(not backend.available(), reason="no native backend here")


@pytest.fixture(autouse=True)
def _as_on_many_cores(monkeypatch):
    monkeypatch.setattr(beside, "_cores", lambda: 4)
    yield
    for thread in list(beside._HELPERS.threads):
        thread.join()
    beside._HELPERS.waiting.clear()


def codes(name, count=12):
    return [jit.Code(f"{name}{n}", f"define i64 @{name}{n}() {{ ret i64 {n} }}") for n in range(count)]


def in_new_process(text):
    head = """
        import atexit, functools, os, signal, sys, threading
        from mindspore.backends.cpu import beside, jit
        beside._cores = functools.partial(int, 4)

        def codes(name, count=12, Code=jit.Code):
            return [Code(f"{name}{n}", f"define i64 @{name}{n}() {{ ret i64 {n} }}") for n in range(count)]

    """
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(head) + textwrap.dedent(text)], capture_output=True, text=True, timeout=60, check=False
    )


def test_without_threads_who_needs_a_job_does_it(monkeypatch):
    def start(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    jobs = [beside.Job(lambda n=n: n) for n in range(9)]
    assert not beside._HELPERS.threads
    assert [job.result() for job in jobs] == list(range(9))


def test_a_helper_that_an_unexpected_error_ends_is_not_waited_for(monkeypatch):
    """It is shown by its thread, and met by whoever asks for the result."""
    shown = []
    monkeypatch.setattr(threading, "excepthook", lambda args: shown.append(args.exc_type))
    begun = threading.Event()

    def fail():
        begun.set()
        raise ZeroDivisionError("of the job")

    jobs = [beside.Job(fail) for _ in range(3)]
    assert begun.wait(20)
    for thread in list(beside._HELPERS.threads):
        thread.join()
    assert shown and set(shown) == {ZeroDivisionError}
    assert not beside._HELPERS.threads
    for job in jobs:
        with pytest.raises(ZeroDivisionError, match="of the job"):
            job.result()
    assert [job.result() for job in [beside.Job(lambda n=n: n) for n in range(9)]] == list(range(9))


def test_an_interrupt_leaves_a_job_to_be_done_again(monkeypatch):
    monkeypatch.setattr(beside, "_cores", lambda: 1)
    tries = []

    def interrupted():
        tries.append(1)
        if len(tries) == 1:
            raise KeyboardInterrupt
        return "done"

    job = beside.Job(interrupted)
    with pytest.raises(KeyboardInterrupt):
        job.result()
    assert job.result() == "done"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_children_compile_although_a_thread_of_their_parent_was_compiling_at_the_fork():
    stop = threading.Event()
    failed = []

    def compile_on():
        n = 0
        while not stop.is_set():
            n += 1
            if not all(code.address for code in codes(f"p{n}_", 8)):
                failed.append(n)

    thread = threading.Thread(target=compile_on)
    thread.start()
    try:
        for n in range(8):
            child = os.fork()
            if child == 0:
                signal.alarm(20)  # a child that hangs is ended, and seen
                os._exit(0 if all(code.address for code in codes(f"c{n}_", 4)) else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        thread.join()
    assert not failed


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_handler_of_signals_that_forks_while_a_thread_is_being_started():
    """The thread that forks holds what a fork waits for, and goes on."""
    with beside._HELPERS.lock:
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            os._exit(0 if all(code.address for code in codes("h")) else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert all(code.address for code in codes("i"))


def test_machine_code_of_others_is_given_back_while_somebody_compiles():
    """Destructors run at any moment: they must not wait for a thread that compiles."""
    given = codes("g")
    assert all(code.address for code in given)
    held, go_on = threading.Event(), threading.Event()

    def compile_long():
        with jit._LOCK:
            held.set()
            go_on.wait(20)

    thread = threading.Thread(target=compile_long)
    thread.start()
    assert held.wait(20)
    given.clear()  # returns at once
    assert thread.is_alive() and len(jit._UNUSED) == 12
    go_on.set()
    thread.join()
    assert codes("later", 1)[0].address
    jit._closing(threading.Event())()  # the next to give something back gives all of it
    assert not jit._UNUSED


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("kept = codes('k', 200)", id="jobs wait"),
        pytest.param("atexit.register(lambda: print(all(c.address for c in codes('a'))))", id="compiled by an exit handler"),
        pytest.param("threading.Thread(target=lambda: print(all(c.address for c in codes('t', 60)))).start()", id="thread goes on"),
        pytest.param("threading.Thread(target=lambda: [codes('d', 50) for _ in range(99)], daemon=True).start()", id="daemon"),
        pytest.param(
            """
            class Last:
                def __del__(self, codes=codes, write=os.write):
                    write(1, f"{all([c.address for c in codes('l')])}\\n".encode())  # what print needs is gone

            last = Last()
            assert codes("w")[0].address  # modules cannot be imported any more at the end
            """,
            id="compiled by a destructor",
        ),
        pytest.param("os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); print(all(c.address for c in codes('o')))", id="one core"),
    ],
)
def test_python_ends(text):
    done = in_new_process(text)
    assert done.returncode == 0, done.stderr
    assert "all(" not in text or done.stdout == "True\n", done.stderr


def test_python_ends_by_an_interrupt_while_jobs_wait():
    done = in_new_process("kept = codes('k', 200); os.kill(os.getpid(), signal.SIGINT); kept[-1].address")
    assert "KeyboardInterrupt" in done.stderr and done.returncode in (1, -signal.SIGINT)
