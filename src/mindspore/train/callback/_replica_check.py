"""ReplicaCheck: notices when replicas of a network are no longer equal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore.communication.management import get_group_size
from mindspore.train._checkpoint import replicas
from mindspore.train.callback._callback import Callback

if TYPE_CHECKING:
    from mindspore.train.callback._callback import RunContext


class ReplicaCheck(Callback):
    """Compare the trained weights, and the optimizer's states, of all processes of data parallel training by digests.

    They have the same bits unless memory, a processor or the network has made a mistake that nobody reported, or a program
    has changed them on one process alone. Training ends with an error that names ranks and parameters.

    Args:
        every: steps between two comparisons.

    Examples:
        >>> from mindspore.train import ReplicaCheck
        >>> callback = ReplicaCheck(every=100)
    """

    def __init__(self, every: int = 100):
        super().__init__()
        if isinstance(every, bool) or not isinstance(every, int) or every <= 0:
            raise ValueError(f"For 'ReplicaCheck', 'every' must be a positive int, but got {every!r}.")
        self.every = every

    def on_train_step_end(self, run_context: RunContext) -> None:
        params = run_context.original_args()
        if get_group_size() > 1 and params.cur_step_num % self.every == 0:
            trained = {p.name for p in params.train_network.trainable_params()}
            states = [p for p in params.train_network.get_parameters() if p.name in trained or _of_optimizer(p.name, trained)]
            self.compare(states, params.cur_step_num)

    def compare(self, parameters: Iterable[Any], step: int) -> None:
        """Raise unless these have the same bits on all processes."""
        found = replicas.deviating({p.name: np.asarray(p.asnumpy()) for p in parameters})
        if not found:
            return
        lines = [f"  '{name}': {_who(ranks)}" for name, ranks in list(found.items())[:8]]
        more = f"\n  and {len(found) - 8} more" if len(found) > 8 else ""
        raise RuntimeError(f"After step {step} the replicas of the network are not equal:\n" + "\n".join(lines) + more)


def _of_optimizer(name: str, trained: set[str]) -> bool:
    """States are named after the weight that they belong to: `moments.conv.weight`."""
    return name.partition(".")[2] in trained


def _who(ranks: list[int]) -> str:
    if len(ranks) == get_group_size():
        return f"differ between ranks {', '.join(map(str, ranks))}"
    return f"rank{'s' if len(ranks) > 1 else ''} {', '.join(map(str, ranks))} {'hold' if len(ranks) > 1 else 'holds'} other bits than most"
