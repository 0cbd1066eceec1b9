"""Containers of cells, under the path users also import them from."""

from mindspore.nn.containers import CellDict, CellList, SequentialCell

__all__ = ["CellDict", "CellList", "SequentialCell"]
