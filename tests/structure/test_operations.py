"""Every primitive is an operation of `mindspore.ops.operations`, by a line there that a reader and mypy can see."""

import importlib
import pkgutil

from mindspore import ops, prims
from mindspore.prims.primitive import registered_primitives


def test_every_primitive_is_an_operation():
    for module in pkgutil.iter_modules(prims.__path__):
        importlib.import_module(f"{prims.__name__}.{module.name}")
    primitives = {n: c for n, c in registered_primitives().items() if c.__module__.startswith(prims.__name__)}
    missing = [f"{c.__module__}.{n}" for n, c in primitives.items() if n[0] != "_" and not hasattr(ops.operations, n)]
    assert not missing, f"mindspore/ops/operations/__init__.py does not import {missing}"
    assert len(primitives) > 300
