"""The transformer API of MindSpore 1.x. Façade: re-exports only."""

from mindspore.nn.transformer.loss import CrossEntropyLoss
from mindspore.nn.transformer.moe import MoE, MoEConfig
from mindspore.nn.transformer.op_parallel_config import MoEParallelConfig, OpParallelConfig
from mindspore.nn.transformer.transformer import (
    AttentionMask,
    EmbeddingOpParallelConfig,
    FeedForward,
    MultiHeadAttention,
    Transformer,
    TransformerDecoder,
    TransformerDecoderLayer,
    TransformerEncoder,
    TransformerEncoderLayer,
    TransformerOpParallelConfig,
    TransformerRecomputeConfig,
    VocabEmbedding,
)

__all__ = [
    "AttentionMask", "CrossEntropyLoss", "EmbeddingOpParallelConfig", "FeedForward", "MoE", "MoEConfig",
    "MoEParallelConfig", "MultiHeadAttention", "OpParallelConfig", "Transformer", "TransformerDecoder",
    "TransformerDecoderLayer", "TransformerEncoder", "TransformerEncoderLayer", "TransformerOpParallelConfig",
    "TransformerRecomputeConfig", "VocabEmbedding",
]  # fmt: skip
