"""Where newer scripts import primitives and functions from; the same objects as in `mindspore.ops`."""

from mindspore.ops.function import *  # noqa: F403
from mindspore.ops.operations import *  # noqa: F403
from mindspore.ops.paths import find as __getattr__  # noqa: F401 - module attributes
