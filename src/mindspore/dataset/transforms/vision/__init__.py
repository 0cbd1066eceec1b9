"""`mindspore.dataset.vision` under the path it had in 1.x."""

from ...vision import *  # noqa: F403
