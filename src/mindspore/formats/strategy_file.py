"""Strategy files: how the parameters of a distributed run were cut, as protobuf (`.ckpt`) or JSON.

A layout arranges the devices of a pipeline stage as a matrix and maps each dimension of a tensor to a dimension of that
matrix, counted from the right; -1 leaves it whole. Optimizer sharding cuts the first dimension further, among the
devices that would hold equal slices. In files of several stages the names of parameters start with "<stage>-".
"""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any, NamedTuple

from mindspore._base.files import atomic_write
from mindspore._base.protobuf import DecodeError, Message, field

_MAX_RANK, _MAX_DEVICES = 64, 1 << 20


class Sizes(Message):
    """A list of whole numbers."""

    dim = field(1, "int64", repeated=True, packed=True)


class ParallelLayouts(Message):
    """The layout of one parameter."""

    dev_matrix = field(1, lambda: Sizes, repeated=True)
    tensor_map = field(2, lambda: Sizes, repeated=True)
    param_split_shape = field(3, lambda: Sizes, repeated=True)
    indices_offset = field(4, lambda: Sizes, repeated=True)
    opt_weight_shard_step = field(6, "int32")
    opt_weight_shard_size = field(7, "int32")
    field = field(5, "int32")  # last: it hides the function of this name


class _LayoutItem(Message):
    param_name = field(1, "string")
    parallel_layouts = field(2, lambda: ParallelLayouts)


class _Strategies(Message):
    stage = field(1, "int64")
    parallel_strategy = field(2, lambda: Sizes, repeated=True)


class _StrategyItem(Message):
    node_name = field(1, "string")
    parallel_strategys = field(2, lambda: _Strategies)


class _StrategyMap(Message):
    current_stage = field(1, "int64")
    parallel_strategy_item = field(2, lambda: _StrategyItem, repeated=True)
    parallel_layout_item = field(3, lambda: _LayoutItem, repeated=True)


class _GroupMap(Message):
    ckpt_restore_rank_list = field(2, lambda: Sizes)


class ParameterLayout(NamedTuple):
    """A layout made ready for use."""

    devices: tuple[int, ...]  # the matrix of devices of a stage
    axes: tuple[tuple[int, ...], ...]  # per dimension of the tensor: places in `devices`, most significant first
    shards: int  # the optimizer's cut of the first dimension; 0: none
    stages: tuple[int, ...]

    @property
    def device_count(self) -> int:
        return math.prod(self.devices)


# ---------------------------------------------------------------------------------------------------------------------
# Reading


def read_strategy(file: Any) -> dict[str, ParallelLayouts] | None:
    """The layouts of a strategy file by name, or None without a file. A dict is returned as it is."""
    if file is None or isinstance(file, dict):
        return file
    if not isinstance(file, str):
        raise TypeError(f"The name of a strategy file must be a string, but got {type(file)}.")
    if not os.path.isfile(file):
        raise ValueError(f"There is no strategy file {file}.")
    if os.path.getsize(file) == 0:
        raise ValueError(f"The strategy file {file} is empty.")
    if file.endswith(".json"):
        return {name: _from_json(item, file) for name, item in _json(file).get("parallel_layout_item", {}).items()}
    return {i.param_name or "": i.parallel_layouts or ParallelLayouts() for i in _protobuf(file).parallel_layout_item}


def _protobuf(file: str) -> _StrategyMap:
    try:
        return _StrategyMap.decode(Path(file).read_bytes())
    except DecodeError as error:
        raise TypeError(f"The file {file} is no strategy file: it is neither protobuf nor '.json' ({error}).") from None


def _json(file: str) -> dict[str, Any]:
    try:
        content = json.loads(Path(file).read_text("utf-8"))
    except (ValueError, RecursionError):
        raise TypeError(f"The strategy file {file} is no JSON.") from None
    if not isinstance(content, dict):
        raise TypeError(f"The strategy file {file} must hold a JSON object.")
    return content


def _from_json(item: Any, file: str) -> ParallelLayouts:
    try:
        maps = item["tensor_map"] if _is_nested(item["tensor_map"]) else [item["tensor_map"]]
        return ParallelLayouts(
            dev_matrix=[_sizes(item["dev_matrix"])], tensor_map=[_sizes(m) for m in maps],
            param_split_shape=[_sizes(item.get("param_split_shape", []))],
            indices_offset=[_sizes(item.get("indices_offset", []))], field=int(item.get("field", 0)),
            opt_weight_shard_step=int(item.get("opt_weight_shard_step", 0)),
            opt_weight_shard_size=int(item.get("opt_weight_shard_size", 0)),
        )  # fmt: skip
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise ValueError(f"The strategy file {file} has a layout that cannot be read: {error!r}.") from None


def _is_nested(entries: Any) -> bool:
    """Whether a tensor map has a list for each dimension."""
    return any(isinstance(entry, list) for entry in entries)


def _sizes(values: Any) -> Sizes:
    return Sizes(dim=[int(v) for v in (values if isinstance(values, list) else [values])])


def layouts_of(strategy: dict[str, Any] | None) -> dict[str, ParameterLayout] | None:
    """The layouts of a strategy, with the stages that hold each parameter."""
    if strategy is None:
        return None
    found: dict[str, ParameterLayout] = {}
    for label, message in strategy.items():
        stage, _, name = label.partition("-")
        if not name or not stage.isdigit():
            stage, name = "0", label
        layout = _layout(label, message, int(stage))
        known = found.get(name)
        found[name] = layout if known is None else known._replace(stages=(*known.stages, *layout.stages))
    return found


def _layout(label: str, message: Any, stage: int) -> ParameterLayout:
    try:
        devices = tuple(int(d) for d in message.dev_matrix[0].dim)
        maps = [tuple(int(v) for v in m.dim) for m in message.tensor_map]
    except (AttributeError, IndexError, TypeError):
        raise ValueError(f"The layout of '{label}' cannot be read; is this a strategy file?") from None
    entries = [m for m in maps if m] if len(maps) > 1 else [(v,) for v in maps[0]] if maps else []
    axes = tuple(tuple(len(devices) - 1 - v for v in entry if v != -1) for entry in entries)
    used = [a for entry in axes for a in entry]
    if len(devices) > _MAX_RANK or math.prod(devices[:_MAX_RANK]) > _MAX_DEVICES:
        raise ValueError(f"The layout of '{label}' has too many devices; is this a strategy file?")
    if any(d < 1 for d in devices) or any(not 0 <= a < len(devices) for a in used) or len(set(used)) != len(used):
        raise ValueError(f"The layout of '{label}' maps to dimensions that {devices} does not have.")
    replicas = math.prod(devices) // math.prod(devices[a] for a in used)
    shards = int(message.opt_weight_shard_size or 0) if message.opt_weight_shard_step else 0
    shards = replicas if shards == -1 else shards
    if shards and replicas % shards:
        raise ValueError(f"The optimizer's {shards} shards of '{label}' do not divide its {replicas} replicas.")
    return ParameterLayout(devices, axes, shards, (stage,))


def stage_devices(layouts: dict[str, ParameterLayout] | None) -> int:
    """How many devices a pipeline stage has."""
    return next(iter(layouts.values())).device_count if layouts else 1


def stage_count(layouts: dict[str, ParameterLayout] | None) -> int:
    """How many pipeline stages there are."""
    stages = {stage for layout in (layouts or {}).values() for stage in layout.stages} or {0}
    if stages != set(range(len(stages))):
        raise ValueError(f"The strategy file has only the pipeline stages {sorted(stages)}; merge those of all stages.")
    return len(stages)


def group_ranks(file: str) -> list[int]:
    """The ranks that hold copies of this rank's parameters, from a group information file."""
    try:
        ranks = _GroupMap.decode(Path(file).read_bytes()).ckpt_restore_rank_list
    except DecodeError as error:
        raise ValueError(f"The file {file} is no group information file: {error}.") from None
    if ranks is None or not ranks.dim:
        raise ValueError(f"The group information file {file} has no restore rank list.")
    return list(ranks.dim)


# ---------------------------------------------------------------------------------------------------------------------
# Merging


def merge_files(files: list[str], target: str) -> None:
    """Join the strategy files of pipeline stages, one per stage, into one; names get their stage before them."""
    if target.endswith(".json") or all(f.endswith(".json") for f in files):
        content: Any = json.dumps(_merged_json(files)).encode("utf-8")
    else:
        content = _merged_protobuf(files).encode()
    Path(target).parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(target) as stream:
        stream.write(content)


def _merged_protobuf(files: list[str]) -> _StrategyMap:
    merged, stages = _StrategyMap(current_stage=1), set()
    for file in files:
        one = _protobuf(file)
        if not one.parallel_strategy_item or not one.parallel_layout_item:
            raise ValueError(f"The strategy file {file} is empty.")
        strategies = one.parallel_strategy_item[0].parallel_strategys
        stage = strategies.stage or 0 if strategies is not None else 0
        if stage in stages:
            continue
        stages.add(stage)
        for item in one.parallel_layout_item:
            item.param_name = f"{stage}-{item.param_name}"
        merged.parallel_strategy_item.extend(one.parallel_strategy_item)
        merged.parallel_layout_item.extend(one.parallel_layout_item)
    return merged


def _merged_json(files: list[str]) -> dict[str, Any]:
    merged: dict[str, Any] = {"current_stage": 1, "parallel_strategy_item": {}, "parallel_layout_item": {}}
    stages = set()
    for file in files:
        one = _json(file)
        strategies, layouts = one.get("parallel_strategy_item"), one.get("parallel_layout_item")
        if not strategies or not layouts:
            raise ValueError(f"The strategy file {file} is empty.")
        stage = next(iter(strategies.values())).get("stage", 0)
        if stage in stages:
            continue
        stages.add(stage)
        merged["parallel_layout_item"].update({f"{stage}-{name}": item for name, item in layouts.items()})
        merged["parallel_strategy_item"].update(strategies)
    return merged


# ---------------------------------------------------------------------------------------------------------------------
# Writing


class WrittenLayout(NamedTuple):
    """How a parameter lies on the devices of a stage, as files say it; parts are equal (files have a place for those that are not)."""

    matrix: list[int]
    tensor_map: list[int | list[int]]  #: a list where several entries of the matrix cut one dimension
    shard_step: int = 0  #: of optimizer parallelism: how far apart the ranks of neighbouring shards are; 0: none
    shard_size: int = 0


def write_strategy(
    file: str, operators: dict[str, list[list[int]]], parameters: dict[str, WrittenLayout], stage: int = 0
) -> None:
    """Write the cuts of operators and the layouts of parameters; JSON if the name ends so, else protobuf."""
    if file.endswith(".json"):
        content = json.dumps(_as_json(operators, parameters, stage), indent=1).encode("utf-8")
    else:
        content = _as_message(operators, parameters, stage).encode()
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(file) as stream:
        stream.write(content)


def _as_json(operators: dict[str, list[list[int]]], parameters: dict[str, WrittenLayout], stage: int) -> dict[str, Any]:
    return {
        "current_stage": stage,
        "parallel_strategy_item": {name: {"stage": stage, "parallel_strategy": cuts} for name, cuts in operators.items()},
        "parallel_layout_item": {
            name: {
                "dev_matrix": layout.matrix, "tensor_map": _map_of(layout), "param_split_shape": [],
                "indices_offset": [], "field": 0, "opt_weight_shard_step": layout.shard_step,
                "opt_weight_shard_size": layout.shard_size,
            }
            for name, layout in parameters.items()
        },
    }  # fmt: skip


def _as_message(operators: dict[str, list[list[int]]], parameters: dict[str, WrittenLayout], stage: int) -> _StrategyMap:
    made = _StrategyMap(current_stage=stage)
    for name, cuts in operators.items():
        strategies = _Strategies(stage=stage, parallel_strategy=[Sizes(dim=c) for c in cuts])
        made.parallel_strategy_item.append(_StrategyItem(node_name=name, parallel_strategys=strategies))
    for name, layout in parameters.items():
        entries = _map_of(layout)
        maps = [_sizes(entry) for entry in entries] if _is_nested(entries) else [_sizes(entries)]
        message = ParallelLayouts(
            dev_matrix=[Sizes(dim=layout.matrix)], tensor_map=maps, param_split_shape=[Sizes()],
            indices_offset=[Sizes()], field=0, opt_weight_shard_step=layout.shard_step, opt_weight_shard_size=layout.shard_size,
        )  # fmt: skip
        made.parallel_layout_item.append(_LayoutItem(param_name=name, parallel_layouts=message))
    return made


def _map_of(layout: WrittenLayout) -> list[Any]:
    """The tensor map; an empty list behind the only one tells a tensor of rank 1 from a list of single entries."""
    entries: list[Any] = list(layout.tensor_map)
    return [*entries, []] if _is_nested(entries) and len(entries) == 1 else entries


def read_operators(file: str) -> dict[str, list[list[int]]]:
    """The cuts of operators by name, from a JSON strategy file."""
    if not os.path.isfile(file):
        raise ValueError(f"There is no strategy file {file}.")
    items = _json(file).get("parallel_strategy_item", {})
    try:
        return {name: [[int(n) for n in cuts] for cuts in item["parallel_strategy"]] for name, item in items.items()}
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise ValueError(f"The strategy file {file} has a strategy that cannot be read: {error!r}.") from None
