"""Obfuscated checkpoints: weights that are useless without a few secret numbers.

`obfuscate_ckpt` multiplies, permutes or mixes chosen weights with random tensors and gives back what undoes it. The
network that `load_obf_params_into_net` makes takes these numbers as further inputs and applies them to the results of
the layers whose weights were changed; called without them it computes nonsense. Encryption ("enc_key") hides weights
better; this is for weights that must lie in the open while a network runs.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Iterator
from string import Template
from typing import Any

import numpy as np

from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.nn.containers import CellList
from mindspore.train._checkpoint.load import load_checkpoint
from mindspore.train._checkpoint.save import save_checkpoint

METADATA, WEIGHTS, NETWORK = "obf_metadata_config", "weight_obf_config", "network_obf_config"
_ENTRY_TYPES = {
    **dict.fromkeys(("name", "module", "target", "type", "metadata_op", "input_x", "input_y"), str),
    **dict.fromkeys(("shape", "layers", "weight_obf_ops", "insert_new_input", "insert_ops"), list),
    "save_metadata": bool,
}
_RATIO = "obf_metadata"
_MOST_LAYERS = 12  # that "obfuscate_layers:all" stands for


def obfuscate_ckpt(
    network: Cell,
    ckpt_files: str,
    target_modules: list[str] | None = None,
    obf_config: dict[str, Any] | None = None,
    saved_path: str = "./",
    obfuscate_scale: float = 100,
) -> dict[str, np.ndarray]:
    """Write `{name}_obf.ckpt` for each checkpoint of a folder and of its folders.

    Args:
        network: the network that the checkpoints belong to.
        ckpt_files: the folder of the checkpoints.
        target_modules: path of a Cell ("backbone/block", "" for the network) and names in it ("fc1|fc2"); as a third
            entry "obfuscate_layers:all" or "obfuscate_layers:4" for the Cells of a list.
        obf_config: in place of `target_modules`, which random tensors there are and what is done with which weight.
        saved_path: the folder to write to.
        obfuscate_scale: random factors are below this number.

    Returns:
        What undoes the change, by name.
    """
    _check_network("obfuscate_ckpt", network)
    for label, folder in (("ckpt_files", ckpt_files), ("saved_path", saved_path)):
        _check_folder(label, folder)
    if not isinstance(obfuscate_scale, (int, float)) or isinstance(obfuscate_scale, bool) or obfuscate_scale <= 1:
        raise ValueError(f"For 'obfuscate_ckpt', 'obfuscate_scale' must be a number above 1, not {obfuscate_scale!r}.")
    config = _config(network, target_modules, obf_config, (METADATA, WEIGHTS))
    secrets, undoing = _secrets(config[METADATA], obfuscate_scale)
    for source, folder in _checkpoints(ckpt_files, saved_path):
        stored: dict[str, Any] = load_checkpoint(source)
        texts = {name: value for name, value in stored.items() if isinstance(value, str)}
        changed = [
            {"name": name, "data": Tensor(_changed(name, value.asnumpy(), config[WEIGHTS], secrets))}
            for name, value in stored.items()
            if name not in texts
        ]
        os.makedirs(folder, exist_ok=True)
        target = os.path.join(folder, os.path.basename(source).split(".")[0] + "_obf.ckpt")
        save_checkpoint(changed, target, append_dict=texts or None)
    return undoing


def load_obf_params_into_net(
    network: Cell,
    target_modules: list[str] | None = None,
    obf_ratios: Tensor | None = None,
    obf_config: dict[str, Any] | None = None,
    data_parallel_num: int = 1,
    **kwargs: Any,
) -> Cell:
    """A network for weights that `obfuscate_ckpt` has changed, which are loaded in `network` already.

    Args:
        network: the network.
        target_modules, obf_config: as `obfuscate_ckpt` was given.
        obf_ratios: used when the network is called without; else it is called with what `obfuscate_ckpt` returned, as
            further inputs.
        data_parallel_num: accepted.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import nn
        >>> net = nn.SequentialCell(nn.Dense(2, 3), nn.ReLU())
        >>> restored = ms.load_obf_params_into_net(net, ["", "0"])
        >>> restored(ms.Tensor([[1.0, 2.0]]), ms.Tensor([0.5])).shape
        (1, 3)
    """
    _check_network("load_obf_params_into_net", network)
    if not isinstance(data_parallel_num, int) or isinstance(data_parallel_num, bool) or data_parallel_num <= 0:
        raise ValueError(f"'data_parallel_num' must be a positive int, but got {data_parallel_num!r}.")
    if obf_ratios is not None and not isinstance(obf_ratios, Tensor):
        raise TypeError(f"'obf_ratios' must be a Tensor, but got {type(obf_ratios)}.")
    if obf_ratios is not None and obf_ratios.size == 0:
        raise ValueError("'obf_ratios' must not be empty.")
    config = _config(network, target_modules, obf_config, (NETWORK,))
    return ObfuscatedNetwork(network, config[NETWORK], obf_ratios)


class Undone(Cell):
    """A layer whose result is multiplied by what undoes the change of its weights."""

    def __init__(self, layer: Cell, source: str):
        super().__init__(auto_prefix=False)
        self.layer = layer
        self.source = source
        self.ratio: Any = None

    def construct(self, *inputs: Any) -> Any:
        out = self.layer(*inputs)
        return out if self.ratio is None else out * self.ratio.astype(out.dtype)


class ObfuscatedNetwork(Cell):
    """A network that takes what undoes the change of its weights as further inputs."""

    def __init__(self, network: Cell, targets: list[dict[str, Any]], ratios: Tensor | None):
        super().__init__(auto_prefix=False)
        self.network = network
        self.layers = [layer for target in targets for layer in _wrapped(network, target)]
        self.sources = list(dict.fromkeys(layer.source for layer in self.layers))
        self.ratios = ratios
        self.own_inputs = len(inspect.signature(network.construct).parameters)

    def construct(self, *inputs: Any) -> Any:
        secrets = inputs[self.own_inputs :]
        if len(secrets) == 0 and self.ratios is not None:
            secrets = tuple(self.ratios.reshape(-1)[i] for i in range(len(self.sources)))
        for layer in self.layers:
            place = self.sources.index(layer.source)
            layer.ratio = secrets[place] if place < len(secrets) else None
        return self.network(*inputs[: self.own_inputs])


def _wrapped(network: Cell, target: dict[str, Any]) -> Iterator[Undone]:
    for layer in target.get("layers") or [0]:
        owner = _cell_at(network, _filled(target["module"], layer))
        name = target["target"]
        (operation,) = target.get("insert_ops") or [{}]
        if operation.get("name") != "mul":
            raise ValueError(f"'insert_ops' can hold one 'mul', but got {operation!r}.")
        found = Undone(_cell_at(owner, name), _filled(operation["input_y"], layer))
        owner._cells[name] = found
        yield found


# ---------------------------------------------------------------------------------------------------------------------
# What is done with which weight


def _secrets(entries: list[dict[str, Any]], scale: float) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """The random tensors, and what is returned of them."""
    secrets, undoing = {}, {}
    for entry in entries:
        for layer in entry.get("layers") or [0]:
            name = _filled(entry["name"], layer)
            secrets[name] = _random(tuple(entry.get("shape") or (1,)), entry.get("type", "random"), scale)
            if entry.get("save_metadata"):
                inverted = entry.get("metadata_op") == "invert"
                undoing[name] = (1 / secrets[name]).astype(secrets[name].dtype) if inverted else secrets[name]
    return secrets, undoing


def _random(shape: tuple[int, ...], kind: str, scale: float) -> np.ndarray:
    if kind == "random":
        return np.random.randint(1, max(int(scale), 2), size=shape).astype(np.float16)
    if kind == "rearrange" and len(shape) == 1:
        return np.random.permutation(shape[0]).astype(np.int32)
    if kind == "rearrange" and len(shape) == 2:
        return np.identity(shape[0], np.int32)[:, np.random.permutation(shape[1])]
    raise ValueError(f"'type' must be 'random' or 'rearrange' (of one or two dimensions), but got {kind!r}, {shape}.")


def _changed(name: str, array: np.ndarray, targets: list[dict], secrets: dict[str, np.ndarray]) -> np.ndarray:
    path = name.replace(".", "/")
    for target in targets:
        for layer in target.get("layers") or [0]:
            if _filled(target["target"], layer).lstrip("/") == path:
                for operation in target["weight_obf_ops"]:
                    array = _applied(operation, array, secrets, layer)
    return np.ascontiguousarray(array)


def _applied(operation: dict[str, Any], array: np.ndarray, secrets: dict[str, np.ndarray], layer: int) -> np.ndarray:
    def operand(label: str, flip: str) -> np.ndarray:
        name = _filled(operation[label], layer)
        if name.startswith(_RATIO) and name not in secrets:
            raise ValueError(f"There is no {name!r} in '{METADATA}'.")
        value = secrets[name].astype(array.dtype) if name.startswith(_RATIO) else array
        return value.T if operation.get(flip) else value

    kind = operation.get("name")
    if kind == "mul":
        return array * operand("input_y", "")
    if kind == "permuate":
        return array[secrets[_filled(operation["input_x"], layer)]]
    if kind == "matmul":
        return operand("input_x", "transpose_a") @ operand("input_y", "transpose_b")
    raise ValueError(f"Weights can be changed by 'mul', 'permuate' and 'matmul', but got {kind!r}.")


def _filled(name: str, layer: int) -> str:
    return Template(name).safe_substitute(layer=layer)


# ---------------------------------------------------------------------------------------------------------------------
# Arguments


def _config(network: Cell, targets: Any, config: Any, needed: tuple[str, ...]) -> dict[str, Any]:
    if config is None:
        return _config_of(network, targets)
    if not isinstance(config, dict):
        raise TypeError(f"'obf_config' must be a dict, but got {type(config)}.")
    for name in config:
        if name not in (METADATA, WEIGHTS, NETWORK):
            raise TypeError(f"'obf_config': config_type must be str, and in {[METADATA, WEIGHTS, NETWORK]}, but got {name!r}.")
    for name in needed:
        entries = config.get(name)
        if not isinstance(entries, list) or not entries or not all(isinstance(e, dict) for e in entries):
            raise ValueError(f"'obf_config' needs a list of dicts {name!r}.")
        for entry in entries:
            _check_entry(entry)
    return config


def _check_entry(entry: dict[str, Any]) -> None:
    """Refuse values of a wrong type, also in the operations that an entry lists."""
    for key, value in entry.items():
        wanted = _ENTRY_TYPES.get(key)
        if wanted is not None and not isinstance(value, wanted):
            raise TypeError(f"obf_config[][]['{key}'] type should be {wanted.__name__}, but got {type(value).__name__}.")
        for inner in value if isinstance(value, list) else ():
            if isinstance(inner, dict):
                _check_entry(inner)


def _config_of(network: Cell, targets: Any) -> dict[str, Any]:
    """What `target_modules` stands for: weight and bias of each layer times one factor."""
    path, names, layers = _check_targets(network, targets)
    ratio = _RATIO + ("_${layer}" if layers else "")
    times = [{"name": "mul", "input_x": "weight", "input_y": ratio}]
    secret = {"name": ratio, "shape": [1], "type": "random", "save_metadata": True, "metadata_op": "invert"}
    parts = [f"{path}/{name}/{part}" for name in names for part in ("weight", "bias")]
    return {
        METADATA: [{**secret, "layers": layers}],
        WEIGHTS: [{"target": part, "weight_obf_ops": times, "layers": layers} for part in parts],
        NETWORK: [{"module": path, "target": name, "insert_ops": times, "layers": layers} for name in names],
    }


def _check_targets(network: Cell, targets: Any) -> tuple[str, list[str], list[int]]:
    if not isinstance(targets, list):
        raise TypeError(f"'target_modules' must be a list, but got {type(targets)}.")
    if len(targets) < 2:
        raise ValueError(f"'target_modules' must have two or three entries: ['A/B', 'C|D'], but got {targets}.")
    if not all(isinstance(t, str) for t in targets):
        raise TypeError(f"The entries of 'target_modules' must be strings, but got {targets}.")
    if not re.fullmatch(r"[A-Za-z0-9_/]*", targets[0]) or not re.fullmatch(r"[A-Za-z0-9_|]+", targets[1]):
        raise ValueError(f"'target_modules' must have the form ['A/B', 'C|D'], but got {targets}.")
    path, layers = targets[0], []
    if len(targets) > 2:
        found = re.fullmatch(r"obfuscate_layers:(all|[0-9]+)", targets[2])
        if not found:
            raise ValueError(
                f"The third entry must be 'obfuscate_layers:all' or 'obfuscate_layers:4', not {targets[2]!r}."
            )
        path, count = _layered(network, path)
        layers = list(range(min(count, _MOST_LAYERS if found[1] == "all" else int(found[1]))))
    owner = _cell_at(network, _filled(path, 0))
    names = [n for n in targets[1].split("|") if n in owner._cells]
    if not names:
        raise ValueError(f"{targets[0]!r} has none of the Cells {targets[1].split('|')}.")
    return path, names, layers


def _layered(network: Cell, path: str) -> tuple[str, int]:
    """The path with a place for the number of the Cell in the first list on the way, and how many there are."""
    parts = path.split("/")
    for i in range(1, len(parts) + 1):
        cell = _cell_at(network, "/".join(parts[:i]))
        if isinstance(cell, CellList):
            return "/".join([*parts[:i], "${layer}", *parts[i:]]), len(cell)
    raise ValueError(f"'obfuscate_layers' needs a CellList on the way {path!r}.")


def _cell_at(network: Cell, path: str) -> Cell:
    cell = network
    for part in filter(None, path.split("/")):
        if part not in cell._cells:
            raise ValueError(f"There is no Cell {path!r} in the network.")
        cell = cell._cells[part]
    return cell


def _check_network(owner: str, network: Any) -> None:
    if not isinstance(network, Cell):
        raise TypeError(f"For '{owner}', 'network' must be a Cell, but got {type(network)}.")


def _check_folder(label: str, folder: Any) -> None:
    if not isinstance(folder, str):
        raise TypeError(f"For 'obfuscate_ckpt', '{label}' must be a string, but got {type(folder)}.")
    if not os.path.exists(folder):
        raise ValueError(f"For 'obfuscate_ckpt', '{label}' {folder!r} does not exist.")
    if not os.path.isdir(folder):
        raise TypeError(f"For 'obfuscate_ckpt', '{label}' must be a folder, but got {folder!r}.")


def _checkpoints(folder: str, target: str) -> Iterator[tuple[str, str]]:
    """The checkpoints in a folder and in its folders, with the folder to write to."""
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if os.path.isdir(path):
            inner = [n for n in sorted(os.listdir(path)) if n.endswith(".ckpt")]
            yield from ((os.path.join(path, n), os.path.join(target, name)) for n in inner)
        elif name.endswith(".ckpt"):
            yield path, target
