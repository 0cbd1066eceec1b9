"""Whole weights made of the safetensors files of all ranks, and slices of them for any other way of cutting.

part0.safetensors …       whole parameters, about 3 GiB each
param_name_map.json       the part that holds each parameter
hyper_param.safetensors   what the strategy does not name, such as step counts
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from mindspore._base.files import atomic_write
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.formats.strategy_file import (
    ParameterLayout,
    layouts_of,
    read_strategy,
    stage_count,
    stage_devices,
)
from mindspore.nn.cell import Cell
from mindspore.parallel import _slices
from mindspore.parallel._rank_files import rank_files
from mindspore.train.serialization import load_checkpoint, load_param_into_net, save_checkpoint

_PART = 3 << 30
_MAP, _REST = "param_name_map.json", "hyper_param.safetensors"


def unified_safetensors(
    src_dir: str,
    src_strategy_file: str,
    dst_dir: str,
    merge_with_redundancy: bool = True,
    file_suffix: str | None = None,
    max_process_num: int = 64,
    choice_func: Callable[[str], bool | str] | None = None,
    split_dst_file: tuple = (),
) -> None:
    """Join the safetensors files of all ranks into whole weights.

    Args:
        src_dir: a folder of folders rank_0, rank_1 ….
        src_strategy_file: the strategy file of the run.
        dst_dir: the folder to write to.
        merge_with_redundancy: accepted; a slice that several ranks hold is taken from one that has it.
        file_suffix: reads the files whose names end so.
        max_process_num: accepted.
        choice_func: leaves a parameter out (False) or renames it (a string).
        split_dst_file: (n, m) writes only the n-th of m shares of the parts.
    """
    files = rank_files("unified_safetensors", src_dir, file_suffix)
    layouts = layouts_of(read_strategy(src_strategy_file))
    if not layouts:
        raise ValueError(f"For 'unified_safetensors', the strategy file {src_strategy_file} has no layouts.")
    stored = {rank: _shapes(file) for rank, file in files.items()}
    sizes, names = _chosen(stored, layouts, choice_func)
    parts = _divide(sizes)
    os.makedirs(dst_dir, exist_ok=True)
    for place, members in enumerate(parts):
        if _is_own(place, len(parts), split_dst_file):
            made = {names[n]: _whole(n, layouts[n], files, stored) for n in members}
            save_checkpoint(made, os.path.join(dst_dir, f"part{place}.safetensors"), format="safetensors")
    if split_dst_file and split_dst_file[0] != 1:
        return
    _save_rest(files, stored, layouts, dst_dir)
    with atomic_write(os.path.join(dst_dir, _MAP), "w") as stream:
        places = {names[n]: f"part{p}.safetensors" for p, members in enumerate(parts) for n in members}
        json.dump({"metadata": {"total_size": sum(sizes.values())}, "weight_map": places}, stream, indent=1)


def _shapes(file: str) -> dict[str, int]:
    """The parameters of a file with their sizes in bytes."""
    entries = load_checkpoint(file, format="safetensors")
    return {n: int(np.asarray(p.asnumpy()).nbytes) for n, p in entries.items() if isinstance(p, Parameter)}


def _chosen(stored: dict, layouts: dict, choose: Callable | None) -> tuple[dict[str, int], dict[str, str]]:
    """The parameters to write: their whole sizes and their new names."""
    sizes: dict[str, int] = {}
    names: dict[str, str] = {}
    for held in stored.values():
        for name, size in held.items():
            if name in sizes or name not in layouts or name.startswith("accu_grads"):
                continue
            choice = True if choose is None else choose(name)
            if not isinstance(choice, (bool, str)):
                raise ValueError(f"For 'unified_safetensors', 'choice_func' must return a bool or str, not {choice!r}.")
            if choice is False:
                continue
            sizes[name] = size * int(np.prod(_slices.cuts(layouts[name])))
            names[name] = choice if isinstance(choice, str) else name
    return sizes, names


def _divide(sizes: dict[str, int]) -> list[list[str]]:
    """Names in parts of about equal size, none above the limit where that is possible."""
    count = max(1, min(-(-sum(sizes.values()) // _PART), len(sizes)))
    parts: list[list[str]] = [[] for _ in range(count)]
    totals = [0] * count
    for name in sorted(sizes, key=lambda n: (-sizes[n], n)):
        place = totals.index(min(totals))
        parts[place].append(name)
        totals[place] += sizes[name]
    return parts


def _is_own(place: int, count: int, share: tuple) -> bool:
    if not share:
        return True
    number, total = share
    if not 1 <= number <= total:
        raise ValueError(f"For 'unified_safetensors', 'split_dst_file' must be (n, m) with 1 <= n <= m, not {share}.")
    return place * total // count == number - 1 if count >= total else place == number - 1


def _whole(name: str, layout: ParameterLayout, files: dict[int, str], stored: dict) -> Parameter:
    devices = layout.device_count
    stage = min(layout.stages)
    parts = {
        rank % devices: np.asarray(
            load_checkpoint(files[rank], choice_func=lambda n: n == name, format="safetensors")[name].asnumpy()  # type: ignore[union-attr]
        )
        for rank in files
        if rank // devices == stage and name in stored[rank]
    }
    if not parts:
        raise ValueError(f"For 'unified_safetensors', no rank of stage {stage} holds '{name}'.")
    try:
        made = _slices.assemble(layout, _slices.whole(len(layout.axes)), 0, parts)
    except ValueError as error:
        raise ValueError(f"For 'unified_safetensors', '{name}' cannot be made: {error}.") from None
    return Parameter(Tensor.from_numpy(made), name=name)


def _save_rest(files: dict[int, str], stored: dict, layouts: dict, folder: str) -> None:
    first = min(files)
    rest = {n for n in stored[first] if n not in layouts}
    if rest:
        found = load_checkpoint(files[first], choice_func=lambda n: n in rest, format="safetensors")
        save_checkpoint(found, os.path.join(folder, _REST), format="safetensors")


# ---------------------------------------------------------------------------------------------------------------------
# Slices of whole weights


def load_unified(
    network: Cell | None, strategy: Any, folder: str | None, target: str | None, rank: int | None, output_format: str,
    name_map: dict[str, str], return_param_dict: bool,
) -> Any:  # fmt: skip
    """Load the slices of this rank into a network, or write those of one rank or of all."""
    owner = "load_distributed_checkpoint"
    if folder is None or not os.path.isdir(folder):
        raise ValueError(f"For '{owner}', 'unified_safetensors_dir' must be a folder, but got {folder!r}.")
    layouts = layouts_of(read_strategy(strategy))
    if network is not None:
        found = _slices_of(folder, layouts, rank or 0, name_map)
        return found if return_param_dict else load_param_into_net(network, found)
    if target is None:
        raise ValueError(f"For '{owner}', 'dst_safetensors_dir' is needed when 'network' is None.")
    ranks = range(stage_devices(layouts) * stage_count(layouts)) if rank is None else (rank,)
    for one in ranks:
        path = Path(target) / f"rank_{one}" / f"net.{output_format}"
        path.parent.mkdir(parents=True, exist_ok=True)
        save_checkpoint(_slices_of(folder, layouts, one, name_map), str(path), format=output_format)
    return True


def _slices_of(folder: str, layouts: dict[str, ParameterLayout] | None, rank: int, names: dict[str, str]) -> dict:
    devices = stage_devices(layouts)
    found: dict[str, Any] = {}
    for file, members in _contents(folder).items():
        for name in members:
            own = names.get(name, name)
            layout = None if layouts is None else layouts.get(own)
            if layouts is not None and (layout is None or rank // devices not in layout.stages):
                continue
            value = load_checkpoint(file, choice_func=lambda n, name=name: n == name, format="safetensors")[name]  # type: ignore[misc]
            array = np.asarray(value.asnumpy())  # type: ignore[union-attr]
            if layout is not None:
                array = _slices.assemble(_slices.whole(array.ndim), layout, rank % devices, {0: array})
            found[own] = Parameter(Tensor.from_numpy(array), name=own)
    rest = os.path.join(folder, _REST)
    if os.path.isfile(rest):
        found.update(load_checkpoint(rest, format="safetensors"))
    return found


def _contents(folder: str) -> dict[str, list[str]]:
    """The files of a folder with the parameters they hold."""
    files = [n for n in sorted(os.listdir(folder)) if n.endswith(".safetensors") and n != _REST]
    if not os.path.isfile(os.path.join(folder, _MAP)):
        if len(files) != 1:
            raise ValueError(f"For 'load_distributed_checkpoint', there is no {_MAP} in {folder}.")
        path = os.path.join(folder, files[0])
        return {path: list(load_checkpoint(path, format="safetensors"))}
    content = json.loads(Path(folder, _MAP).read_text("utf-8"))
    places = content.get("weight_map", content) if isinstance(content, dict) else None
    if not isinstance(places, dict) or any(v not in files for v in places.values()):
        raise ValueError(f"For 'load_distributed_checkpoint', {_MAP} must map names to files of {folder}.")
    found: dict[str, list[str]] = {}
    for name, file in places.items():
        found.setdefault(os.path.join(folder, file), []).append(name)
    return found
