"""Conversion between `.ckpt` and `.safetensors` files, for single files and for folders with one folder per rank."""

from __future__ import annotations

import os
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from mindspore.train._checkpoint.load import load_checkpoint
from mindspore.train._checkpoint.save import save_checkpoint


def ckpt_to_safetensors(
    file_path: str,
    save_path: str | None = None,
    name_map: dict[str, str] | None = None,
    file_name_regex: str | None = None,
    processes_num: int = 1,
) -> None:
    """Convert `.ckpt` files to `.safetensors`.

    Args:
        file_path: a file, or a folder of `rank*` folders.
        save_path: the folder to write to; default: beside the originals.
        name_map: new names for parameters.
        file_name_regex: converts only files whose names match.
        processes_num: how many files to convert at a time.

    Examples:
        >>> _ = ms.save_checkpoint(nn.Dense(2, 1), "net.ckpt")
        >>> ms.ckpt_to_safetensors("net.ckpt", "converted")
        >>> from pathlib import Path
        >>> [path.name for path in Path("converted").rglob("*.safetensors")]
        ['net.safetensors']
    """
    _convert(
        "ckpt_to_safetensors", "ckpt", "safetensors", file_path, save_path, name_map, file_name_regex, processes_num
    )


def safetensors_to_ckpt(
    file_path: str,
    save_path: str | None = None,
    name_map: dict[str, str] | None = None,
    file_name_regex: str | None = None,
    processes_num: int = 1,
) -> None:
    """Convert `.safetensors` files to `.ckpt`; the arguments are those of `ckpt_to_safetensors`.

    Examples:
        >>> ms.save_checkpoint(nn.Dense(2, 1), "net", format="safetensors")
        >>> ms.safetensors_to_ckpt("net.safetensors", "converted")
        >>> from pathlib import Path
        >>> [path.name for path in Path("converted").rglob("*.ckpt")]
        ['net.ckpt']
    """
    _convert(
        "safetensors_to_ckpt", "safetensors", "ckpt", file_path, save_path, name_map, file_name_regex, processes_num
    )


def _convert(
    owner: str, source: str, target: str, path: Any, save_path: Any, name_map: Any, regex: Any, processes: Any
) -> None:
    if not isinstance(path, str) or not os.path.exists(path):
        raise ValueError(f"For '{owner}', 'file_path' must be an existing file or folder, but got {path!r}.")
    if save_path and os.path.splitext(save_path)[1]:
        raise ValueError(f"For '{owner}', 'save_path' must be a folder, but got '{save_path}'.")
    if name_map is not None and not isinstance(name_map, dict):
        raise ValueError(f"For '{owner}', 'name_map' must be a dict, but got {type(name_map)}.")
    if os.path.isdir(path):
        tasks = _tasks_of_folder(owner, path, save_path, source, regex)
    elif path.endswith("." + source):
        tasks = [(path, save_path or os.path.dirname(path) or ".")]
    else:
        raise ValueError(f"For '{owner}', the file must end with '.{source}', but got {path!r}.")
    with ThreadPoolExecutor(max_workers=max(1, int(processes))) as pool:
        list(pool.map(lambda task: _convert_file(task[0], task[1], source, target, name_map or {}), tasks))


def _tasks_of_folder(
    owner: str, path: str, save_path: str | None, source: str, regex: str | None
) -> list[tuple[str, str]]:
    ranks = [d for d in sorted(os.listdir(path)) if d.startswith("rank") and os.path.isdir(os.path.join(path, d))]
    if not ranks:
        raise ValueError(f"For '{owner}', there is no folder starting with 'rank' in {path}.")
    return [
        (os.path.join(path, rank, name), os.path.join(save_path or path, rank))
        for rank in ranks
        for name in sorted(os.listdir(os.path.join(path, rank)))
        if name.endswith("." + source) and (regex is None or re.search(regex, name))
    ]


def _convert_file(path: str, folder: str, source: str, target: str, names: dict[str, str]) -> None:
    entries = load_checkpoint(path, format=source)
    renamed = {names.get(name, name): value for name, value in entries.items()}
    stem = os.path.basename(path).removesuffix("." + source)
    save_checkpoint(renamed, os.path.join(folder, f"{stem}.{target}"), format=target)
