"""L5: executing primitives now (eager) or as compiled graphs.

What users call is in `public.py`, imported on first use.
"""

from __future__ import annotations

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    if not name.startswith("__"):
        public = importlib.import_module("mindspore.runtime.public")
        if name in public.__all__:
            return getattr(public, name)
    raise AttributeError(f"module 'mindspore.runtime' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *importlib.import_module("mindspore.runtime.public").__all__})
