"""Official paths of everything but operations and data sets."""

from __future__ import annotations

from mindspore._compat.tables.entry import Entry, held_by

SAME = {
    "mindspore._c_expression": "mindspore._compat.c_expression",
    "mindspore._c_expression.amp": "mindspore._compat.c_expression.amp",
    "mindspore._c_expression.typing": "mindspore._compat.c_expression.typing",
    "mindspore._checkparam": "mindspore._compat.checkparam",
    "mindspore._checkparam.basic": "mindspore._compat.checkparam.basic",
    "mindspore._checkparam.dtypes": "mindspore._compat.checkparam.dtypes",
    "mindspore._checkparam.shapes": "mindspore._compat.checkparam.shapes",
    "mindspore._extends": "mindspore._compat.extends",
    "mindspore.common._decorator": "mindspore._compat.deprecation",
    "mindspore.common._register_for_tensor": "mindspore._compat.registry",
    "mindspore.common._utils": "mindspore._compat.unknown_shapes",
    "mindspore.common.executors": "mindspore._compat.executors",
    "mindspore.nn.metrics": "mindspore.train.metrics",
    "mindspore.parallel._transformer": "mindspore.nn.transformer",
    "mindspore.parallel._transformer.layers": "mindspore.nn.transformer.layers",
    "mindspore.parallel._transformer.loss": "mindspore.nn.transformer.loss",
    "mindspore.parallel._transformer.moe": "mindspore.nn.transformer.moe",
    "mindspore.parallel._transformer.op_parallel_config": "mindspore.nn.transformer.op_parallel_config",
    "mindspore.parallel._transformer.transformer": "mindspore.nn.transformer.transformer",
    "mindspore.parallel.nn.transformer": "mindspore.nn.transformer",
    "mindspore.mint.distributed.distributed": "mindspore.mint.distributed",
}

HELD = {
    "mindspore.common.api": Entry(held_by("mindspore._compat.executors", "_cell_graph_executor _pynative_executor")),
    "mindspore.common.generator": Entry(
        held_by(
            "mindspore.common.random",
            "Generator default_generator get_rng_state initial_seed manual_seed seed set_rng_state",
        )
    ),
    "mindspore.common.jit_config": Entry({"JitConfig": "mindspore.common.api"}),
    "mindspore.common.np_dtype": Entry(search=("mindspore._compat.numpy_types",)),
    "mindspore.common.seed": Entry(held_by("mindspore.common.random", "get_seed set_seed")),
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
    "mindspore.nn.layer.container": Entry(held_by("mindspore.nn.containers", "CellDict CellList SequentialCell")),
    "mindspore.nn.wrap.cell_wrapper": Entry(
        unlisted=held_by("mindspore.nn.wrap.micro_batches", "GradAccumulationCell MicroBatchInterleaved PipelineCell")
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
    "mindspore.train._utils": Entry({"_make_directory": "mindspore.train.callback._checkpoint:make_directory"}),
    "mindspore.train.train_thor": Entry(held_by("mindspore.train.thor", "ConvertModelUtils ConvertNetUtils")),
}
