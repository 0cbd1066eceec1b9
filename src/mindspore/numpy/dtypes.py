"""Element types and constants under NumPy's names."""

# ruff: noqa: F401 - names are re-exported

from mindspore._base.dtype import (
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)  # fmt: skip

int_, uint, float_ = int32, uint32, float32
inf, nan, pi = float("inf"), float("nan"), 3.141592653589793
PINF, NINF, NAN, e, newaxis = inf, -inf, nan, 2.718281828459045, None
numeric_types = (int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, float32, float64)
