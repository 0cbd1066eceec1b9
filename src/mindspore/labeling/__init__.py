"""Semi-automatic labelling: a few labels from people, the rest suggested, spread, checked and corrected.

    project = labeling.Project(images, ["cat", "dog"], labeling.Learner(network), store="labels.db", show=photographs)
    labeling.serve(project)                 # a page on which to label by keyboard
    labeling.to_mindrecord(project, "labelled.mindrecord")

| for | see |
|---|---|
| what is known and who said so, on disk | `LabelStore` |
| a network that learns from labels, and its opinion of items | `Learner`, `Project.learn`, `Project.suggest` |
| what to ask next | `Project.ask`, `choose`, `STRATEGIES` |
| labels spread to items alike | `spread_labels` |
| functions that vote, and whom to believe | `labeling_function`, `votes`, `LabelModel` |
| labels that are probably wrong | `Project.mistakes`, `find_mistakes` |
| files for training | `to_csv`, `to_coco`, `to_mindrecord` |
"""

from mindspore.labeling.choosing import STRATEGIES, choose
from mindspore.labeling.exporting import to_coco, to_csv, to_mindrecord
from mindspore.labeling.learner import Learner, shifted_and_turned
from mindspore.labeling.mistakes import Suspects, find_mistakes
from mindspore.labeling.page import LabelServer, serve
from mindspore.labeling.project import Project, Suggestion
from mindspore.labeling.spreading import spread_labels
from mindspore.labeling.store import Label, LabelStore
from mindspore.labeling.weak import ABSTAIN, LabelingFunction, LabelModel, labeling_function, summary, votes

__all__ = [
    "ABSTAIN", "STRATEGIES", "Label", "LabelModel", "LabelServer", "LabelStore", "LabelingFunction", "Learner", "Project",
    "Suggestion", "Suspects", "choose", "find_mistakes", "labeling_function", "serve", "shifted_and_turned", "spread_labels",
    "summary", "to_coco", "to_csv", "to_mindrecord", "votes",
]  # fmt: skip
