"""Official paths of everything but operations and data sets."""

from __future__ import annotations

from mindspore._compat.tables.entry import Entry, held_by

_PRIVATE, _FILES = "mindspore._compat.private_helpers", "mindspore._compat.checkpoint_helpers"
_LAYERS = "mindspore._compat.layer_parts"

SAME = {
    "mindspore._c_expression": "mindspore._compat.c_expression",
    "mindspore._c_expression.amp": "mindspore._compat.c_expression.amp",
    "mindspore._c_expression.security": "mindspore._compat.c_expression.security",
    "mindspore._c_expression.typing": "mindspore._compat.c_expression.typing",
    "mindspore._checkparam": "mindspore._compat.checkparam",
    "mindspore._checkparam.basic": "mindspore._compat.checkparam.basic",
    "mindspore._checkparam.dtypes": "mindspore._compat.checkparam.dtypes",
    "mindspore._checkparam.shapes": "mindspore._compat.checkparam.shapes",
    "mindspore._extends": "mindspore._compat.extends",
    "mindspore.train.anf_ir_pb2": "mindspore._compat.proto.anf_ir",
    "mindspore.train.checkpoint_pb2": "mindspore._compat.proto.checkpoint",
    "mindspore.train.lineage_pb2": "mindspore._compat.proto.lineage",
    "mindspore.train.print_pb2": "mindspore._compat.proto.printed",
    "mindspore.train.summary_pb2": "mindspore._compat.proto.summary",
    "mindspore.train.mind_ir_pb2": "mindspore._compat.proto.mind_ir",
    "mindspore.train.node_strategy_pb2": "mindspore._compat.proto.node_strategy",
    "mindspore._extends.parse": "mindspore._compat.extends.parse",
    "mindspore._extends.parse.standard_method": "mindspore._compat.extends.parse.standard_method",
    "mindspore.boost.adasum": "mindspore.boost.unavailable",
    "mindspore.boost.dim_reduce": "mindspore.boost.unavailable",
    "mindspore.boost.group_loss_scale_manager": "mindspore.boost.unavailable",
    "mindspore.common._decorator": "mindspore._compat.deprecation",
    "mindspore.common._register_for_tensor": "mindspore._compat.registry",
    "mindspore.common._utils": "mindspore._compat.unknown_shapes",
    "mindspore.common.lazy_inline": "mindspore._compat.lazy_inline",
    "mindspore.graph.lazy_inline": "mindspore._compat.lazy_inline",
    "mindspore.ops.vm_impl_registry": "mindspore._compat.registry",
    "mindspore.nn.dynamic_lr": "mindspore.nn.learning_rates",
    "mindspore.nn.learning_rate_schedule": "mindspore.nn.learning_rates",
    "mindspore.nn.metrics": "mindspore.train.metrics",
    "mindspore.nn.wrap.loss_scale": "mindspore.nn.loss_scaling",
    "mindspore.train.loss_scale_manager": "mindspore.nn.loss_scaling",
    "mindspore.parallel._transformer": "mindspore.nn.transformer",
    "mindspore.parallel._transformer.layers": "mindspore.nn.transformer.layers",
    "mindspore.parallel._transformer.loss": "mindspore.nn.transformer.loss",
    "mindspore.parallel._transformer.moe": "mindspore.nn.transformer.moe",
    "mindspore.parallel._transformer.op_parallel_config": "mindspore.nn.transformer.op_parallel_config",
    "mindspore.parallel._transformer.transformer": "mindspore.nn.transformer.transformer",
    "mindspore.parallel.nn.transformer": "mindspore.nn.transformer",
    "mindspore.mint.distributed.distributed": "mindspore.mint.distributed",
    "mindspore.profiler.schedule": "mindspore.profiler.options",
    "mindspore.utils._pytree": "mindspore._compat.pytree",
    "mindspore.utils.ms_dispatch": "mindspore.utils.dispatch_mode",
}

#: official files of one class or two; their package has the names
_PARTS = (
    "graph.custom_backend", "graph.custom_pass", "graph.symbol", "nn.layer.dense", "parallel.function.reshard_func",
    *(f"nn.probability.bnn_layers.{name}" for name in ("bnn_cell_wrapper", "conv_variational", "dense_variational",
                                                       "layer_distribution")),
)  # fmt: skip

_LAYERS_OF_MINT = ("", ".activation", ".basic", ".conv", ".normalization", ".padding", ".pooling")

HELD = {
    **{f"mindspore.{path}": Entry(search=(f"mindspore.{path.rpartition('.')[0]}",)) for path in _PARTS},
    "mindspore.amp": Entry(unlisted=held_by("mindspore.nn.loss_scaling", "_grad_scale_map _grad_unscale_map")),
    "mindspore.common._grad_function": Entry(unlisted={"_Function": "mindspore.common"}),
    "mindspore.nn.layer.conv": Entry(
        unlisted={f"_{name}": f"{_LAYERS}:{name}" for name in ("check_input_3d", "deconv_output_length")}
    ),
    "mindspore.nn.loss.loss": Entry(unlisted={"_check_label_dtype": f"{_LAYERS}:check_label_dtype"}),
    "mindspore.nn.layer.activation": Entry(unlisted={"LRN": "mindspore.nn"}),
    "mindspore.nn.layer.math": Entry(unlisted={"Range": "mindspore.nn"}),
    "mindspore.nn.sparse": Entry(held_by("mindspore.nn", "SparseTensorDenseMatmul SparseToDense")),
    "mindspore.profiler.experimental_config": Entry({"_ExperimentalConfig": "mindspore.profiler"}),
    "mindspore.profiler.options": Entry(unlisted={"Schedule": "mindspore.profiler.options:schedule"}),
    "mindspore.tools": Entry(unlisted={"stress_detect": "mindspore.utils"}),
    "mindspore.train": Entry(unlisted={"build_train_network": "mindspore.train.amp"}),
    "mindspore.train.callback": Entry(
        unlisted={"SummaryLandscape": "mindspore.train", "_set_cur_net": f"{_PRIVATE}:set_cur_net"}
    ),
    "mindspore.train.callback._checkpoint": Entry(unlisted={"_cur_dir": _PRIVATE}),
    **{f"mindspore.mint.nn.layer{path}": Entry(search=("mindspore.mint.nn",)) for path in _LAYERS_OF_MINT},
    "mindspore.common": Entry(
        unlisted=held_by(
            "mindspore",
            "DeviceCtx UntypedStorage cdouble cfloat enable_dynamic float8_e4m3fn float8_e5m2 from_numpy get_rng_state hifloat8 "
            "initial_seed is_tensor load_mindir long mindio_preload ms_memory_recycle register_saved_tensors_hooks save_mindir "
            "saved_tensors_hooks set_mindio_server_info set_rng_state swap_tensors _no_grad",
        )
        | {"flops_collection": _PRIVATE}
    ),
    "mindspore.common.recompute": Entry(search=("mindspore.common.api", "mindspore")),
    "mindspore.device_manager": Entry(held_by("mindspore", "get_current_device set_deterministic set_device")),
    "mindspore.rewrite.common": Entry(search=("mindspore.rewrite",)),
    "mindspore._compat.c_expression.typing": Entry(unlisted={"type_to_type_id": _PRIVATE}),
    "mindspore.experimental": Entry({"MapParameter": "mindspore._compat.map_parameter"}),
    "mindspore.experimental.map_parameter": Entry({"MapParameter": "mindspore._compat.map_parameter"}),
    "mindspore.graph": Entry(
        {
            "jit_config": "mindspore.common.jit_config",
            **held_by(
                _PRIVATE,
                "CustomPassType clear_op_infer clear_op_wrapper register_custom_backend register_custom_pass "
                "register_op_infer register_op_wrapper",
            ),
        },
        search=("mindspore.common.api", "mindspore.common"),
    ),
    "mindspore.graph.api": Entry(search=("mindspore.common.api",)),
    "mindspore.numpy.utils": Entry(search=("mindspore._compat.numpy_helpers",)),
    "mindspore.numpy.utils_const": Entry(search=("mindspore._compat.numpy_helpers",)),
    "mindspore.utils": Entry(unlisted=held_by(_PRIVATE, "_tft_handler")),
    "mindspore.common._stub_tensor": Entry(held_by(_PRIVATE, "StubTensor _convert_stub")),
    "mindspore.common.initializer": Entry(unlisted=held_by(_PRIVATE, "_init_random_uniform _init_truncated_normal")),
    "mindspore.common.parameter": Entry(
        unlisted={
            **held_by(_PRIVATE, "PARAMETER_NAME_DEFAULT _get_unique_parameter_key"),
            "_Buffer": "mindspore.nn.cell_state:_Buffer",
        }
    ),
    "mindspore.common.tensor": Entry(unlisted={"_TensorMeta": _PRIVATE, **held_by("mindspore", "swap_tensors tensor")}),
    "mindspore.context": Entry(
        unlisted={
            "_get_mode": _PRIVATE,
            "_reset_auto_parallel_context": "mindspore.context:reset_auto_parallel_context",
        }
    ),
    "mindspore.mint.distributed": Entry(
        unlisted={
            "_object_to_tensor": _PRIVATE,
            **held_by("mindspore.mint.distributed.tensors", "gather_into_tensor scatter_tensor"),
        }
    ),
    "mindspore.nn.loss_scaling": Entry(
        unlisted=held_by(_PRIVATE, "_grad_overflow _grad_scale grad_scale shard_grad_scale")
    ),
    "mindspore.nn.wrap": Entry(
        held_by(
            "mindspore.nn.loss_scaling",
            "DynamicLossScaleUpdateCell FixedLossScaleUpdateCell TrainOneStepWithLossScaleCell",
        ),
        unlisted={"TimeDistributed": "mindspore.nn"},
    ),
    "mindspore.train.amp": Entry(unlisted=held_by(_PRIVATE, "_add_loss_network _config_level _do_keep_batchnorm_fp32")),
    "mindspore.train.callback._callback": Entry(unlisted={"set_cur_net": _PRIVATE}),
    "mindspore.train.model": Entry(unlisted=held_by(_PRIVATE, "_StepSync _transfer_tensor_to_tuple")),
    "mindspore.train.serialization": Entry(
        unlisted={
            **held_by(_FILES, "_exec_save _get_merged_param_data _load_dismatch_prefix_params _parse_ckpt_proto"),
            "Checkpoint": "mindspore.train.checkpoint_pb2",
            "Validator": "mindspore:_checkparam",
        }
    ),
    "mindspore.train.summary.summary_record": Entry(
        unlisted=held_by(_PRIVATE, "_cache_summary_tensor_data _get_summary_tensor_data")
    ),
    "mindspore._compat.c_expression": Entry(
        unlisted=held_by(
            _PRIVATE,
            "NoFallbackGuard TensorTransform _empty_instance _random_normal _random_uniform _truncated_normal op_enum "
            "pyboost_dense pyboost_empty run_backward update_pijit_default_config",
        )
        | {"GradOperation_": "mindspore.ops:GradOperation"}
    ),
    "mindspore.common.api": Entry(
        unlisted=held_by("mindspore.common.executors", "_cell_graph_executor _pynative_executor cells_compile_cache")
        | {"flops_collection": _PRIVATE}
    ),
    "mindspore.common.generator": Entry(
        held_by(
            "mindspore.common.random",
            "Generator default_generator get_rng_state initial_seed manual_seed seed set_rng_state",
        )
    ),
    "mindspore.common.jit_config": Entry({"JitConfig": "mindspore.common.api"}),
    "mindspore.common.np_dtype": Entry(search=("mindspore._compat.numpy_types",)),
    "mindspore.common.seed": Entry(
        held_by("mindspore.common.random", "get_seed set_seed"), unlisted={"_get_graph_seed": _PRIVATE}
    ),
    "mindspore.common.sparse_tensor": Entry(
        held_by("mindspore.common.sparse", "COOTensor CSRTensor RowTensor RowTensorInner SparseTensor")
    ),
    "mindspore.hal.event": Entry({"Event": "mindspore.runtime.device_streams"}),
    "mindspore.hal.stream": Entry(
        held_by(
            "mindspore.runtime.device_streams",
            "Stream StreamCtx communication_stream current_stream default_stream set_cur_stream synchronize",
        )
    ),
    "mindspore.runtime": Entry(unlisted={"memory_replay": _PRIVATE}),
    "mindspore.nn.layer": Entry(unlisted={"Linear": "mindspore.mint.nn"}),
    "mindspore.nn.layer.basic": Entry(
        unlisted=held_by("mindspore.nn.layer.dropout", "Dropout Dropout1d Dropout2d Dropout2dExt Dropout3d DropoutExt")
        | {"Linear": "mindspore.mint.nn"}
    ),
    "mindspore.nn.layer.container": Entry(held_by("mindspore.nn.containers", "CellDict CellList SequentialCell")),
    "mindspore.nn.wrap.cell_wrapper": Entry(
        unlisted={
            **held_by("mindspore.nn.wrap.micro_batches", "GradAccumulationCell MicroBatchInterleaved PipelineCell"),
            "_MicroBatch": _PRIVATE,
        }
    ),
    "mindspore.nn": Entry(
        unlisted={
            **held_by(
                "mindspore.nn.transformer",
                "AttentionMask MoEConfig TransformerOpParallelConfig TransformerRecomputeConfig VocabEmbedding",
            ),
            "Linear": "mindspore.mint.nn",
        },
        search=("mindspore.train.metrics",),
    ),
    "mindspore.parallel.checkpoint_convert": Entry(
        {
            "convert_checkpoint_by_rank": "mindspore.parallel.checkpoint_transform:transform_checkpoint_by_rank",
            "convert_checkpoints": "mindspore.parallel.checkpoint_transform:transform_checkpoints",
            "rank_list_for_convert": "mindspore.parallel.checkpoint_transform:rank_list_for_transform",
        }
    ),
    "mindspore.parallel.nn.parallel_cell_wrapper": Entry(
        held_by("mindspore.parallel.nn", "GradAccumulation MicroBatchInterleaved Pipeline PipelineCell")
    ),
    "mindspore.parallel.nn.parallel_grad_reducer": Entry({"PipelineGradReducer": "mindspore.parallel.nn"}),
    "mindspore.parallel.transform_safetensors": Entry({"unified_safetensors": "mindspore.parallel._unified"}),
    "mindspore.profiler.profiling": Entry({"Profiler": "mindspore.profiler.profiler"}),
    "mindspore.rewrite.api.node_type": Entry({"NodeType": "mindspore.rewrite.values"}),
    "mindspore.rewrite.api.scoped_value": Entry(held_by("mindspore.rewrite.values", "ScopedValue ValueType")),
    "mindspore.train._utils": Entry(
        {
            "_make_directory": "mindspore.train.callback._checkpoint:make_directory",
            "check_value_type": _PRIVATE,
            **held_by("mindspore._compat.redundancy", "get_parameter_redundancy remove_param_redundancy"),
        }
    ),
    "mindspore.common.dtype": Entry(unlisted={"typing": "mindspore._c_expression.typing"}),
    "mindspore.train.train_thor.dataset_helper": Entry(search=("mindspore.train.dataset_helper",)),
    "mindspore.train.train_thor": Entry(held_by("mindspore.train.thor", "ConvertModelUtils ConvertNetUtils")),
}

#: attributes of classes: module, class, name, and where the function, property or value is
MEMBERS: dict[str, dict[str, dict[str, str]]] = {
    "mindspore.common.tensor": {"Tensor": {"_make_subclass": f"{_PRIVATE}:_make_subclass"}},
    "mindspore.nn.cell": {"Cell": {"_update_local_parameters_name": f"{_LAYERS}:update_local_parameters_name"}},
    "mindspore.nn.layer.basic": {"Dense": {"shape_op": f"{_LAYERS}:dense_shape_op"}},
    "mindspore.nn.layer.normalization": {"GroupNorm": {"_cal_output": f"{_LAYERS}:group_norm_output"}},
    "mindspore.nn.optim.adam": {"Adam": {"_apply_adam": f"{_LAYERS}:apply_adam"}},
    "mindspore.nn.loss_scaling": {
        "TrainOneStepWithLossScaleCell": {"use_graceful_exit": f"{_LAYERS}:use_graceful_exit"}
    },
}
