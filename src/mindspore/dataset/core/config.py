"""The import path `mindspore.dataset.core.config` of official MindSpore, for `mindspore.dataset.config`."""

from mindspore.dataset.config import *  # noqa: F403
