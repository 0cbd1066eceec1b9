"""The names of the official package for explanations; everything is in `mindspore.explainer`."""
