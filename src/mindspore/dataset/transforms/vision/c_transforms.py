"""`mindspore.dataset.vision.c_transforms` under the path it had in 1.x."""

from ...vision.c_transforms import *  # noqa: F403
