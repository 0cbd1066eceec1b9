"""An interrupt leaves weights as they are between two steps, whenever it comes."""

import subprocess
import sys
import textwrap

import pytest

from mindspore._base.optional import available

TRAIN = """
    import os, random, signal, sys, threading, time
    import numpy as np
    import mindspore as ms
    from mindspore import Parameter, Tensor, nn

    way = sys.argv[1]
    ms.set_context(mode=ms.PYNATIVE_MODE, pynative_deferred=True) if way == "deferred" else ms.set_context(mode=ms.GRAPH_MODE, backend=way)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            shapes = [(), (3,), (1000,), (300, 300), (64, 64)]
            self.weights = ms.ParameterTuple([Parameter(np.zeros(s, np.float32), name=f"w{i}") for i, s in enumerate(shapes)])

        def construct(self, x):
            return sum([(w * x).sum() for w in self.weights])

    net = Net()
    optimizer = nn.Momentum(net.weights, learning_rate=1.0, momentum=0.0)
    gradient = ms.value_and_grad(lambda x: -net(x), None, list(net.weights))

    def step(x):
        loss, gradients = gradient(x)  # -1 for every weight: each grows by 1
        optimizer(gradients)
        return loss

    step = ms.jit(step) if way != "deferred" else step
    x = Tensor(np.float32(1))
    step(x), step(x)
    rng, last, interrupts = random.Random(1), 0, 0
    for _ in range(25):
        later = threading.Timer(rng.random() * 0.02, os.kill, (os.getpid(), signal.SIGINT))
        try:
            later.start()
            while True:
                step(x)
        except KeyboardInterrupt:
            interrupts += 1
        later.join()
        values = [np.unique(w.asnumpy()).tolist() for w in net.weights]
        if way != "deferred":  # there, updates that were called have been made, others not
            assert all(v == values[0] for v in values), values
        assert all(len(v) == 1 and v[0] >= last for v in values), (last, values)
        last = min(v[0] for v in values)
    step(x)
    print("interrupts:", interrupts)
"""


def _output(program, *arguments):
    command = [sys.executable, "-c", textwrap.dedent(program), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.split("\n")


@pytest.mark.parametrize("way", ["cpu", "interp", "deferred", *(["xla"] if available("jax") else [])])
def test_weights_are_whole_after_an_interrupt(way):
    assert _output(TRAIN, way)[0] == "interrupts: 25"


def test_an_interrupt_waits_for_the_end_of_a_block_and_goes_to_the_handler_before():
    program = """
        import signal
        from mindspore._base.interrupt import held_back

        signal.signal(signal.SIGINT, lambda number, frame: print("handled"))
        for handler in (signal.getsignal(signal.SIGINT), signal.default_int_handler, signal.SIG_IGN):
            signal.signal(signal.SIGINT, handler)
            try:
                with held_back(), held_back():
                    signal.raise_signal(signal.SIGINT)
                    print("done")
            except KeyboardInterrupt:
                print("raised")
            assert signal.getsignal(signal.SIGINT) is handler
    """
    assert _output(program) == ["done", "handled", "done", "raised", "done", ""]


def test_a_fork_beside_compilation_loses_no_interrupt():
    program = """
        import os, signal, threading, time
        from mindspore.backends.cpu import beside

        beside._cores = lambda: 2
        begun = threading.Event()

        def slow():
            begun.set()
            time.sleep(1)

        jobs = [beside.Job(slow) for _ in range(2)]  # of two a thread takes one
        begun.wait()
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            child = os.fork()  # waits for the thread
            if child == 0:
                print(beside.Job(lambda: "made in the child").result(), flush=True)
                os._exit(0)
            time.sleep(60)
        except KeyboardInterrupt:
            os.waitpid(child, 0)
            print("raised", beside.Job(lambda: "made in the parent").result())
    """
    assert _output(program)[:2] == ["made in the child", "raised made in the parent"]
