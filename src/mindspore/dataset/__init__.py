"""MindData: pipelines that load, transform and batch data.

    import mindspore.dataset as ds

    data = ds.MnistDataset("path/to/mnist", usage="train", shuffle=True)
    data = data.map(lambda x: x / 255.0, input_columns="image").batch(64)
    for images, labels in data:
        ...

See README.md beside this file for how it is built.
"""

from __future__ import annotations

import importlib
from typing import Any

from mindspore.dataset import config
from mindspore.dataset.api.dataset import Dataset, zip
from mindspore.dataset.api.iterators import DictIterator, Iterator, TupleIterator
from mindspore.dataset.api.operations import *  # noqa: F403
from mindspore.dataset.api.schema import Schema
from mindspore.dataset.callback import DSCallback, WaitedDSCallback
from mindspore.dataset.runtime.batch import BatchInfo
from mindspore.dataset.samplers import *  # noqa: F403
from mindspore.dataset.sources.base import MappableDataset, SourceDataset
from mindspore.dataset.sources.generator import GeneratorDataset, NumpySlicesDataset, PaddedDataset
from mindspore.dataset.sources.image_folder import ImageFolderDataset
from mindspore.dataset.sources.mnist import (
    EMnistDataset,
    FashionMnistDataset,
    KMnistDataset,
    MnistDataset,
    QMnistDataset,
)

_LAZY_MODULES = ("audio", "engine", "text", "transforms", "vision", "core", "utils", "debug", "callback")


def __getattr__(name: str) -> Any:
    if name in _LAZY_MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
