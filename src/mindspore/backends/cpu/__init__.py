"""The native CPU backend: LLVM-generated fused kernels and oneDNN primitives, one call per graph.

`available()` says whether this machine can use it; where it cannot, the runtime takes another backend. What compiles is loaded when
it is asked for: programs that were compiled before (`standalone.py`) run without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mindspore.backends.cpu.backend import CpuBackend, available

__all__ = ["CpuBackend", "available"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from mindspore.backends.cpu import backend

        return getattr(backend, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
