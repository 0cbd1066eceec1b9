"""Models as C: a graph becomes plain functions over static memory, with MindSpore's C interface around them.

    Program ──expand──▶ loop program ──folding.py──▶ ──lowering.py, operations.py──▶ steps ──sources.py──▶ C ──toolchain.py──▶ library

What needs no run-time value is computed here (`folding`); every other value gets a place in one static arena. Fused loops are printed
as C (`loops.py`); convolutions, products and poolings are calls of `runtime/kernels.h`. Nothing is allocated at run time.
"""
