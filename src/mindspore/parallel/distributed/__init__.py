"""Data-parallel training in PyNative mode. Façade: re-exports only."""

from mindspore.parallel.distributed.distributed_data_parallel import DistributedDataParallel

__all__ = ["DistributedDataParallel"]
