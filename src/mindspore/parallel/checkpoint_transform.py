"""Checkpoints of distributed runs: from one way of cutting the parameters to another, file by file."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from mindspore import context
from mindspore import log as logger
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.formats import strategy_file as _strategy_file
from mindspore.formats.strategy_file import (
    ParallelLayouts,
    ParameterLayout,
    layouts_of,
    read_strategy,
    stage_count,
    stage_devices,
)
from mindspore.nn.cell import Cell
from mindspore.parallel import _slices
from mindspore.parallel._rank_files import format_of, rank_files
from mindspore.parallel._unified import load_unified, unified_safetensors
from mindspore.parallel.parameter_broadcast import sync_pipeline_shared_parameters
from mindspore.train.serialization import (
    load_checkpoint,
    load_param_into_net,
    load_segmented_checkpoints,
    save_checkpoint,
)

Layouts = dict[str, ParameterLayout]


# ---------------------------------------------------------------------------------------------------------------------
# Strategy files


def build_searched_strategy(strategy_filename: str) -> dict[str, ParallelLayouts] | None:
    """The layouts of the parameters in a strategy file, by name."""
    return read_strategy(strategy_filename)


def merge_pipeline_strategys(src_strategy_dirs: str, dst_strategy_file: str) -> None:
    """Join the strategy files of all pipeline stages in a folder into one file."""
    if not os.path.isdir(src_strategy_dirs):
        raise NotADirectoryError(f"'src_strategy_dirs' {src_strategy_dirs} is no folder.")
    binary = sorted(glob.glob(os.path.join(glob.escape(src_strategy_dirs), "*.ckpt")))
    text = sorted(glob.glob(os.path.join(glob.escape(src_strategy_dirs), "*.json")))
    if binary and text:
        raise ValueError("The strategy files must be all '.ckpt' or all '.json'.")
    if not binary and not text:
        raise ValueError(f"There is no strategy file in {src_strategy_dirs}.")
    _strategy_file.merge_files(binary or text, os.path.abspath(dst_strategy_file))


def restore_group_info_list(group_info_file_name: str) -> list[int]:
    """The ranks that hold copies of this rank's parameters, from a group information file."""
    if not isinstance(group_info_file_name, str):
        raise TypeError(
            f"For 'restore_group_info_list', the file name must be a str, not {type(group_info_file_name)}."
        )
    if not os.path.isfile(group_info_file_name):
        raise ValueError(f"For 'restore_group_info_list', there is no file {group_info_file_name}.")
    return _strategy_file.group_ranks(group_info_file_name)


def set_op_strategy_config(mode: str = "SAVE", path: str = "") -> None:
    """Say where sharding propagation saves or loads the strategies of operators."""
    if not os.path.isabs(path):
        raise KeyError("File path must be an absolute path")
    if os.path.splitext(path)[1] != ".json":
        raise KeyError("File type must be .json")
    if mode not in ("SAVE", "LOAD"):
        raise KeyError("Type must be 'SAVE' or 'LOAD'")
    known = context.get_auto_parallel_context("operator_strategy_files")
    context.set_auto_parallel_context(operator_strategy_files={**known, mode: path})


def get_ckpt_path_with_strategy(cur_ckpt_path: str, cur_strategy_path: str) -> str | None:
    """The checkpoint of this rank, or else one of a rank that holds the same parameters; None when there is none."""
    from mindspore.communication.management import get_rank

    rank = get_rank()
    if f"rank_{rank}" in cur_ckpt_path and os.path.isfile(cur_ckpt_path):
        return cur_ckpt_path
    for other in _equal_ranks(layouts_of(read_strategy(cur_strategy_path)) or {}, rank):
        path = re.sub(r"rank_\d+", f"rank_{other}", cur_ckpt_path)
        if os.path.isfile(path):
            return path
    return None


def _equal_ranks(layouts: Layouts, rank: int) -> list[int]:
    """The ranks whose slices of all parameters are those of `rank`."""
    count = stage_devices(layouts)
    first, own = rank // count * count, rank % count
    shapes = {layout: tuple(_slices.cuts(layout)) for layout in layouts.values()}
    return [
        first + other
        for other in range(count)
        if all(_slices.box(layout, other, shape) == _slices.box(layout, own, shape) for layout, shape in shapes.items())
    ]


# ---------------------------------------------------------------------------------------------------------------------
# Transformation


def rank_list_for_transform(
    rank_id: int, src_strategy_file: str | None = None, dst_strategy_file: str | None = None
) -> list[int]:
    """The ranks whose checkpoints are needed to make that of `rank_id`, highest first."""
    if not isinstance(rank_id, int):
        raise TypeError(f"For 'rank_list_for_transform', 'rank_id' must be an int, but got {type(rank_id)}.")
    source, target = _layouts(rank_id, src_strategy_file, dst_strategy_file)
    if source is None:
        return [0]
    if not source:
        raise ValueError(f"The strategy file {src_strategy_file} has no layouts for this rank.")
    return sorted(_needed_ranks(rank_id, source, target), reverse=True)


def _layouts(rank: int, source_file: Any, target_file: Any) -> tuple[Layouts | None, Layouts | None]:
    """Both sides' layouts, without the parameters that the pipeline stage of `rank` does not hold."""
    source, target = layouts_of(read_strategy(source_file)), layouts_of(read_strategy(target_file))
    if target is None:
        return source, None
    stage = rank // stage_devices(target)
    gone = {name for name, layout in target.items() if stage not in layout.stages}
    kept = {name: layout for name, layout in target.items() if name not in gone}
    return None if source is None else {n: v for n, v in source.items() if n not in gone}, kept


def _needed_ranks(rank: int, source: Layouts, target: Layouts | None) -> set[int]:
    count = stage_devices(source)
    local = rank % stage_devices(target) if target else rank
    devices: set[int] = set()
    stages: set[int] = set()
    for layout, other in {(v, None if target is None else target.get(n)) for n, v in source.items()}:
        stages |= set(layout.stages)
        if target is not None and other is None:
            continue
        devices |= set(_slices.needed_devices(layout, other or _slices.whole(len(layout.axes)), local if other else 0))
    return {stage * count + device for stage in stages for device in devices}


def transform_checkpoint_by_rank(
    rank_id: int,
    checkpoint_files_map: dict[int, str],
    save_checkpoint_file_name: str,
    src_strategy_file: str | None = None,
    dst_strategy_file: str | None = None,
) -> None:
    """Write the checkpoint of one rank of the target, from checkpoints of the source.

    Args:
        rank_id: the rank in the target.
        checkpoint_files_map: ranks of the source to their files; `rank_list_for_transform` says which are needed.
        save_checkpoint_file_name: the file to write, ending with ".ckpt" or ".safetensors".
        src_strategy_file, dst_strategy_file: the strategy files; None: every parameter is whole.
    """
    if not isinstance(checkpoint_files_map, dict):
        raise TypeError(f"'checkpoint_files_map' must be a dict, but got {type(checkpoint_files_map)}.")
    if not isinstance(rank_id, int):
        raise TypeError(f"'rank_id' must be an int, but got {type(rank_id)}.")
    if not isinstance(save_checkpoint_file_name, str):
        raise TypeError(f"'save_checkpoint_file_name' must be a str, but got {type(save_checkpoint_file_name)}.")
    if not save_checkpoint_file_name.endswith((".ckpt", ".safetensors")):
        raise ValueError(
            f"'save_checkpoint_file_name' {save_checkpoint_file_name} must end with .ckpt or .safetensors."
        )
    for rank, file in checkpoint_files_map.items():
        if not os.path.isfile(file):
            raise ValueError(f"The checkpoint file {file} of rank {rank} does not exist.")
    _transform_rank(rank_id, checkpoint_files_map, save_checkpoint_file_name, src_strategy_file, dst_strategy_file)


def _transform_rank(rank: int, files: Mapping[int, str], target_file: str, source_file: Any, target_spec: Any) -> None:
    source, target = _layouts(rank, source_file, target_spec)
    everywhere = {**(layouts_of(read_strategy(source_file)) or {}), **(layouts_of(read_strategy(target_spec)) or {})}
    here = {*(source or ()), *(target or ())}
    count = stage_devices(source)
    parts: dict[str, dict[int, Parameter]] = {}
    for origin, file in files.items():
        for name, value in load_checkpoint(file, format=format_of(file)).items():
            if isinstance(value, Parameter) and (name in here or name not in everywhere):
                parts.setdefault(name, {})[origin % count] = value
    local = rank % stage_devices(target)
    if not any((source is None or name in source) and (target is None or name in target) for name in parts):
        raise ValueError("None of the parameters in the checkpoint files is in the strategy files.")
    made = [{"name": n, "data": _transformed(n, held, source, target, local)} for n, held in parts.items()]
    os.makedirs(os.path.dirname(os.path.abspath(target_file)), exist_ok=True)
    save_checkpoint(made, target_file, format=format_of(target_file))


def _transformed(
    name: str, held: dict[int, Parameter], source: Layouts | None, target: Layouts | None, device: int
) -> Parameter:
    """One parameter as a device of the target holds it; what no strategy names (a step count) stays as it is."""
    first = next(iter(held.values()))
    if (source is not None and name not in source) or (target is not None and name not in target):
        return held.get(device, first)
    arrays = {d: np.asarray(p.asnumpy()) for d, p in held.items()}
    rank = len(first.shape)
    before = source[name] if source is not None else _slices.whole(rank)
    after = target[name] if target is not None else _slices.whole(rank)
    if before.device_count % after.device_count and after.device_count % before.device_count:
        raise ValueError(f"Cannot transform from {before.device_count} to {after.device_count} devices.")
    try:
        made = _slices.assemble(before, after, device, arrays)
    except ValueError as error:
        raise ValueError(f"The parameter '{name}' does not fit the strategy files: {error}.") from None
    return Parameter(Tensor.from_numpy(made), name, first.requires_grad, first.layerwise_parallel)


def transform_checkpoints(
    src_checkpoints_dir: str,
    dst_checkpoints_dir: str,
    ckpt_prefix: str,
    src_strategy_file: str | None = None,
    dst_strategy_file: str | None = None,
    process_num: int = 1,
    output_format: str = "ckpt",
) -> None:
    """Transform the checkpoints of all ranks.

    Args:
        src_checkpoints_dir: a folder of folders rank_0, rank_1 …; in each the last file by name is taken.
        dst_checkpoints_dir: the folder to write rank_0/<prefix>0.ckpt … to.
        ckpt_prefix: the beginning of the names of the new files.
        src_strategy_file, dst_strategy_file: the strategy files; None: every parameter is whole.
        process_num: how many ranks to transform at a time.
        output_format: "ckpt" or "safetensors".
    """
    if not isinstance(ckpt_prefix, str):
        raise TypeError(f"'ckpt_prefix' must be a str, but got {type(ckpt_prefix)}.")
    if os.path.basename(ckpt_prefix) != ckpt_prefix:
        raise ValueError(f"'ckpt_prefix' must be part of a file name, but got {ckpt_prefix!r}.")
    if output_format not in ("ckpt", "safetensors"):
        raise ValueError(f"'output_format' must be 'ckpt' or 'safetensors', but got {output_format!r}.")
    files = rank_files("transform_checkpoints", src_checkpoints_dir)
    if output_format == "safetensors" and format_of(next(iter(files.values()))) == "ckpt":
        raise ValueError("'output_format' cannot be 'safetensors' when the source files are '.ckpt' files.")
    source, target = layouts_of(read_strategy(src_strategy_file)), layouts_of(read_strategy(dst_strategy_file))
    ranks = range(stage_devices(target) * stage_count(target))
    stage_count(source)
    needed = {rank: rank_list_for_transform(rank, src_strategy_file, dst_strategy_file) for rank in ranks}
    for rank, others in needed.items():
        for other in others:
            if other not in files:
                raise ValueError(f"The checkpoint of rank {other} is needed for rank {rank}, but it is missing.")

    def make(rank: int) -> None:
        name = os.path.join(dst_checkpoints_dir, f"rank_{rank}", f"{ckpt_prefix}{rank}.{output_format}")
        chosen = {other: files[other] for other in needed[rank]}
        _transform_rank(rank, chosen, name, src_strategy_file, dst_strategy_file)

    with ThreadPoolExecutor(max(1, int(process_num))) as pool:
        list(pool.map(make, ranks))


# ---------------------------------------------------------------------------------------------------------------------
# Whole parameters


def merge_sliced_parameter(sliced_parameters: list[Parameter], strategy: dict[str, Any] | None = None) -> Parameter:
    """One parameter from its slices in the order of ranks; without a strategy they are joined along the first axis.

    Examples:
        >>> import mindspore as ms
        >>> slices = [ms.Parameter(ms.Tensor([1.0, 2.0]), "w"), ms.Parameter(ms.Tensor([3.0]), "w")]
        >>> ms.merge_sliced_parameter(slices).shape
        (3,)
    """
    owner = "merge_sliced_parameter"
    if not isinstance(sliced_parameters, list):
        raise TypeError(f"For '{owner}', 'sliced_parameters' must be a list, but got {type(sliced_parameters)}.")
    if not sliced_parameters:
        raise ValueError(f"For '{owner}', 'sliced_parameters' must not be empty.")
    if strategy and not isinstance(strategy, dict):
        raise TypeError(f"For '{owner}', 'strategy' must be a dict, but got {type(strategy)}.")
    first = sliced_parameters[0]
    for place, parameter in enumerate(sliced_parameters):
        if not isinstance(parameter, Parameter):
            raise TypeError(f"For '{owner}', slice {place} must be a Parameter, but got {type(parameter)}.")
        if parameter.name != first.name or tuple(parameter.shape[1:]) != tuple(first.shape[1:]):
            raise ValueError(
                f"For '{owner}', all slices must have the same name and, but for the first axis, the same shape; slice "
                f"{place} is '{parameter.name}' {tuple(parameter.shape)}, not '{first.name}' {tuple(first.shape)}."
            )
    arrays = [np.asarray(parameter.asnumpy()) for parameter in sliced_parameters]
    whole = _joined(first.name, arrays, strategy) if strategy else np.concatenate(arrays)
    return Parameter(Tensor.from_numpy(whole), first.name, first.requires_grad, first.layerwise_parallel)


def _joined(name: str, arrays: list[np.ndarray], strategy: dict[str, Any]) -> np.ndarray:
    if name not in strategy:
        raise KeyError(f"For 'merge_sliced_parameter', '{name}' is not in 'strategy'.")
    layout = layouts_of({name: strategy[name]})[name]._replace(shards=0)  # type: ignore[index]
    if len(arrays) != layout.device_count:
        raise ValueError(
            f"For 'merge_sliced_parameter', there must be {layout.device_count} slices, one per device, but got "
            f"{len(arrays)}."
        )
    if len({a.shape for a in arrays}) == 1:
        return _slices.assemble(layout, _slices.whole(arrays[0].ndim), 0, dict(enumerate(arrays)))
    shape = tuple(_slices.cuts(layout))
    if any(c != 1 for c in shape[1:]):
        raise ValueError("For 'merge_sliced_parameter', slices of different sizes must be cut along the first axis.")
    order = {_slices.box(layout, device, shape).start[0]: a for device, a in enumerate(arrays)}
    return np.concatenate([order[place] for place in sorted(order)])


def load_distributed_checkpoint(
    network: Cell | None,
    checkpoint_filenames: list[str] | None = None,
    predict_strategy: dict[str, Any] | str | None = None,
    train_strategy_filename: str | None = None,
    strict_load: bool = False,
    dec_key: bytes | None = None,
    dec_mode: str = "AES-GCM",
    format: str = "ckpt",
    unified_safetensors_dir: str | None = None,
    dst_safetensors_dir: str | None = None,
    rank_id: int | None = None,
    output_format: str = "safetensors",
    name_map: dict[str, str] | None = None,
    max_process_num: int = 64,
    return_param_dict: bool = False,
) -> Any:
    """Load the checkpoints of a distributed run into a network.

    Args:
        network: the network; None with "safetensors": write the slices of a rank, or of all, to `dst_safetensors_dir`.
        checkpoint_filenames: the checkpoints in the order of ranks.
        predict_strategy: how the network's parameters are cut; None: they are whole.
        train_strategy_filename: the strategy file of the run; default: the one set in the context.
        strict_load, dec_key, dec_mode: as in `load_checkpoint`.
        format: "ckpt", or "safetensors" for the files that `unified_safetensors` makes.
        unified_safetensors_dir, dst_safetensors_dir, rank_id, output_format, name_map, return_param_dict: for
            "safetensors".
        max_process_num: accepted.
    """
    owner = "load_distributed_checkpoint"
    for label, value in (("format", format), ("output_format", output_format)):
        if value not in ("ckpt", "safetensors"):
            raise ValueError(f"For '{owner}', '{label}' must be 'ckpt' or 'safetensors', but got {value!r}.")
    if format == "safetensors":
        for label, given in (
            ("checkpoint_filenames", checkpoint_filenames), ("train_strategy_filename", train_strategy_filename),
            ("dec_key", dec_key),
        ):  # fmt: skip
            if given is not None:
                raise ValueError(f"For '{owner}', '{label}' must be None when 'format' is 'safetensors'.")
        return load_unified(
            network, predict_strategy, unified_safetensors_dir, dst_safetensors_dir, rank_id, output_format,
            name_map or {}, return_param_dict,
        )  # fmt: skip
    if not isinstance(network, Cell):
        raise TypeError(f"For '{owner}', 'network' must be a Cell, but got {type(network)}.")
    if not isinstance(checkpoint_filenames, (list, tuple)) or not all(isinstance(f, str) for f in checkpoint_filenames):
        raise TypeError(f"For '{owner}', 'checkpoint_filenames' must be a list of strings.")
    if predict_strategy is not None and not isinstance(predict_strategy, (dict, str)):
        raise ValueError(f"For '{owner}', 'predict_strategy' must be a dict or a file, but got {predict_strategy!r}.")
    train_file = train_strategy_filename or context.get_auto_parallel_context("strategy_ckpt_load_file") or None
    source = layouts_of(read_strategy(train_file))
    if not source:
        return True
    if stage_devices(source) != len(checkpoint_filenames):
        raise ValueError(
            f"For '{owner}', there must be {stage_devices(source)} checkpoints, one per device of the training "
            f"strategy, but got {len(checkpoint_filenames)}."
        )
    files = [load_checkpoint(file, dec_key=dec_key, dec_mode=dec_mode) for file in checkpoint_filenames]
    load_param_into_net(network, _sliced(network, files, source, predict_strategy, rank_id), strict_load)
    return True


def _sliced(network: Cell, files: Iterable[dict], source: Layouts, predict: Any, rank_id: int | None) -> dict[str, Any]:
    """The parameters of the network as this rank holds them."""
    target = _predict_layouts(predict)
    device = (_own_rank() if rank_id is None else rank_id) % stage_devices(target)
    files = list(files)
    found = {}
    for _, parameter in network.parameters_and_names():
        name = parameter.name
        held = {d: file[name] for d, file in enumerate(files) if name in file}
        if name not in source or not held:
            logger.warning("For 'load_distributed_checkpoint', '%s' is not in the strategy or checkpoint files.", name)
            continue
        found[name] = _transformed(name, held, source, target, device)
    return found


def _predict_layouts(predict: Any) -> Layouts | None:
    """The target of `load_distributed_checkpoint`: a file, a dict of layouts, or of lists [device matrix, map, …]."""
    strategy = read_strategy(predict)
    if not strategy:
        return None
    return layouts_of({
        name: value if not isinstance(value, (list, tuple)) else ParallelLayouts(
            dev_matrix=[_strategy_file.Sizes(dim=list(value[0]))], tensor_map=[_strategy_file.Sizes(dim=list(value[1]))]
        )
        for name, value in strategy.items()
    })  # fmt: skip


def _own_rank() -> int:
    from mindspore.communication.management import get_rank

    try:
        return get_rank()
    except RuntimeError:
        return 0


__all__ = [
    "build_searched_strategy",
    "get_ckpt_path_with_strategy",
    "load_distributed_checkpoint",
    "load_segmented_checkpoints",
    "merge_pipeline_strategys",
    "merge_sliced_parameter",
    "rank_list_for_transform",
    "restore_group_info_list",
    "set_op_strategy_config",
    "sync_pipeline_shared_parameters",
    "transform_checkpoint_by_rank",
    "transform_checkpoints",
    "unified_safetensors",
]
