"""What kinds of work networks do: each task knows its data, its loss and the figure that says how well it is done."""

from __future__ import annotations

from mindspore.model_zoo.tasks.images import Images
from mindspore.model_zoo.tasks.task import Task

TASKS: dict[str, Task] = {task.name: task for task in (Images(),)}

__all__ = ["TASKS", "Task"]
