"""Processes joined by XLA that do different things: what each of them says. The argument names the mistake."""

import sys
import time

import numpy as np

import mindspore as ms
from mindspore import Tensor, ops
from mindspore.communication import get_rank, init

init()
RANK, KIND = get_rank(), sys.argv[1]
x = Tensor(np.ones(4, np.float32))
ops.AllReduce()(x)
if KIND == "late" and RANK == 1:
    time.sleep(20)
operation = ops.AllReduce() if RANK == 0 or KIND == "late" else ops.AllGather()
try:
    ms.jit(lambda t: operation(t))(x) if KIND == "graph" else operation(x)
except RuntimeError as error:
    print(f"refused: {error}", flush=True)
