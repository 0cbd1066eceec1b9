"""Data for a model's inputs: from files, or random numbers."""

from __future__ import annotations

import numpy as np

from mindspore_lite.tensor import Tensor


def fill(inputs: list[Tensor], files: list[str]) -> None:
    """Data from files, or random numbers."""
    if files and len(files) != len(inputs):
        raise ValueError(f"the model takes {len(inputs)} inputs, but --inDataFile names {len(files)} files")
    random = np.random.default_rng(0)
    for place, tensor in enumerate(inputs):
        empty = tensor.get_data_to_numpy()
        if files:
            data = np.fromfile(files[place], empty.dtype)
            if data.size != empty.size:
                raise ValueError(
                    f"the file {files[place]} has {data.size} elements, but '{tensor.name}' takes {empty.size}"
                )
        else:
            data = random.random(empty.shape) if empty.dtype.kind == "f" else np.zeros(empty.shape)
        tensor.set_data_from_numpy(np.asarray(data, empty.dtype).reshape(empty.shape))
