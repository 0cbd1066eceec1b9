"""What kinds of work networks do: each task knows its data, its loss and the figure that says how well it is done."""

from __future__ import annotations

from mindspore.model_zoo.tasks.audio import Audio
from mindspore.model_zoo.tasks.clicks import Clicks
from mindspore.model_zoo.tasks.control import Control
from mindspore.model_zoo.tasks.detection import Detection
from mindspore.model_zoo.tasks.generation import Generation, ImageTranslation
from mindspore.model_zoo.tasks.graphs import Graphs
from mindspore.model_zoo.tasks.images import Images
from mindspore.model_zoo.tasks.lines import Lines
from mindspore.model_zoo.tasks.physics import Physics
from mindspore.model_zoo.tasks.segmentation import Segmentation
from mindspore.model_zoo.tasks.task import Task
from mindspore.model_zoo.tasks.text import Answers, Language, MaskedWords, TextClasses, Translation

_ALL: tuple[Task, ...] = (
    Images(), Detection(), Segmentation(), Lines(), Language(), MaskedWords(), TextClasses(), Answers(), Translation(), Audio(),
    Generation(), ImageTranslation(), Clicks(), Graphs(), Control(), Physics(),
)  # fmt: skip
TASKS: dict[str, Task] = {task.name: task for task in _ALL}

__all__ = ["TASKS", "Task"]
