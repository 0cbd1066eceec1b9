"""The import path `mindspore.dataset.engine.datasets_user_defined` of official MindSpore."""

from mindspore.dataset.engine import __getattr__ as __getattr__
