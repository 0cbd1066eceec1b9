"""Checkpoints that are spread over several files."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from mindspore.common.parameter import Parameter
from mindspore.formats.checkpoint.records import TYPE_OF_NAME
from mindspore.nn.cell import Cell
from mindspore.train._checkpoint.load import load_checkpoint, load_param_into_net


def load_segmented_checkpoints(
    ckpt_file_dir: str,
    net: Cell | None = None,
    strict_load: bool = False,
    filter_prefix: Any = None,
    dec_key: bytes | None = None,
    dec_mode: str = "AES-GCM",
    specify_prefix: Any = None,
    choice_func: Callable[[str], bool] | None = None,
) -> dict[str, Parameter | str]:
    """Read every `.ckpt` file of a folder as one checkpoint; the arguments are those of `load_checkpoint`."""
    if not isinstance(ckpt_file_dir, str):
        raise TypeError(
            f"For 'load_segmented_checkpoints', 'ckpt_file_dir' must be a string, not {type(ckpt_file_dir)}."
        )
    if not os.path.isdir(ckpt_file_dir):
        raise ValueError(f"For 'load_segmented_checkpoints', there is no folder {ckpt_file_dir!r}.")
    files = sorted(name for name in os.listdir(ckpt_file_dir) if name.endswith(".ckpt"))
    if not files:
        raise ValueError(f"For 'load_segmented_checkpoints', there is no '.ckpt' file in {ckpt_file_dir!r}.")
    found: dict[str, Parameter | str] = {}
    for name in files:
        path = os.path.join(ckpt_file_dir, name)
        found.update(
            load_checkpoint(path, None, strict_load, filter_prefix, dec_key, dec_mode, specify_prefix, choice_func)
        )
    if net is not None:
        load_param_into_net(net, found, strict_load)
    return found


def tensor_to_np_type(tensor_type_str: str) -> Any:
    """The NumPy type of a type name in checkpoint files, such as "Float32"."""
    if tensor_type_str not in TYPE_OF_NAME:
        raise KeyError(f"There is no element type {tensor_type_str!r}.")
    return TYPE_OF_NAME[tensor_type_str].np.type
