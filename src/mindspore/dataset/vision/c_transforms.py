"""The 1.x name of `mindspore.dataset.vision` for transforms then written in C++."""

from __future__ import annotations

from ..transforms.c_transforms import *  # noqa: F403
from ..transforms.checks import boolean, checked
from . import transforms as _current
from .enums import *  # noqa: F403
from .transforms import *  # noqa: F403


class Decode(_current.Decode):  # type: ignore[no-redef]
    """`Decode`; `rgb` could only ever be True."""

    @checked(rgb=boolean)
    def __init__(self, rgb: bool = True):
        super().__init__(to_pil=False)
        self.rgb = rgb
