"""Rearranging the parameters of an optimizer."""

from __future__ import annotations

from typing import Any

from mindspore.common.parameter import Parameter
from mindspore.nn.cell import Cell
from mindspore.nn.layer.conv import Conv2d
from mindspore.nn.optim.lars import LARS


def _as_list(params: Any) -> list:
    found = list(params or ())
    if not found:
        raise ValueError("Optimizer got an empty parameter list.")
    if not isinstance(found[0], (dict, Parameter)):
        raise TypeError("Only a list of Parameter or dict can be supported.")
    return found


class OptimizerProcess:
    """Make an optimizer again with gradients centralised: their mean over each output is subtracted (Yong et al. 2020).

    >>> process = OptimizerProcess(optimizer)
    >>> process.add_grad_centralization(network)
    >>> optimizer = process.generate_new_optimizer()
    """

    def __init__(self, opt: Cell):
        self.lars = opt if isinstance(opt, LARS) else None
        self.opt = opt.opt if isinstance(opt, LARS) else opt
        self.opt_class: Any = type(self.opt)
        self.opt_init_args = dict(self.opt.init_args)
        self.origin_params = self.opt.init_params["params"]
        self.learning_rate = self.opt.init_learning_rate

    @staticmethod
    def build_params_dict(network: Cell) -> dict[int, Cell]:
        """The cell that owns each parameter, by the parameter's id."""
        return {id(p): cell for _, cell in network.cells_and_names() for p in cell.get_parameters(expand=False)}

    @staticmethod
    def build_gc_params_group(params_dict: dict[int, Cell], parameters: list[dict]) -> list[dict]:
        """Split each group into parameters whose gradients are centralised and the others (biases, norms, depthwise)."""
        groups = []
        for group in parameters:
            if "order_params" in group:
                groups.append(group)
                continue
            centred = [p for p in group["params"] if _can_be_centred(p, params_dict.get(id(p)))]
            chosen = {id(p) for p in centred}
            others = [p for p in group["params"] if id(p) not in chosen]
            if centred:
                groups.append({**group, "params": centred, "grad_centralization": True})
            if others:
                groups.append({**group, "params": others})
        return groups

    def add_grad_centralization(self, network: Cell) -> None:
        """Centralise gradients of the optimizer's groups; a plain list of parameters is left as it is."""
        parameters = _as_list(self.origin_params)
        if isinstance(parameters[0], dict):
            self.origin_params = self.build_gc_params_group(self.build_params_dict(network), parameters)

    def generate_new_optimizer(self) -> Cell:
        """The optimizer made again with the changed parameters."""
        rate = self.opt.learning_rate if self.learning_rate is None else self.learning_rate
        made = self.opt_class(params=self.origin_params, learning_rate=rate, **self.opt_init_args)
        return made if self.lars is None else LARS(made, **self.lars.init_args)


def _can_be_centred(parameter: Parameter, owner: Any) -> bool:
    if any(word in parameter.name for word in ("beta", "gamma", "bias")):
        return False
    return not (isinstance(owner, Conv2d) and owner.group > 1)


class ParameterProcess:
    """Group parameters for communication and for optimizers."""

    def __init__(self) -> None:
        self._parameter_indices = 1

    def assign_parameter_group(self, parameters: Any, split_point: list[int] | None = None) -> Any:
        """Number the packets in which gradients are communicated: a new one starts at each split point."""
        if not isinstance(parameters, (list, tuple)) or not parameters:
            return parameters
        starts = split_point or [len(parameters) // 2]
        for index, parameter in enumerate(parameters):
            self._parameter_indices += index in starts
            parameter.comm_fusion = self._parameter_indices
        return parameters

    @staticmethod
    def generate_group_params(parameters: list[Parameter], origin_params: Any) -> list[dict]:
        """Groups like those of `origin_params`, made of `parameters`; new ones join the group with the most settings."""
        origin = _as_list(origin_params)
        if isinstance(origin[0], Parameter):
            return [{"params": parameters}]
        by_name = {p.name: p for p in parameters}
        groups: list[dict] = []
        for group in origin:
            if "order_params" in group:
                groups.append({**group, "order_params": parameters})
            else:
                groups.append({**group, "params": [by_name.pop(p.name) for p in group["params"] if p.name in by_name]})
        if by_name:
            largest = max((g for g in groups if "params" in g), key=len, default={})
            groups.append({**largest, "params": list(by_name.values())})
        return groups
