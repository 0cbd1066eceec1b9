"""The 1.x name of `mindspore.dataset.text` for transforms then written in Python."""

from .transforms import *  # noqa: F403
