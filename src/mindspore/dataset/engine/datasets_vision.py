"""The import path `mindspore.dataset.engine.datasets_vision` of official MindSpore."""

from mindspore.dataset.engine import __getattr__ as __getattr__
