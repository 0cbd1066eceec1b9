"""Common networks, each with its paper, its recipe and the weights of other libraries' files.

    net = model_zoo.create("resnet50", num_classes=10)
    model_zoo.load_weights(net, "resnet50.pth", skip=("fc.",))

`python -m mindspore.model_zoo list` shows them; `train`, `eval`, `export`, `predict` and `summary` work on any of them.
"""

from __future__ import annotations

from mindspore.model_zoo.registry import Entry, create, entries, entry
from mindspore.model_zoo.summary import sample, summary
from mindspore.model_zoo.weights import load_weights

__all__ = ["Entry", "create", "entry", "load_weights", "names", "sample", "summary"]


def names(task: str | None = None) -> list[str]:
    """The names of all networks, or of those of one task.

    Examples:
        >>> from mindspore import model_zoo
        >>> "resnet50" in model_zoo.names("images")
        True
    """
    return [name for name, found in entries().items() if task is None or found.task == task]
