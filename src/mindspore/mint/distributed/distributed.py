"""The module that official MindSpore keeps these names in. Façade: re-exports only."""

from mindspore.mint.distributed import *  # noqa: F403
