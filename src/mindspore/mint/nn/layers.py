"""Layers with parameters, with PyTorch's argument names, defaults and parameter names."""

from __future__ import annotations

import math
from typing import Any

from mindspore import nn
from mindspore._base import dtype as mstype
from mindspore.common.initializer import HeUniform, Uniform, initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.communication import GlobalComm, get_group_size
from mindspore.mint.nn import functional as mf
from mindspore.nn.layer.basic import Dense
from mindspore.nn.layer.normalization import normalised_together
from mindspore.ops import functional as F
from mindspore.ops.assignment import assign, assign_add
from mindspore.ops.functional import batch_norm, conv_transpose2d, group_norm
from mindspore.prims import window
from mindspore.runtime import context


class Linear(Dense):
    """x W^T + b.

    Examples:
        >>> import mindspore as ms
        >>> ms.mint.nn.Linear(3, 2)(ms.ops.ones((4, 3))).shape
        (4, 2)
    """

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, weight_init: Any = None, bias_init: Any = None,
        dtype: Any = None,
    ):  # fmt: skip
        super().__init__(in_features, out_features, weight_init, bias_init, bias, dtype=dtype or mstype.float32)
        self.in_features, self.out_features = in_features, out_features


class _Conv(nn.Cell):
    """Convolution in `rank` dimensions; `padding` is a number, one per dimension, 'same' or 'valid'."""

    rank = 2

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1, bias: bool = True, padding_mode: str = "zeros", dtype: Any = None,
    ):  # fmt: skip
        super().__init__()
        owner = type(self).__name__
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size = window.per_dimension(owner, "kernel_size", kernel_size, self.rank)
        self.stride = window.per_dimension(owner, "stride", stride, self.rank)
        self.dilation = window.per_dimension(owner, "dilation", dilation, self.rank)
        if in_channels % groups or out_channels % groups:
            raise ValueError(
                f"For '{owner}', the channels must be multiples of 'groups', but got {in_channels}, {out_channels} and "
                f"{groups}."
            )
        if padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            raise ValueError(f"For '{owner}', 'padding_mode' must be zeros, reflect, replicate or circular.")
        self.padding, self.padding_mode = padding, padding_mode
        self._reversed_padding = tuple(v for pair in reversed(self._borders()) for v in pair)
        kind = dtype or mstype.float32
        shape = (out_channels, in_channels // groups, *self.kernel_size)
        self.weight = Parameter(initializer(HeUniform(math.sqrt(5)), shape, kind), name="weight")
        self.bias = None
        if bias:
            bound = 1 / math.sqrt(math.prod(shape[1:]))
            self.bias = Parameter(initializer(Uniform(bound), (out_channels,), kind), name="bias")

    def construct(self, input: Tensor) -> Any:
        padding = self.padding
        if self.padding_mode != "zeros":
            input, padding = F.pad(input, self._reversed_padding, self.padding_mode), 0
        function = getattr(self, f"conv{self.rank}d")
        return function(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)

    def _borders(self) -> list[tuple[int, int]]:
        """How much is added before and behind each dimension."""
        if self.padding == "valid":
            return [(0, 0)] * self.rank
        if self.padding == "same":
            totals = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size)]
            return [(total // 2, total - total // 2) for total in totals]
        each = [self.padding] * self.rank if isinstance(self.padding, int) else self.padding
        return [(p, p) for p in each]


class Conv1d(_Conv):
    """1-d convolution of (N, C, L).

    Examples:
        >>> mint.nn.Conv1d(2, 4, kernel_size=3, padding=1)(mint.ones((1, 2, 8))).shape
        (1, 4, 8)
    """

    rank = 1
    conv1d = staticmethod(mf.conv1d)


class Conv2d(_Conv):
    """2-d convolution of (N, C, H, W).

    Examples:
        >>> import mindspore as ms
        >>> ms.mint.nn.Conv2d(3, 8, 3, padding=1)(ms.ops.ones((1, 3, 5, 5))).shape
        (1, 8, 5, 5)
    """

    conv2d = staticmethod(mf.conv2d)


class Conv3d(_Conv):
    """3-d convolution of (N, C, D, H, W).

    Examples:
        >>> mint.nn.Conv3d(2, 4, kernel_size=3)(mint.ones((1, 2, 5, 5, 5))).shape
        (1, 4, 3, 3, 3)
    """

    rank = 3
    conv3d = staticmethod(mf.conv3d)


class ConvTranspose2d(nn.Cell):
    """2-d transposed convolution of (N, C, H, W).

    Examples:
        >>> mint.nn.ConvTranspose2d(2, 4, kernel_size=2, stride=2)(mint.ones((1, 2, 3, 3))).shape
        (1, 4, 6, 6)
    """

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        output_padding: Any = 0, groups: int = 1, bias: bool = True, dilation: Any = 1, padding_mode: str = "zeros",
        dtype: Any = None,
    ):  # fmt: skip
        super().__init__()
        if padding_mode != "zeros":
            raise ValueError(f"For 'ConvTranspose2d', 'padding_mode' must be 'zeros', but got {padding_mode!r}.")
        self.kernel_size = window.per_dimension("ConvTranspose2d", "kernel_size", kernel_size, 2)
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.stride, self.padding, self.output_padding, self.dilation = (
            window.per_dimension("ConvTranspose2d", name, value, 2, least)
            for name, value, least in (
                ("stride", stride, 1), ("padding", padding, 0), ("output_padding", output_padding, 0), ("dilation", dilation, 1),
            )
        )  # fmt: skip
        kind = dtype or mstype.float32
        shape = (in_channels, out_channels // groups, *self.kernel_size)
        self.weight = Parameter(initializer(HeUniform(math.sqrt(5)), shape, kind), name="weight")
        self.bias = None
        if bias:
            bound = 1 / math.sqrt(math.prod(shape[1:]))
            self.bias = Parameter(initializer(Uniform(bound), (out_channels,), kind), name="bias")

    def construct(self, input: Tensor, output_size: Any = None) -> Any:
        extra = self._output_padding(input, output_size, self.stride, self.padding, self.kernel_size, 2, self.dilation)
        return conv_transpose2d(
            input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation
        )

    def _output_padding(
        self, input: Tensor, output_size: Any, stride: tuple, padding: tuple, kernel_size: tuple, rank: int, dilation: tuple
    ) -> tuple[int, ...]:
        """What is added behind the result for it to have the wanted sizes; layers of other packages ask for it."""
        if output_size is None:
            return self.output_padding
        extra = []
        sizes = zip(input.shape[-rank:], tuple(output_size)[-rank:], kernel_size, stride, padding, dilation)
        for n, w, k, step, border, spread in sizes:
            least = (n - 1) * step - 2 * border + spread * (k - 1) + 1
            if not least <= w < least + step:
                raise ValueError(
                    f"For 'ConvTranspose2d', an 'output_size' from {least} to {least + step - 1} is possible where {w} "
                    "was asked for."
                )
            extra.append(w - least)
        return tuple(extra)


class _BatchNorm(nn.Cell):
    """Normalise every channel by the batch's statistics in training, by the running ones otherwise."""

    ranks: tuple[int, ...] = ()

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
        track_running_stats: bool = True, dtype: Any = None,
    ):  # fmt: skip
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        kind, shape = dtype or mstype.float32, (num_features,)
        self.weight = Parameter(initializer("ones", shape, kind), name="weight") if affine else None
        self.bias = Parameter(initializer("zeros", shape, kind), name="bias") if affine else None
        self.running_mean = self.running_var = self.num_batches_tracked = None
        if track_running_stats:
            self.running_mean = Parameter(initializer("zeros", shape, kind), "running_mean", requires_grad=False)
            self.running_var = Parameter(initializer("ones", shape, kind), "running_var", requires_grad=False)
            self.num_batches_tracked = Parameter(Tensor(0, mstype.int64), "num_batches_tracked", requires_grad=False)

    def construct(self, input: Tensor) -> Any:
        if self.ranks and input.ndim not in self.ranks:
            raise ValueError(
                f"For '{type(self).__name__}', 'input' must have {' or '.join(map(str, self.ranks))} dimensions, but its "
                f"shape is {input.shape}."
            )
        use_batch = self.training or not self.track_running_stats
        if not (self.training and self.track_running_stats):
            return batch_norm(input, self.running_mean, self.running_var, self.weight, self.bias, use_batch, 0.0, self.eps)
        assign_add(self.num_batches_tracked, Tensor(1, mstype.int64))
        momentum = 0.0 if self.momentum is None else self.momentum
        out = batch_norm(input, self.running_mean, self.running_var, self.weight, self.bias, True, momentum, self.eps)
        if self.momentum is None:
            axes = tuple(a for a in range(input.ndim) if a != 1)
            self._follow(F.mean(input, axes), F.var(input, axes, 0), input.size // self.num_features)
        return out

    def reset_running_stats(self) -> None:
        """Forget what was seen of the data.

        Examples:
            >>> norm = mint.nn.BatchNorm1d(2).set_train()
            >>> _ = norm(Tensor([[1.0, 10.0], [3.0, 30.0]]))
            >>> norm.reset_running_stats()
            >>> print(norm.running_mean.value(), norm.num_batches_tracked.value())
            [0. 0.] 0
        """
        for kept, value in ((self.running_mean, 0), (self.running_var, 1), (self.num_batches_tracked, 0)):
            if kept is not None:
                assign(kept, F.full_like(kept, value))

    def reset_parameters(self) -> None:
        """Begin anew: no statistics, a scale of 1 and a shift of 0.

        Examples:
            >>> norm = mint.nn.BatchNorm1d(2)
            >>> norm.reset_parameters()
            >>> print(norm.weight.value())
            [1. 1.]
        """
        self.reset_running_stats()
        for kept, value in ((self.weight, 1), (self.bias, 0)):
            if kept is not None:
                assign(kept, F.full_like(kept, value))

    def _follow(self, mean: Any, variance: Any, count: int) -> None:
        """Move the running statistics towards those of a batch: by `momentum`, or to the mean of all batches; unbiased."""
        assert self.running_mean is not None and self.running_var is not None and self.num_batches_tracked is not None
        share = 1 / self.num_batches_tracked if self.momentum is None else self.momentum
        for kept, found in ((self.running_mean, mean), (self.running_var, variance * (count / max(count - 1, 1)))):
            assign(kept, F.cast(kept * (1 - share) + F.stop_gradient(found) * share, kept.dtype))


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of (N, C) or (N, C, L).

    Examples:
        >>> print(mint.nn.BatchNorm1d(2)(Tensor([[1.0, 10.0], [3.0, 30.0]])).round(decimals=3))
        [[ 1. 10.]
         [ 3. 30.]]
    """

    ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of (N, C, H, W).

    Examples:
        >>> mint.nn.BatchNorm2d(3)(mint.ones((2, 3, 4, 4))).shape
        (2, 3, 4, 4)
    """

    ranks = (4,)


class BatchNorm3d(_BatchNorm):
    """Batch normalisation of (N, C, D, H, W).

    Examples:
        >>> mint.nn.BatchNorm3d(3)(mint.ones((2, 3, 4, 4, 4))).shape
        (2, 3, 4, 4, 4)
    """

    ranks = (5,)


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation over the batches of all processes, or of those of `process_group`; of one process it is `BatchNorm`.

    Examples:
        >>> print(mint.nn.SyncBatchNorm(2)(Tensor([[1.0, 10.0], [3.0, 30.0]])).round(decimals=3))
        [[ 1. 10.]
         [ 3. 30.]]
    """

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = True,
        track_running_stats: bool = True, process_group: Any = None, dtype: Any = None,
    ):  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, dtype)
        self.process_group = process_group or GlobalComm.WORLD_COMM_GROUP

    def construct(self, input: Tensor) -> Any:
        whole = context.current().sharding is not None or get_group_size() == 1 or get_group_size(self.process_group) == 1
        if whole or not (self.training or not self.track_running_stats):
            return super().construct(input)
        normal, mean, variance, count = normalised_together(input, self.eps, self.process_group)
        if self.training and self.track_running_stats:
            assign_add(self.num_batches_tracked, Tensor(1, mstype.int64))
            self._follow(mean, variance, count)
        row = (1, -1, *(1,) * (input.ndim - 2))
        if self.affine:
            normal = normal * F.reshape(self.weight, row) + F.reshape(self.bias, row)
        return F.cast(normal, input.dtype)


class GroupNorm(nn.Cell):
    """Standardise groups of channels, then scale and shift every channel.

    Examples:
        >>> x = Tensor([[[1.0, 3.0], [10.0, 30.0]]])
        >>> mint.nn.GroupNorm(2, 2)(x).round(decimals=2).tolist()
        [[[-1.0, 1.0], [-1.0, 1.0]]]
    """

    def __init__(self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, dtype: Any = None):
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"For 'GroupNorm', {num_channels} channels do not divide into {num_groups} groups.")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        kind = dtype or mstype.float32
        self.weight = Parameter(initializer("ones", (num_channels,), kind), name="weight") if affine else None
        self.bias = Parameter(initializer("zeros", (num_channels,), kind), name="bias") if affine else None

    def construct(self, input: Tensor) -> Any:
        return group_norm(input, self.num_groups, self.weight, self.bias, self.eps)


__all__ = [
    "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose2d", "GroupNorm", "Linear",
    "SyncBatchNorm",
]  # fmt: skip
