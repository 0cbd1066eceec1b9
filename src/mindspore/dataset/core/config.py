"""The import path `mindspore.dataset.core.config` of official MindSpore: the functions of `mindspore.dataset.config`."""

from mindspore.dataset.config import *  # noqa: F403
