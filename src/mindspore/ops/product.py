"""Products of vectors, matrices and tensors."""

from __future__ import annotations

import math
import string
from typing import Any

from mindspore.common.tensor import Tensor
from mindspore.ops.arguments import (
    normal_axis,
    require_numbers,
    require_operands,
    require_rank,
    require_tensor,
    require_tensors,
)
from mindspore.prims import checks, products
from mindspore.prims import elementwise as ew
from mindspore.prims.arrays import Transpose
from mindspore.prims.broadcasting import ReduceSum, Reshape
from mindspore.prims.checks import UnfitError
from mindspore.prims.linalg import BatchMatMul, MatMul
from mindspore.prims.setting_types import setting_types
from mindspore.prims.values import TensorBase

__all__ = [
    "addbmm", "addmm", "addmv", "addr", "baddbmm", "batch_dot", "bidense", "bmm", "cross", "dense", "dot",
    "einsum", "ger", "inner", "kron", "matmul", "mm", "mv", "outer", "tensor_dot", "vecdot",
]  # fmt: skip

_MATMUL, _MATMUL_TRANSPOSED = MatMul(), MatMul(False, True)


def matmul(input: Any, other: Any) -> Tensor:
    """The matrix product by NumPy's rules: 1-D operands are vectors, leading dimensions broadcast.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.matmul(Tensor([[1.0, 2.0]]), Tensor([[3.0], [4.0]])).tolist()
        [[11.0]]
    """
    if isinstance(input, TensorBase) and isinstance(other, TensorBase) and input.ndim == 2 == other.ndim:
        return _MATMUL(input, other)
    for name, x in (("input", input), ("other", other)):
        if require_tensor("matmul", name, x).ndim == 0:
            raise ValueError(f"For 'matmul', '{name}' must have at least 1 dimension, but it is a single number.")
    return products.matmul(input, other)


def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.mm(Tensor([[1.0, 2.0]]), Tensor([[3.0], [4.0]])).tolist()
        [[11.0]]
    """
    return MatMul()(input, mat2)


def bmm(input_x: Tensor, mat2: Tensor) -> Tensor:
    """Products of batches of matrices.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, ops
        >>> ops.bmm(Tensor(np.ones((5, 2, 3), np.float32)), Tensor(np.ones((5, 3, 4), np.float32))).shape
        (5, 2, 4)
    """
    for name, x in (("input_x", input_x), ("mat2", mat2)):
        if require_tensor("bmm", name, x).ndim < 2:
            raise ValueError(f"For 'bmm', '{name}' must have at least 2 dimensions, but its shape is {x.shape}.")
    return BatchMatMul()(input_x, mat2)


def mv(mat: Tensor, vec: Tensor) -> Tensor:
    """A matrix times a vector.

    Examples:
        >>> print(ops.mv(Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([1.0, 10.0])))
        [21. 43.]
    """
    require_tensors("mv", mat=mat, vec=vec)
    if mat.ndim != 2 or vec.ndim != 1:
        raise ValueError(f"For 'mv', a matrix and a vector are needed, but got shapes {mat.shape} and {vec.shape}.")
    return matmul(mat, vec)


def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """The product of every element of one vector with every element of the other.

    Examples:
        >>> print(ops.outer(Tensor([1, 2]), Tensor([3, 4, 5])))
        [[ 3  4  5]
         [ 6  8 10]]
    """
    require_tensors("outer", input=input, vec2=vec2)
    if input.ndim != 1 or vec2.ndim != 1:
        raise ValueError(f"For 'outer', two vectors are needed, but got shapes {input.shape} and {vec2.shape}.")
    return Reshape()(input, (-1, 1)) * vec2


def ger(input: Tensor, vec2: Tensor) -> Tensor:
    """The outer product of two vectors.

    Examples:
        >>> print(ops.ger(Tensor([1.0, 2.0]), Tensor([3.0, 4.0])))
        [[3. 4.]
         [6. 8.]]
    """
    require_tensors("ger", input=input, vec2=vec2)
    return outer(input, vec2)


def inner(input: Tensor, other: Tensor) -> Tensor:
    """The sum product over the last dimensions.

    Examples:
        >>> print(ops.inner(Tensor([1.0, 2.0]), Tensor([[3.0, 4.0], [5.0, 6.0]])))
        [11. 17.]
    """
    require_tensors("inner", input=input, other=other)
    if input.ndim == 0 or other.ndim == 0:
        return input * other
    return tensor_dot(input, other, ((-1,), (-1,)))


def dot(input: Tensor, other: Tensor) -> Tensor:
    """NumPy's dot: over the last dimension of `input` and the second-last of `other`.

    Examples:
        >>> print(ops.dot(Tensor([[1.0, 2.0]]), Tensor([[3.0], [4.0]])))
        [[11.]]
    """
    require_tensors("dot", input=input, other=other)
    if input.ndim == 0 or other.ndim == 0:
        return input * other
    return tensor_dot(input, other, ((-1,), (-2,) if other.ndim > 1 else (-1,)))


@setting_types(axis=int)
def vecdot(x: Tensor, y: Any, *, axis: int = -1) -> Tensor:
    """The sum of conj(x) * y along `axis`.

    Examples:
        >>> print(ops.vecdot(Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([[10.0, 1.0], [1.0, 1.0]])))
        [12.  7.]
    """
    require_operands("vecdot", y=y)
    require_tensors("vecdot", x=x)
    return ReduceSum()(ew.conj(x) * y, axis)


@setting_types(axes=int | tuple)
def tensor_dot(x1: Tensor, x2: Tensor, axes: Any) -> Tensor:
    """The sum product over pairs of axes: a number (the last of x1 with the first of x2), or two lists of axes.

    Examples:
        >>> print(ops.tensor_dot(Tensor([[1.0, 2.0]]), Tensor([[3.0], [4.0]]), 1))
        [[11.]]
    """
    require_tensors("tensor_dot", x1=x1, x2=x2)
    if isinstance(axes, int):
        axes = (tuple(range(x1.ndim - axes, x1.ndim)), tuple(range(axes)))
    first, second = (tuple(a) if isinstance(a, (list, tuple)) else (a,) for a in axes)
    first = tuple(normal_axis("tensor_dot", a, x1.ndim) for a in first)
    second = tuple(normal_axis("tensor_dot", a, x2.ndim) for a in second)
    if tuple(x1.shape[a] for a in first) != tuple(x2.shape[a] for a in second):
        raise ValueError(
            f"For 'tensor_dot', the axes {first} of shape {x1.shape} and {second} of shape {x2.shape} must agree in size."
        )
    rest1 = tuple(d for d in range(x1.ndim) if d not in first)
    rest2 = tuple(d for d in range(x2.ndim) if d not in second)
    size = math.prod(x1.shape[a] for a in first)
    a = Reshape()(Transpose()(x1, rest1 + first), (math.prod(x1.shape[d] for d in rest1), size))
    b = Reshape()(Transpose()(x2, second + rest2), (size, math.prod(x2.shape[d] for d in rest2)))
    return Reshape()(MatMul()(a, b), tuple(x1.shape[d] for d in rest1) + tuple(x2.shape[d] for d in rest2))


def batch_dot(x1: Tensor, x2: Tensor, axes: Any = None) -> Tensor:
    """For each batch entry the sum product over one axis of x1 and one of x2.

    Examples:
        >>> print(ops.batch_dot(Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([[1.0, 1.0], [10.0, 10.0]]), axes=1))
        [[ 3.]
         [70.]]
    """
    require_tensors("batch_dot", x1=x1, x2=x2)
    if axes is None:
        axes = (x1.ndim - 1, x2.ndim - 2 if x2.ndim > 2 else 1)
    a1, a2 = (axes, axes) if isinstance(axes, int) else axes
    a1, a2 = normal_axis("batch_dot", a1, x1.ndim), normal_axis("batch_dot", a2, x2.ndim)
    if 0 in (a1, a2):
        raise ValueError("For 'batch_dot', 'axes' must not name the batch dimension, 0.")
    letters = "abcdefghijklmnopqrstuvwxyz"
    left = ["Z"] + list(letters[: x1.ndim - 1])
    right = ["Z"] + list(letters[x1.ndim - 1 : x1.ndim + x2.ndim - 2])
    right[a2] = left[a1]
    out = [c for c in left if c != left[a1]] + [c for c in right[1:] if c != left[a1]]
    result = einsum(f"{''.join(left)},{''.join(right)}->{''.join(out)}", x1, x2)
    return Reshape()(result, (-1, 1)) if result.ndim == 1 else result


def kron(input: Tensor, other: Tensor) -> Tensor:
    """The Kronecker product.

    Examples:
        >>> print(ops.kron(Tensor([[1, 2]]), Tensor([[0, 1], [1, 0]])))
        [[0 1 0 2]
         [1 0 2 0]]
    """
    require_tensors("kron", input=input, other=other)
    rank = max(input.ndim, other.ndim)
    a = Reshape()(input, (1,) * (rank - input.ndim) + input.shape)
    b = Reshape()(other, (1,) * (rank - other.ndim) + other.shape)
    left = Reshape()(a, tuple(d for n in a.shape for d in (n, 1)))
    right = Reshape()(b, tuple(d for n in b.shape for d in (1, n)))
    return Reshape()(left * right, tuple(m * n for m, n in zip(a.shape, b.shape)))


def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """The vector product along a dimension of size 3 (the first such when None).

    Examples:
        >>> print(ops.cross(Tensor([1.0, 0.0, 0.0]), Tensor([0.0, 1.0, 0.0])))
        [0. 0. 1.]
    """
    require_tensors("cross", input=input, other=other)
    shape = checks.broadcast("cross", input.shape, other.shape)
    if dim is None or dim == -65530:
        if 3 not in shape:
            raise ValueError(f"For 'cross', a dimension of size 3 is needed, but the shape is {shape}.")
        dim = shape.index(3)
    at = normal_axis("cross", dim, len(shape), "dim")
    if shape[at] != 3:
        raise ValueError(f"For 'cross', dimension {dim} must be of size 3, but the shape is {shape}.")
    from mindspore.ops.reshaping import broadcast_to, roll

    a, b = broadcast_to(input, shape), broadcast_to(other, shape)
    return roll(a * roll(b, -1, at) - roll(a, -1, at) * b, -1, at)


# -- sums of products -----------------------------------------------------------------------------------------------
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """beta * input + alpha * (mat1 @ mat2).

    Examples:
        >>> print(ops.addmm(ops.ones((1, 2)), Tensor([[1.0, 2.0]]), Tensor([[1.0, 0.0], [0.0, 3.0]]), beta=10))
        [[11. 16.]]
    """
    require_numbers("addmm", beta=beta, alpha=alpha)
    require_operands("addmm", input=input)
    return beta * input + alpha * MatMul()(mat1, mat2)


@setting_types(beta=bool | int | float, alpha=bool | int | float)
def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """beta * input + alpha * (mat @ vec).

    Examples:
        >>> print(ops.addmv(Tensor([1.0, 1.0]), Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([1.0, -1.0]), beta=0.5))
        [-0.5 -0.5]
    """
    require_numbers("addmv", beta=beta, alpha=alpha)
    require_tensors("addmv", input=input, mat=mat, vec=vec)
    return beta * input + alpha * mv(mat, vec)


@setting_types(beta=bool | int | float, alpha=bool | int | float)
def addr(x: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """beta * x + alpha * outer(vec1, vec2).

    Examples:
        >>> print(ops.addr(ops.zeros((2, 2)), Tensor([1.0, 2.0]), Tensor([3.0, 4.0])))
        [[3. 4.]
         [6. 8.]]
    """
    require_numbers("addr", beta=beta, alpha=alpha)
    require_tensors("addr", x=x, vec1=vec1, vec2=vec2)
    return beta * x + alpha * outer(vec1, vec2)


def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """beta * input + alpha * the sum of batch1 @ batch2 over the batch.

    Examples:
        >>> print(ops.addbmm(ops.ones((2, 2)), ops.ones((3, 2, 4)), ops.ones((3, 4, 2)), alpha=0.5))
        [[7. 7.]
         [7. 7.]]
    """
    require_numbers("addbmm", beta=beta, alpha=alpha)
    require_operands("addbmm", input=input)
    return beta * input + alpha * ReduceSum()(bmm(batch1, batch2), 0)


def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """beta * input + alpha * (batch1 @ batch2).

    Examples:
        >>> ops.baddbmm(ops.ones((1, 1, 1)), Tensor([[[1.0, 2.0]]]), Tensor([[[3.0], [4.0]]]), beta=10).tolist()
        [[[21.0]]]
    """
    require_numbers("baddbmm", beta=beta, alpha=alpha)
    require_operands("baddbmm", input=input)
    return beta * input + alpha * bmm(batch1, batch2)


# -- einsum ---------------------------------------------------------------------------------------------------------
def einsum(equation: str, *operands: Any) -> Tensor:
    """Sums of products by Einstein's notation, e.g. "ij,jk->ik"; "..." stands for broadcast dimensions.

    Labels may also follow each operand as a list of ints (and `...`): `einsum(x, [0, 1], y, [1, 2], [0, 2])`.
    Pairs of operands are contracted from left to right, each by one batched matrix product.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.einsum("ij,j->i", Tensor([[1.0, 2.0]]), Tensor([3.0, 4.0])).tolist()
        [11.0]
    """
    if isinstance(equation, TensorBase) and operands:
        equation, operands = _from_sublists((equation, *operands))
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    if not isinstance(equation, str):
        raise TypeError(f"For 'einsum', 'equation' must be a string, but got {equation!r}.")
    for x in operands:
        require_tensor("einsum", "operands", x)
    return products.einsum(equation, operands)


def _from_sublists(given: tuple) -> tuple[str, tuple]:
    """Operands with lists of labels behind each, and perhaps one for the result, as an equation in letters."""

    def term(labels: Any) -> str:
        if not isinstance(labels, (list, tuple)) or not all(v is ... or v in range(52) for v in labels):
            raise ValueError(
                f"For 'einsum', the labels of an operand must be a list of ints from 0 to 51 and ..., but got {labels}."
            )
        return "".join("..." if v is ... else string.ascii_letters[v] for v in labels)

    pairs = len(given) // 2
    equation = ",".join(term(labels) for labels in given[1 : 2 * pairs : 2])
    if len(given) % 2:
        equation += "->" + term(given[-1])
    return equation, given[: 2 * pairs : 2]


def dense(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input @ weight^T + bias.

    Examples:
        >>> print(ops.dense(Tensor([[1.0, 2.0]]), Tensor([[1.0, 1.0], [0.0, 3.0]]), Tensor([0.5, 0.5])))
        [[3.5 6.5]]
    """
    require_tensors("dense", input=input, weight=weight)
    if input.ndim and weight.ndim == 2 and input.shape[-1] != weight.shape[1]:
        raise UnfitError(
            f"For 'dense', the last dimension of 'input' must be {weight.shape[1]}, as many as the weight has columns, "
            f"but the input's shape is {input.shape}."
        )
    if weight.ndim == 1:
        out = matmul(input, weight)
    elif input.ndim == 2:
        out = _MATMUL_TRANSPOSED(input, weight)
    else:
        require_rank("dense", "input", input, 1)
        flat = _MATMUL_TRANSPOSED(Reshape()(input, (math.prod(input.shape[:-1]), input.shape[-1])), weight)
        out = Reshape()(flat, (*input.shape[:-1], weight.shape[0]))
    return out if bias is None else out + bias


def bidense(input1: Any, input2: Any, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x1^T W_k x2 + b_k for each output k.

    Examples:
        >>> weight = Tensor([[[1.0, 0.0], [0.0, 1.0]]])
        >>> print(ops.bidense(Tensor([[1.0, 2.0]]), Tensor([[3.0, 4.0]]), weight, Tensor([0.5])))
        [[11.5]]
    """
    out = einsum("...i,kij,...j->...k", input1, weight, input2)
    return out if bias is None else out + bias
