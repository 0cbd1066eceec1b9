"""Layers with PyTorch's argument names and defaults."""

# ruff: noqa: F401 - names are re-exported

from mindspore.mint.nn import functional
from mindspore.mint.nn.layers import *  # noqa: F403
from mindspore.mint.nn.simple import *  # noqa: F403
from mindspore.nn import Cell, CellDict, CellList, SequentialCell
from mindspore.nn import Dropout2dExt as Dropout2d
from mindspore.nn import DropoutExt as Dropout
from mindspore.nn import EmbeddingExt as Embedding
from mindspore.nn import LayerNormExt as LayerNorm
from mindspore.nn import PReLUExt as PReLU

__all__ = [name for name in globals() if name[0].isupper()] + ["functional"]
