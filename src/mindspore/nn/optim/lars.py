"""LARS: layer-wise adaptive rate scaling around another optimizer (You, Gitman & Ginsburg 2017)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn import checks as check
from mindspore.nn.optim.optimizer import Optimizer, opt_init_args_register
from mindspore.prims.update import LARSUpdate


def _not_norm_or_bias(parameter: Parameter) -> bool:
    return "LayerNorm" not in parameter.name and "bias" not in parameter.name


class LARS(Optimizer):
    """Scale each gradient by coefficient * |parameter| / |gradient|, then let `optimizer` make the step.

    Weight decay and loss scale of the wrapped optimizer move here, because the scale depends on them. Parameters for
    which `lars_filter` is false keep their gradients. With `use_clip` the scale never makes a step larger than `lr`.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import nn
        >>> weight = ms.Parameter(ms.Tensor([2.0]), name="weight")
        >>> optimizer = nn.LARS(nn.SGD([weight], learning_rate=1.0), coefficient=0.5)
        >>> _ = optimizer((ms.Tensor([1000.0]),))
        >>> weight.asnumpy().round(3).tolist()
        [1.0]
    """

    @opt_init_args_register
    def __init__(
        self,
        optimizer: Optimizer,
        epsilon: float = 1e-05,
        coefficient: float = 0.001,
        use_clip: bool = False,
        lars_filter: Callable[[Parameter], bool] = _not_norm_or_bias,
    ):
        super().__init__(0.0, [Parameter(Tensor(0.0), name="fake_param")])
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"For 'LARS', 'optimizer' must be an Optimizer, but got {type(optimizer).__name__}.")
        check.real(self.cls_name, "epsilon", epsilon)
        check.real(self.cls_name, "coefficient", coefficient)
        self.use_clip = check.flag(self.cls_name, "use_clip", use_clip)
        self.lars = LARSUpdate(epsilon, coefficient, use_clip)
        self.opt = optimizer
        self.parameters = self._parameters = optimizer.parameters
        self.param_length = optimizer.param_length
        self.lars_flag = tuple(bool(lars_filter(p)) for p in self.parameters)
        self.learning_rate = Parameter(Tensor(0.0, mstype.float32), name="fake_lr")
        self._take_over(optimizer)

    def _take_over(self, optimizer: Optimizer) -> None:
        """Weight decay and loss scale become ours; the wrapped optimizer does neither from now on."""
        self.global_step = optimizer.global_step
        for name in (
            "is_group", "decay_flags", "dynamic_decay_flags", "dynamic_weight_decay", "exec_weight_decay",
            "weight_decay", "loss_scale", "reciprocal_scale", "need_scale",
        ):  # fmt: skip
            setattr(self, name, getattr(optimizer, name))
        optimizer.decay_flags = (False,) * optimizer.param_length
        optimizer.dynamic_decay_flags = optimizer.decay_flags if optimizer.is_group else False
        optimizer.dynamic_weight_decay = optimizer.exec_weight_decay = optimizer.need_scale = False

    def construct(self, gradients: Any = ()) -> Any:
        gradients = self.scale_grad(gradients)
        lr = self.opt.get_lr()
        scaled = []
        for i, (parameter, gradient) in enumerate(zip(self.parameters, gradients)):
            if self.lars_flag[i]:
                squares = ops.square(parameter).sum(), ops.square(gradient).sum()
                decay = self.decay_of(i) / self.loss_scale
                rate = lr[i] if self.opt.is_group_lr else lr
                gradient = self.lars(parameter, gradient, *squares, decay, rate)
            scaled.append(gradient)
        return self.opt(tuple(scaled))


__all__ = ["LARS"]
