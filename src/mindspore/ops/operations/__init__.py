"""Every operation as a class, under its official name.

Core primitives (`mindspore.prims`) and compositions stand side by side: users need not know which is which. A
primitive that is added to any module of `mindspore.prims` appears here by itself.
"""

# ruff: noqa: F401 - names are re-exported

from __future__ import annotations

import importlib
import pkgutil

from mindspore import prims as _prims
from mindspore.ops.operations import manually_defined
from mindspore.ops.operations.array_ops import *  # noqa: F403
from mindspore.ops.operations.comm_ops import *  # noqa: F403
from mindspore.ops.operations.control_ops import *  # noqa: F403
from mindspore.ops.operations.image_ops import *  # noqa: F403
from mindspore.ops.operations.label_ops import *  # noqa: F403
from mindspore.ops.operations.linalg_ops import *  # noqa: F403
from mindspore.ops.operations.math_ops import *  # noqa: F403
from mindspore.ops.operations.nn_ops import *  # noqa: F403
from mindspore.ops.operations.random_ops import *  # noqa: F403
from mindspore.ops.operations.set_ops import *  # noqa: F403
from mindspore.ops.operations.sparse_ops import *  # noqa: F403
from mindspore.ops.operations.window_ops import *  # noqa: F403
from mindspore.prims.primitive import Primitive, PrimitiveWithCheck, PrimitiveWithInfer, registered_primitives

for _module in pkgutil.iter_modules(_prims.__path__):
    importlib.import_module(f"{_prims.__name__}.{_module.name}")
for _name, _class in registered_primitives().items():
    if not _name.startswith("_"):
        globals().setdefault(_name, _class)

__all__ = [n for n in globals() if n[0].isupper()]
