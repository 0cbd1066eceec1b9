"""Finding the first bad number of a training, and looking at any step again.

    >>> from mindspore import debug
    >>> net = nn.Dense(2, 2)
    >>> with debug.watch(net) as found:
    ...     _ = net(Tensor([[1.0, 2.0]]))
    >>> found.hits
    []
"""

from mindspore.debug.eager_steps import Step
from mindspore.debug.replaying import Difference, Replay, Replayed, record, stop_recording
from mindspore.debug.watching import unwatch, watch
from mindspore.runtime.replay.ring import RingError
from mindspore.runtime.watch.hits import Hit, Watch, WatchpointError
from mindspore.runtime.watch.rules import RULES, Watchpoint, recommended

__all__ = [
    "RULES",
    "Difference",
    "Hit",
    "Replay",
    "Replayed",
    "RingError",
    "Step",
    "Watch",
    "Watchpoint",
    "WatchpointError",
    "recommended",
    "record",
    "stop_recording",
    "unwatch",
    "watch",
]
