"""The import path `mindspore.dataset.engine.datasets_standard_format` of official MindSpore."""

from mindspore.dataset.engine import __getattr__ as __getattr__
