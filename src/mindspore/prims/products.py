"""Products by NumPy's rules, made of matrix products: `matmul` with broadcasting, and `einsum`.

einsum contracts its operands from left to right, each pair by one batched matrix product: labels of both that are still
needed are batch dimensions, labels of both that are not are summed over, the others are rows and columns.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore.prims import values
from mindspore.prims.arrays import TENSOR_INDEX, GetItem, Transpose
from mindspore.prims.broadcasting import BroadcastTo, ReduceSum, Reshape
from mindspore.prims.linalg import BatchMatMul, MatMul

if TYPE_CHECKING:
    from mindspore.prims.values import TensorBase


def matmul(x: TensorBase, y: TensorBase) -> Any:
    """The matrix product of tensors: 1-D operands are vectors, leading dimensions broadcast."""
    a = Reshape()(x, (1, -1)) if x.ndim == 1 else x
    b = Reshape()(y, (-1, 1)) if y.ndim == 1 else y
    if a.ndim == b.ndim == 2:
        out = MatMul()(a, b)
    elif b.ndim == 2 and x.ndim > 2:  # one large product instead of many small ones
        if a.shape[-1] != b.shape[0]:
            BatchMatMul()(a, b)  # says what does not fit
        flat = MatMul()(Reshape()(a, (math.prod(a.shape[:-1]), a.shape[-1])), b)
        out = Reshape()(flat, (*a.shape[:-1], b.shape[-1]))
    else:
        out = BatchMatMul()(a, b)
    shape = out.shape
    if y.ndim == 1:
        shape = shape[:-1]
    if x.ndim == 1:
        shape = shape[:-2] + shape[-1:] if y.ndim > 1 else shape[:-1]
    return Reshape()(out, shape) if shape != out.shape else out


def einsum(equation: str, operands: tuple) -> Any:
    """Sums of products of tensors by Einstein's notation; "..." stands for broadcast dimensions."""
    terms, output = _parse_equation(equation, operands)
    current, labels = _prepare_operand(operands[0], terms[0])
    for i, (x, term) in enumerate(zip(operands[1:], terms[1:]), 2):
        needed = set(output).union(*terms[i:])
        nxt, nxt_labels = _prepare_operand(x, term)
        current, labels = _contract(current, labels, nxt, nxt_labels, needed)
    gone = tuple(d for d, c in enumerate(labels) if c not in output)
    if gone:
        current = ReduceSum()(current, gone)
        labels = [c for c in labels if c in output]
    return Transpose()(current, tuple(labels.index(c) for c in output)) if labels != output else current


def _parse_equation(equation: str, operands: tuple) -> tuple[list[list[str]], list[str]]:
    """Labels per operand and of the result; an ellipsis becomes numbered labels, aligned from the right."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    parts = left.split(",")
    if len(parts) != len(operands):
        raise ValueError(f"For 'einsum', the equation {equation!r} has {len(parts)} operands, but got {len(operands)}.")
    terms, widest = [], 0
    for part, x in zip(parts, operands):
        named = part.replace("...", "")
        extra = x.ndim - len(named)
        if extra < 0 or (extra > 0 and "..." not in part) or not (named.isalpha() or named == ""):
            raise ValueError(f"For 'einsum', the labels {part!r} do not fit an operand of shape {x.shape}.")
        dots = [f"...{extra - i}" for i in range(extra)]
        widest = max(widest, extra)
        before, _, after = part.partition("...")
        terms.append([*before, *dots, *after] if "..." in part else list(part))
    every = [c for term in terms for c in term]
    dots = [f"...{widest - i}" for i in range(widest)]
    if arrow:
        before, mark, after = right.partition("...")
        output = [*before, *(dots if mark else []), *after]
    else:
        output = dots + sorted(c for c in set(every) if len(c) == 1 and every.count(c) == 1)
    if len(set(output)) != len(output) or any(c not in every for c in output):
        raise ValueError(f"For 'einsum', the result of {equation!r} must name labels of the operands, each once.")
    return terms, output


def _prepare_operand(x: TensorBase, labels: list[str]) -> tuple[Any, list[str]]:
    """Take diagonals where a label repeats within one operand."""
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            a = labels.index(label)
            b = labels.index(label, a + 1)
            if x.shape[a] != x.shape[b]:
                raise ValueError(f"For 'einsum', the label {label!r} stands for sizes {x.shape[a]} and {x.shape[b]}.")
            x = _diagonal(x, a, b)
            labels = [c for d, c in enumerate(labels) if d not in (a, b)] + [label]
    return x, list(labels)


def _contract(a: TensorBase, la: list[str], b: TensorBase, lb: list[str], needed: set[str]) -> tuple[Any, list[str]]:
    """One pairwise product: labels of both become batch or summed dimensions, the rest rows and columns."""
    a, la = _sum_labels(a, la, [c for c in la if c not in lb and c not in needed])
    b, lb = _sum_labels(b, lb, [c for c in lb if c not in la and c not in needed])
    sizes: dict[str, int] = {}
    for labels, shape in ((la, a.shape), (lb, b.shape)):
        for c, n in zip(labels, shape):
            if sizes.get(c, 1) not in (1, n) and n != 1:
                raise ValueError(f"For 'einsum', the label {c!r} stands for sizes {sizes[c]} and {n}.")
            sizes[c] = n if sizes.get(c, 1) == 1 else sizes[c]  # 1 gives way to any size, 0 included
    shared = [c for c in la if c in lb]
    batch, summed = [c for c in shared if c in needed], [c for c in shared if c not in needed]
    rows, cols = [c for c in la if c not in lb], [c for c in lb if c not in la]
    left = _arrange(a, la, batch, rows, summed, sizes)
    right = _arrange(b, lb, batch, summed, cols, sizes)
    out = BatchMatMul()(left, right) if batch else MatMul()(left, right)
    labels = batch + rows + cols
    return Reshape()(out, tuple(sizes[c] for c in labels)), labels


def _sum_labels(x: TensorBase, labels: list[str], gone: list[str]) -> tuple[Any, list[str]]:
    if gone:
        x = ReduceSum()(x, tuple(labels.index(c) for c in gone))
    return x, [c for c in labels if c not in gone]


def _arrange(x: TensorBase, labels: list[str], batch: list[str], rows: list[str], cols: list[str], sizes: dict) -> Any:
    """(batch…, rows, columns), with broadcast sizes filled in."""
    order = batch + rows + cols
    x = Transpose()(x, tuple(labels.index(c) for c in order))
    full = tuple(sizes[c] for c in order)
    x = BroadcastTo(full)(x) if x.shape != full else x
    shape = (*(sizes[c] for c in batch), math.prod(sizes[c] for c in rows), math.prod(sizes[c] for c in cols))
    return Reshape()(x, shape)


def _diagonal(x: TensorBase, a: int, b: int) -> Any:
    """The elements at equal places of two axes, as a last dimension."""
    others = [d for d in range(x.ndim) if d not in (a, b)]
    places = values.from_array(np.arange(x.shape[a]))
    moved = Transpose()(x, (*others, a, b))
    return GetItem((Ellipsis, TENSOR_INDEX, TENSOR_INDEX))(moved, places, places)
