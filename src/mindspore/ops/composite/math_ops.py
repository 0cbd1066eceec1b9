"""The older home of composed functions; everything of `mindspore.ops` is found here."""

from mindspore.ops.paths import find as __getattr__  # noqa: F401 - module attributes
