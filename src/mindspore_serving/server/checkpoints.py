"""A checkpoint and the network it belongs to, made into a model file that workers can load."""

from __future__ import annotations

import importlib.util
import os
import re
from typing import Any

_INPUT = re.compile(r"(\w+):(-?\d+(?:,-?\d+)*)")


def to_model(path: str, network: str, inputs: list[str], folder: str) -> str:
    """Write `folder/<name>.mindir`; `network`: FILE.py:NAME of a function or class that gives the network, `inputs`: TYPE:SIZES."""
    import mindspore as ms

    net = _made(network)
    if not isinstance(net, ms.nn.Cell):
        raise ValueError(f"{network} gives {type(net).__name__}, not a network (nn.Cell)")
    missing, _ = ms.load_param_into_net(net, ms.load_checkpoint(path))
    if missing:
        raise ValueError(f"{path} lacks weights of the network: {', '.join(missing[:5])}{' …' if len(missing) > 5 else ''}")
    net.set_train(False)
    target = os.path.join(folder, f"{os.path.splitext(os.path.basename(path))[0]}.mindir")
    ms.export(net, *(_example(text) for text in inputs), file_name=target, file_format="MINDIR")
    return target


def _made(network: str) -> Any:
    file, _, name = network.rpartition(":")
    if not file:
        raise ValueError(f"a checkpoint needs its network: --network must be FILE.py:NAME, but is {network!r}")
    if not os.path.isfile(file):
        raise ValueError(f"--network names the file {file}, which is not there")
    spec = importlib.util.spec_from_file_location(os.path.splitext(os.path.basename(file))[0], file)
    if spec is None or spec.loader is None:
        raise ValueError(f"{file} is no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not callable(getattr(module, name, None)):
        raise ValueError(f"{file} has no function or class {name!r}")
    return getattr(module, name)()


def _example(text: str) -> Any:
    """A tensor of the type and sizes that a text gives; -1: any number."""
    import mindspore as ms

    found = _INPUT.fullmatch(text)
    kind = getattr(ms, found[1], None) if found else None
    if found is None or not isinstance(kind, type(ms.float32)):
        raise ValueError(f"--input must be a type and sizes, such as float32:-1,3,224,224, but is {text!r}")
    sizes = [int(size) for size in found[2].split(",")]
    if all(size > 0 for size in sizes):
        return ms.ops.zeros(tuple(sizes), kind)
    return ms.Tensor(shape=[size if size > 0 else None for size in sizes], dtype=kind)


__all__ = ["to_model"]
