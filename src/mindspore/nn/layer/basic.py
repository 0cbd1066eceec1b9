"""Everyday layers: dense products, flattening, padding, one-hot and triangular selections."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.common.initializer import HeUniform, Uniform, initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn import checks
from mindspore.nn.cell import Cell
from mindspore.nn.layer.activation import get_activation
from mindspore.nn.parts import Part
from mindspore.ops.joining import pad_pairs
from mindspore.ops.operations.nn_ops import extract_patches
from mindspore.prims.setting_types import setting_types

__all__ = [
    "BiDense", "ClipByNorm", "Dense", "Flatten", "Identity", "L1Regularizer", "MatrixDiag", "MatrixDiagPart",
    "MatrixSetDiag", "Norm", "OneHot", "Pad", "Range", "ResizeBilinear", "Roll", "Tril", "Triu", "Unflatten", "Unfold",
    "Upsample",
]  # fmt: skip


def check_weight(owner: str, name: str, init: Any, shape: tuple[int, ...]) -> None:
    """A Tensor given as initial value must have the parameter's shape."""
    if isinstance(init, Tensor) and tuple(init.shape) != shape:
        raise ValueError(
            f"For '{owner}', {name} shape error. The shape of '{name}' must be {shape}, but got {tuple(init.shape)}."
        )


class Identity(Cell):
    """The input itself; constructor arguments are accepted and ignored.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.Identity()(Tensor([1.0])).tolist()
        [1.0]
    """

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__()

    def construct(self, input: Tensor) -> Any:
        return input


class Dense(Cell):
    """x @ weight.T + bias, then an activation.

    Args:
        weight_init: initial values of the weight (out, in); by default uniform within 1 / sqrt(in).
        bias_init: initial values of the bias; by default uniform within 1 / sqrt(in).
        activation: a name ('relu'), a Cell or a primitive applied to the result.

    Examples:
        >>> import mindspore as ms, numpy as np
        >>> ms.nn.Dense(3, 4)(ms.Tensor(np.ones((2, 3), np.float32))).shape
        (2, 4)
    """

    def __init__(
        self, in_channels: int, out_channels: int, weight_init: Any = None, bias_init: Any = None,
        has_bias: bool = True, activation: Any = None, dtype: Any = mstype.float32,
    ):  # fmt: skip
        super().__init__()
        self.in_channels = checks.positive_int("Dense", "in_channels", in_channels)
        self.out_channels = checks.positive_int("Dense", "out_channels", out_channels)
        self.has_bias = checks.boolean("Dense", "has_bias", has_bias)
        check_weight("Dense", "weight init", weight_init, (out_channels, in_channels))
        init = HeUniform(math.sqrt(5)) if weight_init is None else weight_init
        self.weight = Parameter(initializer(init, [out_channels, in_channels], dtype), name="weight")
        self.bias = None
        if has_bias:
            check_weight("Dense", "bias init", bias_init, (out_channels,))
            init = Uniform(1 / math.sqrt(in_channels)) if bias_init is None else bias_init
            self.bias = Parameter(initializer(init, [out_channels], dtype), name="bias")
        self.activation = get_activation(activation) if isinstance(activation, str) else activation
        if activation is not None and not callable(self.activation):
            raise TypeError(
                f"For 'Dense', the 'activation' must be str, Cell or Primitive, but got {type(activation).__name__}."
            )
        self.activation_flag = self.activation is not None

    by_parts = False
    matmul = Part(lambda self: ops.MatMul(transpose_b=True))
    bias_add = Part(lambda self: ops.BiasAdd())
    reshape = Part(lambda self: ops.Reshape())

    def construct(self, x: Any) -> Any:
        x = self._by_parts(x) if self.by_parts else ops.dense(x, self.weight, self.bias)
        if self.activation_flag:
            x = self.activation(x)
        return x

    def _by_parts(self, x: Any) -> Any:
        """What `ops.dense` does, one operation after the other."""
        shape = x.shape
        if len(shape) != 2:
            x = self.reshape(x, (-1, shape[-1]))
        x = self.matmul(x, self.weight)
        if self.has_bias:
            x = self.bias_add(x, self.bias)
        return self.reshape(x, (*shape[:-1], self.out_channels)) if len(shape) != 2 else x

    def extend_repr(self) -> str:
        text = f"input_channels={self.in_channels}, output_channels={self.out_channels}"
        text += f", has_bias={self.has_bias}" if self.has_bias else ""
        return text + (f", activation={self.activation}" if self.activation_flag else "")


class BiDense(Cell):
    """x1ᵀ W_k x2 + b_k for every output k.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.BiDense(2, 3, 4)(Tensor([[1.0, 2.0]]), Tensor([[1.0, 2.0, 3.0]])).shape
        (1, 4)
    """

    def __init__(
        self, in1_channels: int, in2_channels: int, out_channels: int, weight_init: Any = None, bias_init: Any = None,
        has_bias: bool = True, dtype: Any = mstype.float32,
    ):  # fmt: skip
        super().__init__()
        self.in1_channels = checks.positive_int("BiDense", "in1_channels", in1_channels)
        self.in2_channels = checks.positive_int("BiDense", "in2_channels", in2_channels)
        self.out_channels = checks.positive_int("BiDense", "out_channels", out_channels)
        self.has_bias = checks.boolean("BiDense", "has_bias", has_bias)
        bound = Uniform(1 / math.sqrt(in1_channels))
        shape = (out_channels, in1_channels, in2_channels)
        check_weight("BiDense", "weight init", weight_init, shape)
        init = bound if weight_init is None else weight_init
        self.weight = Parameter(initializer(init, shape, dtype), name="weight")
        self.bias = None
        if has_bias:
            init = bound if bias_init is None else bias_init
            self.bias = Parameter(initializer(init, [out_channels], dtype), name="bias")

    def construct(self, input1: Any, input2: Any) -> Any:
        return ops.bidense(input1, input2, self.weight, self.bias)

    def extend_repr(self) -> str:
        return f"in1_channels={self.in1_channels}, in2_channels={self.in2_channels}, out_channels={self.out_channels}"


class Flatten(Cell):
    """Join the dimensions from `start_dim` to `end_dim` into one.

    Examples:
        >>> import mindspore as ms, numpy as np
        >>> ms.nn.Flatten()(ms.Tensor(np.ones((2, 3, 4), np.float32))).shape
        (2, 12)
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1):
        super().__init__()
        for name, value in (("start_dim", start_dim), ("end_dim", end_dim)):
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"For 'Flatten', both 'start_dim' and 'end_dim' must be int, but got {name}={value!r}.")
        self.start_dim, self.end_dim = start_dim, end_dim

    def construct(self, x: Tensor) -> Any:
        return flatten(x, self.start_dim, self.end_dim)


def flatten(x: Any, start: int, end: int) -> Any:
    """Join dimensions; a tensor of fewer dimensions than `start` needs keeps its shape."""
    if x.ndim == 0:
        return ops.reshape(x, (-1,))
    first, last = start % x.ndim if start < 0 else start, end % x.ndim if end < 0 else end
    if first >= x.ndim:
        return x if x.ndim > 1 else ops.reshape(x, (x.shape[0], 1))
    if last >= x.ndim or first > last:
        raise ValueError(f"For 'Flatten', dimensions {start} to {end} do not fit an input of shape {x.shape}.")
    return ops.reshape(x, (*x.shape[:first], math.prod(x.shape[first : last + 1]), *x.shape[last + 1 :]))


class Unflatten(Cell):
    """Split a dimension into several.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.Unflatten(1, (2, 3))(Tensor(np.ones((4, 6), np.float32))).shape
        (4, 2, 3)
    """

    @setting_types(axis=int)
    def __init__(self, axis: int, unflattened_size: Any):
        super().__init__()
        if not isinstance(unflattened_size, (tuple, list)):
            raise TypeError(f"For 'Unflatten', 'unflattened_size' must be a tuple, but got {unflattened_size!r}.")
        self.axis, self.unflattened_size = axis, tuple(unflattened_size)

    def construct(self, input_x: Tensor) -> Any:
        axis = self.axis % input_x.ndim
        return ops.reshape(input_x, input_x.shape[:axis] + self.unflattened_size + input_x.shape[axis + 1 :])


class OneHot(Cell):
    """Indices as vectors that are `on_value` at the index and `off_value` elsewhere.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import Tensor, nn
        >>> nn.OneHot(depth=3)(Tensor([0, 2], ms.int32)).tolist()
        [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """

    def __init__(
        self, axis: int = -1, depth: int = 1, on_value: float = 1.0, off_value: float = 0.0, dtype: Any = mstype.float32
    ):
        super().__init__()
        self.axis, self.depth, self.dtype = axis, depth, dtype
        self.on_value, self.off_value = Tensor(on_value, dtype), Tensor(off_value, dtype)

    by_parts = False
    onehot = Part(lambda self: ops.OneHot(self.axis))

    def construct(self, indices: Any) -> Any:
        if self.by_parts:
            return self.onehot(indices, self.depth, self.on_value, self.off_value)
        return ops.one_hot(indices, self.depth, self.on_value, self.off_value, self.axis)


class Pad(Cell):
    """Add elements around a tensor: one (before, after) pair per dimension; CONSTANT, REFLECT or SYMMETRIC.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.Pad(((0, 0), (1, 1)))(Tensor([[5.0]])).tolist()
        [[0.0, 5.0, 0.0]]
    """

    def __init__(self, paddings: Any, mode: str = "CONSTANT"):
        super().__init__()
        if mode not in ("CONSTANT", "REFLECT", "SYMMETRIC"):
            raise ValueError(f"For 'Pad', 'mode' must be CONSTANT, REFLECT or SYMMETRIC, but got {mode!r}.")
        if not isinstance(paddings, tuple) or any(not isinstance(p, (tuple, list)) or len(p) != 2 for p in paddings):
            raise TypeError(f"For 'Pad', 'paddings' must be a tuple of pairs, but got {paddings!r}.")
        self.paddings, self.mode = paddings, mode

    def construct(self, x: Tensor) -> Any:
        if len(self.paddings) != x.ndim:
            raise ValueError(f"For 'Pad', 'paddings' has {len(self.paddings)} pairs for an input of shape {x.shape}.")
        return pad_pairs(x, self.paddings, self.mode.lower())


class Norm(Cell):
    """The Euclidean norm over axes.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.Norm(axis=0)(Tensor([3.0, 4.0])).tolist()
        5.0
    """

    def __init__(self, axis: Any = (), keep_dims: bool = False):
        super().__init__()
        self.axis, self.keep_dims = axis, checks.boolean("Norm", "keep_dims", keep_dims)

    def construct(self, x: Tensor) -> Any:
        return ops.sqrt(ops.ReduceSum(self.keep_dims)(ops.square(x), self.axis))

    def extend_repr(self) -> str:
        return f"axis={self.axis}, keep_dims={self.keep_dims}"


class L1Regularizer(Cell):
    """scale * sum(|weights|).

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.L1Regularizer(0.5)(Tensor([1.0, -2.0])).item()
        1.5
    """

    def __init__(self, scale: float):
        super().__init__()
        self.scale = checks.positive("L1Regularizer", "scale", scale)
        if math.isinf(scale) or math.isnan(scale):
            raise ValueError(f"For 'L1Regularizer', 'scale' can not be inf or nan, but got {scale}.")

    def construct(self, weights: Any) -> Any:
        return self.scale * ops.ReduceSum()(ops.abs(weights), ())


class ClipByNorm(Cell):
    """x, as float32, scaled down so that its Euclidean norm is at most `clip_norm`.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.ClipByNorm()(Tensor([3.0, 4.0]), Tensor(10.0)).tolist()
        [3.0, 4.0]
    """

    def __init__(self, axis: Any = None):
        super().__init__()
        self.axis = () if axis is None else axis

    def construct(self, x: Tensor, clip_norm: Any) -> Any:
        x = ops.cast(x, mstype.float32)
        size = ops.sqrt(ops.ReduceSum(True)(ops.square(x), self.axis))
        limit = ops.cast(clip_norm, mstype.float32)
        return ops.select(size <= limit, x, x * limit / size)  # NaN is passed on


class Range(Cell):
    """The numbers from `start` to `limit` in steps of `delta`.

    Examples:
        >>> from mindspore import nn
        >>> nn.Range(1, 7, 2)().tolist()
        [1, 3, 5]
    """

    def __init__(self, start: Any, limit: Any = None, delta: Any = 1):
        super().__init__()
        if delta == 0:
            raise ValueError("For 'Range', 'delta' must not be 0.")
        stop = start if limit is None else limit
        data = np.arange(0 if limit is None else start, stop, delta)
        self.result_tensor = Tensor(data, mstype.float32 if data.dtype.kind == "f" else mstype.int32)

    def construct(self) -> Any:
        return self.result_tensor


class Roll(Cell):
    """Elements moved along axes, those pushed out coming back in at the other end.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.Roll(1, 0)(Tensor([1.0, 2.0, 3.0])).tolist()
        [3.0, 1.0, 2.0]
    """

    def __init__(self, shift: Any, axis: Any):
        super().__init__()
        self.shift, self.axis = shift, axis

    def construct(self, input_x: Tensor) -> Any:
        return ops.roll(input_x, self.shift, self.axis)


class Tril(Cell):
    """The lower triangle, zeros above diagonal `k`.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.Tril()(Tensor([[1, 2], [3, 4]])).tolist()
        [[1, 0], [3, 4]]
    """

    def construct(self, x: Tensor, k: int = 0) -> Any:
        return ops.tril(x, k)


class Triu(Cell):
    """The upper triangle, zeros below diagonal `k`.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.Triu()(Tensor([[1, 2], [3, 4]])).tolist()
        [[1, 2], [0, 4]]
    """

    def construct(self, x: Tensor, k: int = 0) -> Any:
        return ops.triu(x, k)


class MatrixDiag(Cell):
    """Vectors as the diagonals of matrices.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.MatrixDiag()(Tensor([1.0, 2.0])).tolist()
        [[1.0, 0.0], [0.0, 2.0]]
    """

    def construct(self, input_x: Tensor) -> Any:
        return input_x * 1 if input_x.ndim == 0 else _diagonal_of(input_x)


def _diagonal_of(x: Any) -> Any:
    n = x.shape[-1]
    return ops.expand_dims(x, -1) * Tensor(np.eye(n), x.dtype)


class MatrixDiagPart(Cell):
    """The diagonals of matrices.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.MatrixDiagPart()(Tensor([[1.0, 2.0], [3.0, 4.0]])).tolist()
        [1.0, 4.0]
    """

    def construct(self, input_x: Tensor) -> Any:
        return ops.diagonal(input_x, 0, -2, -1)


class MatrixSetDiag(Cell):
    """Matrices with their diagonals replaced.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.MatrixSetDiag()(Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([8.0, 9.0])).tolist()
        [[8.0, 2.0], [3.0, 9.0]]
    """

    def construct(self, input_x: Tensor, diagonal: Tensor) -> Any:
        rows, cols = input_x.shape[-2:]
        if diagonal.shape != (*input_x.shape[:-2], min(rows, cols)):
            raise ValueError(f"For 'MatrixSetDiag', a diagonal of shape {diagonal.shape} does not fit {input_x.shape}.")
        padded = diagonal if rows <= cols else ops.pad(diagonal, (0, rows - cols))
        eye = Tensor(np.eye(rows, cols, dtype=bool))
        return ops.select(eye, ops.expand_dims(padded, -1) + ops.zeros_like(input_x), input_x)


class Unfold(Cell):
    """Image patches of (N, C, H, W) as channels: (N, C * patch size, H', W').

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.Unfold([1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1])(Tensor(np.ones((1, 2, 6, 6), np.float32))).shape
        (1, 8, 3, 3)
    """

    def __init__(self, ksizes: Any, strides: Any, rates: Any, padding: str = "valid"):
        super().__init__()
        for name, value in (("ksizes", ksizes), ("strides", strides), ("rates", rates)):
            if not isinstance(value, (tuple, list)):
                raise TypeError(f"For 'Unfold', the type of '{name}' must be tuple or list, but got {value!r}.")
            if len(value) != 4 or value[0] != 1 or value[3] != 1:
                raise ValueError(f"For 'Unfold', '{name}' must have the form [1, row, col, 1], but got {value}.")
        self.ksizes, self.strides, self.rates, self.padding = ksizes, strides, rates, padding

    def construct(self, input_x: Tensor) -> Any:
        return extract_patches(input_x, self.ksizes[1:3], self.strides[1:3], self.rates[1:3], self.padding)


class Upsample(Cell):
    """Resize the spatial dimensions to `size` or by `scale_factor`.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.Upsample(scale_factor=2.0)(Tensor(np.ones((1, 2, 6, 6), np.float32))).shape
        (1, 2, 12, 12)
    """

    @setting_types(size=int | tuple | None)
    def __init__(
        self, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ):  # fmt: skip
        super().__init__()
        self.size, self.scale_factor, self.mode = size, scale_factor, mode
        self.align_corners, self.recompute_scale_factor = align_corners, recompute_scale_factor

    def construct(self, x: Tensor) -> Any:
        return ops.interpolate(
            x, self.size, self.scale_factor, self.mode, self.align_corners, self.recompute_scale_factor
        )


class ResizeBilinear(Cell):
    """Bilinear resizing of (N, C, H, W), as MindSpore 1.x had it.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.ResizeBilinear()(Tensor([[[[1.0, 2.0]]]]), size=(1, 4)).shape
        (1, 1, 1, 4)
    """

    def __init__(self, half_pixel_centers: bool = False):
        super().__init__()
        self.half_pixel_centers = half_pixel_centers

    def construct(self, x: Tensor, size: Any = None, scale_factor: Any = None, align_corners: bool = False) -> Any:
        if size is None:
            size = (x.shape[2] * scale_factor, x.shape[3] * scale_factor)
        return ops.ResizeBilinear(size, align_corners, self.half_pixel_centers)(x)
