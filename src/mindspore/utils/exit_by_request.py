"""Leaving training together when every process has been asked to."""

from __future__ import annotations

from typing import Any

from mindspore.communication.management import get_group_size
from mindspore.prims.collective import AllReduce
from mindspore.prims.state import Assign


class ExitByRequest:
    """Tells the processes of a run, inside a training step, whether all of them were asked to stop."""

    def __init__(self) -> None:
        self.group_size = get_group_size()
        self.is_distributed = self.group_size > 1
        self._total = AllReduce()

    def exit_by_request(self, grad: Any, init_value: Any, exit_value: Any) -> Any:
        """Set the Parameter `exit_value` to whether `init_value` is 1 in every process; returns `grad`."""
        if self.is_distributed:
            Assign()(exit_value, (self._total(init_value) == self.group_size).all())
        return grad
