"""Names under the module paths that scripts import them from.

Official modules such as `ops.function.array_func` hold functions by history rather than by subject; here they are
doors to the same objects. A name that ends in `_ext` is the variant with PyTorch's arguments: `mint`'s.
"""

from __future__ import annotations

import importlib
from typing import Any


def find(name: str) -> Any:
    """A function or class of `mindspore.ops`, or for `f_ext` the function `f` of `mindspore.mint`."""
    from mindspore import ops

    if name.startswith("__"):
        raise AttributeError(name)
    found = getattr(ops, name, None)
    if found is None and name.endswith("_ext"):
        mint: Any = importlib.import_module("mindspore.mint")  # stands above; only reached when its names are asked for
        plain = name.removesuffix("_ext")
        found = getattr(mint, plain, None) or getattr(mint.nn.functional, plain, None)
    if found is None:
        raise AttributeError(f"mindspore.ops has nothing called {name!r}")
    return found
