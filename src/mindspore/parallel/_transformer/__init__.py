"""The path of the 1.x transformer API in MindSpore 2.0; it stands in `mindspore.nn.transformer`."""

from mindspore.nn.transformer import *  # noqa: F403
