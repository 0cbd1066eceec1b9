"""How any operation is found under any of the official paths of operations.

Official modules such as `ops.function.array_func` hold functions by history rather than by subject; here they are
doors to the same objects. A name that ends in `_ext` is the variant with PyTorch's arguments: `mint`'s. A class such as
`AddExt` that generated code uses is that function, called through an instance; `add_ext_op` is such an instance. Names
that end in `_view` are those without it: results share no memory here. `BitwiseXorTensor`, `RemainderScalarTensor` are the function
for some kinds of operands, which it tells apart itself.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
import types
from typing import Any

from mindspore import mint, ops
from mindspore._compat import (
    ascend_only,
    attention_parts,
    generated_classes,
    gradient_classes,
    inner_classes,
    quant_ops,
    seeded_ops,
)
from mindspore._compat.mint_variants import of_mint
from mindspore._compat.tables.class_names import CLASSES
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
        stem = name.removesuffix("_view").removesuffix("View")
        return _listed(stem) or (_class_of(stem) if name[0].isupper() else None) or find(stem)
    if found is None and name.endswith("_ext"):
        found = of_mint(name.removesuffix("_ext"))
    if found is None:
        found = _listed(name)
    if (
        found is None and name.startswith("pyboost_") and not name.endswith("_prim")
    ):  # not the module pyboost_inner_prim
        return _called
    if found is None and name.endswith(("_op", "_impl")):
        found = _instance(name.removesuffix("_op").removesuffix("_impl"))
    if (
        found is None
        and name[0].islower()
        and (name.replace("_", "") in _classes() or _class_of(_camel(name)) is not None)
    ):
        found = _instance(name)
    if found is None and name[0].isupper():
        found = _class_of(name)
    if found is None:
        raise AttributeError(f"mindspore.ops has nothing called {name!r}")
    return found


def _listed(name: str) -> Any:
    """What one of the modules of classes says that a name is."""
    return next((getattr(module, name) for module in _TABLES if name in module.__all__), None)


def _called(prim: Any, args: Any) -> Any:
    """What every `pyboost_…` function is here: official ones skip steps between a primitive and its kernel."""
    return prim(*args)


def _camel(name: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))


def _instance(name: str) -> Any:
    """`add_ext` is an instance of AddExt; None for a class whose instances need arguments."""
    made = _classes().get(name.replace("_", "")) or find(_camel(name))
    with contextlib.suppress(TypeError):
        return made()
    return None


#: what is searched for classes, in order
_TABLES: tuple[Any, ...] = (gradient_classes, generated_classes, quant_ops, seeded_ops, ascend_only, inner_classes)


@functools.cache
def _classes() -> dict[str, Any]:
    """The classes of the tables by the letters of their names."""
    return {name.lower(): getattr(module, name) for module in reversed(_TABLES) for name in module.__all__}


#: endings of generated classes for one kind of operands; the function takes all kinds
_KINDS = re.compile(r"(TensorTensor|TensorScalar|ScalarTensor|ScalarOther|ScalarSelf|Tensor|Scalar|Int|Ext|View)$")
#: classes whose letters are not those of their function
_IRREGULAR = {
    "BatchMatMulExt": "bmm", "MatMulExt": "matmul", "Divs": "div", "Muls": "mul", "MedianDim": "median", "SelectV2": "where",
    "MatrixInverseExt": "inverse", "LinalgQr": "qr", "TExt": "t", "TraceV2": "trace", "Im2ColExt": "unfold", "Col2ImExt": "fold",
    "LinSpaceExt": "linspace", "EqScalar": "eq", "NonZeroExt": "nonzero", "UniqueDim": "unique", "RandInt": "randint",
}  # fmt: skip


@functools.lru_cache(None)
def _class_of(name: str) -> Any:
    """The class whose instances call the function of the same letters: `ZerosLikeExt` of mint's `zeros_like`."""
    if name.endswith("Prim_"):
        return find(name.removesuffix("Prim_"))
    if name.startswith("Inplace"):
        return generated_classes.in_place_class(_KINDS.sub("", name), name)
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    if words in _SAME:
        return plain(name, find(_SAME[words]))
    stem = _IRREGULAR.get(name) or _KINDS.sub("", name)
    function = getattr(ops, words, None) or _letters().get(stem.replace("_", "").lower())
    return plain(name, _by_position(function)) if callable(function) else None


def _by_position(function: Any) -> Any:
    """A function that takes by position, too, what it takes by keyword only: generated classes have no keywords."""
    named = [p.name for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY]
    count = sum(p.kind is p.POSITIONAL_OR_KEYWORD for p in inspect.signature(function).parameters.values())
    if not named:
        return function

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args[:count], **dict(zip(named, args[count:])), **kwargs)

    return call


@functools.cache
def _letters() -> dict[str, Any]:
    """Functions by the letters of their names; where there are two of a name, mint's, which is what generated classes call."""
    found: dict[str, Any] = {}
    for module in (ops, mint.linalg, mint.special, mint.nn.functional, mint):
        for name in module.__all__:
            value = getattr(module, name, None)
            if isinstance(value, types.FunctionType):
                found[name.replace("_", "").lower()] = value
    return found


__getattr__ = find
__all__ = [name for name in ops.__all__ if not isinstance(vars(ops).get(name), types.ModuleType)]
__all__ += [name for name in (*CLASSES, *inner_classes.__all__) if name not in ops.__all__]
