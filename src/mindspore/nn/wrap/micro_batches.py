"""Networks that see a batch in parts and add up what they compute for each."""

from __future__ import annotations

from typing import Any

from mindspore.nn.cell import Cell
from mindspore.prims.mesh import MicroBatch


def split_batch(owner: str, x: Any, parts: int) -> list:
    """`x` cut along its first axis into equal parts."""
    if x.shape[0] % parts != 0:
        raise ValueError(
            f"For '{owner}', the first dimension of each input must be a multiple of {parts}, but got {x.shape[0]}."
        )
    return [MicroBatch(i, parts)(x) for i in range(parts)]


class _MicroBatched(Cell):
    """Runs `network` on each part of the batch and returns the sum of the results."""

    def __init__(self, network: Cell, parts: int, name: str):
        super().__init__(auto_prefix=False)
        if not isinstance(network, Cell):
            raise TypeError(f"For '{self.cls_name}', 'network' must be a Cell, but got {type(network).__name__}.")
        if isinstance(parts, bool) or not isinstance(parts, int):
            raise TypeError(f"For '{self.cls_name}', '{name}' must be int, but got {type(parts).__name__}.")
        if parts <= 0:
            raise ValueError(f"For '{self.cls_name}', '{name}' must be greater than 0, but got {parts}.")
        self.network = network
        self._parts = parts

    def construct(self, *inputs: Any) -> Any:
        columns = [split_batch(self.cls_name, x, self._parts) for x in inputs]
        total = self.network(*[column[0] for column in columns])
        for i in range(1, self._parts):
            total = total + self.network(*[column[i] for column in columns])
        return total


class GradAccumulationCell(_MicroBatched):
    """A network whose loss is the sum over `micro_size` parts of the batch, so that gradients add up over them.

    Examples:
        >>> from mindspore import nn
        >>> type(nn.GradAccumulationCell(nn.WithLossCell(nn.Dense(2, 1), nn.MSELoss()), 2)).__name__
        'GradAccumulationCell'
    """

    def __init__(self, network: Cell, micro_size: int):
        super().__init__(network, micro_size, "micro_size")
        self.micro_size = micro_size


class MicroBatchInterleaved(_MicroBatched):
    """A network run on `interleave_num` parts of the batch, so that one's computation hides another's communication.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import nn
        >>> nn.MicroBatchInterleaved(nn.ReLU(), 2)(ms.Tensor([[1.0], [2.0]])).asnumpy().tolist()
        [[3.0]]
    """

    def __init__(self, network: Cell, interleave_num: int = 2):
        super().__init__(network, interleave_num, "interleave_num")
        self.interleave_num = interleave_num


class PipelineCell(_MicroBatched):
    """A network for pipeline training: the batch goes through its stages in `micro_size` parts.

    Args:
        stage_config: stage number by name of sub-cell; sets their `pipeline_stage`.
        segment_config: segment number by name of sub-cell; sets their `pipeline_segment`.

    Examples:
        >>> from mindspore import nn
        >>> type(nn.PipelineCell(nn.WithLossCell(nn.Dense(2, 1), nn.MSELoss()), 2)).__name__
        'PipelineCell'
    """

    def __init__(
        self, network: Cell, micro_size: int, stage_config: dict | None = None, segment_config: dict | None = None
    ):
        super().__init__(network, micro_size, "micro_size")
        self.micro_size = micro_size
        self._configure("stage_config", stage_config or {}, "pipeline_stage")
        self._configure("segment_config", segment_config or {}, "pipeline_segment")

    def _configure(self, option: str, config: dict, attribute: str) -> None:
        cells = {name: cell for name, cell in self.network.cells_and_names() if name}
        cells[str(self.network)] = self.network
        missing = [name for name in config if name not in cells]
        if missing:
            raise KeyError(f"For 'PipelineCell', '{option}' names cells that are not in the network: {missing}.")
        for name, number in config.items():
            setattr(cells[name], attribute, number)

    def shard(self, *args: Any, **kwargs: Any) -> Cell:
        raise ValueError("For 'PipelineCell', no 'shard' is allowed: shard the network inside it.")


__all__ = ["GradAccumulationCell", "MicroBatchInterleaved", "PipelineCell"]
