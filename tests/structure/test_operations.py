"""Every primitive is an operation of `mindspore.ops.operations`, by a line there that a reader and mypy can see."""

import importlib
import pkgutil

from mindspore import ops, prims
from mindspore.prims.primitive import Primitive


def subclasses(cls):
    for found in cls.__subclasses__():
        yield found
        yield from subclasses(found)


def is_complete(cls):
    """Whether it is an operation itself, not what several have in common."""
    shared = cls.__name__.startswith("_") or cls.__subclasses__()
    return not shared and (cls.eval is not Primitive.eval or cls.infer is not Primitive.infer)


def test_every_primitive_is_an_operation():
    for module in pkgutil.iter_modules(prims.__path__):
        importlib.import_module(f"{prims.__name__}.{module.name}")
    primitives = {c.__name__: c for c in subclasses(Primitive) if c.__module__.startswith(prims.__name__) and is_complete(c)}
    missing = [f"{c.__module__}.{n}" for n, c in primitives.items() if not hasattr(ops.operations, n)]
    assert not missing, f"mindspore/ops/operations/__init__.py does not import {missing}"
    assert len(primitives) > 300
