"""MindData: pipelines that load, transform and batch data.

    import mindspore.dataset as ds

    data = ds.MnistDataset("path/to/mnist", usage="train", shuffle=True)
    data = data.map(lambda x: x / 255.0, input_columns="image").batch(64)
    for images, labels in data:
        ...

See README.md beside this file for how it is built. Sources and sub-packages are imported when they are first named.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy.random  # noqa: F401 - all need it; loaded late, its Cython code would swallow an interrupt

from mindspore._base.interrupt import keep_interrupts
from mindspore.dataset import config
from mindspore.dataset.api.cache import DatasetCache
from mindspore.dataset.api.dataset import Dataset, zip
from mindspore.dataset.api.iterators import DictIterator, DummyIterator, Iterator, TupleIterator
from mindspore.dataset.api.operations import (
    AudioBaseDataset,
    BatchDataset,
    BucketBatchByLengthDataset,
    ConcatDataset,
    FilterDataset,
    FlatMapDataset,
    MapDataset,
    PaddedBatchDataset,
    ProjectDataset,
    RenameDataset,
    RepeatDataset,
    ShuffleDataset,
    SkipDataset,
    SyncWaitDataset,
    TakeDataset,
    TextBaseDataset,
    UnionBaseDataset,
    VisionBaseDataset,
    ZipDataset,
)
from mindspore.dataset.api.schema import Schema
from mindspore.dataset.api.serialize import compare, deserialize, explain, serialize, show
from mindspore.dataset.api.transfer import TransferDataset, sync_wait_for_dataset
from mindspore.dataset.callback import DSCallback, WaitedDSCallback
from mindspore.dataset.config import ErrorSamplesMode, get_seed, set_seed
from mindspore.dataset.runtime.batch import BatchInfo
from mindspore.dataset.samplers import (
    BuiltinSampler,
    DistributedSampler,
    IterSampler,
    PKSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    Shuffle,
    SubsetRandomSampler,
    SubsetSampler,
    WeightedRandomSampler,
)
from mindspore.dataset.sources.catalogue import SOURCES

_MODULES = (
    "audio",
    "callback",
    "core",
    "dataloader",
    "debug",
    "engine",
    "samplers",
    "text",
    "transforms",
    "utils",
    "vision",
)
_ELSEWHERE = {
    "Implementation": "mindspore.dataset.transforms.transform",
    "LineReader": "mindspore.dataset.utils",
    "DebugHook": "mindspore.dataset.debug",
    "GraphData": "mindspore.dataset.graph",
    "OutputFormat": "mindspore.dataset.graph",
    "SamplingStrategy": "mindspore.dataset.graph",
    **SOURCES,
}

__all__ = [
    "AudioBaseDataset", "BatchDataset", "BatchInfo", "BucketBatchByLengthDataset", "BuiltinSampler", "ConcatDataset",
    "DSCallback", "Dataset", "DatasetCache", "DictIterator", "DistributedSampler", "DummyIterator", "ErrorSamplesMode",
    "FilterDataset", "FlatMapDataset", "IterSampler", "Iterator", "MapDataset", "PKSampler", "PaddedBatchDataset",
    "ProjectDataset", "RandomSampler", "RenameDataset", "RepeatDataset", "Sampler", "Schema", "SequentialSampler",
    "Shuffle", "ShuffleDataset", "SkipDataset", "SubsetRandomSampler", "SubsetSampler", "SyncWaitDataset",
    "TakeDataset", "TextBaseDataset", "TransferDataset", "TupleIterator", "UnionBaseDataset", "VisionBaseDataset",
    "WaitedDSCallback", "WeightedRandomSampler", "ZipDataset", "compare", "config", "deserialize", "explain",
    "get_seed", "serialize", "set_seed", "show", "sync_wait_for_dataset", "zip",
]  # fmt: skip
__all__ += list(_MODULES)
__all__ += list(_ELSEWHERE)

keep_interrupts()  # before anything is imported late, or runs in threads and processes


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _ELSEWHERE:
        value = getattr(importlib.import_module(_ELSEWHERE[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
