"""A network whose gradients are averaged over the processes of a group while the backward pass runs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from mindspore.communication.comm_func import broadcast
from mindspore.communication.management import get_group_size
from mindspore.nn.cell import Cell
from mindspore.prims.collective import AllReduce

_WORLD = "hccl_world_group"


class DistributedDataParallel(Cell):
    """Wrap a network for training on several processes: each computes its part of the batch, gradients are averaged.

    >>> net = DistributedDataParallel(net)
    >>> with net.no_sync():   # gradients inside stay local
    ...     loss = net(x)
    """

    def __init__(
        self,
        module: Cell,
        init_sync: bool = True,
        process_group: str | None = None,
        bucket_cap_mb: int | None = None,
        find_unused_parameters: bool = False,
        average_in_collective: bool = False,
        static_graph: bool = False,
        reducer_mode: str = "CppReducer",
    ):
        super().__init__(auto_prefix=False)
        if not isinstance(module, Cell):
            raise TypeError(f"For 'DistributedDataParallel', 'module' must be a Cell, but got {type(module).__name__}.")
        if reducer_mode not in ("CppReducer", "PythonReducer"):
            raise ValueError(f"'reducer_mode' must be 'CppReducer' or 'PythonReducer', but got {reducer_mode!r}.")
        if find_unused_parameters and static_graph:
            raise ValueError("'find_unused_parameters' and 'static_graph' can not both be True.")
        self.module = module
        self.group = process_group or _WORLD
        self.sync_enabled = True
        self._sum = AllReduce("sum", self.group)
        self._share = 1.0 / get_group_size(self.group)
        if get_group_size(self.group) > 1:
            self._prepare(init_sync)

    def _prepare(self, init_sync: bool) -> None:
        for parameter in self.module.trainable_params():
            if init_sync:
                parameter.set_data(broadcast(parameter, 0, self.group))
            parameter.register_hook(self._reduce)

    def _reduce(self, grad: Any) -> Any:
        return self._sum(grad) * self._share if self.sync_enabled else grad

    def construct(self, *inputs: Any, **inputs_dict: Any) -> Any:
        return self.module(*inputs, **inputs_dict)

    def zero_grad(self) -> None:
        """Forget gradients kept on parameters."""
        for parameter in self.module.trainable_params():
            parameter.__dict__["grad"] = None

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """Inside, gradients are not averaged: for accumulating over several batches."""
        before, self.sync_enabled = self.sync_enabled, False
        try:
            yield
        finally:
            self.sync_enabled = before
