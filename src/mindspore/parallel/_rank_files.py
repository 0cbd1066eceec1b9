"""Folders of checkpoints with one folder per rank."""

from __future__ import annotations

import os
import re


def format_of(file: str) -> str:
    """The format that a file name says."""
    return "safetensors" if file.endswith(".safetensors") else "ckpt"


def rank_files(owner: str, folder: str, suffix: str | None = None) -> dict[int, str]:
    """The checkpoint of each folder rank_N: the last by name (of those that end with `suffix`), of one format only."""
    if not isinstance(folder, str) or not os.path.isdir(folder):
        raise NotADirectoryError(f"For '{owner}', {folder!r} is no folder.")
    found: dict[int, str] = {}
    for place in sorted(os.listdir(folder)):
        match = re.fullmatch(r".*rank_(\d+)", place)
        if match is None or not os.path.isdir(os.path.join(folder, place)):
            continue
        names = [n for n in sorted(os.listdir(os.path.join(folder, place))) if n.endswith((".ckpt", ".safetensors"))]
        if suffix is not None:
            names = [n for n in names if os.path.splitext(n)[0].endswith(suffix)]
        if names:
            found[int(match[1])] = os.path.join(folder, place, names[-1])
    if not found:
        raise ValueError(f"For '{owner}', there are no checkpoints in folders rank_0, rank_1 … of {folder}.")
    if len({format_of(file) for file in found.values()}) > 1:
        raise ValueError(f"For '{owner}', {folder} cannot hold both '.ckpt' and '.safetensors' files.")
    return dict(sorted(found.items()))
