"""Names of `mindspore.ops` that end in `_ext`: the variants with PyTorch's arguments, which are `mindspore.mint`'s."""

from __future__ import annotations

from typing import Any

__all__: list[str] = []


def of_mint(name: str) -> Any:
    """A function of `mindspore.mint` or of its functions for networks; None if there is no such."""
    from mindspore import mint

    return getattr(mint, name, None) or getattr(mint.nn.functional, name, None)


def __getattr__(name: str) -> Any:
    found = of_mint(name.removesuffix("_ext")) if name.endswith("_ext") else None
    if found is None:
        raise AttributeError(f"module 'mindspore.ops' has no attribute {name!r}")
    return found
