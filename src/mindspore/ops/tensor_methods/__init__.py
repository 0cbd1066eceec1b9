"""Tensor methods: the functions of `mindspore.ops`, attached to the Tensor class.

Most methods are the function itself (`SAME`). Where a method has several signatures (axis or dim, keepdims or keepdim) or
takes its shape as separate arguments, a small adapter sorts that out: `METHODS` of the files here, one a subject.
"""

from __future__ import annotations

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.compiler.parse.overloads import explained
from mindspore.ops import functional as F
from mindspore.ops.tensor_methods import algebra, drawing, facts, filling, picking, reductions, shapes
from mindspore.ops.tensor_methods.adapters import inplace, viewing
from mindspore.prims import indexing

SAME = [
    "abs", "absolute", "acos", "acosh", "addbmm", "addcdiv", "addcmul", "addmm", "addmv", "addr", "adjoint",
    "allclose", "amax", "amin", "aminmax", "angle", "approximate_equal", "arccos", "arccosh", "arcsin", "arcsinh",
    "arctan", "arctan2", "arctanh", "argwhere", "asin", "asinh", "atan", "atan2", "atanh", "baddbmm", "bessel_i0",
    "bincount", "bitwise_and", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "bmm",
    "ceil", "cholesky", "cholesky_inverse", "cholesky_solve", "clamp", "clip", "conj", "copysign", "cos", "cosh",
    "cov", "cross", "cummax", "cummin", "deg2rad", "det", "diag_embed", "diagflat", "diagonal_scatter", "diff",
    "digamma", "div", "divide", "dot", "dsplit", "eigvals", "eq", "equal", "erf", "erfc", "erfinv", "exp",
    "expand_dims", "expm1", "fill_diagonal", "flip", "fliplr", "flipud", "float_power", "floor",
    "floor_divide", "fmax", "fmin", "fmod", "frac", "gather_elements", "gather_nd", "gcd", "ge", "geqrf", "ger",
    "greater", "greater_equal", "gt", "heaviside", "histc", "hsplit", "hypot", "i0", "igamma", "igammac", "imag",
    "index_fill", "inner", "inplace_update", "inverse", "invert", "is_complex", "is_floating_point", "isclose",
    "isfinite", "isinf", "isnan", "isneginf", "isposinf", "isreal", "kron", "kthvalue", "lcm", "ldexp", "le",
    "lerp", "less", "less_equal", "lgamma", "log", "log10", "log1p", "log2", "log_matrix_determinant", "logaddexp", "logaddexp2",
    "logcumsumexp", "logdet", "logical_and", "logical_not", "logical_or", "logical_xor", "logit", "logsumexp",
    "lstsq", "lt", "masked_fill", "masked_select", "matrix_determinant", "matrix_exp", "matrix_power", "maximum",
    "minimum", "mm", "moveaxis", "movedim", "msort", "mul", "multinomial", "multiply", "mv", "mvlgamma",
    "nan_to_num", "nanmean", "nanmedian", "nanquantile", "ne", "neg", "negative", "nextafter",
    "nonzero", "norm", "not_equal", "numel", "orgqr", "ormqr", "outer", "pinv", "positive", "pow", "quantile",
    "rad2deg", "random_categorical", "ravel", "real", "reciprocal", "renorm",
    "reverse", "reverse_sequence", "roll", "rot90", "round", "rsqrt", "scatter_div", "scatter_max", "scatter_min",
    "scatter_mul", "scatter_sub", "select_scatter", "sgn", "sigmoid", "sign", "signbit", "sin", "sinc", "sinh",
    "slice_scatter", "slogdet", "soft_shrink", "sqrt", "square", "subtract", "svd", "swapaxes", "swapdims", "t", "tan", "tanh",
    "tensor_split", "top_k", "tril", "triu", "true_divide", "trunc", "type_as", "unbind", "unique_consecutive",
    "unique_with_pad", "unsorted_segment_max", "unsorted_segment_min", "unsorted_segment_prod",
    "unsorted_segment_sum", "view_as", "vsplit", "xdivy", "xlogy",
]  # fmt: skip

#: examples of methods x.f_(…) where that of x.f(…) does not do
INPLACE_EXAMPLES = {
    "index_add": """
    Examples:
        >>> print(ops.zeros(3).index_add_(0, Tensor([0, 2]), Tensor([5.0, 6.0])))
        [5. 0. 6.]
    """,
    "transpose": """
    Examples:
        >>> x = Tensor([[1, 2], [3, 4]])
        >>> print(x.transpose_(0, 1))
        [[1 3]
         [2 4]]
    """,
    "uniform": """
    Examples:
        >>> bool((ops.zeros(4).uniform_(2.0, 3.0) >= 2).all())
        True
    """,
}

INPLACE = [
    "abs", "acos", "add", "addcdiv", "addcmul", "addmm", "asin", "atan", "baddbmm", "bitwise_and", "bitwise_or",
    "bitwise_xor", "ceil", "clamp", "clip", "cos", "cosh", "div", "divide", "erfinv", "exp", "expm1",
    "fill_diagonal", "floor", "floor_divide", "fmod", "index_add", "index_copy", "index_fill", "index_put", "lerp",
    "log", "log10", "log1p", "log2", "logical_and", "logical_not", "logical_or", "masked_fill", "masked_scatter",
    "mul", "multiply", "neg", "pow", "put", "reciprocal", "relu", "remainder", "round", "rsqrt", "scatter",
    "scatter_add", "sigmoid", "sign", "sin", "sqrt", "square", "sub", "subtract", "tan", "tanh",
    "transpose", "tril", "triu", "trunc", "uniform",
]  # fmt: skip

#: methods that give views in PyNative mode
VIEWING = [
    "chunk", "diagonal", "flatten", "narrow", "permute", "reshape", "select", "split", "squeeze", "swapaxes",
    "swapdims", "t", "transpose", "unbind", "unsqueeze", "view", "view_as",
]  # fmt: skip

CONVERTERS = {
    "float": mstype.float32, "half": mstype.float16, "double": mstype.float64, "int": mstype.int32,
    "long": mstype.int64, "short": mstype.int16, "byte": mstype.uint8, "bool": mstype.bool_,
    "bfloat16": mstype.bfloat16,
}  # fmt: skip


def attach() -> None:
    """Give the Tensor class its operation methods."""
    for name in SAME:
        setattr(Tensor, name, explained(name, getattr(F, name)))
    for subject in (reductions, shapes, facts, filling, picking, drawing, algebra):
        for name, method in subject.METHODS.items():
            setattr(Tensor, name, explained(name, method))
    for name, dtype in CONVERTERS.items():
        setattr(Tensor, name, facts.converter(dtype, name))
    for name in VIEWING:
        setattr(Tensor, name, viewing(getattr(Tensor, name)))
    for name in INPLACE:
        setattr(Tensor, f"{name}_", inplace(getattr(Tensor, name), INPLACE_EXAMPLES.get(name, "")))
    Tensor.__lshift__ = F.bitwise_left_shift  # type: ignore[method-assign]
    Tensor.__rshift__ = F.bitwise_right_shift  # type: ignore[method-assign]
    Tensor.__getitem__ = indexing.getitem  # type: ignore[method-assign]
    Tensor.__setitem__ = indexing.setitem  # type: ignore[method-assign]
    Tensor.symbolic_shape = property(facts.symbolic_shape)  # type: ignore[attr-defined]
    Tensor.mT = property(shapes.swap_last)  # type: ignore[attr-defined]
    Tensor.mH = property(F.adjoint)  # type: ignore[attr-defined]
    Tensor.H = property(F.adjoint)  # type: ignore[attr-defined]
    if not hasattr(Tensor, "data"):
        Tensor.data = property(facts.data)  # type: ignore[attr-defined]
