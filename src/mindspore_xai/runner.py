"""Maps of a whole data set, for MindInsight: as in `mindspore.explainer.runner`."""

from mindspore.explainer.runner import ImageClassificationRunner

__all__ = ["ImageClassificationRunner"]
