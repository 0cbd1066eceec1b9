"""What kinds of work networks do: each task knows its data, its loss and the figure that says how well it is done."""

from __future__ import annotations

from mindspore.model_zoo.tasks.clicks import Clicks
from mindspore.model_zoo.tasks.generation import Generation
from mindspore.model_zoo.tasks.graphs import Graphs
from mindspore.model_zoo.tasks.images import Images
from mindspore.model_zoo.tasks.physics import Physics
from mindspore.model_zoo.tasks.segmentation import Segmentation
from mindspore.model_zoo.tasks.task import Task
from mindspore.model_zoo.tasks.text import Language, MaskedWords, TextClasses, Translation

_ALL: tuple[Task, ...] = (
    Images(), Segmentation(), Language(), MaskedWords(), TextClasses(), Translation(), Generation(), Clicks(), Graphs(), Physics(),
)  # fmt: skip
TASKS: dict[str, Task] = {task.name: task for task in _ALL}

__all__ = ["TASKS", "Task"]
