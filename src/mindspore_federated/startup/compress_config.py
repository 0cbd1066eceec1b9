"""How tensors between the parties of vertical training are made smaller."""
from __future__ import annotations

_TYPES = ("min_max", "bit_pack")
NO_COMPRESS_TYPE = "no_compress"


class CompressConfig:
    """`min_max`: codes between minimum and maximum; `bit_pack`: whole numbers below 2**bit_num, without loss."""

    def __init__(self, compress_type: str, bit_num: int = 8) -> None:
        if compress_type not in _TYPES:
            raise ValueError(f"The 'compress_type' should be str and must be one of {list(_TYPES)}, but got "
                             f"{compress_type!r}.")
        if isinstance(bit_num, bool) or not isinstance(bit_num, int):
            raise TypeError(f"The 'bit_num' should be int, but got {type(bit_num).__name__}.")
        if not 1 <= bit_num <= 8:
            raise ValueError(f"The 'bit_num' must be in the range of [1, 8], but got {bit_num}.")
        self.compress_type = compress_type
        self.bit_num = bit_num
