"""A progress bar on a terminal; silent everywhere else."""

from __future__ import annotations

import sys
import time
from typing import IO, Any

_WIDTH = 24
_INTERVAL = 0.1


class ProgressBar:
    """One line that is redrawn: epoch, bar, step, loss and time per step."""

    def __init__(self, label: str, total: int, stream: IO[str] | None = None):
        self.stream = sys.stderr if stream is None else stream
        self.active = total > 0 and bool(getattr(self.stream, "isatty", lambda: False)())
        self.label = label
        self.total = total
        self.start = time.monotonic()
        self._drawn = 0.0

    def update(self, step: int, note: Any = "") -> None:
        """Show that `step` steps are done."""
        now = time.monotonic()
        if not self.active or (now - self._drawn < _INTERVAL and step < self.total):
            return
        self._drawn = now
        filled = _WIDTH * step // self.total
        per_step = (now - self.start) / max(step, 1) * 1000
        bar = "#" * filled + "." * (_WIDTH - filled)
        self.stream.write(f"\r{self.label} [{bar}] {step}/{self.total} {per_step:.1f} ms/step {note}\x1b[K")
        self.stream.flush()

    def close(self) -> None:
        """End the line."""
        if self.active and self._drawn:
            self.stream.write("\n")
            self.stream.flush()
