"""The older path of the base class of metrics."""

from mindspore.nn.metrics import __getattr__  # noqa: F401 - module attributes
