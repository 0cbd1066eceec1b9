"""The import path `mindspore.dataset.core`, which programs use for `config`."""

from mindspore.dataset import config

__all__ = ["config"]
