"""The older path of the descriptions of custom operations."""

from mindspore.ops.op_info import *  # noqa: F403
