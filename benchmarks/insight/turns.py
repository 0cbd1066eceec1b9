"""Ways to do the same work, in turns, and what each takes."""

from __future__ import annotations

import statistics
import time


def each(step, steps):
    """(seconds of the clock, of the processor) of every step."""
    found = []
    for _ in range(steps):
        begun, used = time.perf_counter(), time.process_time()
        step()
        found.append((time.perf_counter() - begun, time.process_time() - used))
    return found


def together(step, steps):
    """The same for steps in a row, of which only the last tensor is waited for, as in training on an accelerator."""
    begun, used = time.perf_counter(), time.process_time()
    for _ in range(steps):
        last = step()
    last.asnumpy()
    return [((time.perf_counter() - begun) / steps, (time.process_time() - used) / steps)]


class Turns:
    """Times by the way of doing the work."""

    def __init__(self, timing=each):
        self.timing = timing
        self.found: dict[str, list[tuple[float, float]]] = {}

    def take(self, way, step, steps):
        self.found.setdefault(way, []).extend(self.timing(step, steps))

    def middle(self, way, of=statistics.median):
        walls, used = zip(*self.found[way])
        return of(walls), of(used)

    def said(self, way, beside=None, of=statistics.median):
        wall, used = self.middle(way, of)
        if beside is None:
            return f"{1e3 * wall:.1f} ms ({1e3 * used:.1f} ms CPU)"
        base, base_used = self.middle(beside, of)
        return f"{1e3 * wall:.1f} ms ({wall / base - 1:+.1%}; CPU {used / base_used - 1:+.1%})"
