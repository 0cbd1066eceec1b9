"""Bayesian dense and convolution layers by the reparameterisation trick (Blundell et al. 2015, Kingma et al. 2015).

Each weight has a prior and a trainable posterior. `compute_kl_loss` gives the divergence between them, which
`WithBNNLossCell` adds to the loss.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.common.initializer import Normal as NormalInit
from mindspore.common.initializer import initializer
from mindspore.common.parameter import Parameter
from mindspore.nn import checks
from mindspore.nn.cell import Cell
from mindspore.nn.layer.activation import get_activation
from mindspore.nn.probability.distribution import Normal
from mindspore.prims import window
from mindspore.prims.conv import Conv2D

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor

__all__ = ["ConvReparam", "DenseLocalReparam", "DenseReparam", "NormalPosterior", "NormalPrior", "WithBNNLossCell"]


class NormalPrior(Cell):
    """A fixed normal prior."""

    def __init__(self, dtype: Any = mstype.float32, mean: float = 0, std: float = 0.1):
        super().__init__()
        self.normal = Normal(float(mean), float(std), dtype=dtype)

    def construct(self, *inputs: Any) -> Any:
        return self.normal(*inputs)


class NormalPosterior(Cell):
    """A normal posterior with trainable means and (through softplus) deviations."""

    def __init__(
        self, name: str, shape: Any, dtype: Any = mstype.float32, loc_mean: float = 0, loc_std: float = 0.1,
        untransformed_scale_mean: float = -5, untransformed_scale_std: float = 0.1,
    ):  # fmt: skip
        super().__init__()
        if not isinstance(name, str):
            raise TypeError(f"For 'NormalPosterior', 'name' must be a string, but got {type(name).__name__}.")
        shape = tuple(shape)
        mean = initializer(NormalInit(loc_std, loc_mean), shape, dtype)
        raw = initializer(NormalInit(untransformed_scale_std, untransformed_scale_mean), shape, dtype)
        self.mean = Parameter(mean, name=name + "_loc")
        self.untransformed_std = Parameter(raw, name=name + "_untransformed_scale")
        self.normal = Normal(dtype=dtype)

    def std_trans(self, std_pre: Any) -> Any:
        """log(1 + exp(x))."""
        return ops.Softplus()(std_pre)

    def parameters_now(self) -> tuple:
        """The mean and the deviation."""
        return self.mean, self.std_trans(self.untransformed_std)

    def construct(self, *inputs: Any) -> Any:
        return self.normal(*inputs, mean=self.mean, sd=self.std_trans(self.untransformed_std))


def normal_post_fn(name: str, shape: Any) -> NormalPosterior:
    """The default posterior."""
    return NormalPosterior(name=name, shape=shape)


def _prior(value: Any) -> Any:
    return value if isinstance(value, Cell) else value()


def _divergence(posterior: NormalPosterior, prior: NormalPrior) -> Any:
    """The sum over weights of KL(posterior || prior)."""
    mean, sd = posterior.parameters_now()
    prior_mean, prior_sd = prior.normal.get_dist_args()
    return ops.ReduceSum()(Normal().kl_loss("Normal", prior_mean, prior_sd, mean, sd), ())


class _Bayesian(Cell):
    """Priors and posteriors of the weight and the bias."""

    def make_distributions(
        self, weight_shape: tuple, bias_shape: tuple, has_bias: bool, weight_prior: Any, weight_posterior: Any,
        bias_prior: Any, bias_posterior: Any,
    ) -> None:  # fmt: skip
        self.has_bias = checks.boolean(type(self).__name__, "has_bias", has_bias)
        self.weight_prior = _prior(weight_prior)
        self.weight_posterior = weight_posterior(shape=weight_shape, name="bnn_weight")
        if has_bias:
            self.bias_prior = _prior(bias_prior)
            self.bias_posterior = bias_posterior(shape=bias_shape, name="bnn_bias")

    @staticmethod
    def draw(posterior: NormalPosterior) -> Any:
        """A sample through which gradients reach the posterior's parameters."""
        mean, sd = posterior.parameters_now()
        return mean + sd * posterior.normal.normal(mean.shape)

    def compute_kl_loss(self) -> Any:
        """The divergence of this layer's posteriors from their priors."""
        loss = _divergence(self.weight_posterior, self.weight_prior)
        return loss + _divergence(self.bias_posterior, self.bias_prior) if self.has_bias else loss


class _DenseVariational(_Bayesian):
    def __init__(
        self, in_channels: int, out_channels: int, activation: Any = None, has_bias: bool = True,
        weight_prior_fn: Any = NormalPrior, weight_posterior_fn: Any = normal_post_fn, bias_prior_fn: Any = NormalPrior,
        bias_posterior_fn: Any = normal_post_fn,
    ):  # fmt: skip
        super().__init__()
        owner = type(self).__name__
        self.in_channels = checks.positive_int(owner, "in_channels", in_channels)
        self.out_channels = checks.positive_int(owner, "out_channels", out_channels)
        self.make_distributions(
            (out_channels, in_channels), (out_channels,), has_bias, weight_prior_fn, weight_posterior_fn, bias_prior_fn,
            bias_posterior_fn,
        )  # fmt: skip
        self.activation = get_activation(activation) if isinstance(activation, str) else activation

    def finish(self, x: Any) -> Any:
        """Bias and activation."""
        x = x + self.draw(self.bias_posterior) if self.has_bias else x
        return x if self.activation is None else self.activation(x)


class DenseReparam(_DenseVariational):
    """A dense layer whose weights are sampled at every call."""

    def construct(self, x: Tensor) -> Any:
        return self.finish(ops.dense(x, self.draw(self.weight_posterior)))


class DenseLocalReparam(_DenseVariational):
    """A dense layer that samples its outputs instead of its weights: less noise in the gradients."""

    def construct(self, x: Tensor) -> Any:
        mean, sd = self.weight_posterior.parameters_now()
        centre = ops.dense(x, mean)
        spread = ops.sqrt(ops.dense(ops.square(x), ops.square(sd)))
        return self.finish(centre + spread * self.weight_posterior.normal.normal(centre.shape))


class ConvReparam(_Bayesian):
    """A 2-d convolution whose weights are sampled at every call."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, pad_mode: str = "same",
        padding: Any = 0, dilation: Any = 1, group: int = 1, has_bias: bool = False, weight_prior_fn: Any = NormalPrior,
        weight_posterior_fn: Any = normal_post_fn, bias_prior_fn: Any = NormalPrior,
        bias_posterior_fn: Any = normal_post_fn,
    ):  # fmt: skip
        super().__init__()
        self.in_channels = checks.positive_int("ConvReparam", "in_channels", in_channels)
        self.out_channels = checks.positive_int("ConvReparam", "out_channels", out_channels)
        kernel = window.per_dimension("ConvReparam", "kernel_size", kernel_size, 2)
        self.make_distributions(
            (out_channels, in_channels // group, *kernel), (out_channels,), has_bias, weight_prior_fn,
            weight_posterior_fn, bias_prior_fn, bias_posterior_fn,
        )  # fmt: skip
        self.conv2d = Conv2D(out_channels, kernel, 1, pad_mode, padding, stride, dilation, group)

    def construct(self, inputs: Any) -> Any:
        out = self.conv2d(inputs, self.draw(self.weight_posterior))
        if self.has_bias:
            out = ops.bias_add(out, self.draw(self.bias_posterior))
        return out


class WithBNNLossCell(Cell):
    """dnn_factor * loss + bnn_factor * the divergences of all Bayesian layers."""

    def __init__(self, backbone: Cell, loss_fn: Any, dnn_factor: float = 1, bnn_factor: float = 1):
        super().__init__(auto_prefix=False)
        self.dnn_factor = checks.non_negative("WithBNNLossCell", "dnn_factor", dnn_factor)
        self.bnn_factor = checks.non_negative("WithBNNLossCell", "bnn_factor", bnn_factor)
        self._backbone, self._loss_fn = backbone, loss_fn
        self.layers = [cell for _, cell in backbone.cells_and_names() if isinstance(cell, _Bayesian)]

    def construct(self, data: Any, label: Tensor) -> Any:
        loss = self._loss_fn(self._backbone(data), label) * self.dnn_factor
        return loss + self.divergence() * self.bnn_factor

    def divergence(self) -> Any:
        """The sum over layers."""
        total = 0.0
        for layer in self.layers:
            total = total + layer.compute_kl_loss()
        return total

    @property
    def backbone_network(self) -> Cell:
        """The network without the loss."""
        return self._backbone
