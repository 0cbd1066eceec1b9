"""Official paths of the operations.

Official modules hold operations by history: a script may import any of them from any of these paths, so all are found in
each (`mindspore._compat.operators` says how).
"""

from __future__ import annotations

from mindspore._compat.tables.entry import Entry, held_by

_ANY = Entry(search=("mindspore._compat.operators",))
_OLDER, _OFFICIAL = "mindspore._compat.older_functions", "mindspore._compat.official_functions"
_DISTRIBUTED = "mindspore.mint.distributed"

#: paths without a file
_DOORS = (
    "auto_generate", "auto_generate.gen_ops_def", "auto_generate.gen_ops_prim", "auto_generate.gen_arg_handler",
    "auto_generate.pyboost_inner_prim", "communication", "composite.base", "composite.math_ops",
    "composite.multitype_ops", "composite.multitype_ops.zeros_like_impl",
    "_grad", "_grad_experimental", "function", "function.array_func", "function.clip_func",
    "function.debug_func", "function.fft_func", "function.image_func", "function.linalg_func", "function.math_func",
    "function.nn_func", "function.other_func", "function.parameter_func", "function.random_func",
    "function.comm_func", "function.sparse_func", "function.sparse_unary_func", "function.spectral_func", "functional_overload",
    "operations._embedding_cache_ops", "operations._scalar_ops", "operations._thor_ops", "operations.reshard_ops",
    "operations._grad_ops", "operations._inner_ops",
    "operations._quant_ops", "operations._rl_inner_ops",
    "operations._csr_ops", "operations._infer_ops", "operations._map_tensor_ops", "operations._sequence_ops",
    "operations.custom_ops", "operations.deprecated_ops", "operations.rare_ops", "operations.debug_ops",
    "operations.inner_ops", "operations.manually_defined", "operations.other_ops", "operations.spectral_ops",
    "operations.manually_defined.ops_def",
)  # fmt: skip
#: files that hold a part of what is imported from them
_FILES = (
    "composite", "operations", "operations.array_ops", "operations.comm_ops", "operations.image_ops",
    "operations.linalg_ops", "operations.math_ops", "operations.nn_ops", "operations.random_ops", "operations.sparse_ops",
)  # fmt: skip

SAME = {
    "mindspore.ops.function.grad.grad_func": "mindspore.ops.derivatives",
    "mindspore.ops.op_info_register": "mindspore.ops.op_info",
    "mindspore.ops._grad.grad_base": "mindspore.ops._grad_experimental.grad_base",
}

HELD = {
    **{f"mindspore.ops.function.{name}": _ANY for name in ("_add_attr_func", "reshard_func", "vmap_func")},
    "mindspore.ops._utils": Entry({"get_broadcast_shape": "mindspore._compat.private_helpers"}),
    "mindspore.ops._utils.utils": Entry({"get_broadcast_shape": "mindspore._compat.private_helpers"}),
    "mindspore.ops.derivatives": Entry(
        unlisted=held_by("mindspore.ops", "derivative jet stop_gradient stop_gradient_")
    ),
    **{f"mindspore.ops.{path}": _ANY for path in (*_DOORS, *_FILES)},
    **{
        f"mindspore.ops.{path}": Entry({"reduce": _DISTRIBUTED}, search=_ANY.search)
        for path in ("communication", "function.comm_func")
    },
    "mindspore.ops.function.random_func": Entry(
        held_by("mindspore._compat.private_helpers", "_get_seed _set_prim_op_user_data"), search=_ANY.search
    ),
    "mindspore.ops.operations._sequence_ops": Entry(
        search=("mindspore._compat.sequences", "mindspore._compat.operators")
    ),
    "mindspore.ops.auto_generate.gen_ops_def": Entry(
        {"apply_rotary_pos_emb_": "mindspore.ops.operations.sequence_ops"}, search=("mindspore._compat.operators",)
    ),
    "mindspore.ops.auto_generate": Entry(
        {
            "str_to_enum": "mindspore._compat.private_helpers",
            "SequenceConcat": "mindspore._compat.sequences",
        },
        search=("mindspore._compat.operators",),
    ),
    "mindspore.ops.composite.multitype_ops._compile_utils": Entry(
        unlisted=held_by(
            "mindspore._compat.private_helpers",
            "_tensor_getitem _tensor_getitem_origin _tensor_setitem _tensor_setitem_origin",
        )
    ),
    "mindspore.ops.auto_generate.gen_ops_prim": Entry(
        {"Generator": "mindspore._compat.generator_op", "SequenceConcat": "mindspore._compat.sequences"},
        search=("mindspore._compat.operators",),
    ),
    "mindspore.ops.operations._inner_ops": Entry(
        {
            "GlobalComm": "mindspore.communication",
            "Generator": "mindspore._compat.generator_op",
            **held_by(
                "mindspore._compat.dynamic_shapes",
                "ConvertToDynamic DynamicBroadcastTo ErrorOnDynamicShapeInput GpuConvertToDynamicShape",
            ),
        },
        search=("mindspore._compat.operators",),
    ),
    "mindspore.ops.function.grad": Entry(search=("mindspore.ops.derivatives", "mindspore._compat.operators")),
    "mindspore.ops._grad_experimental.grad_base": Entry({"bprop_getters": "mindspore._compat.registry"}),
    "mindspore.ops._grad_experimental.grad_comm_ops": Entry(
        {"get_squared_device_local_norm_param": "mindspore._compat.private_helpers"},
        search=("mindspore._compat.operators",),
    ),
    "mindspore.ops.nn_embedding": Entry(search=("mindspore.ops.embeddings", "mindspore.ops.ctc")),
    "mindspore.ops.functional": Entry(
        held_by(
            "mindspore.common.mutable",
            "is_dynamic_sequence_element_unknown is_sequence_shape_unknown is_sequence_value_unknown",
        ),
        search=("mindspore._compat.operators",),
    ),
    "mindspore.ops": Entry(
        {
            **held_by(
                _OLDER,
                "baddbmm_ext bernoulli_ clamp_ control_depend coo2csr coo_tensor_get_dense_shape coo_tensor_get_indices "
                "coo_tensor_get_values csr2coo csr_tensor_get_dense_shape csr_tensor_get_indices csr_tensor_get_indptr "
                "csr_tensor_get_values diff_ext einsum_ext erfinv_ exponential_ float_power_ext floordiv floormod "
                "inplace_sigmoid isnan_ext merge move_to neg_tensor normal_ pows print_ put_ random_ "
                "row_tensor_get_dense_shape row_tensor_get_indices row_tensor_get_values stop_gradient_ tanh_ tensor_add "
                "tensordump tensor_div tensor_exp tensor_expm1 tensor_floordiv tensor_ge tensor_gt tensor_le tensor_lt "
                "tensor_mod tensor_mul tensor_muls tensor_pow tensor_range tensor_slice tensor_sub tuple_div uniform_ "
                "zero_",
            ),
            **held_by(
                _OFFICIAL,
                "array_to_scalar augassign_add augassign_div augassign_floordiv augassign_mod augassign_mul augassign_sub "
                "all_gather_matmul broadcast_gradient_args getitem hyper_add in_ left_shift make_row_tensor_inner matmul_reduce_scatter "
                "not_in_ reshape_ right_shift row_tensor_add set_comm_ops_inplace setitem switch switch_layer uadd",
            ),
            "tensor_operator_registry": "mindspore._compat.registry",
        },
        search=("mindspore._compat.mint_variants",),
        unlisted={
            **held_by(
                _DISTRIBUTED,
                "P2POp TCPStore all_gather all_gather_into_tensor all_gather_into_tensor_uneven all_gather_object "
                "all_reduce all_to_all all_to_all_single barrier batch_isend_irecv broadcast broadcast_object_list "
                "destroy_process_group gather_object get_backend get_global_rank get_group_rank "
                "get_process_group_ranks get_rank get_world_size init_process_group irecv is_available is_initialized "
                "isend new_group recv recv_object_list reduce_scatter reduce_scatter_tensor reduce_scatter_tensor_uneven "
                "scatter_object_list send send_object_list",
            ),
            **held_by("mindspore.mint.distributed.tensors", "gather_into_tensor scatter_tensor"),
            "all_to_all_v_c": "mindspore.communication.comm_func",
            "_add_attr": "mindspore._compat.private_helpers",
            "get_vm_impl_fn": "mindspore._compat.registry",
            "reshard": "mindspore.parallel.function",
        },
    ),
}
