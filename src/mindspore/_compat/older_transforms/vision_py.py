"""The 1.x name of `mindspore.dataset.vision` for transforms then written in Python: on PIL images and CHW arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore.dataset.transforms.transforms import *  # noqa: F403
from mindspore.dataset.vision import transforms as _current
from mindspore.dataset.vision.enums import *  # noqa: F403
from mindspore.dataset.vision.transforms import *  # noqa: F403

DE_PY_INTER_MODE = {Inter.NEAREST: 0, Inter.ANTIALIAS: 1, Inter.LINEAR: 2, Inter.CUBIC: 3}  # noqa: F405


class Decode(_current.Decode):  # type: ignore[no-redef]
    """An encoded image as a PIL image."""

    def __init__(self) -> None:
        super().__init__(to_pil=True)


class Normalize(_current.Normalize):  # type: ignore[no-redef]
    """`Normalize` of CHW floats."""

    def __init__(self, mean: Any, std: Any):
        super().__init__(mean, std, is_hwc=False)


class NormalizePad(_current.NormalizePad):  # type: ignore[no-redef]
    """`NormalizePad` of CHW floats."""

    def __init__(self, mean: Any, std: Any, dtype: str = "float32"):
        super().__init__(mean, std, dtype, is_hwc=False)


class Cutout(_current.CutOut):
    """`CutOut` of a CHW array."""

    def __init__(self, length: int, num_patches: int = 1):
        super().__init__(length, num_patches, is_hwc=False)


CutOut = Cutout  # type: ignore[misc]


class ToTensor(_current.ToTensor):  # type: ignore[no-redef]
    """`ToTensor`; the type is a NumPy one."""

    def __init__(self, output_type: Any = np.float32):
        super().__init__(output_type)


class ToType(_current.ToType):  # type: ignore[no-redef]
    """`ToType` with the argument's 1.x name."""

    def __init__(self, output_type: Any):
        super().__init__(output_type)
        self.output_type = output_type


ComposeOp = Compose  # noqa: F405
