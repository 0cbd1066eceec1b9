"""Normalisation layers."""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING, Any

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.common.initializer import initializer
from mindspore.common.parameter import Parameter
from mindspore.communication import GlobalComm, create_group, get_group_size, get_rank
from mindspore.nn import checks
from mindspore.nn.cell import Cell
from mindspore.prims.norm import BatchNorm as _BatchNormPrimitive
from mindspore.prims.norm import LayerNorm as _LayerNormPrimitive
from mindspore.prims.setting_types import setting_types
from mindspore.runtime import context

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

    @setting_types(eps=float)
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
        self.bn_train = _BatchNormPrimitive(True, eps, 1.0 - momentum, data_format)
        self.bn_infer = _BatchNormPrimitive(False, eps, 1.0 - momentum, data_format)

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
    groups = groups_of_devices(prim) if prim.is_training else 1  # type: ignore[attr-defined]
    if groups > 1:
        return _normalise_groups(own, prim, x, groups)
    return prim(x, own["gamma"], own["beta"], own["moving_mean"], own["moving_variance"])[0]


def groups_of_devices(prim: Primitive) -> int:
    """In how many groups of devices statistics are taken apart, by the attribute `group_size` of a primitive that is cut.

    Without it they are those of the whole batch, whatever parts of it the devices hold.
    """
    size, sharding = prim.attrs.get("group_size"), context.current().sharding
    if size is None or sharding is None or sharding.devices == 1:
        return 1
    strategy = prim.attrs.get("in_strategy")
    cuts = tuple(strategy[0]) if strategy is not None else (sharding.devices,)
    if not isinstance(size, int) or size < 1 or size & (size - 1) or cuts[0] % size:
        raise RuntimeError(
            f"For 'BatchNorm', 'group_size' must be a power of 2 that divides the {cuts[0]} parts of the batch, but got {size}."
        )
    if any(c != 1 for c in cuts[1:]):
        raise RuntimeError(f"For 'BatchNorm' with a 'group_size', only the batch may be cut, but the strategy is {strategy}.")
    return cuts[0] // size


def _normalise_groups(own: Any, prim: Any, x: Tensor, groups: int) -> Any:
    """Normalise each of so many parts of the batch with its own statistics; the moving ones follow their means."""
    if prim.data_format != "NCHW":
        raise RuntimeError("For 'BatchNorm' with a 'group_size', the data format must be 'NCHW'.")
    parts = ops.reshape(x, (groups, x.shape[0] // groups, *x.shape[1:]))
    axes = (1, *range(3, parts.ndim))
    out, mean, variance = ops.Standardize(axes, prim.epsilon)(parts)
    count = parts.size // (groups * x.shape[1])
    _follow(own, prim.momentum, ops.mean(ops.reshape(mean, (groups, -1)), 0), ops.mean(ops.reshape(variance, (groups, -1)), 0), count)
    return _scaled(own, ops.reshape(out, x.shape))


def _scaled(own: Any, x: Tensor) -> Any:
    row = (1, -1, *(1,) * (x.ndim - 2))
    return x * ops.cast(ops.reshape(own["gamma"], row), x.dtype) + ops.cast(ops.reshape(own["beta"], row), x.dtype)


def _follow(own: Any, momentum: float, mean: Any, variance: Any, count: int) -> None:
    """Move the moving statistics a step towards those of a batch; the variance unbiased."""
    for name, found in (("moving_mean", mean), ("moving_variance", variance * (count / max(count - 1, 1)))):
        moved = own[name] * (1 - momentum) + ops.cast(ops.stop_gradient(found), own[name].dtype) * momentum
        ops.assign(own[name], moved)


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
    """Batch normalisation over the batches of all devices, or of those in one of `process_groups`.

    Where the graph is cut over devices it sees the whole batch as one tensor, so its statistics are the global ones by
    construction. Where each process has a graph and a batch of its own (data parallelism), sums are taken over the processes.

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
        self.group_name, self.is_global = _own_group(process_groups)

    def construct(self, x: Tensor) -> Any:
        sums = self.use_batch_statistics or (self.use_batch_statistics is None and self.training)
        whole = context.current().sharding is not None or get_group_size() == 1
        if not sums or whole or not self.group_name:
            return super().construct(x)
        checks.rank(type(self).__name__, x, *self.ranks)
        return _normalise_together(self._params, self.bn_train, x, self.group_name)


def _own_group(process_groups: Any) -> tuple[str, bool]:
    """The name of the group of processes that statistics are shared with ("": none), and whether there is one."""
    if process_groups is None:
        return GlobalComm.WORLD_COMM_GROUP, True
    rank = get_rank()
    for ranks in process_groups:
        if not isinstance(ranks, (list, tuple)) or not all(isinstance(r, int) and r >= 0 for r in ranks):
            raise TypeError(f"For 'SyncBatchNorm', 'process_groups' must be a list of lists of ranks, but got {process_groups!r}.")
    members = sorted(r for ranks in process_groups for r in ranks)
    if len(set(members)) != len(members):
        raise ValueError(f"For 'SyncBatchNorm', a rank must be in one of the 'process_groups' only, but got {process_groups}.")
    own = next((sorted(ranks) for ranks in process_groups if rank in ranks), [rank])
    if len(own) == 1:
        return "", False
    name = f"{len(own)}_{hashlib.sha256('_'.join(map(str, own)).encode()).hexdigest()}"
    if get_group_size() > 1:
        create_group(name, own)
    return name, True


def _normalise_together(own: Any, prim: Any, x: Tensor, group: str) -> Any:
    """Normalise with the statistics of the batches of a group's processes, which are of equal size."""
    normal, mean, variance, count = normalised_together(x, prim.epsilon, group)
    _follow(own, prim.momentum, mean, variance, count)
    return ops.cast(_scaled(own, normal), x.dtype)


def normalised_together(x: Tensor, epsilon: float, group: str) -> tuple[Any, Any, Any, int]:
    """x by the statistics of the batches of a group's processes, which are of equal size; mean and variance of each channel, and
    of how many elements they are. 16-bit floats are made wide."""
    axes, row = tuple(a for a in range(x.ndim) if a != 1), (1, -1, *(1,) * (x.ndim - 2))
    wide = ops.cast(x, mstype.float32) if x.dtype in (mstype.float16, mstype.bfloat16) else x
    size = get_group_size(group)
    together = ops.AllReduce("sum", group)
    mean = together(ops.mean(wide, axes)) / size
    centred = wide - ops.reshape(mean, row)
    variance = together(ops.mean(centred * centred, axes)) / size
    normal = centred * ops.rsqrt(ops.reshape(variance, row) + epsilon)
    return normal, mean, variance, x.size // x.shape[1] * size


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

    @setting_types(eps=float)
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

    @setting_types(depth_radius=int, bias=float, alpha=float, beta=float)
    def __init__(
        self, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5,
        norm_region: str = "ACROSS_CHANNELS",
    ):  # fmt: skip
        super().__init__()
        self.lrn = ops.LRN(depth_radius, bias, alpha, beta, norm_region)

    def construct(self, input_x: Tensor) -> Any:
        return self.lrn(input_x)
