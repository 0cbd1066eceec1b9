"""Optimizer with open parameter groups: each group is a dictionary whose settings may be read and changed.

Groups hold `params`, `lr` (a Parameter, which schedulers in `lr_scheduler` write to), `weight_decay` and whatever else
an optimizer has defaults for. Subclasses make state with `slots` and say in `update` what happens to one parameter.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore._base import habits
from mindspore.common.parameter import Parameter, ParameterTuple
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell


class Optimizer(Cell):
    """Base of the optimizers in this package.

    Args:
        params: Parameters, or groups: dictionaries with `params` and settings of their own.
        defaults: the settings of groups that have none.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore.experimental import optim
        >>> weight = ms.Parameter(ms.Tensor([1.0]), name="weight")
        >>> optimizer = optim.SGD([weight], lr=0.5)
        >>> optimizer.param_groups[0]["lr"].asnumpy().item()
        0.5
    """

    #: the update rule applies weight decay itself; otherwise it is added to the gradients
    decoupled_decay = False
    #: name of the Parameter that counts the steps; "" if none is needed
    step_name = ""

    _habits = habits.OPTIMIZERS

    def __init__(self, params: Any, defaults: dict):
        super().__init__(auto_prefix=False)
        self.defaults = defaults
        self.state: dict = defaultdict(dict)
        self.param_groups: list[dict] = []
        self.lrs: list[Parameter] = []
        self.group_start_id = [0]
        self.parameters = ParameterTuple(())
        self._slots: dict[str, Any] = {}
        self._scalar_slots: dict[str, float] = {}
        if self.step_name:
            setattr(self, self.step_name, Parameter(self.initial_step(), self.step_name))
        groups = _as_list(params)
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def add_param_group(self, param_group: dict) -> None:
        """Add a group; its parameters get fresh state."""
        group = self._checked(param_group)
        for name, default in self.defaults.items():
            group.setdefault(name, default)
        group["lr"] = _rate(group["lr"], f"learning_rate_group_{len(self.param_groups)}")
        group["weight_decay"] = _decay(group.get("weight_decay", 0.0))
        self.param_groups.append(group)
        self.lrs.append(group["lr"])
        self.parameters = ParameterTuple((*self.parameters, *group["params"]))
        self.group_start_id.append(len(self.parameters))
        for name, init in self._slots.items():
            fresh = ParameterTuple(group["params"]).clone(prefix=name, init=init)
            setattr(self, name, ParameterTuple((*getattr(self, name), *fresh)))
        for name, value in self._scalar_slots.items():
            setattr(self, name, getattr(self, name) + _scalars(name, value, group["params"]))
        self._drop_compiled()

    def _checked(self, param_group: Any) -> dict:
        if not isinstance(param_group, dict):
            raise TypeError(f"A parameter group must be a dict, but got {type(param_group).__name__}.")
        params = param_group["params"]
        if isinstance(params, set):
            raise TypeError("The parameters of a group must have an order: use a list, not a set.")
        params = [params] if isinstance(params, Parameter) else list(params)
        for item in params:
            if not isinstance(item, Parameter):
                raise TypeError(f"An optimizer can update Parameters only, but got {type(item).__name__}.")
        if any(old is new for old in self.parameters for new in params):
            raise ValueError("Some parameters appear in more than one parameter group.")
        param_group["params"] = params
        return param_group

    # -- a step ------------------------------------------------------------------------------------------------------
    def slots(self, name: str, init: Any = "zeros") -> None:
        """Make the attribute `name`: state of the shape of each parameter, called `name.parameter`."""
        self._slots[name] = init
        setattr(self, name, self.parameters.clone(prefix=name, init=init))

    def scalar_slots(self, name: str, value: float) -> None:
        """Make the attribute `name`: one number per parameter, called `name_parameter`."""
        self._scalar_slots[name] = value
        setattr(self, name, _scalars(name, value, self.parameters))

    def initial_step(self) -> Tensor:
        """What the Parameter that counts the steps starts from."""
        return Tensor(0, mstype.int32)

    def _step_count(self) -> Any:
        """The number of the step being made, from 1, as float32."""
        return ops.cast(getattr(self, self.step_name), mstype.float32) + 1.0

    def construct(self, gradients: Any) -> bool:
        """One step. `gradients` has one tensor per parameter, in the order of the groups."""
        for index, group in enumerate(self.param_groups):
            # users may put a plain number in the place of the Parameter
            lr = group["lr"] if isinstance(group["lr"], float) else self.lrs[index]
            for i in range(self.group_start_id[index], self.group_start_id[index + 1]):
                gradient = -gradients[i] if group.get("maximize", False) else gradients[i]
                if group["weight_decay"] != 0 and not self.decoupled_decay:
                    gradient = gradient + self.parameters[i] * group["weight_decay"]
                self.update(i, self.parameters[i], gradient, lr, group)
        if self.step_name:
            ops.assign_add(getattr(self, self.step_name), 1)
        return True

    def update(self, index: int, parameter: Parameter, gradient: Any, lr: Any, group: dict) -> None:
        """Update one parameter; subclasses define it (or `construct`)."""
        raise NotImplementedError(f"The optimizer {type(self).__name__} defines neither 'update' nor 'construct'.")

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {i}")
            for key in sorted(group):
                if key != "params":
                    value = group[key]
                    lines.append(f"    {key}: {value.value() if isinstance(value, Parameter) else value}")
        return "\n".join([*lines, ")"])


def _as_list(params: Any) -> list:
    if params is None:
        raise ValueError("For 'Optimizer', the argument 'params' can not be None.")
    if not isinstance(params, Iterable):
        raise TypeError(f"For 'Optimizer', the argument 'params' must be Iterable, but got {type(params).__name__}.")
    items = list(params)
    if not items:
        raise ValueError("For 'Optimizer', the argument 'params' must not be empty.")
    return items


def _rate(lr: Any, name: str) -> Parameter:
    if isinstance(lr, Tensor):
        if lr.ndim != 0:
            raise ValueError(f"For 'Optimizer', a Tensor 'lr' must have no dimensions, but got shape {lr.shape}.")
        return Parameter(Tensor(lr.asnumpy(), mstype.float32), name)
    if not isinstance(lr, (float, int)):
        raise TypeError(f"For 'Optimizer', 'lr' must be int, float or Tensor, but got {type(lr).__name__}.")
    if lr < 0:
        raise ValueError(f"For 'Optimizer', 'lr' must be at least 0, but got {lr}.")
    return Parameter(Tensor(float(lr), mstype.float32), name)


def _decay(weight_decay: Any) -> float:
    if not isinstance(weight_decay, (float, int)):
        raise TypeError(f"For 'Optimizer', 'weight_decay' must be int or float, but got {type(weight_decay).__name__}.")
    if weight_decay < 0:
        raise ValueError(f"For 'Optimizer', 'weight_decay' must be at least 0, but got {weight_decay}.")
    return float(weight_decay)


def _scalars(name: str, value: float, parameters: Iterable[Parameter]) -> list[Parameter]:
    return [Parameter(Tensor(value, mstype.float32), f"{name}_{p.name}") for p in parameters]


# -- checks of settings ------------------------------------------------------------------------------------------------
def at_least_zero(owner: str, **numbers: Any) -> None:
    """Each of the named numbers must be 0 or more."""
    for name, value in numbers.items():
        if value < 0:
            raise ValueError(f"For '{owner}', '{name}' must be at least 0, but got {value}.")


def above_zero(owner: str, **numbers: Any) -> None:
    """Each of the named numbers must be more than 0."""
    for name, value in numbers.items():
        if value <= 0:
            raise ValueError(f"For '{owner}', '{name}' must be greater than 0, but got {value}.")


def check_betas(owner: str, betas: Any) -> None:
    """Two decay rates in [0, 1)."""
    for i in range(2):
        if not 0.0 <= betas[i] < 1.0:
            raise ValueError(f"For '{owner}', 'betas[{i}]' must be in [0.0, 1.0), but got {betas[i]}.")


__all__ = ["Optimizer"]
