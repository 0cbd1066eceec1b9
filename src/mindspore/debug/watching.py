"""`watch`: look at the numbers of a training from now on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindspore.nn.cell import Cell
from mindspore.runtime.watch import switch
from mindspore.runtime.watch.hits import Watch
from mindspore.runtime.watch.rules import Watchpoint


def watch(
    net: Any = None, points: Sequence[Watchpoint] | None = None, action: Any = "stop", path: str = "watch_dump"
) -> Watch:
    """Watch a network, or everything, from now on: in graph and PyNative mode, on every backend, with data sinking too.

    Args:
        net: a Cell; only graphs that use its Parameters are watched. None: all.
        points: watchpoints; None for `recommended()`.
        action: what happens at a hit of a watchpoint that does not say: "stop" raises `WatchpointError` before anything of the step
            is stored (an accelerator may be a few steps further by then), "report" warns, "dump" writes every tensor of the step;
            or a function that is given the hit.
        path: the folder for dumps, in the layout that `mindinsight.debugger.DumpAnalyzer` reads.

    Returns:
        Watch, whose `hits` grow. It ends with `unwatch()`, or with the block if used in a `with` statement.

    Examples:
        >>> from mindspore import debug
        >>> net = nn.Dense(2, 2)
        >>> with debug.watch(net, [debug.Watchpoint("tensor_too_large", max_gt=1e6)], action="report") as found:
        ...     _ = net(Tensor([[1.0, 2.0]]))
        >>> len(found.hits)
        0
    """
    if net is not None and not isinstance(net, Cell):
        raise TypeError(f"For 'watch', 'net' must be a Cell or None, but got {type(net).__name__}.")
    wrong = [p for p in points or () if not isinstance(p, Watchpoint)]
    if wrong:
        raise TypeError(f"For 'watch', 'points' must be Watchpoints, but got {wrong[0]!r}.")
    return switch.begin(points, action, path, list(net.get_parameters()) if net is not None else None)


def unwatch() -> None:
    """End what `watch` began.

    Examples:
        >>> from mindspore import debug
        >>> debug.unwatch()
    """
    switch.end()
