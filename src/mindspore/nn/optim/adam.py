"""Adam and its relatives: AMSGrad, lazy and offloaded Adam, and Adam with decoupled weight decay."""

from __future__ import annotations

from typing import Any

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn import checks as check
from mindspore.nn.optim.optimizer import Optimizer, one_rule, opt_init_args_register
from mindspore.prims import update as rules


def check_adam_numbers(owner: str, beta1: float, beta2: float, eps: float) -> None:
    """Decay rates in (0, 1) and a positive constant: what all members of the family need."""
    check.open_fraction(owner, "beta1", beta1)
    check.open_fraction(owner, "beta2", beta2)
    check.positive_real(owner, "eps", eps)


class BiasCorrected(Optimizer):
    """An optimizer with two moments and the powers of their decay rates, which correct the bias of young averages."""

    def _init_moments(self, beta1: float, beta2: float, eps: float, power_shape: tuple = ()) -> None:
        check_adam_numbers(self.cls_name, beta1, beta2, eps)
        self.beta1 = Tensor(beta1, mstype.float32)
        self.beta2 = Tensor(beta2, mstype.float32)
        self.eps = Tensor(eps, mstype.float32)
        self.beta1_power = Parameter(ops.ones(power_shape, mstype.float32), name="beta1_power")
        self.beta2_power = Parameter(ops.ones(power_shape, mstype.float32), name="beta2_power")
        self.moment1 = self.slots("moment1")
        self.moment2 = self.slots("moment2")

    def before_updates(self) -> None:
        ops.assign(self.beta1_power, self.beta1_power * self.beta1)
        ops.assign(self.beta2_power, self.beta2_power * self.beta2)

    def numbers(self, lr: Any) -> tuple:
        """The scalars of the update rules, in their order."""
        powers = (self.beta1_power.reshape(()), self.beta2_power.reshape(()))
        return (*powers, lr, self.beta1, self.beta2, self.eps)

    @one_rule
    def update(self, index: int, parameter: Parameter, gradient: Tensor, lr: Any) -> None:
        self.opt(parameter, self.moment1[index], self.moment2[index], *self.numbers(lr), gradient)


class Adam(BiasCorrected):
    """Adam (Kingma & Ba 2015): steps of the running mean of gradients over the root of their running mean square.

    Args:
        use_nesterov: look ahead along the momentum.
        use_amsgrad: never let the denominator shrink (Reddi, Kale & Kumar 2018).
        use_lazy, use_offload: accepted. They say how sparse gradients are treated and where the step is computed;
            gradients are dense here and the step is part of the graph, so neither changes the result.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import nn
        >>> weight = ms.Parameter(ms.Tensor([1.0]), name="weight")
        >>> _ = nn.Adam([weight], learning_rate=0.5)((ms.Tensor([2.0]),))
        >>> weight.asnumpy().round(4).tolist()
        [0.5]
    """

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        use_locking: bool = False,
        use_nesterov: bool = False,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
        use_amsgrad: bool = False,
        **kwargs: Any,
    ):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self._check_variant(use_locking, use_nesterov, use_amsgrad, kwargs)
        self._init_moments(beta1, beta2, eps)
        if use_amsgrad:
            self.vhat = self.slots("vhat")
            self.opt: Any = rules.ApplyAdamWithAmsgradV2(use_locking)
        else:
            self.opt = rules.Adam(use_locking, use_nesterov)

    def _check_variant(self, use_locking: Any, use_nesterov: Any, use_amsgrad: Any, kwargs: dict) -> None:
        unknown = set(kwargs) - {"use_lazy", "use_offload"}
        if unknown:
            hint = " The rate is called 'learning_rate'." if "lr" in unknown else ""
            raise KeyError(f"For 'Adam', the keywords may be 'use_lazy' and 'use_offload', but got {sorted(unknown)}.{hint}")
        self.use_locking = check.flag(self.cls_name, "use_locking", use_locking)
        self.use_nesterov = check.flag(self.cls_name, "use_nesterov", use_nesterov)
        self.use_amsgrad = check.flag(self.cls_name, "use_amsgrad", use_amsgrad)
        self.use_lazy = check.flag(self.cls_name, "use_lazy", kwargs.get("use_lazy", False))
        self.use_offload = check.flag(self.cls_name, "use_offload", kwargs.get("use_offload", False))
        if self.use_lazy and self.use_offload:
            raise ValueError("For 'Adam', 'use_lazy' and 'use_offload' cannot both be True.")
        if use_amsgrad and (self.use_lazy or self.use_offload):
            raise ValueError("For 'Adam', 'use_amsgrad' cannot be used with 'use_lazy' or 'use_offload'.")

    @one_rule
    def update(self, index: int, parameter: Parameter, gradient: Tensor, lr: Any) -> None:
        if not self.use_amsgrad:
            super().update(index, parameter, gradient, lr)
            return
        moments = self.moment1[index], self.moment2[index], self.vhat[index]
        self.opt(parameter, *moments, *self.numbers(lr), gradient)


class PlainAdam(BiasCorrected):
    """Adam without variants: what its relatives for other kinds of gradients and memory have in common."""

    rule: Any = rules.Adam

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        use_locking: bool = False,
        use_nesterov: bool = False,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
    ):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check.flag(self.cls_name, "use_locking", use_locking)
        self.use_nesterov = check.flag(self.cls_name, "use_nesterov", use_nesterov)
        self._init_moments(beta1, beta2, eps, (1,))
        self.opt = self.rule(use_locking, use_nesterov)


class AdamOffload(PlainAdam):
    """Adam whose step is computed apart from the parameter and then added to it. Use `Adam` in new code.

    Examples:
        >>> from mindspore import nn
        >>> optimizer = nn.AdamOffload(nn.Dense(2, 1).trainable_params(), learning_rate=0.1)
        >>> len(optimizer.parameters)
        2
    """

    rule = rules.AdamNoUpdateParam

    def update(self, index: int, parameter: Parameter, gradient: Tensor, lr: Any) -> None:
        step = self.opt(self.moment1[index], self.moment2[index], *self.numbers(lr), gradient)
        ops.assign_add(parameter, step)


class AdamWeightDecay(Optimizer):
    """Adam without bias correction, with the weight decay taken from the parameter directly (as BERT was trained).

    m and v are the running means of gradient and squared gradient;
    parameter -= lr * (m / (sqrt(v) + eps) + weight_decay * parameter).

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import nn
        >>> weight = ms.Parameter(ms.Tensor([1.0]), name="weight")
        >>> _ = nn.AdamWeightDecay([weight], learning_rate=0.5, weight_decay=1.0)((ms.Tensor([0.0]),))
        >>> weight.asnumpy().tolist()
        [0.5]
    """

    _support_parallel_optimizer = True
    decoupled_decay = True

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-6,
        weight_decay: Any = 0.0,
    ):
        super().__init__(learning_rate, params, weight_decay)
        check_adam_numbers(self.cls_name, beta1, beta2, eps)
        self.beta1 = Tensor([beta1], mstype.float32)
        self.beta2 = Tensor([beta2], mstype.float32)
        self.eps = Tensor([eps], mstype.float32)
        self.moments1 = self.slots("adam_m")
        self.moments2 = self.slots("adam_v")
        self.opt = rules.AdamWeightDecay()

    @one_rule
    def update(self, index: int, parameter: Parameter, gradient: Tensor, lr: Any) -> None:
        numbers = (self.beta1.reshape(()), self.beta2.reshape(()), self.eps.reshape(()), self.decay_of(index))
        self.opt(parameter, self.moments1[index], self.moments2[index], lr, *numbers, gradient)


__all__ = ["Adam", "AdamOffload", "AdamWeightDecay"]
