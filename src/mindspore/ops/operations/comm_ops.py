"""Collective operations. Façade: re-exports only."""

from typing import Any

from mindspore.ops.composition import plain
from mindspore.ops.operations.neighbours import NeighborExchangeV2
from mindspore.prims.collective import (
    AllGather,
    AllReduce,
    Barrier,
    Broadcast,
    CollectiveGather,
    CollectiveScatter,
    Reduce,
    ReduceOp,
    ReduceScatter,
)
from mindspore.prims.exchange import (
    AllGatherV,
    AlltoAll,
    AlltoAllV,
    AlltoAllVC,
    BatchISendIRecv,
    NeighborExchange,
    Receive,
    ReduceScatterV,
    Send,
)

__all__ = [
    "AllGather", "AllGatherV", "AllReduce", "AlltoAll", "AlltoAllV", "AlltoAllVC", "Barrier", "BatchISendIRecv", "Broadcast",
    "CollectiveGather", "CollectiveScatter", "NeighborExchange", "NeighborExchangeV2", "Receive", "Reduce", "ReduceOp", "ReduceScatter",
    "ReduceScatterV", "Send",
]  # fmt: skip


def _as_they_are(*inputs: Any) -> tuple:
    return inputs


#: a batch as it is; its strategy says how it is cut over devices
_VirtualDataset = plain("_VirtualDataset", _as_they_are)
