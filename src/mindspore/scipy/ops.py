"""The operations behind `mindspore.scipy.linalg` and `mindspore.scipy.optimize`, as objects."""

from __future__ import annotations

from typing import Any

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops import functional as F
from mindspore.ops.arguments import cast
from mindspore.scipy.linalg import lu_factor
from mindspore.scipy.optimize import linear_sum_assignment

__all__ = ["LU", "Eig", "LinearSumAssignment", "SolveTriangular"]


class SolveTriangular:
    """`prim(a, b)`: the x with a x = b for triangular a; trans 'T' and 'C' take the (conjugate) transpose of a.

    Examples:
        >>> from mindspore import Tensor
        >>> from mindspore.scipy.ops import SolveTriangular
        >>> SolveTriangular(lower=True)(Tensor([[2.0, 0.0], [1.0, 1.0]]), Tensor([2.0, 3.0])).tolist()
        [1.0, 2.0]
    """

    def __init__(self, lower: bool = False, unit_diagonal: bool = False, trans: str = "N"):
        self.lower, self.unit_diagonal, self.trans = lower, unit_diagonal, trans

    def __call__(self, a: Any, b: Any) -> Tensor:
        return F.solve_triangular(a, b, self.trans, self.lower, self.unit_diagonal)


class Eig:
    """`prim(a)`: eigenvalues, and with `compute_v` the eigenvectors, of square matrices."""

    def __init__(self, compute_v: bool = True):
        self.compute_v = compute_v

    def __call__(self, a: Any) -> Any:
        found = F.eig(a)
        return found if self.compute_v else found[0]


class LU:
    """`prim(a)`: the packed factors, the row interchanges and the permutation matrix of a = P L U."""

    def __call__(self, x: Any) -> tuple[Tensor, Tensor, Tensor]:
        packed, pivots = lu_factor(x)
        return packed, pivots, cast(F.lu_unpack(packed, pivots + 1)[0], mstype.int32)


class LinearSumAssignment:
    """`prim(cost_matrix, dimension_limit, maximize)`: the rows and columns of the cheapest (or dearest) assignment."""

    def __call__(self, cost_matrix: Any, dimension_limit: Any, maximize: Any) -> tuple[Tensor, Tensor]:
        return linear_sum_assignment(cost_matrix, maximize, dimension_limit)
