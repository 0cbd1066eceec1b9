"""Optimizer: the base of all optimizers.

It holds what they share: the parameters and their groups, the learning rate of each step, weight decay, the scale of
the loss, and the number of steps made. A subclass makes its state with `slots` and states in `update` what happens to
one parameter; a subclass that needs more overrides `construct`. All state is in Parameters, so checkpoints of a
training network hold it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from mindspore import context, ops
from mindspore._base import dtype as mstype
from mindspore._base import habits
from mindspore.common.parameter import Parameter, ParameterTuple
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.nn.containers import CellList
from mindspore.nn.optim import groups, rates
from mindspore.prims.state import AssignAdd
from mindspore.runtime import eager_updates

_TARGETS = ("CPU", "Ascend", "GPU")


def opt_init_args_register(fn: Callable) -> Callable:
    """Decorate `__init__` of an optimizer so that its arguments can be read later.

    `init_params` then holds the parameters, `init_learning_rate` the rate (None for a schedule), `init_args` the rest.
    """
    signature = inspect.signature(fn)

    @functools.wraps(fn)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        given = dict(list(bound.arguments.items())[1:])
        if "params" in given:
            self.__dict__["init_params"] = {"params": given.pop("params")}
        if "optimizer" in given:
            wrapped = getattr(given.pop("optimizer"), "init_params", {})
            self.__dict__["init_params"] = {"params": wrapped.get("params")}
        if "learning_rate" in given:
            rate = given.pop("learning_rate")
            if isinstance(rate, Tensor):
                rate = rate.asnumpy().tolist()
            self.__dict__["init_learning_rate"] = None if isinstance(rate, Cell) else rate
        self.__dict__["init_args"] = given
        kept = {k: v for k, v in self.__dict__.items() if k.startswith("init_")}
        fn(self, *args, **kwargs)
        self.__dict__.update(kept)  # Cell.__init__ starts from an empty object

    return init


def one_rule(update: Callable) -> Callable:
    """Decorate an `update` that calls one rule of `prims/update.py`, made of IEEE arithmetic and square roots alone, and does not
    use its result: those of all parameters may be carried out together."""
    update.is_one_rule = True  # type: ignore[attr-defined]
    return update


class Optimizer(Cell):
    """Base of optimizers.

    Args:
        learning_rate: a number, a 1-d Tensor or list with one value per step, or a LearningRateSchedule.
        parameters: Parameters, or groups: dictionaries with `params` and perhaps `lr`, `weight_decay`,
            `grad_centralization`; a dictionary with `order_params` alone gives the order of the gradients.
        weight_decay: a number or a Cell that computes it from the step. Without groups, parameters with "beta" or
            "gamma" in their names (those of normalisation layers) are not decayed.
        loss_scale: what the loss was multiplied by; gradients are divided by it.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import nn, ops
        >>> class SignDescent(nn.Optimizer):
        ...     def update(self, index, parameter, gradient, lr):
        ...         ops.assign_sub(parameter, lr * ops.sign(gradient))
        >>> weight = ms.Parameter(ms.Tensor([1.0, 2.0]), name="weight")
        >>> _ = SignDescent(0.5, [weight])((ms.Tensor([3.0, -4.0]),))
        >>> weight.asnumpy().tolist()
        [0.5, 2.5]
    """

    _support_parallel_optimizer = False
    _habits = habits.OPTIMIZERS
    #: weight decay is part of the update rule instead of being added to the gradients
    decoupled_decay = False
    #: one rate (a Parameter or a schedule), or one per parameter if groups have their own
    learning_rate: Any
    #: one decay (a Tensor or a cell), or one per parameter with groups
    weight_decay: Any
    dynamic_decay_flags: Any

    @property
    def sparse_opt(self) -> Any:
        """The operation that updates a parameter: gradients are dense here, so that of sparse ones is the same."""
        return self.opt

    def __init__(self, learning_rate: Any, parameters: Any, weight_decay: Any = 0.0, loss_scale: float = 1.0):
        super().__init__(auto_prefix=False)
        parameters = groups.as_list(parameters, "parameters")
        grouped = all(isinstance(p, dict) for p in parameters)
        if not grouped and not all(isinstance(p, Parameter) for p in parameters):
            raise TypeError("For 'Optimizer', all elements of 'parameters' must be Parameters, or all must be dicts.")
        self.loss_scale = self._check_loss_scale(loss_scale)
        self.reciprocal_scale = Tensor(1.0 / self.loss_scale, mstype.float32)
        self.need_scale = self.loss_scale != 1.0
        self.global_step = Parameter(Tensor([0], mstype.int32), name="global_step")
        self.global_step_increase_tensor = Tensor([1], mstype.int32)
        self._init_tools()
        self.is_group = grouped
        rate = rates.normalize_rate(self.cls_name, learning_rate)
        if grouped:
            self._init_groups(parameters, rate, weight_decay)
        else:
            self._init_plain(parameters, rate, weight_decay)
        self._parameters = self.parameters
        self.param_length = len(self.parameters)
        self.param_rank = None
        self.optim_filter = (True,) * self.param_length

    def _check_loss_scale(self, loss_scale: Any) -> float:
        if isinstance(loss_scale, bool) or not isinstance(loss_scale, (int, float)):
            raise TypeError(f"For '{self.cls_name}', 'loss_scale' must be float, but got {type(loss_scale).__name__}.")
        if loss_scale <= 0:
            raise ValueError(f"For '{self.cls_name}', 'loss_scale' must be greater than 0, but got {loss_scale}.")
        return float(loss_scale)

    def _init_tools(self) -> None:
        """What optimizers written for MindSpore expect to find."""
        self._unique = True
        self._target = context.get_context("device_target")
        self.use_parallel = False
        self.assignadd = AssignAdd()
        self.map_ = ops.Map()
        self.map_reverse = ops.Map(None, True)
        self.hyper_map = ops.HyperMap()
        self.hyper_map_reverse = ops.HyperMap(None, True)

    def _init_plain(self, parameters: list[Parameter], rate: Any, weight_decay: Any) -> None:
        self.parameters = ParameterTuple(parameters)
        self.is_group_lr = False
        self.is_group_params_ordered = False
        self.dynamic_lr = rates.is_dynamic(rate)
        self.learning_rate = rates.rate_source(rate, "learning_rate", as_cell=False)
        decay = rates.normalize_decay(self.cls_name, weight_decay, self.loss_scale)
        self.dynamic_weight_decay: bool = isinstance(decay, Cell)
        self.dynamic_decay_flags = self.dynamic_weight_decay
        self.exec_weight_decay = isinstance(decay, Cell) or decay > 0
        self.weight_decay = decay if isinstance(decay, Cell) else Tensor(decay, mstype.float32)
        self.decay_flags = tuple("beta" not in p.name and "gamma" not in p.name for p in parameters)
        self.grad_centralization = False

    def _init_groups(self, given: list[dict], rate: Any, weight_decay: Any) -> None:
        members = groups.read_groups(given)
        self.group_params = [m.parameter for m in members]
        self.parameters = ParameterTuple(self.group_params)
        self.is_group_params_ordered = any("order_params" in group for group in given)
        self._init_group_rates(given, members, rate)
        decays = {
            i: rates.normalize_decay(self.cls_name, group.get("weight_decay", weight_decay), self.loss_scale)
            for i, group in enumerate(given)
        }
        self.group_weight_decay = [decays[m.group] for m in members]
        self.dynamic_decay_flags = tuple(isinstance(d, Cell) for d in self.group_weight_decay)
        self.dynamic_weight_decay = any(self.dynamic_decay_flags)
        self.decay_flags = tuple(isinstance(d, Cell) or d > 0 for d in self.group_weight_decay)
        self.exec_weight_decay = any(self.decay_flags)
        self.weight_decay = tuple(
            d if isinstance(d, Cell) else Tensor(d, mstype.float32) for d in self.group_weight_decay
        )
        self.group_grad_centralization = [given[m.group].get("grad_centralization", False) for m in members]
        self.grad_centralization_flags = tuple(self.group_grad_centralization)
        self.grad_centralization = any(self.group_grad_centralization)

    def _init_group_rates(self, given: list[dict], members: list[groups.Member], rate: Tensor) -> None:
        own = {i: rates.normalize_rate(self.cls_name, group["lr"]) for i, group in enumerate(given) if "lr" in group}
        lengths = {r.size for r in (rate, *own.values()) if isinstance(r, Tensor) and r.ndim == 1}
        if len(lengths) > 1:
            raise ValueError(
                f"For '{self.cls_name}', lists of learning rates must have the same length in all groups, but got "
                f"lengths {sorted(lengths)}."
            )
        self.is_group_lr = bool(own)
        self.dynamic_lr = any(map(rates.is_dynamic, (rate, *own.values())))
        default = rates.rate_source(rate, "learning_rate", as_cell=self.is_group_lr and self.dynamic_lr)
        sources = {i: rates.rate_source(r, f"learning_rate_group_{i}", self.dynamic_lr) for i, r in own.items()}
        self.group_lr = [sources.get(m.group, default) for m in members]
        if not self.is_group_lr:
            self.learning_rate = default
        elif self.dynamic_lr:
            self.learning_rate = CellList(self.group_lr, auto_prefix=False)
        else:
            self.learning_rate = ParameterTuple(self.group_lr)  # type: ignore[arg-type]

    # -- a step ------------------------------------------------------------------------------------------------------
    def construct(self, gradients: Any = ()) -> Any:
        """One step. `gradients` has one tensor per parameter, in the order of `parameters`."""
        if type(self) is Optimizer:
            raise self._no_step()
        gradients = self.flatten_gradients(gradients)
        if not self.decoupled_decay:
            gradients = self.decay_weight(gradients)
        gradients = self.gradients_centralization(gradients)
        gradients = self.scale_grad(gradients)
        lr = self.get_lr()
        self.before_updates()
        if getattr(type(self).update, "is_one_rule", False):
            with eager_updates.together():
                self._update_all(gradients, lr)
        else:
            self._update_all(gradients, lr)
        self.assignadd(self.global_step, self.global_step_increase_tensor)
        return (True,) * self.param_length

    def _update_all(self, gradients: Any, lr: Any) -> None:
        for i, (parameter, gradient) in enumerate(zip(self.parameters, gradients)):
            self.update(i, parameter, gradient, lr[i] if self.is_group_lr else lr)

    def before_updates(self) -> None:
        """What happens once in a step, before the parameters are updated."""

    def update(self, index: int, parameter: Parameter, gradient: Any, lr: Any) -> None:
        """Update one parameter; subclasses define it (or `construct`)."""
        raise self._no_step()

    def _no_step(self) -> NotImplementedError:
        return NotImplementedError(f"The optimizer {type(self).__name__} defines neither 'update' nor 'construct'.")

    # -- what updates are made of --------------------------------------------------------------------------------------
    def slots(self, prefix: str, init: Any = "zeros") -> ParameterTuple:
        """State of the shape of each parameter, called `prefix.name`."""
        return self.parameters.clone(prefix=prefix, init=init)

    def _step_count(self) -> Any:
        """The number of the step being made, from 1, as float32."""
        return ops.cast(ops.reshape(self.global_step, ()), mstype.float32) + 1.0

    def decay_of(self, index: int) -> Any:
        """The weight decay of one parameter in this step; 0.0 where none applies."""
        if not self.exec_weight_decay or not self.decay_flags[index]:
            return 0.0
        decay = self.weight_decay[index] if self.is_group else self.weight_decay
        return decay(self.global_step) if isinstance(decay, Cell) else decay

    def flatten_gradients(self, gradients: Any) -> Any:
        """The gradients as they are: parameters are not packed into one buffer here."""
        return gradients

    def decay_weight(self, gradients: Any) -> Any:
        """gradient + weight_decay * parameter, where weight decay applies."""
        if not self.exec_weight_decay:
            return gradients
        return tuple(
            [
                g + p * ops.cast(self.decay_of(i), p.dtype) if self.decay_flags[i] else g
                for i, (g, p) in enumerate(zip(gradients, self.parameters))
            ]
        )

    def gradients_centralization(self, gradients: Any) -> Any:
        """Gradients with zero mean over all axes but the first, where a group asks for it (Yong et al. 2020)."""
        if not self.is_group or not self.grad_centralization:
            return gradients
        return tuple([_centralized(g) if flag else g for g, flag in zip(gradients, self.grad_centralization_flags)])

    def scale_grad(self, gradients: Any) -> Any:
        """The gradients divided by the loss scale."""
        if not self.need_scale:
            return gradients
        return tuple([g * ops.cast(self.reciprocal_scale, g.dtype) for g in gradients])

    def get_lr(self) -> Any:
        """The learning rate of the current step: one value, or one per parameter if groups have their own."""
        if not self.dynamic_lr:
            return self.learning_rate
        if self.is_group_lr:
            return tuple([source(self.global_step).reshape(()) for source in self.learning_rate])
        return self.learning_rate(self.global_step).reshape(())

    def get_weight_decay(self) -> Any:
        """The weight decay (times the loss scale) of the current step: one value, or one per parameter with groups."""
        if not self.dynamic_weight_decay:
            return self.weight_decay
        if not self.is_group:
            return self.weight_decay(self.global_step)
        return tuple(
            [d(self.global_step) if flag else d for d, flag in zip(self.weight_decay, self.dynamic_decay_flags)]
        )

    def get_lr_parameter(self, param: Any) -> Any:
        """The Parameter (or schedule) that holds the learning rate of a parameter, or a list for a list of them."""
        if not isinstance(param, (Parameter, list)):
            raise TypeError(
                f"For 'get_lr_parameter', 'param' must be a Parameter or a list, but got {type(param).__name__}."
            )
        found = [self._lr_holder(p) for p in (param if isinstance(param, list) else [param])]
        return found if isinstance(param, list) else found[0]

    def _lr_holder(self, param: Any) -> Any:
        if not isinstance(param, Parameter):
            raise TypeError(f"For 'get_lr_parameter', 'param' must hold Parameters, but got {type(param).__name__}.")
        index = next((i for i, p in enumerate(self.parameters) if p is param), None)
        if index is None:
            raise ValueError(f"For 'get_lr_parameter', the parameter '{param.name}' is not in the optimizer.")
        source = self.learning_rate[index] if self.is_group_lr else self.learning_rate
        return source.learning_rate if isinstance(source, (rates.FixedRate, rates.ListedRate)) else source

    def broadcast_params(self, optim_result: Any) -> list:
        """The updated parameters as every device sees them; on one device they are where they belong already."""
        return [tuple(self.parameters)]

    # -- what optimizers of other packages call ------------------------------------------------------------------------
    def _is_dynamic_lr_or_weight_decay(self) -> bool:
        return self.dynamic_lr or self.dynamic_weight_decay

    def _grad_sparse_indices_deduplicate(self, gradients: Any) -> Any:
        """The gradients as they are: updates add up repeated indices by themselves."""
        return gradients

    def _set_base_target(self, value: str) -> None:
        Optimizer.target.fset(self, value)  # type: ignore[attr-defined]

    # -- settings ----------------------------------------------------------------------------------------------------
    @property
    def unique(self) -> bool:
        """Whether repeated indices of sparse gradients still have to be merged."""
        return self._unique

    @unique.setter
    def unique(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise TypeError(f"For 'Optimizer', 'unique' must be bool, but got {type(value).__name__}.")
        self._unique = value

    @property
    def target(self) -> str:
        """Where the parameters are updated: on the host ("CPU") or on the device."""
        return self._target

    @target.setter
    def target(self, value: str) -> None:
        if not isinstance(value, str):
            raise TypeError(f"For 'Optimizer', 'target' must be a string, but got {type(value).__name__}.")
        if value not in _TARGETS:
            raise ValueError(f"For 'Optimizer', 'target' must be one of {list(_TARGETS)}, but got {value!r}.")
        if value != "CPU" and value != context.get_context("device_target"):
            raise ValueError(
                f"For 'Optimizer', 'target' cannot be {value!r} when the device is "
                f"'{context.get_context('device_target')}'."
            )
        self._target = value


def _centralized(gradient: Tensor) -> Any:
    """The gradient less its mean. As in official MindSpore, second dimensions that are no multiple of 16 are skipped."""
    if gradient.ndim < 2 or gradient.shape[1] % 16 != 0:
        return gradient
    return gradient - gradient.mean(tuple(range(1, gradient.ndim)), True)


__all__ = ["Optimizer", "opt_init_args_register"]
