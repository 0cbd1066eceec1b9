"""Saving and loading models. Façade: re-exports only."""

from typing import Any

from mindspore.common.file_system import mindio_preload, set_mindio_server_info
from mindspore.train._checkpoint.convert import ckpt_to_safetensors, safetensors_to_ckpt
from mindspore.train._checkpoint.load import (
    ParamDictFuture,
    load_checkpoint,
    load_checkpoint_async,
    load_param_into_net,
)
from mindspore.train._checkpoint.save import async_ckpt_thread_status, save_checkpoint
from mindspore.train._checkpoint.segments import load_segmented_checkpoints, tensor_to_np_type
from mindspore.train._mindir.convert import convert_model, get_model_info
from mindspore.train._mindir.export import export, load, load_mindir, save_mindir
from mindspore.train._onnx.public import load_onnx
from mindspore.train._unsupported import (
    export_split_mindir,
    load_obf_params_into_net,
    obfuscate_ckpt,
    obfuscate_model,
)

#: in KiB: when weights of a MindIR model go to files of their own, and how big those may be
TOTAL_SAVE = 1024 * 1024
PARAMETER_SPLIT_SIZE = 1024 * 1024 * 1024

_PARALLEL = frozenset((
    "build_searched_strategy", "convert_checkpoints", "get_ckpt_path_with_strategy", "load_distributed_checkpoint",
    "merge_pipeline_strategys", "merge_sliced_parameter", "rank_list_for_transform", "restore_group_info_list",
    "transform_checkpoint_by_rank", "transform_checkpoints",
))  # fmt: skip


def __getattr__(name: str) -> Any:
    """Checkpoints of several devices are handled by `mindspore.parallel`."""
    if name in _PARALLEL:
        import mindspore.parallel

        return getattr(mindspore.parallel, name)
    raise AttributeError(f"module 'mindspore.train.serialization' has no attribute '{name}'")


__all__ = [
    "ParamDictFuture",
    "async_ckpt_thread_status",
    "ckpt_to_safetensors",
    "convert_model",
    "export",
    "export_split_mindir",
    "get_model_info",
    "load",
    "load_checkpoint",
    "load_checkpoint_async",
    "load_mindir",
    "load_obf_params_into_net",
    "load_onnx",
    "load_param_into_net",
    "load_segmented_checkpoints",
    "mindio_preload",
    "obfuscate_ckpt",
    "obfuscate_model",
    "safetensors_to_ckpt",
    "save_checkpoint",
    "save_mindir",
    "set_mindio_server_info",
    "tensor_to_np_type",
]
