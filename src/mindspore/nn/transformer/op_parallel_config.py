"""How a transformer is cut over devices, as the 1.x transformer API states it. One process needs none of it."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any


@dataclass
class _Config:
    """Whole positive numbers and switches, checked."""

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(each.default, bool):
                if not isinstance(value, bool):
                    raise TypeError(f"For '{type(self).__name__}', '{each.name}' must be a bool, but got {value!r}.")
            elif isinstance(each.default, int) and (
                isinstance(value, bool) or not isinstance(value, int) or value <= 0
            ):
                raise ValueError(
                    f"For '{type(self).__name__}', '{each.name}' must be a positive int, but got {value!r}."
                )


@dataclass
class OpParallelConfig(_Config):
    """Devices for the batch and for the layers' width."""

    data_parallel: int = 1
    model_parallel: int = 1


@dataclass
class MoEParallelConfig(_Config):
    """Devices for the batch, the layers' width and the experts."""

    data_parallel: int = 1
    model_parallel: int = 1
    expert_parallel: int = 1


@dataclass
class EmbeddingOpParallelConfig(_Config):
    """As OpParallelConfig; `vocab_emb_dp` keeps the whole table on every device."""

    data_parallel: int = 1
    model_parallel: int = 1
    vocab_emb_dp: bool = True

    @property
    def dp_mp_config(self) -> OpParallelConfig:
        return OpParallelConfig(self.data_parallel, self.model_parallel)


@dataclass
class TransformerRecomputeConfig(_Config):
    """What the backward pass computes again instead of keeping.

    Examples:
        >>> from mindspore import nn
        >>> nn.TransformerRecomputeConfig(recompute=True).recompute
        True
    """

    recompute: bool = False
    parallel_optimizer_comm_recompute: bool = False
    mp_comm_recompute: bool = True
    recompute_slice_activation: bool = False


default_transformer_recompute_config = TransformerRecomputeConfig()


@dataclass
class TransformerOpParallelConfig(_Config):
    """Everything about the distribution of a transformer.

    Examples:
        >>> from mindspore.nn.transformer import TransformerOpParallelConfig
        >>> TransformerOpParallelConfig(data_parallel=2).dp_mp_config
        OpParallelConfig(data_parallel=2, model_parallel=1)
    """

    data_parallel: int = 1
    model_parallel: int = 1
    expert_parallel: int = 1
    pipeline_stage: int = 1
    pipeline_segment: int = 1
    micro_batch_num: int = 1
    recompute: Any = field(default_factory=TransformerRecomputeConfig)
    optimizer_shard: bool = False
    gradient_aggregation_group: int = 4
    vocab_emb_dp: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.recompute, (bool, TransformerRecomputeConfig)):
            raise TypeError(
                f"For 'TransformerOpParallelConfig', 'recompute' must be a TransformerRecomputeConfig or a bool, "
                f"but got {self.recompute!r}."
            )

    @property
    def dp_mp_config(self) -> OpParallelConfig:
        return OpParallelConfig(self.data_parallel, self.model_parallel)

    @property
    def embedding_dp_mp_config(self) -> EmbeddingOpParallelConfig:
        return EmbeddingOpParallelConfig(self.data_parallel, self.model_parallel, self.vocab_emb_dp)

    @property
    def moe_parallel_config(self) -> MoEParallelConfig:
        return MoEParallelConfig(self.data_parallel, self.model_parallel, self.expert_parallel)


default_dpmp_config = OpParallelConfig()
default_moeparallel_config = MoEParallelConfig()
default_embedding_parallel_config = EmbeddingOpParallelConfig()
default_transformer_config = TransformerOpParallelConfig()


def _check_config(config: Any) -> None:
    """The width of the devices used must not exceed what a config of this kind can say."""
    if not isinstance(config, _Config):
        raise TypeError(f"'parallel_config' must be a parallel config, but got {type(config).__name__}.")
