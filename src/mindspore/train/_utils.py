"""Helpers that scripts import from here."""

from mindspore.train.callback._checkpoint import make_directory as _make_directory

__all__ = ["_make_directory"]
