"""The transformer API of MindSpore 1.x: layers that know their batch and length, with masks and incremental prediction.

`mindspore.nn.TransformerEncoder` and its like are the newer API; these stand in `mindspore.nn.transformer`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.common.initializer import initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn import checks
from mindspore.nn.cell import Cell
from mindspore.nn.containers import CellList
from mindspore.nn.transformer.attention import MultiHeadAttention
from mindspore.nn.transformer.feed_forward import FeedForward
from mindspore.nn.transformer.layers import _LayerNorm
from mindspore.nn.transformer.moe import MoE, MoEConfig, default_moe_config
from mindspore.nn.transformer.op_parallel_config import (
    EmbeddingOpParallelConfig,
    TransformerOpParallelConfig,
    TransformerRecomputeConfig,
    default_dpmp_config,
    default_embedding_parallel_config,
    default_transformer_config,
)

__all__ = [
    "AttentionMask", "EmbeddingOpParallelConfig", "FeedForward", "MultiHeadAttention", "Transformer", "TransformerDecoder",
    "TransformerDecoderLayer", "TransformerEncoder", "TransformerEncoderLayer", "TransformerOpParallelConfig",
    "TransformerRecomputeConfig", "VocabEmbedding",
]  # fmt: skip


class AttentionMask(Cell):
    """From (batch, length) with 1 at real tokens: 1 where a token may look, which is not at padding nor ahead.

    Examples:
        >>> import mindspore as ms
        >>> mask = ms.nn.transformer.AttentionMask(3)
        >>> mask(ms.Tensor([[1.0, 1.0, 0.0]])).asnumpy().tolist()
        [[[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]]
    """

    def __init__(self, seq_length: int, parallel_config: Any = default_dpmp_config):
        super().__init__()
        if not isinstance(seq_length, int) or seq_length <= 0:
            raise ValueError(f"For 'AttentionMask', 'seq_length' must be a positive int, but got {seq_length!r}.")
        self.seq_length = seq_length
        self.lower_triangle_mask = Tensor(np.tril(np.ones((seq_length, seq_length))), mstype.float32)

    def construct(self, input_mask: Any) -> Any:
        mask = ops.cast(ops.not_equal(input_mask, 0), mstype.float16)
        both = ops.expand_dims(mask, 2) * ops.expand_dims(mask, 1)
        return both * self.lower_triangle_mask


class VocabEmbedding(Cell):
    """Token embeddings; gives (embeddings, the table)."""

    def __init__(
        self, vocab_size: int, embedding_size: int, parallel_config: Any = default_embedding_parallel_config,
        param_init: Any = "normal",
    ):  # fmt: skip
        super().__init__()
        self.vocab_size, self.embedding_size = vocab_size, embedding_size
        table = initializer(param_init, (vocab_size, embedding_size), mstype.float32)
        self.embedding_table = Parameter(table, name="embedding_table")

    def construct(self, input_ids: Tensor) -> Any:
        return ops.gather(self.embedding_table, input_ids, 0), self.embedding_table


class _Layer(Cell):
    """What encoder and decoder layers share: self-attention with a memory, the feed-forward part, residuals."""

    def __init__(
        self, batch_size: Any, hidden_size: int, ffn_hidden_size: int, num_heads: int, seq_length: int,
        rates: tuple[float, float], post_layernorm_residual: bool, types: tuple, hidden_act: Any, use_past: bool,
        moe_config: MoEConfig,
    ):  # fmt: skip
        super().__init__()
        attention_rate, hidden_rate = rates
        layernorm_type, softmax_type, param_type = types
        self.use_past, self.post_layernorm_residual = use_past, post_layernorm_residual
        self.hidden_size, self.use_moe, self.dtype = hidden_size, moe_config.expert_num > 1, mstype.float16
        self.layernorm1 = _LayerNorm((hidden_size,), param_init_type=layernorm_type)
        self.layernorm2 = _LayerNorm((hidden_size,), param_init_type=layernorm_type)
        self.attention = MultiHeadAttention(
            batch_size, seq_length, seq_length, hidden_size, num_heads, hidden_rate, attention_rate,
            softmax_compute_type=softmax_type, param_init_type=param_type, use_past=use_past,
        )  # fmt: skip
        if self.use_moe:
            self.output: Cell = MoE(hidden_size, ffn_hidden_size, hidden_rate, hidden_act, param_type, moe_config)
        else:
            self.output = FeedForward(hidden_size, ffn_hidden_size, hidden_rate, hidden_act, param_init_type=param_type)
        self.key_past = self.value_past = None
        if use_past:
            depth = hidden_size // num_heads
            keys, values = (batch_size, num_heads, depth, seq_length), (batch_size, num_heads, seq_length, depth)
            self.key_past = Parameter(Tensor(np.zeros(keys), self.dtype), name="key_past", requires_grad=False)
            self.value_past = Parameter(Tensor(np.zeros(values), self.dtype), name="value_past", requires_grad=False)

    def self_attend(self, x: Any, mask: Any, init_reset: Any, batch_valid_length: Any) -> Any:
        """The residual stream after self-attention, and the keys and values."""
        normed = ops.cast(self.layernorm1(x), self.dtype)
        if self.use_past:
            keep = ops.cast(init_reset, self.dtype)
            ops.assign(self.key_past, self.key_past * keep)
            ops.assign(self.value_past, self.value_past * keep)
        out, present = self.attention(normed, normed, normed, mask, self.key_past, self.value_past, batch_valid_length)
        if self.use_past:
            ops.assign(self.key_past, present[0])
            ops.assign(self.value_past, present[1])
        return (normed if self.post_layernorm_residual else x) + out, present

    def feed_forward(self, x: Any) -> Any:
        """The residual stream after the feed-forward part, and the balance loss of experts."""
        normed = ops.cast(self.layernorm2(x), self.dtype)
        balance = None
        if self.use_moe:
            out, balance = self.output(normed)
        else:
            out = self.output(normed)
        return (normed if self.post_layernorm_residual else x) + out, balance


class TransformerEncoderLayer(_Layer):
    """Self-attention and a feed-forward network; gives (output, (keys, values)), with experts the balance loss too."""

    def __init__(
        self, batch_size: Any, hidden_size: int, ffn_hidden_size: int, num_heads: int, seq_length: int,
        attention_dropout_rate: float = 0.1, hidden_dropout_rate: float = 0.1, post_layernorm_residual: bool = False,
        layernorm_compute_type: Any = mstype.float32, softmax_compute_type: Any = mstype.float32,
        param_init_type: Any = mstype.float32, hidden_act: Any = "gelu", use_past: bool = False,
        moe_config: MoEConfig = default_moe_config, parallel_config: Any = default_dpmp_config,
    ):  # fmt: skip
        super().__init__(
            batch_size, hidden_size, ffn_hidden_size, num_heads, seq_length,
            (attention_dropout_rate, hidden_dropout_rate), post_layernorm_residual,
            (layernorm_compute_type, softmax_compute_type, param_init_type), hidden_act, use_past, moe_config,
        )  # fmt: skip

    def construct(
        self, x: Tensor, input_mask: Any = None, init_reset: Any = True, batch_valid_length: Any = None
    ) -> Any:
        x, present = self.self_attend(x, input_mask, init_reset, batch_valid_length)
        out, balance = self.feed_forward(x)
        if self.use_moe:
            return out, present, balance
        return out, present


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to the encoder's output if there is one, and a feed-forward network."""

    def __init__(
        self, hidden_size: int, ffn_hidden_size: int, num_heads: int, batch_size: Any, src_seq_length: int,
        tgt_seq_length: int, attention_dropout_rate: float = 0.1, hidden_dropout_rate: float = 0.1,
        post_layernorm_residual: bool = False, use_past: bool = False, layernorm_compute_type: Any = mstype.float32,
        softmax_compute_type: Any = mstype.float32, param_init_type: Any = mstype.float32, hidden_act: Any = "gelu",
        moe_config: MoEConfig = default_moe_config, parallel_config: Any = default_dpmp_config,
    ):  # fmt: skip
        super().__init__(
            batch_size, hidden_size, ffn_hidden_size, num_heads, tgt_seq_length,
            (attention_dropout_rate, hidden_dropout_rate), post_layernorm_residual,
            (layernorm_compute_type, softmax_compute_type, param_init_type), hidden_act, use_past, moe_config,
        )  # fmt: skip
        self.cross_attention = MultiHeadAttention(
            batch_size, tgt_seq_length, src_seq_length, hidden_size, num_heads, hidden_dropout_rate,
            attention_dropout_rate, softmax_compute_type=softmax_compute_type, param_init_type=param_init_type,
        )  # fmt: skip
        self.cross_attention_layernorm = _LayerNorm((hidden_size,), param_init_type=layernorm_compute_type)

    def construct(
        self, hidden_stats: Any, decoder_mask: Any, encoder_output: Any = None, memory_mask: Any = None,
        init_reset: Any = True, batch_valid_length: Any = None,
    ) -> Any:  # fmt: skip
        x, present = self.self_attend(hidden_stats, decoder_mask, init_reset, batch_valid_length)
        if encoder_output is not None:
            middle = ops.cast(self.cross_attention_layernorm(x), self.dtype)
            memory = ops.cast(encoder_output, self.dtype)
            out, cross = self.cross_attention(middle, memory, memory, memory_mask)
            present = present + cross
            x = (middle if self.post_layernorm_residual else x) + out
        out, balance = self.feed_forward(x)
        if self.use_moe:
            return out, present, balance
        return out, present


def _get_lambda_func(total_layer: int | None = None) -> Callable:
    """What is done to each layer of a stack: recomputation, if the configuration says so."""

    def place(network: Cell, layer_id: int, offset: int, parallel_config: Any, layers: int) -> None:
        wish = parallel_config.recompute
        if wish if isinstance(wish, bool) else wish.recompute:
            network.recompute()

    return place


class _Stack(Cell):
    """Layers one after the other."""

    def __init__(self, layers: list[Cell], lambda_func: Any, offset: int, parallel_config: Any, use_moe: bool):
        super().__init__()
        self.blocks, self.num_layers, self.use_moe = CellList(layers), len(layers), use_moe
        for i, layer in enumerate(layers):
            (lambda_func or _get_lambda_func())(
                layer, layer_id=i, offset=offset, parallel_config=parallel_config, layers=len(layers)
            )

    def run(self, hidden: Any, *others: Any) -> Any:
        """(output, the layers' keys and values), with experts the sum of their balance losses too."""
        presents: tuple = ()
        total = None
        for i in range(self.num_layers):
            if self.use_moe:
                hidden, present, balance = self.blocks[i](hidden, *others)
                total = balance if total is None else total + balance
            else:
                hidden, present = self.blocks[i](hidden, *others)
            presents = presents + (present,)
        if self.use_moe:
            return hidden, presents, total
        return hidden, presents


class TransformerEncoder(_Stack):
    """A stack of encoder layers."""

    def __init__(
        self, batch_size: Any, num_layers: int, hidden_size: int, ffn_hidden_size: int, seq_length: int, num_heads: int,
        attention_dropout_rate: float = 0.1, hidden_dropout_rate: float = 0.1, hidden_act: Any = "gelu",
        post_layernorm_residual: bool = False, layernorm_compute_type: Any = mstype.float32,
        softmax_compute_type: Any = mstype.float32, param_init_type: Any = mstype.float32, lambda_func: Any = None,
        offset: int = 0, use_past: bool = False, moe_config: MoEConfig = default_moe_config,
        parallel_config: Any = default_transformer_config,
    ):  # fmt: skip
        layers: list[Cell] = [
            TransformerEncoderLayer(
                batch_size, hidden_size, ffn_hidden_size, num_heads, seq_length, attention_dropout_rate,
                hidden_dropout_rate, post_layernorm_residual, layernorm_compute_type, softmax_compute_type,
                param_init_type, hidden_act, use_past, moe_config,
            )
            for _ in range(checks.height(type(self).__name__, "num_layers", num_layers))
        ]  # fmt: skip
        super().__init__(layers, lambda_func, offset, parallel_config, moe_config.expert_num > 1)

    def construct(
        self, hidden_states: Tensor, attention_mask: Any, init_reset: Any = True, batch_valid_length: Any = None
    ) -> Any:
        return self.run(hidden_states, attention_mask, init_reset, batch_valid_length)


class TransformerDecoder(_Stack):
    """A stack of decoder layers."""

    def __init__(
        self, num_layers: int, batch_size: Any, hidden_size: int, ffn_hidden_size: int, src_seq_length: int,
        tgt_seq_length: int, num_heads: int, attention_dropout_rate: float = 0.1, hidden_dropout_rate: float = 0.1,
        post_layernorm_residual: bool = False, layernorm_compute_type: Any = mstype.float32,
        softmax_compute_type: Any = mstype.float32, param_init_type: Any = mstype.float32, hidden_act: Any = "gelu",
        lambda_func: Any = None, use_past: bool = False, offset: int = 0, moe_config: MoEConfig = default_moe_config,
        parallel_config: Any = default_transformer_config,
    ):  # fmt: skip
        layers: list[Cell] = [
            TransformerDecoderLayer(
                hidden_size, ffn_hidden_size, num_heads, batch_size, src_seq_length, tgt_seq_length,
                attention_dropout_rate, hidden_dropout_rate, post_layernorm_residual, use_past, layernorm_compute_type,
                softmax_compute_type, param_init_type, hidden_act, moe_config,
            )
            for _ in range(checks.height(type(self).__name__, "num_layers", num_layers))
        ]  # fmt: skip
        super().__init__(layers, lambda_func, offset, parallel_config, moe_config.expert_num > 1)

    def construct(
        self, hidden_states: Tensor, attention_mask: Any, encoder_output: Any = None, memory_mask: Any = None,
        init_reset: Any = True, batch_valid_length: Any = None,
    ) -> Any:  # fmt: skip
        return self.run(hidden_states, attention_mask, encoder_output, memory_mask, init_reset, batch_valid_length)


class Transformer(Cell):
    """Encoder and decoder, either of which may be left out by 0 layers; gives (output, encoder's and decoder's memory)."""

    def __init__(
        self, hidden_size: int, batch_size: Any, ffn_hidden_size: int, src_seq_length: int, tgt_seq_length: int,
        encoder_layers: int = 3, decoder_layers: int = 3, num_heads: int = 2, attention_dropout_rate: float = 0.1,
        hidden_dropout_rate: float = 0.1, hidden_act: Any = "gelu", post_layernorm_residual: bool = False,
        layernorm_compute_type: Any = mstype.float32, softmax_compute_type: Any = mstype.float32,
        param_init_type: Any = mstype.float32, lambda_func: Any = None, use_past: bool = False,
        moe_config: MoEConfig = default_moe_config, parallel_config: Any = default_transformer_config,
    ):  # fmt: skip
        super().__init__()
        if encoder_layers <= 0 < decoder_layers:
            raise ValueError("For 'Transformer', a decoder needs an encoder: 'encoder_layers' must be positive.")
        if encoder_layers > 0 and decoder_layers > 0 and use_past:
            raise ValueError("For 'Transformer', 'use_past' must be False when there are an encoder and a decoder.")
        options: dict[str, Any] = {
            "attention_dropout_rate": attention_dropout_rate, "hidden_dropout_rate": hidden_dropout_rate,
            "hidden_act": hidden_act, "post_layernorm_residual": post_layernorm_residual,
            "layernorm_compute_type": layernorm_compute_type, "softmax_compute_type": softmax_compute_type,
            "param_init_type": param_init_type, "lambda_func": lambda_func, "use_past": use_past,
            "moe_config": moe_config, "parallel_config": parallel_config,
        }  # fmt: skip
        self.use_moe = moe_config.expert_num > 1
        self.encoder = self.decoder = None
        if encoder_layers > 0:
            self.encoder = TransformerEncoder(
                batch_size, encoder_layers, hidden_size, ffn_hidden_size, src_seq_length, num_heads, **options
            )
        if decoder_layers > 0:
            self.decoder = TransformerDecoder(
                decoder_layers, batch_size, hidden_size, ffn_hidden_size, src_seq_length, tgt_seq_length, num_heads,
                offset=encoder_layers, **options,
            )  # fmt: skip

    def construct(
        self, encoder_inputs: Any, encoder_masks: Any, decoder_inputs: Any = None, decoder_masks: Any = None,
        memory_mask: Any = None, init_reset: Any = True, batch_valid_length: Any = None,
    ) -> Any:  # fmt: skip
        if self.encoder is None:
            raise ValueError("For 'Transformer', there is neither an encoder nor a decoder.")
        encoded = self.encoder(encoder_inputs, encoder_masks, init_reset, batch_valid_length)
        output, decoder_present, losses = encoded[0], None, encoded[2:]
        if self.decoder is not None:
            decoded = self.decoder(decoder_inputs, decoder_masks, output, memory_mask, init_reset, batch_valid_length)
            output, decoder_present, losses = decoded[0], decoded[1], losses + decoded[2:]
        if self.use_moe:
            return output, encoded[1], decoder_present, ops.addn(losses)
        return output, encoded[1], decoder_present
