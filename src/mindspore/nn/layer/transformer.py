"""Multi-head attention and the Transformer (Vaswani et al. 2017)."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.common.initializer import HeUniform, XavierNormal, XavierUniform, Zero, initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn import checks
from mindspore.nn.cell import Cell
from mindspore.nn.containers import CellList
from mindspore.nn.layer.activation import GELU, ReLU
from mindspore.nn.layer.basic import Dense
from mindspore.nn.layer.dropout import Dropout
from mindspore.nn.layer.normalization import LayerNorm
from mindspore.ops.attention import multi_head_attention_forward

__all__ = [
    "MultiheadAttention", "Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder",
    "TransformerEncoderLayer",
]  # fmt: skip


class MultiheadAttention(Cell):
    """Several attentions side by side over parts of the features.

    Inputs are (length, batch, size), or (batch, length, size) with `batch_first`. Masks are true where a key must not
    be attended to. Returns the output and, if `need_weights`, the attention weights.

    Examples:
        >>> import mindspore as ms, numpy as np
        >>> x = ms.Tensor(np.ones((4, 2, 16), np.float32))
        >>> out, weights = ms.nn.MultiheadAttention(16, 4)(x, x, x)
        >>> out.shape, weights.shape
        ((4, 2, 16), (2, 4, 4))
    """

    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, has_bias: bool = True, add_bias_kv: bool = False,
        add_zero_attn: bool = False, kdim: int | None = None, vdim: int | None = None, batch_first: bool = False,
        dtype: Any = mstype.float32,
    ):  # fmt: skip
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(
                f"The init argument 'embed_dim' must be divisible by 'num_heads', got {embed_dim}, {num_heads}."
            )
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.kdim, self.vdim = kdim or embed_dim, vdim or embed_dim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.dropout, self.batch_first, self.add_zero_attn, self.dtype = dropout, batch_first, add_zero_attn, dtype

        def weight(init: Any, shape: tuple, name: str) -> Parameter:
            return Parameter(initializer(init, shape, dtype), name=name)

        self.in_proj_weight = self.q_proj_weight = self.k_proj_weight = self.v_proj_weight = None
        if self._qkv_same_embed_dim:
            self.in_proj_weight = weight(XavierUniform(), (3 * embed_dim, embed_dim), "in_proj_weight")
        else:
            self.q_proj_weight = weight(XavierUniform(), (embed_dim, embed_dim), "q_proj_weight")
            self.k_proj_weight = weight(XavierUniform(), (embed_dim, self.kdim), "k_proj_weight")
            self.v_proj_weight = weight(XavierUniform(), (embed_dim, self.vdim), "v_proj_weight")
        self.in_proj_bias = weight(Zero(), (3 * embed_dim,), "in_proj_bias") if has_bias else None
        self.out_proj = Dense(embed_dim, embed_dim, has_bias=has_bias, weight_init=HeUniform(5**0.5), dtype=dtype)
        self.bias_k = weight(XavierNormal(), (1, 1, embed_dim), "bias_k") if add_bias_kv else None
        self.bias_v = weight(XavierNormal(), (1, 1, embed_dim), "bias_v") if add_bias_kv else None

    def construct(
        self, query: Tensor, key: Tensor, value: Any, key_padding_mask: Any = None, need_weights: bool = True,
        attn_mask: Any = None, average_attn_weights: bool = True,
    ) -> Any:  # fmt: skip
        return self.run(query, key, value, key_padding_mask, need_weights, attn_mask, average_attn_weights)

    def run(
        self, query: Any, key: Any, value: Any, padding: Any, need_weights: bool, attn_mask: Any, average: bool
    ) -> tuple:
        """The computation, for inputs with and without a batch."""
        batched = query.ndim == 3
        if not batched:
            query, key, value = (ops.expand_dims(x, 1) for x in (query, key, value))
        elif self.batch_first:
            query, key, value = (ops.transpose(x, (1, 0, 2)) for x in (query, key, value))
        out, weights = multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias, self.bias_k,
            self.bias_v, self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias, self.training,
            padding, attn_mask, not self._qkv_same_embed_dim, self.q_proj_weight, self.k_proj_weight,
            self.v_proj_weight, average_attn_weights=average, need_weights=need_weights,
        )  # fmt: skip
        if not batched:
            out = ops.squeeze(out, 1)
            weights = None if weights is None else ops.squeeze(weights, 0)
        elif self.batch_first:
            out = ops.transpose(out, (1, 0, 2))
        return (out, weights) if need_weights else (out,)


def _activation(value: Any) -> Any:
    if isinstance(value, str):
        if value not in ("relu", "gelu"):
            raise ValueError(f"The activation must be 'relu' or 'gelu', but got {value!r}.")
        return ops.relu if value == "relu" else ops.gelu
    if not callable(value):
        raise ValueError(f"The argument 'activation' must be str, callable or Cell, but got {value!r}.")
    return (
        ops.relu
        if isinstance(value, ReLU)
        else ops.gelu
        if isinstance(value, GELU) and not value.approximate
        else value
    )


class TransformerEncoderLayer(Cell):
    """Self-attention and a feed-forward network, each with a residual connection and layer normalisation.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.TransformerEncoderLayer(d_model=8, nhead=2, dim_feedforward=16)(Tensor(np.ones((5, 1, 8), np.float32))).shape
        (5, 1, 8)
    """

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1, activation: Any = "relu",
        layer_norm_eps: float = 1e-5, batch_first: bool = False, norm_first: bool = False, dtype: Any = mstype.float32,
    ):  # fmt: skip
        super().__init__()
        self.self_attn = MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=batch_first, dtype=dtype)
        self.dense1 = Dense(d_model, dim_feedforward, dtype=dtype)
        self.dropout = Dropout(p=dropout)
        self.dense2 = Dense(dim_feedforward, d_model, dtype=dtype)
        self.norm_first = norm_first
        self.norm1 = LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype)
        self.norm2 = LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype)
        self.dropout1 = Dropout(p=dropout)
        self.dropout2 = Dropout(p=dropout)
        self.activation = _activation(activation)

    def construct(self, src: Any, src_mask: Any = None, src_key_padding_mask: Any = None) -> Any:
        x = src
        if self.norm_first:
            x = x + self._attend(self.norm1(x), src_mask, src_key_padding_mask)
            x = x + self._feed_forward(self.norm2(x))
        else:
            x = self.norm1(x + self._attend(x, src_mask, src_key_padding_mask))
            x = self.norm2(x + self._feed_forward(x))
        return x

    def _attend(self, x: Any, mask: Any, padding: Any) -> Any:
        out = self.self_attn(x, x, x, attn_mask=mask, key_padding_mask=padding, need_weights=False)[0]
        return self.dropout1(out)

    def _feed_forward(self, x: Any) -> Any:
        return self.dropout2(self.dense2(self.dropout(self.activation(self.dense1(x)))))


class TransformerDecoderLayer(Cell):
    """Self-attention, attention to the encoder's output and a feed-forward network.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> layer = nn.TransformerDecoderLayer(d_model=8, nhead=2, dim_feedforward=16)
        >>> layer(Tensor(np.ones((5, 1, 8), np.float32)), Tensor(np.ones((3, 1, 8), np.float32))).shape
        (5, 1, 8)
    """

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1, activation: Any = "relu",
        layer_norm_eps: float = 1e-5, batch_first: bool = False, norm_first: bool = False, dtype: Any = mstype.float32,
    ):  # fmt: skip
        super().__init__()
        self.self_attn = MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=batch_first, dtype=dtype)
        self.multihead_attn = MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=batch_first, dtype=dtype)
        self.dense1 = Dense(d_model, dim_feedforward, dtype=dtype)
        self.dropout = Dropout(p=dropout)
        self.dense2 = Dense(dim_feedforward, d_model, dtype=dtype)
        self.norm_first = norm_first
        self.norm1 = LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype)
        self.norm2 = LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype)
        self.norm3 = LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype)
        self.dropout1 = Dropout(p=dropout)
        self.dropout2 = Dropout(p=dropout)
        self.dropout3 = Dropout(p=dropout)
        self.activation = _activation(activation)

    def construct(
        self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None, tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
    ) -> Any:  # fmt: skip
        x = tgt
        if self.norm_first:
            x = x + self._self_attend(self.norm1(x), tgt_mask, tgt_key_padding_mask)
            x = x + self._attend(self.norm2(x), memory, memory_mask, memory_key_padding_mask)
            x = x + self._feed_forward(self.norm3(x))
        else:
            x = self.norm1(x + self._self_attend(x, tgt_mask, tgt_key_padding_mask))
            x = self.norm2(x + self._attend(x, memory, memory_mask, memory_key_padding_mask))
            x = self.norm3(x + self._feed_forward(x))
        return x

    def _self_attend(self, x: Any, mask: Any, padding: Any) -> Any:
        out = self.self_attn(x, x, x, attn_mask=mask, key_padding_mask=padding, need_weights=False)[0]
        return self.dropout1(out)

    def _attend(self, x: Any, memory: Any, mask: Any, padding: Any) -> Any:
        out = self.multihead_attn(x, memory, memory, attn_mask=mask, key_padding_mask=padding, need_weights=False)[0]
        return self.dropout2(out)

    def _feed_forward(self, x: Any) -> Any:
        return self.dropout3(self.dense2(self.dropout(self.activation(self.dense1(x)))))


def _copies(owner: Cell, layer: Cell, count: int) -> CellList:
    """Independent copies of a layer."""
    return CellList([copy.deepcopy(layer) for _ in range(checks.height(type(owner).__name__, "num_layers", count))])


class TransformerEncoder(Cell):
    """A stack of encoder layers.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> layer = nn.TransformerEncoderLayer(d_model=8, nhead=2, dim_feedforward=16)
        >>> nn.TransformerEncoder(layer, num_layers=2)(Tensor(np.ones((5, 1, 8), np.float32))).shape
        (5, 1, 8)
    """

    def __init__(self, encoder_layer: Cell, num_layers: int, norm: Any = None):
        super().__init__()
        self.layers = _copies(self, encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def construct(self, src: Any, src_mask: Any = None, src_key_padding_mask: Any = None) -> Any:
        output = src
        for layer in self.layers:
            output = layer(output, src_mask=src_mask, src_key_padding_mask=src_key_padding_mask)
        if self.norm is not None:
            output = self.norm(output)
        return output


class TransformerDecoder(Cell):
    """A stack of decoder layers.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> layer = nn.TransformerDecoderLayer(d_model=8, nhead=2, dim_feedforward=16)
        >>> x = Tensor(np.ones((5, 1, 8), np.float32))
        >>> nn.TransformerDecoder(layer, num_layers=2)(x, x).shape
        (5, 1, 8)
    """

    def __init__(self, decoder_layer: Cell, num_layers: int, norm: Any = None):
        super().__init__()
        self.layers = _copies(self, decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def construct(
        self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None, tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
    ) -> Any:  # fmt: skip
        output = tgt
        for layer in self.layers:
            output = layer(
                output, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
            )  # fmt: skip
        if self.norm is not None:
            output = self.norm(output)
        return output


class Transformer(Cell):
    """Encoder and decoder.

    Examples:
        >>> import mindspore as ms, numpy as np
        >>> net = ms.nn.Transformer(16, 2, 1, 1, 32)
        >>> net(ms.Tensor(np.ones((5, 2, 16), np.float32)), ms.Tensor(np.ones((3, 2, 16), np.float32))).shape
        (3, 2, 16)
    """

    def __init__(
        self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6, num_decoder_layers: int = 6,
        dim_feedforward: int = 2048, dropout: float = 0.1, activation: Any = "relu", custom_encoder: Any = None,
        custom_decoder: Any = None, layer_norm_eps: float = 1e-5, batch_first: bool = False, norm_first: bool = False,
        dtype: Any = mstype.float32,
    ):  # fmt: skip
        super().__init__()
        options = (
            d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, dtype,
        )  # fmt: skip

        def norm() -> LayerNorm:
            return LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype)

        self.encoder = custom_encoder or TransformerEncoder(
            TransformerEncoderLayer(*options), num_encoder_layers, norm()
        )
        self.decoder = custom_decoder or TransformerDecoder(
            TransformerDecoderLayer(*options), num_decoder_layers, norm()
        )
        for param in self.get_parameters():
            if param.ndim > 1:
                param.set_data(initializer("xavier_uniform", param.shape, param.dtype))
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def construct(
        self, src: Tensor, tgt: Tensor, src_mask: Any = None, tgt_mask: Any = None, memory_mask: Any = None,
        src_key_padding_mask: Any = None, tgt_key_padding_mask: Any = None, memory_key_padding_mask: Any = None,
    ) -> Any:  # fmt: skip
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise ValueError(f"For 'Transformer', the inputs must have the size {self.d_model} in the last dimension.")
        memory = self.encoder(src, src_mask=src_mask, src_key_padding_mask=src_key_padding_mask)
        return self.decoder(
            tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
        )  # fmt: skip

    @staticmethod
    def generate_square_subsequent_mask(sz: int) -> Tensor:
        """A mask under which no position attends to later ones."""
        return Tensor(np.triu(np.full((sz, sz), -np.inf, np.float32), 1))
