"""Paths of earlier versions of this package whose modules have moved."""

from __future__ import annotations

_OPS = {
    "function._common": "arguments", "function.colour": "colour", "function.comparison": "comparison",
    "function.creation": "creation", "function.detection": "detection", "function.elementwise": "elementwise",
    "function.fft": "fourier", "function.gather_scatter": "gather_scatter", "function.joining": "joining",
    "function.linalg": "linalg", "function.older_calls": "older_calls", "function.other": "python_values",
    "function.product": "product", "function.random": "random", "function.reduce": "reduction",
    "function.shape": "reshaping", "function.sorting": "sorting", "function.sparse": "sparse",
    "function.sparse_structure": "sparse_structure", "function.special": "special", "nn_activation": "activation",
    "nn_attention": "attention", "nn_cache": "kv_cache", "nn_conv": "conv", "nn_deformable": "deformable",
    "nn_dropout": "dropouts", "nn_experts": "experts", "nn_fractional": "fractional_pooling", "nn_func": "functional",
    "nn_image": "image", "nn_loss": "loss", "nn_norm": "normalization", "nn_pooling": "pooling",
    "nn_rotated": "rotated_boxes", "nn_sparse_attention": "sparse_attention", "rnnt": "transducer_loss",
    "separable": "resampling", "state_func": "assignment",
}  # fmt: skip

_FORMATS = {
    "ir.graph_messages": "events.graph_messages", "ir.graph_record": "events.graph_record", "ir.mindir_flow": "mindir.flow",
    "ir.mindir_program": "mindir.program", "ir.mindir_proto": "mindir.messages", "ir.mindir_values": "mindir.values",
    "ir.mindir_writer": "mindir.writer", "train.cipher": "encryption",
}  # fmt: skip

SAME = {
    **{f"mindspore.{old}": f"mindspore.formats.{new}" for old, new in _FORMATS.items()},
    "mindspore.common.symbolic": "mindspore.prims.symbolic",
    "mindspore.mindrecord.crc32c": "mindspore._base.crc32c",
    **{f"mindspore.ops.{old}": f"mindspore.ops.{new}" for old, new in _OPS.items()},
    "mindspore.nn.rate_checks": "mindspore.nn.checks",
    "mindspore.ops.attention_parts": "mindspore._compat.attention_parts",
    "mindspore.ops.compatibility": "mindspore._compat.official_functions",
    "mindspore.ops.indexing": "mindspore.prims.indexing",
    "mindspore.ops.legacy_names": "mindspore._compat.older_functions",
    "mindspore.ops.paths": "mindspore._compat.operators",
}
