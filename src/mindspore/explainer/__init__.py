"""What in an image made a network say what it said, and how far such maps can be trusted.

    >>> from mindspore.explainer.explanation import Gradient
    >>> net = nn.SequentialCell(nn.Conv2d(3, 2, 3), nn.ReLU(), nn.Flatten(), nn.Dense(2 * 8 * 8, 4))
    >>> Gradient(net)(Tensor(np.ones((1, 3, 8, 8)), ms.float32), 2).shape
    (1, 1, 8, 8)

`explanation` has the methods, `benchmark` the measures of their quality; `ImageClassificationRunner` writes both into a folder that
MindInsight shows.
"""

from mindspore.explainer import benchmark, explanation
from mindspore.explainer.runner import ImageClassificationRunner

__all__ = ["ImageClassificationRunner", "benchmark", "explanation"]
