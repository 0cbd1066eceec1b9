"""The gate of `sync_wait`: the pipeline passes it a bounded number of times ahead of the training loop."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from mindspore.dataset.settings import settings


class Condition:
    def __init__(self, name: str, num_batch: int, callback: Callable | None = None):
        self.name, self.num_batch, self.callback = name, num_batch, callback
        self._permits = threading.Semaphore(1)
        self._open = False

    def acquire(self) -> bool:
        """Wait for a permit; False when none came in time."""
        return self._open or self._permits.acquire(timeout=settings().callback_timeout)

    def update(self, num_batch: int | None = None, data: Any = None) -> None:
        """One permit more; the user's callback learns of `data` first."""
        if self.callback is not None:
            self.callback(data)
        for _ in range(max((num_batch or self.num_batch) // self.num_batch, 1)):
            self._permits.release()

    def disable(self) -> None:
        self._open = True
        self._permits.release()

    def release_all(self) -> None:
        """Let a waiting pipeline see that it is being closed."""
        self._permits.release()
