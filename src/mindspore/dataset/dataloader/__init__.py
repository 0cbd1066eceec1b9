"""Loading rows of Python objects in batches, without a pipeline: data sets, samplers and `DataLoader`.

Files: `dataset.py` what is loaded, `sampler.py` and `distributed.py` in which order, `_utils/collate.py` how rows become a
batch, `dataloader.py` the loop, `_utils/worker.py` the same loop in worker processes.
"""

from mindspore.dataset.dataloader._utils.collate import default_collate, default_convert
from mindspore.dataset.dataloader._utils.worker import get_worker_info
from mindspore.dataset.dataloader.dataloader import DataLoader
from mindspore.dataset.dataloader.dataset import Dataset, IterableDataset, TensorDataset
from mindspore.dataset.dataloader.distributed import DistributedSampler
from mindspore.dataset.dataloader.sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler

__all__ = [
    "BatchSampler",
    "DataLoader",
    "Dataset",
    "DistributedSampler",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "TensorDataset",
    "default_collate",
    "default_convert",
    "get_worker_info",
]
