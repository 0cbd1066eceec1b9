"""Saliency maps: as in `mindspore.explainer.explanation`."""

from mindspore.explainer.explanation import RISE, Deconvolution, GradCAM, Gradient, GuidedBackprop, Occlusion

__all__ = ["Deconvolution", "GradCAM", "Gradient", "GuidedBackprop", "Occlusion", "RISE"]
