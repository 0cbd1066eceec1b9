"""The transformer API of MindSpore 1.x under its first path."""

from mindspore.nn.transformer import *  # noqa: F403
