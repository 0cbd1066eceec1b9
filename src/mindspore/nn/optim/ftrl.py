"""FTRL-Proximal: follow the regularised leader (McMahan et al. 2013)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindspore.common.parameter import Parameter
from mindspore.nn import checks as check
from mindspore.nn.optim.optimizer import Optimizer, opt_init_args_register
from mindspore.prims.update import ApplyFtrl

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor


class FTRL(Optimizer):
    """Per-coordinate follow-the-regularised-leader with l1 and l2 regularisation.

    Args:
        initial_accum: where the sums of squared gradients begin.
        lr_power: how the rate falls with these sums; at most 0.

    Examples:
        >>> from mindspore import nn
        >>> optimizer = nn.FTRL(nn.Dense(2, 1).trainable_params(), learning_rate=0.1)
        >>> len(optimizer.parameters)
        2
    """

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        initial_accum: float = 0.1,
        learning_rate: float = 0.001,
        lr_power: float = -0.5,
        l1: float = 0.0,
        l2: float = 0.0,
        use_locking: bool = False,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        if self.dynamic_lr or self.is_group_lr:
            raise ValueError("For 'FTRL', learning rates that change or differ between groups are not supported.")
        check.non_negative_real(self.cls_name, "initial_accum", initial_accum)
        check.positive_real(self.cls_name, "learning_rate", learning_rate)
        if check.real(self.cls_name, "lr_power", lr_power) > 0:
            raise ValueError(f"For 'FTRL', 'lr_power' must be at most 0, but got {lr_power}.")
        check.flag(self.cls_name, "use_locking", use_locking)
        self.lr_power = lr_power
        self.l1 = check.non_negative_real(self.cls_name, "l1", l1)
        self.l2 = check.non_negative_real(self.cls_name, "l2", l2)
        if not self.is_group:  # unlike other optimizers this one decays the parameters of normalisation layers too
            self.decay_flags = (True,) * self.param_length
        self.moments = self.slots("moments", initial_accum)
        self.linear = self.slots("linear")
        self.opt = ApplyFtrl(use_locking)

    def update(self, index: int, parameter: Parameter, gradient: Tensor, lr: Any) -> None:
        numbers = (lr, self.l1, self.l2, self.lr_power)
        self.opt(parameter, self.moments[index], self.linear[index], gradient, *numbers)


__all__ = ["FTRL"]
