"""Optional libraries: imported on first use, with an error that names the extra to install."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from types import ModuleType


def require(module: str, extra: str, purpose: str) -> ModuleType:
    """Import `module`, or say which extra of this distribution brings it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        name = module.partition(".")[0]
        raise ImportError(
            f"{purpose} needs the package '{name}', which is not installed ({error}). "
            f"Install it with: pip install 'pymindspore[{extra}]'"
        ) from None


def available(module: str) -> bool:
    return module in sys.modules or importlib.util.find_spec(module) is not None
