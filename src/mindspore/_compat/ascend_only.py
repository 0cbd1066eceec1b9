"""Operations that only Ascend processors, or a parameter server, carry out. They exist, and say so when they are called."""

from __future__ import annotations

from typing import Any

from mindspore.ops.composition import Composition
from mindspore.prims.primitive import Primitive

_NEEDS = {
    "CudnnGRU": "a GPU kernel of official MindSpore; use nn.GRU",
    "DSDMatmul": "an Ascend kernel of block-sparse attention; use ops.matmul",
    "MatmulDDS": "an Ascend kernel of block-sparse attention; use ops.matmul",
    "MaxPoolWithMask": "an Ascend kernel, whose mask is a string of bits; use ops.MaxPoolWithArgmaxV2",
    "NPUClearFloatStatusV2": "an Ascend processor, whose overflow flag it resets; use ops.isfinite",
    "NPUGetFloatStatusV2": "an Ascend processor, whose overflow flag it reads; use ops.isfinite",
    "Pull": "a parameter server, which there is none of",
    "Push": "a parameter server, which there is none of",
    "TopKRouter": "an Ascend kernel; use ops.topk",
}


def _make(name: str, needs: str) -> Any:
    def init(self: Composition, *args: Any, **kwargs: Any) -> None:
        Primitive.__init__(self, name)

    def compose(self: Composition, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"'{name}' needs {needs}.")

    members = {"__init__": init, "compose": compose, "__doc__": f"Needs {needs}.", "__module__": __name__}
    return type(name, (Composition,), members)


globals().update({name: _make(name, needs) for name, needs in _NEEDS.items()})
__all__ = list(_NEEDS)
