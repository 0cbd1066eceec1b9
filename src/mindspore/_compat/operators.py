"""How any operation is found under any of the official paths of operations.

Official modules such as `ops.function.array_func` hold functions by history rather than by subject; here they are
doors to the same objects. A name that ends in `_ext` is the variant with PyTorch's arguments: `mint`'s. A class such as
`AddExt` that generated code uses is that function, called through an instance; `add_ext_op` is such an instance. Names
that end in `_view` are those without it: results share no memory here.
"""

from __future__ import annotations

import contextlib
import functools
import re
import types
from typing import Any

from mindspore import ops
from mindspore._compat import (
    ascend_only,
    attention_parts,
    generated_classes,
    gradient_classes,
    quant_ops,
    seeded_ops,
)
from mindspore._compat.mint_variants import of_mint
from mindspore.ops._primitive_cache import _get_cache_prim
from mindspore.ops.composition import plain


def _scaled(name: str) -> Any:
    """`add_ext` and `sub_ext`, which take `alpha` by position too."""

    def function(input: Any, other: Any, alpha: Any = 1) -> Any:
        return of_mint(name)(input, other, alpha=alpha)

    function.__name__ = function.__qualname__ = f"{name}_ext"
    return function


#: helpers of the official modules that scripts import
_INNER: dict[str, Any] = {"_get_cache_prim": _get_cache_prim, "add_ext": _scaled("add"), "sub_ext": _scaled("sub")}
#: functions of other names
_SAME = {
    "clamp_scalar": "clamp", "clamp_tensor": "clamp", "max_dim": "max_ext", "min_dim": "min_ext",
    "split_tensor": "split_ext", "split_with_size": "split_ext",
}  # fmt: skip


def find(name: str) -> Any:
    """A function or class of `mindspore.ops`; for `f_ext` the function `f` of `mindspore.mint`; for `FExt` its class."""
    if name.startswith("__"):
        raise AttributeError(name)
    if name in _INNER:
        return _INNER[name]
    if name in _SAME:
        return find(_SAME[name])
    found = getattr(ops, name, None)
    if isinstance(found, types.ModuleType):
        found = None  # a submodule of the same name is imported instead
    if found is None and name[0] == "_":
        found = getattr(attention_parts, name, None)
    if found is None and len(name) > 5 and name.endswith(("_view", "View")):
        return find(name.removesuffix("_view").removesuffix("View"))
    if found is None and name.endswith("_ext"):
        found = of_mint(name.removesuffix("_ext"))
    for module in (gradient_classes, generated_classes, quant_ops, seeded_ops, ascend_only):
        found = getattr(module, name, None) if found is None and name in module.__all__ else found
    if found is None and name.endswith("_op"):
        found = _instance(name)
    if found is None and name[0].isupper():
        found = _class_of(name)
    if found is None:
        raise AttributeError(f"mindspore.ops has nothing called {name!r}")
    return found


def _instance(name: str) -> Any:
    """`add_ext_op` is an instance of AddExt; None for a class whose instances need arguments."""
    made = find("".join(word[:1].upper() + word[1:] for word in name.removesuffix("_op").split("_")))
    with contextlib.suppress(TypeError):
        return made()
    return None


#: classes whose words are not those of their function
_IRREGULAR = {
    "BatchMatMulExt": "bmm", "MatMulExt": "matmul", "ArgMaxExt": "argmax", "ArgMinExt": "argmin", "TopKExt": "topk",
    "LogSoftmaxExt": "log_softmax",
}  # fmt: skip


@functools.lru_cache(None)
def _class_of(name: str) -> Any:
    """The class whose instances call the function of the same words: `ZerosLikeExt` of `zeros_like_ext`."""
    if name.startswith("Inplace"):
        return generated_classes.in_place_class(name)
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    stem = _IRREGULAR.get(name, words.removesuffix("_ext"))
    if name.endswith("Ext"):
        function = of_mint(stem)
    else:
        function = getattr(ops, words, None) or (find(_SAME[words]) if words in _SAME else None)
    return plain(name, function) if callable(function) else None


__getattr__ = find
__all__ = [name for name in ops.__all__ if not isinstance(vars(ops).get(name), types.ModuleType)]
