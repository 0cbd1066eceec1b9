"""The hybrid language: loops over array elements, written in Python, as programs that can be analysed, differentiated and compiled.

`reader` makes a `program` of a function for given shapes and types; `bounds` proves indices; `dependence` tells which loops may run in any
order; `reverse` makes the program of the gradient. `backends/cpu/hybrid.py` writes the machine code, `backends/xla/hybrid.py`
Pallas' kernels for GPUs.
"""
