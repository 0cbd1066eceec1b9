"""An older home of operations; every class and function of `mindspore.ops` is found here."""

from mindspore.ops.paths import find as __getattr__  # noqa: F401 - module attributes
