"""Python's `multiprocessing`, whose queues and pipes carry tensors.

Tensors travel as NumPy arrays; the receiving process has its own copy. Every name is Python's own.
"""

from __future__ import annotations

import multiprocessing as _python
from typing import Any


def __getattr__(name: str) -> Any:
    return getattr(_python, name)


def __dir__() -> list[str]:
    return dir(_python)
