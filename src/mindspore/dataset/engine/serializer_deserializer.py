"""The import path `mindspore.dataset.engine.serializer_deserializer` of official MindSpore."""

from mindspore.dataset.engine import __getattr__ as __getattr__
