"""Weights from files of other libraries.

Networks here name their layers as torchvision, timm and Hugging Face do, so the name of a parameter there follows from the cell that
holds it: normalisations call `gamma` and `beta` weight and bias, embeddings call their table weight. What differs beyond that
a network's class states: `renames`, (pattern, replacement) pairs from names here to names there; `transposed`, a pattern of matrices
that are stored the other way round; `tied`, names there of what is another parameter once more.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mindspore import nn
from mindspore._base.files import read_file
from mindspore.common.tensor import Tensor
from mindspore.formats import safetensors, torch_file

_NORM = {"gamma": "weight", "beta": "bias", "moving_mean": "running_mean", "moving_variance": "running_var"}
_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.LayerNorm, nn.GroupNorm)
#: what files hold beside weights: counters, and tables that follow from the configuration
_NO_WEIGHTS = re.compile(
    r"(num_batches_tracked|relative_position_index|relative_coords_table|position_ids|rotary_emb\.inv_freq|attn\.(masked_)?bias)$"
)


def original_names(net: nn.Cell) -> dict[str, str]:
    """The name of each parameter in its original library."""
    found = {}
    for path, cell in net.cells_and_names():
        table = _NORM if isinstance(cell, _NORMS) else {"embedding_table": "weight"} if isinstance(cell, nn.Embedding) else {}
        prefix = f"{path}." if path else ""
        for name, parameter in cell.parameters_and_names(expand=False):
            found[parameter.name] = prefix + table.get(name, name)
    for pattern, replacement in getattr(net, "renames", ()):
        found = {ours: re.sub(pattern, replacement, theirs) for ours, theirs in found.items()}
    return found


def read_weights(file: str) -> dict[str, np.ndarray]:
    """The arrays of a safetensors file or a folder of them, or of a `.pth`, `.pt` or `.bin` file of PyTorch."""
    if os.path.isdir(file):
        parts = sorted(str(part) for part in Path(file).glob("*.safetensors"))
        if not parts:
            raise FileNotFoundError(f"The folder {file} has no .safetensors files.")
        return {name: value for part in parts for name, value in read_weights(part).items()}
    data = read_file(file)
    if file.endswith(".safetensors"):
        return {name: np.asarray(value) for name, value in safetensors.read(data, file).items()}
    return torch_file.read(data, file)


def from_safetensors(path: str, net: nn.Cell, skip: Sequence[str] = ()) -> nn.Cell:
    """The network, filled with the weights of a safetensors file, or of a folder of them (as Hugging Face's are split).

    Names are those of the original library where the network is one of the zoo's, else those of its own parameters.

    Args:
        path: a `.safetensors` file or a folder that holds some.
        net: a network made with the options that fit the file.
        skip: parameters whose names start so keep their values.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import nn
        >>> ms.save_checkpoint(nn.Dense(2, 3), "doc_dense", format="safetensors")
        >>> net = ms.from_safetensors("doc_dense.safetensors", nn.Dense(2, 3))
    """
    load_weights(net, path, skip)
    return net


def load_weights(net: nn.Cell, file: str, skip: Sequence[str] = ()) -> None:
    """Fill a network of the zoo with the weights of a file of torchvision, timm or Hugging Face, or of one saved by this framework.

    Args:
        net: the network, made with the options that fit the file.
        file: `.safetensors`, or PyTorch's `.pth`, `.pt`, `.bin`, of which nothing is executed.
        skip: parameters whose names start so keep their values, such as `("fc.",)` for another number of classes.

    All names and shapes are compared before anything is changed.

    Examples:
        >>> from mindspore import model_zoo
        >>> net = model_zoo.create("lenet5")
        >>> model_zoo.load_weights(net, "no_such_file.pth")
        Traceback (most recent call last):
        ...
        FileNotFoundError: [Errno 2] No such file or directory: 'no_such_file.pth'
    """
    stored = read_weights(file)
    names = {ours: theirs for ours, theirs in original_names(net).items() if not ours.startswith(tuple(skip))}
    transposed = getattr(net, "transposed", None)
    if names.keys() <= stored.keys() and names.keys() != set(names.values()):  # saved by this framework, under its own names
        names, transposed = {ours: ours for ours in names}, None
    stored = _without_prefix(stored, set(names.values()))
    missing = sorted(theirs for theirs in names.values() if theirs not in stored)
    if missing:
        raise ValueError(f"The file {file} does not fit the network: it lacks {_some(missing)}; it has {_some(sorted(stored))}.")
    unused = sorted(n for n in set(stored) - set(names.values()) if not _NO_WEIGHTS.search(n) and not n.startswith(tuple(skip)))
    tied = getattr(net, "tied", ())
    unused = [n for n in unused if n not in tied]
    if unused:
        raise ValueError(f"The file {file} does not fit the network, which has no {_some(unused)}.")
    parameters = {p.name: p for p in net.get_parameters()}
    values = {o: stored[t].T if transposed and re.search(transposed, o) else stored[t] for o, t in names.items()}
    for ours, value in values.items():
        if value.shape != parameters[ours].shape:
            raise ValueError(
                f"In {file}, {names[ours]} has the shape {value.shape}, but {parameters[ours].shape} is needed; make the network "
                f"with the options of the file, or skip=({ours.rpartition('.')[0] + '.'!r},) to leave it as it is."
            )
    for ours, value in values.items():
        parameters[ours].set_data(Tensor(np.ascontiguousarray(value), parameters[ours].dtype))


def _without_prefix(stored: dict[str, np.ndarray], wanted: set[str]) -> dict[str, np.ndarray]:
    """Files of a network with another head have a prefix before all names, or lack one."""
    for prefix in ("module.", "model.", "transformer.", "bert."):
        if not wanted & set(stored) and any(name.removeprefix(prefix) in wanted for name in stored):
            return {name.removeprefix(prefix): value for name, value in stored.items()}
    return stored


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:4])
    return shown + (f" and {len(names) - 4} more" if len(names) > 4 else "")
