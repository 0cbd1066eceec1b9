"""Saving and loading models: the public functions. The formats themselves are in `mindspore.formats`."""

from typing import Any

from mindspore import context  # noqa: F401 - older scripts import it and Tensor from here
from mindspore._base import dtype as mstype
from mindspore.common.file_system import mindio_preload, set_mindio_server_info
from mindspore.common.tensor import Tensor
from mindspore.train._checkpoint.convert import ckpt_to_safetensors, safetensors_to_ckpt
from mindspore.train._checkpoint.load import (
    ParamDictFuture,
    load_checkpoint,
    load_checkpoint_async,
    load_param_into_net,
)
from mindspore.train._checkpoint.save import async_ckpt_thread_status, save_checkpoint
from mindspore.train._checkpoint.segments import load_segmented_checkpoints, tensor_to_np_type
from mindspore.train._unsupported import (
    export_split_mindir,
    obfuscate_model,
)
from mindspore.train.exporting import export_network, load, load_mindir, load_onnx, save_mindir
from mindspore.train.model_info import convert_model, get_model_info
from mindspore.train.obfuscation import load_obf_params_into_net, obfuscate_ckpt

#: in KiB: when weights of a MindIR model go to files of their own, and how big those may be
TOTAL_SAVE = 1024 * 1024
PARAMETER_SPLIT_SIZE = 1024 * 1024 * 1024

#: element types by their names in checkpoint files
tensor_to_ms_type = {
    "Int8": mstype.int8, "UInt8": mstype.uint8, "Int16": mstype.int16, "UInt16": mstype.uint16, "Int32": mstype.int32,
    "UInt32": mstype.uint32, "Int64": mstype.int64, "UInt64": mstype.uint64, "Float16": mstype.float16,
    "Float32": mstype.float32, "Float64": mstype.float64, "Bool": mstype.bool_, "str": mstype.string,
    "BFloat16": mstype.bfloat16, "Int4": mstype.qint4x2,
}  # fmt: skip

_PARALLEL = frozenset((
    "build_searched_strategy", "convert_checkpoints", "get_ckpt_path_with_strategy", "load_distributed_checkpoint",
    "merge_pipeline_strategys", "merge_sliced_parameter", "rank_list_for_transform", "restore_group_info_list",
    "transform_checkpoint_by_rank", "transform_checkpoints",
))  # fmt: skip


def export(net: Any, *inputs: Any, file_name: str, file_format: str, **kwargs: Any) -> None:
    """Write a network as a file that runs without its Python.

    Args:
        net: a Cell or a function.
        inputs: example inputs; a Tensor made with `shape=` may have None where a size is not fixed.
        file_name: the file; the suffix is added when missing.
        file_format: "MINDIR" or "ONNX". "AIR" is a format of Ascend tools and cannot be written here.
        dataset: with "MINDIR": a dataset whose `map` operations are stored with the model.
        enc_key, enc_mode: encrypt ("AES-GCM", "AES-CBC", "SM4-CBC"), or by a function `enc_mode(content, key)`.
        custom_func: a function that may change the model before it is written.

    Examples:
        >>> net = nn.Dense(2, 1)
        >>> ms.export(net, ops.ones((1, 2)), file_name="net", file_format="MINDIR")
        >>> nn.GraphCell(ms.load("net.mindir"))(ops.ones((1, 2))).shape
        (1, 1)
    """
    limits = int(TOTAL_SAVE * 1024), int(PARAMETER_SPLIT_SIZE * 1024)
    export_network(net, inputs, file_name, file_format, kwargs, limits)


def _update_param(param: Any, new_param: Any, strict_load: bool = False) -> None:
    """Put the value of one parameter into another of the same shape, as `load_param_into_net` does."""
    if param.shape != new_param.shape:
        raise RuntimeError(
            f"For 'load_param_into_net', {param.name} in the argument 'net' should have the same shape as in the argument "
            f"'parameter_dict', but got {param.shape} and {new_param.shape}."
        )
    if strict_load and param.dtype is not new_param.dtype:
        raise RuntimeError(f"{param.name} has the type {param.dtype}, but its new value {new_param.dtype}.")
    param.set_data(Tensor(new_param.asnumpy(), param.dtype))


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
