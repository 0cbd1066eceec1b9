"""`mindspore.ops.functional`, the older home of the functions, with their older names."""

from __future__ import annotations

from mindspore.ops.function import *  # noqa: F403
from mindspore.ops.legacy_names import *  # noqa: F403
