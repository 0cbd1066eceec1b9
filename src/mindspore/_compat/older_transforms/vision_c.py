"""The 1.x name of `mindspore.dataset.vision` for transforms then written in C++."""

from __future__ import annotations

from mindspore.dataset.transforms.checks import boolean, checked
from mindspore.dataset.transforms.transforms import *  # noqa: F403
from mindspore.dataset.vision import transforms as _current
from mindspore.dataset.vision.enums import *  # noqa: F403
from mindspore.dataset.vision.transforms import *  # noqa: F403


class Decode(_current.Decode):  # type: ignore[no-redef]
    """`Decode`; `rgb` could only ever be True."""

    @checked(rgb=boolean)
    def __init__(self, rgb: bool = True):
        super().__init__(to_pil=False)
        self.rgb = rgb
