"""Giving every device the same parameters."""

from __future__ import annotations

from typing import Any

from mindspore.communication.comm_func import broadcast
from mindspore.communication.management import get_group_size


def parameter_broadcast(net: Any, layout: dict, cur_rank: int = 0, initial_rank: int = 0) -> None:
    """Send the parameters of the first device to those that hold the same parts."""
    if not hasattr(net, "get_parameters"):
        raise TypeError(f"'net' must be a Cell, but got {type(net).__name__}.")
    if not isinstance(layout, dict):
        raise TypeError(f"'layout' must be a dict, but got {type(layout).__name__}.")
    for name, value in (("cur_rank", cur_rank), ("initial_rank", initial_rank)):
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"'{name}' must be an int, but got {type(value).__name__}.")
        if value < 0:
            raise ValueError(f"'{name}' must not be negative, but got {value}.")
    if get_group_size() == 1:
        return
    for parameter in net.get_parameters():
        parameter.set_data(broadcast(parameter, initial_rank))


def sync_pipeline_shared_parameters(net: Any) -> None:
    """Make parameters that several pipeline stages share equal. With one stage they are.

    Examples:
        >>> ms.sync_pipeline_shared_parameters(nn.Dense(2, 1)) is None
        True
    """
    if not hasattr(net, "get_parameters"):
        raise TypeError(f"'net' must be a Cell, but got {type(net).__name__}.")
    if get_group_size() == 1:
        return
    for parameter in net.get_parameters():
        if getattr(parameter, "is_pipeline_shared_param", False):
            parameter.set_data(broadcast(parameter, 0))
