"""MindSpore, rebuilt in Python: an independent implementation under MindSpore's own import name and API.

The front door is lazy: importing the package, or one of its columns (`mindspore.dataset`, `mindspore.mindrecord`,
`mindspore.formats`), loads element types and little else. A name is looked up in `_LAZY` when it is first asked for; the
first Tensor brings the operations with it.
"""

# ruff: noqa: F401 - names are re-exported

from __future__ import annotations

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from mindspore import _compat  # official paths can be imported from now on
from mindspore._base import flags as _flags
from mindspore._base.dtype import (
    TensorType,
    Type,
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
from mindspore._base.tensor_hook import set_tensor_factory as _set_tensor_factory
from mindspore.version import __version__

if _TYPE_CHECKING:  # what checkers should see of the names that are found on first use; `_LAZY` has all of them
    from mindspore import context as context
    from mindspore import ops as ops
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
    from mindspore.common.mutable import mutable
    from mindspore.common.parameter import Parameter, ParameterTuple
    from mindspore.common.tensor import Tensor
    from mindspore.common.vectorize import jacfwd, jacrev, vmap
    from mindspore.context import (
        COMPATIBLE,
        GRAPH_MODE,
        LAX,
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

    from_numpy = Tensor.from_numpy
    ms_class = jit_class
    tensor = Tensor

bool = bool_  # the public names
int = int64
float = float32
long = int64

#: names of the core, and the modules that are imported when one is first asked for
_CORE: dict[str, str] = {
    **dict.fromkeys(["Tensor"], "mindspore.common.tensor"),
    **dict.fromkeys(["Parameter", "ParameterTuple"], "mindspore.common.parameter"),
    **dict.fromkeys(
        ["GRAPH_MODE", "LAX", "COMPATIBLE", "PYNATIVE_MODE", "STRICT", "ParallelMode", "get_auto_parallel_context",
         "get_context", "get_current_device", "get_offload_context", "get_ps_context", "reset_auto_parallel_context",
         "reset_ps_context", "set_auto_parallel_context", "set_context", "set_deterministic", "set_device",
         "set_offload_context", "set_ps_context"], "mindspore.context"),
    **dict.fromkeys(
        ["JitConfig", "constexpr", "jit", "jit_class", "lazy_inline", "ms_function", "ms_memory_recycle", "no_inline",
         "set_recursion_limit"], "mindspore.common.api"),
    **dict.fromkeys(["get_grad", "grad", "jvp", "value_and_grad", "vjp"], "mindspore.common.gradient"),
    **dict.fromkeys(["mutable"], "mindspore.common.mutable"),
    **dict.fromkeys(["jacfwd", "jacrev", "vmap"], "mindspore.common.vectorize"),
}  # fmt: skip
#: all names found so
_LAZY: dict[str, str] = {
    **_CORE,
    **dict.fromkeys(
        ["save_checkpoint", "load_checkpoint", "load_param_into_net", "export", "load", "load_checkpoint_async", "load_mindir",
         "save_mindir", "ckpt_to_safetensors", "safetensors_to_ckpt", "get_model_info", "convert_model", "obfuscate_model",
         "obfuscate_ckpt", "load_obf_params_into_net", "export_split_mindir", "async_ckpt_thread_status", "build_searched_strategy",
         "merge_sliced_parameter", "load_distributed_checkpoint", "restore_group_info_list",
         "get_ckpt_path_with_strategy", "mindio_preload", "set_mindio_server_info",
         "load_segmented_checkpoints", "convert_checkpoints"], "mindspore.train.serialization"),
    **dict.fromkeys(["from_torch", "from_onnx"], "mindspore.train.importing"),
    "from_safetensors": "mindspore.model_zoo.weights",
    "kernel": "mindspore.ops",
    **dict.fromkeys(
        ["transform_checkpoints", "transform_checkpoint_by_rank", "rank_list_for_transform", "merge_pipeline_strategys",
         "sync_pipeline_shared_parameters", "unified_safetensors",
         "set_algo_parameters", "get_algo_parameters", "reset_algo_parameters", "Layout", "shard",
         "reshard", "parameter_broadcast"], "mindspore.parallel"),
    **dict.fromkeys(
        ["Model", "auto_tune", "DatasetHelper", "connect_network_with_dataset", "data_sink", "SummaryRecord", "SummaryCollector",
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
    **dict.fromkeys(["_Function", "_no_grad", "_enable_grad", "_set_grad_enabled", "saved_tensors_hooks", "register_saved_tensors_hooks"],
                    "mindspore.common.autograd"),
    **dict.fromkeys(["recompute"], "mindspore.common.recomputation"),
    **dict.fromkeys(["Profiler"], "mindspore.profiler"),
    **dict.fromkeys(["run_check"], "mindspore.run_check"),
    **dict.fromkeys(["set_dump"], "mindspore.common.dump"),
    **dict.fromkeys(["QuantDtype", "get_py_obj_dtype"], "mindspore.common.dtype"),
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
    **dict.fromkeys(["sdc_detect_start", "sdc_detect_stop", "get_sdc_detect_result", "MsDispatchMode", "from_dlpack", "to_dlpack",
                     "stress_detect", "ExitByRequest"], "mindspore.utils"),
    **dict.fromkeys(["FileReader", "FileWriter", "MindPage", "Cifar10ToMR", "Cifar100ToMR", "CsvToMR", "ImageNetToMR", "MnistToMR",
                     "TFRecordToMR", "set_enc_key", "set_enc_mode", "set_dec_mode"], "mindspore.mindrecord"),
    **dict.fromkeys(["swap_tensors", "UntypedStorage"], "mindspore.common.storage"),
    **dict.fromkeys(["Node", "NodeType", "ScopedValue", "SymbolTree"], "mindspore.rewrite"),
    **dict.fromkeys(["enable_dynamic"], "mindspore.common.dynamic_shape"),
    **dict.fromkeys(["Int", "Float"], "mindspore.common.dtype"),
}  # fmt: skip


#: names that stand for another one
_ALIASES = ("from_numpy", "ms_class", "tensor")
#: what `from mindspore import *` brings
__all__ = [name for name in globals() if not name.startswith("_") and name != "annotations"]  # element types
__all__.extend([*_CORE, *_ALIASES, "context", "ops"])


def __getattr__(name: str) -> _Any:
    module = _LAZY.get(name)
    if module is not None:
        value: _Any = getattr(_importlib.import_module(module), name)
    elif name == "dtype":
        value = _importlib.import_module("mindspore.common.dtype")
    elif name in _ALIASES:
        tensor = __getattr__("Tensor")
        value = {"tensor": tensor, "from_numpy": tensor.from_numpy, "ms_class": __getattr__("jit_class")}[name]
    else:
        return _submodule(name)
    globals()[name] = value
    return value


def _submodule(name: str) -> _Any:
    if not name.startswith("__"):
        try:
            return _importlib.import_module(f"mindspore.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"mindspore.{name}":
                raise
    raise AttributeError(f"module 'mindspore' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, *_ALIASES, "dtype", "profiler"})


def _tensor_of_row(array: _Any) -> _Any:
    """Datasets yield Tensors, but load nothing of them before the first row; loading them replaces this function."""
    from mindspore._base import tensor_hook

    _importlib.import_module("mindspore.common.tensor")
    return tensor_hook.wrap(array)


_set_tensor_factory(_tensor_of_row)

if _flags.text("MS_WATCH"):
    _importlib.import_module("mindspore.runtime.watch.switch").begin_by_environment()
if _flags.text("MINDSPORE_DUMP_CONFIG"):
    _importlib.import_module("mindspore.runtime.dump.eager").watch()
