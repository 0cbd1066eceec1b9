"""How good they are: as in `mindspore.explainer.benchmark`."""

from mindspore.explainer.benchmark import ClassSensitivity, Faithfulness, Localization, Robustness

__all__ = ["ClassSensitivity", "Faithfulness", "Localization", "Robustness"]
