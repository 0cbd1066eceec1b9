"""FlopsUtilizationCollector: how much of the hardware's computing power the steps use."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from mindspore.compiler.flops import count_flops
from mindspore.ir import FuncGraph
from mindspore.train._compiled_graph import graph_of
from mindspore.train.callback._callback import Callback
from mindspore.train.callback._monitored import check_bool

if TYPE_CHECKING:
    from mindspore.train.callback._callback import RunContext


class FlopsUtilizationCollector(Callback):
    """Prints the floating-point operations of a step, and which share of the hardware's power they used.

    Args:
        data_size: steps per epoch.
        computility: operations per second that the hardware can do.
        full_flops: accepted; with one process the whole model is its own share.
        enable_ma_collector: accepted.

    Examples:
        >>> train.FlopsUtilizationCollector(data_size=100).__class__.__name__
        'FlopsUtilizationCollector'
    """

    def __init__(
        self, data_size: int, computility: float = 1, full_flops: bool = True, enable_ma_collector: bool = False
    ):
        super().__init__()
        check_bool("FlopsUtilizationCollector", "full_flops", full_flops)
        check_bool("FlopsUtilizationCollector", "enable_ma_collector", enable_ma_collector)
        if not isinstance(data_size, int) or isinstance(data_size, bool) or data_size <= 0:
            raise ValueError(
                f"For 'FlopsUtilizationCollector', 'data_size' must be a positive int, but got {data_size!r}."
            )
        self.data_size = data_size
        self.computility = computility
        self.full_flops = full_flops
        self.full_model_flops: float | None = None
        self.step_time = time.time()

    def step_begin(self, run_context: RunContext) -> None:
        self.step_time = time.time()

    def step_end(self, run_context: RunContext) -> None:
        seconds = time.time() - self.step_time
        params = run_context.original_args()
        if self.full_model_flops is None:
            network = params.train_network if params.mode == "train" else params.eval_network
            graph = graph_of(network)
            if not isinstance(graph, FuncGraph):
                raise ValueError("FlopsUtilizationCollector needs graph mode: the network has not been compiled.")
            self.full_model_flops = count_flops(graph)
            print(f"Full model flops is {self.full_model_flops:.6g}.", flush=True)
        share = self.full_model_flops / seconds / self.computility * 100
        print(f"{params.mode.title()} per step time: {seconds * 1000:5.3f} ms mfu: {share:.2f}%", flush=True)
