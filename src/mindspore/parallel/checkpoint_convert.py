"""The newer names of `checkpoint_transform`."""

from mindspore.parallel.checkpoint_transform import (
    rank_list_for_transform as rank_list_for_convert,
)
from mindspore.parallel.checkpoint_transform import (
    transform_checkpoint_by_rank as convert_checkpoint_by_rank,
)
from mindspore.parallel.checkpoint_transform import (
    transform_checkpoints as convert_checkpoints,
)

__all__ = ["convert_checkpoint_by_rank", "convert_checkpoints", "rank_list_for_convert"]
