"""MindSpore, rebuilt in Python: an independent implementation under MindSpore's own import name and API.

Façade: names are re-exported here; the parts that are not needed at once are imported on first use.
"""

# ruff: noqa: F401, I001 - names are re-exported, in an order that matters

from __future__ import annotations

import importlib
from typing import Any

from mindspore.version import __version__
from mindspore._base.dtype import (
    DType as _DType,
    Type,
    TensorType,
    bfloat16,
    bool_,
    byte,
    cdouble,
    cfloat,
    complex64,
    complex128,
    double,
    dtype_to_nptype,
    dtype_to_pytype,
    float8_e4m3fn,
    float8_e5m2,
    float16,
    float32,
    float64,
    float_,
    half,
    hifloat8,
    int4,
    int8,
    int16,
    int32,
    int64,
    int_,
    intc,
    intp,
    list_,
    number,
    pytype_to_dtype,
    qint4x2,
    short,
    single,
    string,
    tensor_type,
    tuple_,
    type_none,
    ubyte,
    uint,
    uint8,
    uint16,
    uint32,
    uint64,
    uintc,
    uintp,
    ushort,
)
from mindspore._base import dtype as _dtype
from mindspore.runtime import eager as _eager  # installs the eager dispatcher
from mindspore._base import flags as _flags

if _flags.text("MINDSPORE_DUMP_CONFIG"):
    importlib.import_module("mindspore.runtime.dump.eager").watch()

from mindspore.common.tensor import Tensor
from mindspore.common.parameter import Parameter, ParameterTuple
from mindspore import context
from mindspore.context import (
    GRAPH_MODE,
    LAX,
    COMPATIBLE,
    PYNATIVE_MODE,
    STRICT,
    ParallelMode,
    get_auto_parallel_context,
    get_context,
    get_current_device,
    get_offload_context,
    get_ps_context,
    reset_auto_parallel_context,
    reset_ps_context,
    set_auto_parallel_context,
    set_context,
    set_deterministic,
    set_device,
    set_offload_context,
    set_ps_context,
)
from mindspore.common.api import (
    JitConfig,
    constexpr,
    jit,
    jit_class,
    lazy_inline,
    ms_function,
    ms_memory_recycle,
    no_inline,
    set_recursion_limit,
)
from mindspore.common.gradient import get_grad, grad, jvp, value_and_grad, vjp
from mindspore.common.mutable_data import mutable
from mindspore.common.vectorize import jacfwd, jacrev, vmap
from mindspore import ops  # attaches the operations to Tensor

bool = bool_  # the public names
int = int64
float = float32
long = int64
ms_class = jit_class
tensor = ops.tensor if hasattr(ops, "tensor") else Tensor
from_numpy = Tensor.from_numpy

#: names found in modules that are imported on first use
_LAZY: dict[str, str] = {
    **dict.fromkeys(
        ["save_checkpoint", "load_checkpoint", "load_param_into_net", "export", "load", "load_checkpoint_async", "load_mindir",
         "save_mindir", "ckpt_to_safetensors", "safetensors_to_ckpt", "get_model_info", "convert_model", "obfuscate_model",
         "obfuscate_ckpt", "load_obf_params_into_net", "export_split_mindir", "async_ckpt_thread_status", "build_searched_strategy",
         "merge_sliced_parameter", "load_distributed_checkpoint", "parse_print", "restore_group_info_list",
         "check_checkpoint", "get_ckpt_path_with_strategy", "mindio_preload", "set_mindio_server_info",
         "load_segmented_checkpoints", "convert_checkpoints", "remove_redundancy"], "mindspore.train.serialization"),
    **dict.fromkeys(
        ["transform_checkpoints", "transform_checkpoint_by_rank", "rank_list_for_transform", "merge_pipeline_strategys",
         "sync_pipeline_shared_parameters", "unified_safetensors",
         "set_algo_parameters", "get_algo_parameters", "reset_algo_parameters", "Layout", "shard",
         "reshard", "parameter_broadcast"], "mindspore.parallel"),
    **dict.fromkeys(
        ["Model", "DatasetHelper", "connect_network_with_dataset", "data_sink", "SummaryRecord", "SummaryCollector",
         "SummaryLandscape", "FixedLossScaleManager", "DynamicLossScaleManager", "LossScaleManager", "LossMonitor", "TimeMonitor",
         "ModelCheckpoint", "CheckpointConfig", "Callback", "RunContext", "ReduceLROnPlateau", "Metric", "LearningRateScheduler",
         "History", "LambdaCallback", "EarlyStopping", "OnRequestExit", "BackupAndRestore", "FlopsUtilizationCollector",
         "TrainFaultTolerance", "ConvertNetUtils", "ConvertModelUtils", "names", "get_metric_fn", "Accuracy", "MAE", "MSE",
         "rearrange_inputs", "Precision", "HausdorffDistance", "Recall", "Fbeta", "BleuScore", "CosineSimilarity",
         "OcclusionSensitivity", "F1", "Dice", "ROC", "auc", "TopKCategoricalAccuracy", "Top1CategoricalAccuracy",
         "Top5CategoricalAccuracy", "Loss", "MeanSurfaceDistance", "RootMeanSquareDistance", "Perplexity",
         "ConfusionMatrix", "ConfusionMatrixMetric"], "mindspore.train"),
    **dict.fromkeys(["build_train_network"], "mindspore.train.amp"),
    **dict.fromkeys(
        ["set_seed", "get_seed", "Generator", "manual_seed", "seed", "initial_seed", "get_rng_state", "set_rng_state",
         "default_generator"], "mindspore.common.random"),
    **dict.fromkeys(["RowTensor", "COOTensor", "CSRTensor", "SparseTensor", "RowTensorInner"], "mindspore.common.sparse"),
    **dict.fromkeys(["Symbol"], "mindspore.common.symbol"),
    **dict.fromkeys(["dtype"], "mindspore.common.dtype"),
    **dict.fromkeys(["_Function", "_no_grad", "_enable_grad", "_set_grad_enabled", "recompute", "saved_tensors_hooks",
                     "register_saved_tensors_hooks"], "mindspore.common.autograd"),
    **dict.fromkeys(["Profiler", "profiler"], "mindspore.profiler"),
    **dict.fromkeys(["run_check"], "mindspore.run_check"),
    **dict.fromkeys(["set_dump"], "mindspore.common.dump"),
    **dict.fromkeys(["QuantDtype", "get_py_obj_dtype"], "mindspore.common.dtype"),
    **dict.fromkeys(["flops_collection"], "mindspore.train.callback"),
    **dict.fromkeys(["get_level", "get_log_config"], "mindspore.log"),
    **dict.fromkeys(["is_tensor", "frombuffer"], "mindspore.ops"),
    **dict.fromkeys(
        ["set_device_limit", "get_device_limit", "MemPool", "use_mem_pool", "PluggableAllocator", "StreamLimitCtx",
         "set_stream_limit", "get_stream_limit", "reset_stream_limit", "Stream", "StreamCtx", "Event", "synchronize",
         "current_stream", "default_stream", "communication_stream", "set_cur_stream", "empty_cache", "set_memory",
         "memory_stats", "memory_summary", "memory_allocated", "memory_reserved", "max_memory_allocated",
         "max_memory_reserved", "reset_peak_memory_stats", "reset_max_memory_allocated", "reset_max_memory_reserved",
         "launch_blocking", "dispatch_threads_num", "set_cpu_affinity", "set_kernel_launch_group",
         "set_kernel_launch_capture"], "mindspore.runtime.public"),
    **dict.fromkeys(["DeviceCtx"], "mindspore.common.device"),
    **dict.fromkeys(["sdc_detect_start", "sdc_detect_stop", "get_sdc_detect_result", "MsDispatchMode"], "mindspore.utils"),
    **dict.fromkeys(["swap_tensors", "UntypedStorage"], "mindspore.common.storage"),
    **dict.fromkeys(["enable_dynamic"], "mindspore.common.dynamic_shape"),
    **dict.fromkeys(["Int", "Float"], "mindspore.common.dtype"),
}  # fmt: skip


def __getattr__(name: str) -> Any:
    module = _LAZY.get(name)
    if module is not None:
        found = importlib.import_module(module)
        if module.rpartition(".")[2] == name:
            value: Any = getattr(found, name, found)
        else:
            value = getattr(found, name)
        globals()[name] = value
        return value
    if not name.startswith("__"):
        try:
            return importlib.import_module(f"mindspore.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"mindspore.{name}":
                raise
    raise AttributeError(f"module 'mindspore' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
