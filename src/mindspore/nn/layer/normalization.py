"""Normalisation layers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.common.initializer import initializer
from mindspore.common.parameter import Parameter
from mindspore.nn import checks
from mindspore.nn.cell import Cell
from mindspore.prims.norm import BatchNorm as _BatchNormPrimitive
from mindspore.prims.norm import LayerNorm as _LayerNormPrimitive

if TYPE_CHECKING:
    from mindspore._base.dtype import DType
    from mindspore.common.tensor import Tensor
    from mindspore.prims.primitive import Primitive

__all__ = [
    "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "GroupNorm", "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d",
    "LayerNorm", "LayerNormExt", "LRN", "SyncBatchNorm",
]  # fmt: skip


class _BatchNorm(Cell):
    """Batch normalisation over the channels, with moving statistics for inference."""

    ranks: tuple[int, ...] = (4,)

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.9, affine: bool = True,
        gamma_init: Any = "ones", beta_init: Any = "zeros", moving_mean_init: Any = "zeros",
        moving_var_init: Any = "ones", use_batch_statistics: bool | None = None, data_format: str = "NCHW",
        dtype: DType = mstype.float32,
    ):  # fmt: skip
        super().__init__()
        owner = type(self).__name__
        if isinstance(num_features, bool) or not isinstance(num_features, int):
            raise TypeError(f"For '{owner}', the 'num_features' must be int, but got '{type(num_features).__name__}'")
        if num_features < 1:
            raise ValueError(f"For '{owner}', the 'num_features' must be at least 1, but got {num_features}.")
        if use_batch_statistics not in (None, True, False):
            raise TypeError(
                f"For '{owner}', 'use_batch_statistics' must be a bool or None, but got {use_batch_statistics!r}."
            )
        if data_format not in ("NCHW", "NHWC"):
            raise ValueError(f"For '{owner}', 'data_format' must be 'NCHW' or 'NHWC', but got {data_format!r}.")
        self.num_features, self.eps = num_features, eps
        self.momentum = checks.fraction(owner, "momentum", momentum)
        self.use_batch_statistics, self.format = use_batch_statistics, data_format

        def parameter(init: Any, name: str, trained: bool) -> Parameter:
            return Parameter(initializer(init, num_features, dtype), name=name, requires_grad=trained)

        self.moving_mean = parameter(moving_mean_init, "mean", False)
        self.moving_variance = parameter(moving_var_init, "variance", False)
        self.gamma = parameter(gamma_init, "gamma", affine)
        self.beta = parameter(beta_init, "beta", affine)
        self.bn_train = _BatchNormPrimitive(True, eps, 1 - momentum, data_format)
        self.bn_infer = _BatchNormPrimitive(False, eps, 1 - momentum, data_format)

    def construct(self, x: Tensor) -> Any:
        checks.rank(type(self).__name__, x, *self.ranks)
        if self.use_batch_statistics or (self.use_batch_statistics is None and self.training):
            return batch_normalise(self, self.bn_train, x)
        return batch_normalise(self, self.bn_infer, x)

    def extend_repr(self) -> str:
        return (
            f"num_features={self.num_features}, eps={self.eps}, momentum={self.momentum}, gamma={self.gamma}, "
            f"beta={self.beta}, moving_mean={self.moving_mean}, moving_variance={self.moving_variance}"
        )


def batch_normalise(layer: Cell, prim: Primitive, x: Tensor) -> Any:
    """Apply the primitive to the layer's own parameters: statistics are never cast by mixed precision."""
    own = layer._params
    return prim(x, own["gamma"], own["beta"], own["moving_mean"], own["moving_variance"])[0]


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of (N, C) or (N, C, L).

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.BatchNorm1d(2)(Tensor([[1.0, 2.0]])).shape
        (1, 2)
    """

    ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of (N, C, H, W) (Ioffe & Szegedy 2015).

    In training the batch's statistics are used and the moving ones follow with `momentum`; in evaluation the moving
    ones are used. `use_batch_statistics` fixes the choice.

    Examples:
        >>> import mindspore as ms, numpy as np
        >>> net = ms.nn.BatchNorm2d(num_features=3)
        >>> net(ms.Tensor(np.ones((1, 3, 2, 2), np.float32))).shape
        (1, 3, 2, 2)
    """


class BatchNorm3d(Cell):
    """Batch normalisation of (N, C, D, H, W): the layer `bn2d` on (N, C, D * H, W).

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.BatchNorm3d(2)(Tensor(np.ones((1, 2, 4, 4, 4), np.float32))).shape
        (1, 2, 4, 4, 4)
    """

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.9, affine: bool = True,
        gamma_init: Any = "ones", beta_init: Any = "zeros", moving_mean_init: Any = "zeros",
        moving_var_init: Any = "ones", use_batch_statistics: bool | None = None, dtype: Any = mstype.float32,
    ):  # fmt: skip
        super().__init__()
        self.bn2d = BatchNorm2d(
            num_features, eps, momentum, affine, gamma_init, beta_init, moving_mean_init, moving_var_init,
            use_batch_statistics, "NCHW", dtype,
        )  # fmt: skip

    def construct(self, x: Tensor) -> Any:
        checks.rank("BatchNorm3d", x, 5)
        samples, channels, depth, height, width = x.shape
        flat = ops.reshape(x, (samples, channels, depth * height, width))
        return ops.reshape(self.bn2d(flat), x.shape)


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation over the batches of all devices.

    A compiled training step sees the whole batch as one tensor, however it is spread over devices, so its statistics
    are the global ones by construction.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.SyncBatchNorm(2)(Tensor(np.ones((1, 2, 6, 6), np.float32))).shape
        (1, 2, 6, 6)
    """

    ranks = (2, 4)

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.9, affine: bool = True,
        gamma_init: Any = "ones", beta_init: Any = "zeros", moving_mean_init: Any = "zeros",
        moving_var_init: Any = "ones", use_batch_statistics: bool | None = None, process_groups: Any = None,
        dtype: Any = mstype.float32,
    ):  # fmt: skip
        super().__init__(
            num_features, eps, momentum, affine, gamma_init, beta_init, moving_mean_init, moving_var_init,
            use_batch_statistics, "NCHW", dtype,
        )  # fmt: skip
        self.process_groups = process_groups


class LayerNorm(Cell):
    """Standardise over the dimensions from `begin_norm_axis` on, then scale and shift (Ba, Kiros & Hinton 2016).

    Examples:
        >>> import mindspore as ms, numpy as np
        >>> ms.nn.LayerNorm((4,))(ms.Tensor(np.ones((2, 4), np.float32))).asnumpy().tolist()[0]
        [0.0, 0.0, 0.0, 0.0]
    """

    def __init__(
        self, normalized_shape: Any, begin_norm_axis: int = -1, begin_params_axis: int = -1, gamma_init: Any = "ones",
        beta_init: Any = "zeros", epsilon: float = 1e-7, dtype: Any = mstype.float32,
    ):  # fmt: skip
        super().__init__()
        if not isinstance(normalized_shape, (tuple, list)):
            raise TypeError(
                "For 'LayerNorm', the type of 'normalized_shape' must be tuple[int] or list[int], but got "
                f"{normalized_shape} and the type is {type(normalized_shape)}."
            )
        if not normalized_shape:
            raise ValueError("Expected normalized_shape to be at least 1-dimensional, but got an empty one.")
        self.normalized_shape = tuple(normalized_shape)
        self.begin_norm_axis, self.begin_params_axis, self.epsilon = begin_norm_axis, begin_params_axis, epsilon
        self.gamma = Parameter(initializer(gamma_init, self.normalized_shape, dtype), name="gamma")
        self.beta = Parameter(initializer(beta_init, self.normalized_shape, dtype), name="beta")
        self.layer_norm = _LayerNormPrimitive(begin_norm_axis, begin_params_axis, epsilon)

    def construct(self, input_x: Tensor) -> Any:
        y, _, _ = self.layer_norm(input_x, ops.cast(self.gamma, input_x.dtype), ops.cast(self.beta, input_x.dtype))
        return y

    def extend_repr(self) -> str:
        return (
            f"normalized_shape={self.normalized_shape}, begin_norm_axis={self.begin_norm_axis}, "
            f"begin_params_axis={self.begin_params_axis}, gamma={self.gamma}, beta={self.beta}"
        )


class LayerNormExt(Cell):
    """Layer normalisation over the last dimensions, with the arguments of `mint`.

    Examples:
        >>> from mindspore import Tensor, mint
        >>> mint.nn.LayerNorm(2)(Tensor([[1.0, 3.0]])).shape
        (1, 2)
    """

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        dtype: Any = None,
    ):
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape, self.eps, self.elementwise_affine = shape, eps, elementwise_affine
        kind = dtype or mstype.float32
        self.weight = Parameter(initializer("ones", shape, kind), name="weight") if elementwise_affine else None
        self.bias = Parameter(initializer("zeros", shape, kind), name="bias") if elementwise_affine and bias else None

    def construct(self, input: Any) -> Any:
        return ops.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)


class GroupNorm(Cell):
    """Standardise groups of channels, then scale and shift every channel (Wu & He 2018).

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.GroupNorm(2, 4)(Tensor(np.ones((1, 4, 3, 3), np.float32))).shape
        (1, 4, 3, 3)
    """

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, gamma_init: Any = "ones",
        beta_init: Any = "zeros", dtype: Any = mstype.float32,
    ):  # fmt: skip
        super().__init__()
        self.num_groups = checks.positive_int("GroupNorm", "num_groups", num_groups)
        self.num_channels = checks.positive_int("GroupNorm", "num_channels", num_channels)
        if num_channels % num_groups:
            raise ValueError(
                f"For 'GroupNorm', the 'num_channels' must be divided by 'num_groups', but got "
                f"{num_channels} and {num_groups}."
            )
        self.eps, self.affine = eps, checks.boolean("GroupNorm", "affine", affine)
        self.gamma = Parameter(initializer(gamma_init, num_channels, dtype), name="gamma", requires_grad=affine)
        self.beta = Parameter(initializer(beta_init, num_channels, dtype), name="beta", requires_grad=affine)

    def construct(self, x: Tensor) -> Any:
        if x.shape[1] != self.num_channels:
            raise ValueError(
                f"For 'GroupNorm', the input must have {self.num_channels} channels, but its shape is {x.shape}."
            )
        return ops.group_norm(x, self.num_groups, self.gamma, self.beta, self.eps)

    def extend_repr(self) -> str:
        return f"num_groups={self.num_groups}, num_channels={self.num_channels}"


class _InstanceNorm(Cell):
    """Standardise every channel of every sample; moving statistics are kept for evaluation."""

    ranks: tuple[int, ...] = (4,)

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = True,
        gamma_init: Any = "ones", beta_init: Any = "zeros", dtype: Any = mstype.float32,
    ):  # fmt: skip
        super().__init__()
        owner = type(self).__name__
        self.num_features = checks.positive_int(owner, "num_features", num_features)
        self.eps, self.momentum = eps, checks.fraction(owner, "momentum", momentum)
        checks.boolean(owner, "affine", affine)
        self.moving_mean = Parameter(initializer("zeros", num_features, dtype), name="mean", requires_grad=False)
        self.moving_variance = Parameter(initializer("ones", num_features, dtype), name="variance", requires_grad=False)
        self.gamma = Parameter(initializer(gamma_init, num_features, dtype), name="gamma", requires_grad=affine)
        self.beta = Parameter(initializer(beta_init, num_features, dtype), name="beta", requires_grad=affine)

    def construct(self, x: Tensor) -> Any:
        checks.rank(type(self).__name__, x, *self.ranks)
        if self.training:
            self._follow(x)
        return ops.instance_norm(x, self.gamma, self.beta, self.eps)

    def _follow(self, x: Any) -> None:
        """Move the kept statistics a step towards those of this batch."""
        axes = tuple(range(2, x.ndim))
        n = math.prod(x.shape[2:])
        data = ops.stop_gradient(ops.cast(x, mstype.float32))
        mean = ops.ReduceMean(True)(data, axes)
        spread = ops.ReduceMean(True)(ops.square(data - mean), axes) * (n / max(n - 1, 1))
        for name, value in (("moving_mean", mean), ("moving_variance", spread)):
            kept = self._params[name]
            batch = ops.ReduceMean()(ops.reshape(value, (x.shape[0], x.shape[1])), 0)
            ops.Assign()(kept, kept * (1 - self.momentum) + batch * self.momentum)

    def extend_repr(self) -> str:
        return f"num_features={self.num_features}, eps={self.eps}, momentum={self.momentum}"


class InstanceNorm1d(_InstanceNorm):
    """Instance normalisation of (N, C, L).

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.InstanceNorm1d(2)(Tensor(np.ones((1, 2, 6), np.float32))).shape
        (1, 2, 6)
    """

    ranks = (3,)


class InstanceNorm2d(_InstanceNorm):
    """Instance normalisation of (N, C, H, W).

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.InstanceNorm2d(2)(Tensor(np.ones((1, 2, 6, 6), np.float32))).shape
        (1, 2, 6, 6)
    """


class InstanceNorm3d(_InstanceNorm):
    """Instance normalisation of (N, C, D, H, W).

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.InstanceNorm3d(2)(Tensor(np.ones((1, 2, 4, 4, 4), np.float32))).shape
        (1, 2, 4, 4, 4)
    """

    ranks = (5,)


class LRN(Cell):
    """Local response normalisation across channels.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.LRN()(Tensor(np.ones((1, 2, 3, 3), np.float32))).shape
        (1, 2, 3, 3)
    """

    def __init__(
        self, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5,
        norm_region: str = "ACROSS_CHANNELS",
    ):  # fmt: skip
        super().__init__()
        self.lrn = ops.LRN(depth_radius, bias, alpha, beta, norm_region)

    def construct(self, input_x: Tensor) -> Any:
        return self.lrn(input_x)
