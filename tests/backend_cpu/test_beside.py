"""Jobs done by helpers: results, errors, and forks in between; kernels compiled by several threads at once."""

import gc
import os
import threading

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, ops
from mindspore.backends.cpu import backend, beside, jit

pytestmark = pytest.mark.skipif(not backend.available(), reason="no native backend here")


def test_every_job_is_done_once_and_gives_its_result():
    done = []
    jobs = [beside.Job(lambda n=n: done.append(n) or n * n) for n in range(50)]
    assert [job.result() for job in reversed(jobs)] == [n * n for n in reversed(range(50))]
    assert [job.result() for job in jobs] == [n * n for n in range(50)]
    assert sorted(done) == list(range(50))


def test_an_error_is_met_by_those_who_ask_for_the_result_and_by_nobody_else():
    def fail():
        raise RuntimeError("no such instruction")

    bad = [beside.Job(fail) for _ in range(4)]
    good = [beside.Job(lambda n=n: n) for n in range(4)]
    assert [job.result() for job in good] == list(range(4))
    for job in bad * 2:
        with pytest.raises(RuntimeError, match="no such instruction"):
            job.result()


def test_helpers_end_when_nothing_waits_and_what_nobody_holds_is_not_done():
    done = []
    beside._HELPERS.waiting.clear()
    lonely = beside.Job(lambda: done.append("lonely"))  # the only one that waits: nobody begins it
    del lonely
    gc.collect()
    jobs = [beside.Job(lambda n=n: n) for n in range(20)]
    assert [job.result() for job in jobs] == list(range(20))
    for thread in [t for t in threading.enumerate() if t.name == "compile"]:
        thread.join()
    assert not done


def test_kernels_that_nobody_asked_for_may_end_in_cycles():
    """LLVM's modules must be freed before their contexts, and the collector of cycles knows no order."""

    class Holder:
        pass

    gc.disable()
    try:
        for n in range(60):
            holder = Holder()
            holder.itself, holder.code = holder, jit.Code(f"f{n}", f"define i32 @f{n}() {{ ret i32 {n} }}")
    finally:
        gc.enable()
    del holder
    gc.collect()
    assert jit.Code("f", "define i32 @f() { ret i32 7 }").address


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_gets_the_results_of_jobs_that_were_waiting_or_begun_at_the_fork():
    jobs = [beside.Job(lambda n=n: sum(range(n * 1000))) for n in range(40)]
    child = os.fork()
    if child == 0:
        right = [job.result() for job in jobs] == [sum(range(n * 1000)) for n in range(40)]
        right = right and [beside.Job(lambda n=n: n).result() for n in range(9)] == list(range(9))
        os._exit(0 if right else 1)
    assert [job.result() for job in jobs] == [sum(range(n * 1000)) for n in range(40)]
    assert os.waitpid(child, 0)[1] == 0


def test_threads_that_compile_at_the_same_time_get_right_results():
    x = np.linspace(-2, 2, 37, dtype=np.float32)
    found = {}

    def compute(number):
        net = ms.jit(lambda a: (ops.tanh(a * number) + ops.exp(a), ops.softmax(a - number), (a * a).sum() + number))
        found[number] = [r.asnumpy() for r in net(Tensor(x))]

    threads = [threading.Thread(target=compute, args=(n,)) for n in range(4)]
    with ms.context.local_context(backend="cpu"):
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    for n in range(4):
        soft = np.exp((x - n) - (x - n).max())
        wanted = np.tanh(x * n) + np.exp(x), soft / soft.sum(), (x * x).sum() + n
        for result, right in zip(found[n], wanted, strict=True):
            np.testing.assert_allclose(result, right, rtol=1e-5, atol=1e-6)
