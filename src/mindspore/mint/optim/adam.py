"""Adam and AdamW with PyTorch's rule (eps is added to the root free of bias) and the state of `mint.optim`'s checkpoints.

`state_step` is one float32; AdamW counts its steps from -1, because there the update rule itself adds the one. The
largest squares are kept only where a group asks for `amsgrad`.
"""

from __future__ import annotations

from typing import Any

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.experimental.optim import AdamW as _AdamW


class AdamW(_AdamW):
    """parameter *= 1 - lr * weight_decay; parameter -= lr * m / (sqrt(v) + eps), m and v free of bias.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import mint
        >>> weight = ms.Parameter(ms.Tensor([1.0]), name="weight")
        >>> mint.optim.AdamW([weight], lr=0.5, weight_decay=1.0)((ms.Tensor([0.0]),))
        True
        >>> weight.asnumpy().tolist()
        [0.5]
    """

    first_step = -1

    def initial_step(self) -> Tensor:
        return Tensor([self.first_step], mstype.float32)

    def make_state(self) -> None:
        self.slots("exp_avg")
        self.slots("exp_avg_sq")
        self._keep_largest()

    def add_param_group(self, param_group: dict) -> None:
        """Add a group; its parameters get fresh state."""
        super().add_param_group(param_group)
        if "exp_avg" in self._slots:
            self._keep_largest()

    def _keep_largest(self) -> None:
        if "max_exp_avg_sq" not in self._slots and any(group["amsgrad"] for group in self.param_groups):
            self.slots("max_exp_avg_sq")

    def _step_count(self) -> Any:
        """The number of the step being made, from 1."""
        return ops.reshape(self.state_step, ()) + float(1 - self.first_step)


class Adam(AdamW):
    """parameter -= lr * m / (sqrt(v) + eps), m and v free of bias; weight decay is added to the gradient.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import mint
        >>> weight = ms.Parameter(ms.Tensor([1.0]), name="weight")
        >>> mint.optim.Adam([weight], lr=0.5)((ms.Tensor([2.0]),))
        True
        >>> print(weight.asnumpy().round(3))
        [0.5]
    """

    first_step = 0
    decoupled_decay = False

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)


class FusedAdamW(AdamW):
    """AdamW; every optimizer here is compiled into one program, so there is nothing more to fuse.

    Examples:
        >>> weight = Parameter(Tensor([1.0]), name="weight")
        >>> step = mint.optim.FusedAdamW([weight], lr=0.1, weight_decay=0.0)
        >>> _ = step((Tensor([2.0]),))
        >>> print(weight.asnumpy().round(3))
        [0.9]
    """


__all__ = ["Adam", "AdamW", "FusedAdamW"]
