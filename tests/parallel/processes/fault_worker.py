"""A process that misbehaves, while the other one waits for it."""

import os
import resource
import signal
import sys
import time

import numpy as np

import mindspore as ms
from mindspore import Tensor, ops
from mindspore.communication import get_rank, init

init()
how, x = sys.argv[1], Tensor(np.ones(3, np.float32))
graph = ms.jit(lambda t: ops.AllReduce()(t) + 1)
graph(x)
if how == "disk":  # files of this process cannot grow beyond a few bytes, as on a full disk
    print("process", os.getpid(), flush=True)
    if get_rank() == 0:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))
    ms.parallel.save_sharded_checkpoint({"w": Tensor(np.ones(9999, np.float32))}, sys.argv[2], 1)
print("process", os.getpid(), flush=True)
if get_rank() == 0:
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)
    if how == "raise":
        raise ValueError("a mistake of the program's")
    if how == "exit":
        sys.exit(3)
    if how == "cut":  # the connection to the scheduler
        from mindspore.runtime.transports import watchdog

        watchdog._Process.watch.line._socket.shutdown(2)
        time.sleep(60)
    if how == "sleep":
        time.sleep(60)
    if how == "order":
        ops.AllGather()(x)
    if how == "graph":
        ms.jit(lambda t: ops.AllGather()(t))(x)
    if how == "shape":
        graph(Tensor(np.ones(4, np.float32)))
graph(x)
