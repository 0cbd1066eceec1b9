"""`mindspore.dataset.vision.py_transforms` under the path it had in 1.x."""

from ...vision.py_transforms import *  # noqa: F403
