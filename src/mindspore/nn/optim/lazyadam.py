"""LazyAdam: Adam that, given a sparse gradient, updates only the rows it names."""

from __future__ import annotations

from typing import Any

from mindspore.nn import rate_checks as check
from mindspore.nn.optim.adam import BiasCorrected
from mindspore.nn.optim.optimizer import opt_init_args_register
from mindspore.prims import update as rules


class LazyAdam(BiasCorrected):
    """Adam for sparse gradients. Gradients are dense here, and for these its steps are those of Adam.

    Examples:
        >>> from mindspore import nn
        >>> optimizer = nn.LazyAdam(nn.Dense(2, 1).trainable_params(), learning_rate=0.1)
        >>> len(optimizer.parameters)
        2
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
    ):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check.flag(self.cls_name, "use_locking", use_locking)
        self.use_nesterov = check.flag(self.cls_name, "use_nesterov", use_nesterov)
        self._init_moments(beta1, beta2, eps, (1,))
        self.opt = rules.Adam(use_locking, use_nesterov)


__all__ = ["LazyAdam"]
