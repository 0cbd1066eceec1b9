"""Gradients and optimizers of one party, as its YAML file describes them."""
from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from mindspore import ParameterTuple, Tensor, nn, ops
from mindspore_federated.common.vfl_utils import IthOutputCellInTuple, get_params_by_name

Batch = Mapping[str, Tensor] | None
Sens = Mapping[str, Mapping[str, Tensor]] | None


def ordered_inputs(names: list[str], *batches: Batch) -> list[Tensor]:
    """The tensors with these names, from local and remote data."""
    found = {name: value for batch in batches if batch for name, value in batch.items()}
    missing = [name for name in names if name not in found]
    if missing:
        raise ValueError(f"missing input data '{missing[0]}', there are {sorted(found)}")
    return [found[name] for name in names]


def _one_output(net: nn.Cell, net_yaml: dict[str, Any], output: str) -> nn.Cell:
    names = [one["name"] for one in net_yaml["outputs"]]
    return IthOutputCellInTuple(net, names.index(output)) if len(names) > 1 else net


def _sens_value(given: Any, output: str, sens: Sens, loss: Any) -> Tensor:
    """What the gradient of `output` is multiplied by: a number, or what another party sent under a name."""
    if isinstance(given, (int, float)):
        return ops.full_like(loss, given)
    if sens is None or given not in sens or output not in sens[given]:
        raise ValueError(f"sens '{given}' for output '{output}' is missing")
    return sens[given][output]


class PartyGradOperation:
    """Gradients of one output with respect to parameters."""

    def __init__(self, grad_yaml: dict[str, Any], net: nn.Cell, net_yaml: dict[str, Any], optim_params: Any) -> None:
        self._names = [one["name"] for one in grad_yaml["inputs"]]
        self._output = grad_yaml["output"]["name"]
        self._params = (get_params_by_name(net, [one["name"] for one in grad_yaml["params"]])
                        if "params" in grad_yaml else optim_params)
        self._sens = grad_yaml.get("sens")
        self._loss = _one_output(net, net_yaml, self._output)
        self._gradient = ops.GradOperation(get_by_list=True, sens_param=self._sens is not None)(
            self._loss, ParameterTuple(self._params))

    def __call__(self, local_data_batch: Batch = None, remote_data_batch: Batch = None, sens: Sens = None) -> Any:
        inputs = ordered_inputs(self._names, local_data_batch, remote_data_batch)
        if self._sens is None:
            return self._gradient(*inputs)
        loss = self._loss(*inputs) if isinstance(self._sens, (int, float)) else None
        return self._gradient(*inputs, _sens_value(self._sens, self._output, sens, loss))


class PartyOptimizer:
    """An optimizer of `mindspore.nn` over the sum of some gradients."""

    def __init__(self, optim_yaml: dict[str, Any], net: nn.Cell, net_yaml: dict[str, Any]) -> None:
        self.type = optim_yaml["type"]
        kind = getattr(nn, self.type, None)
        if not (isinstance(kind, type) and issubclass(kind, nn.Optimizer)):
            raise ValueError(f"optimizer '{self.type}' is none of mindspore.nn")
        params = (get_params_by_name(net, [one["name"] for one in optim_yaml["params"]]) if "params" in optim_yaml
                  else net.trainable_params())
        self.hyperparams = {**optim_yaml.get("hyper_parameters", {}), "params": params}
        self.optimizer = kind(**self.hyperparams)
        self.grad_list = [PartyGradOperation(one, net, net_yaml, params) for one in optim_yaml["grads"]]

    def __call__(self, local_data_batch: Batch = None, remote_data_batch: Batch = None, sens_dict: Sens = None) -> None:
        total: tuple[Any, ...] = ()
        for gradient in self.grad_list:
            found = gradient(local_data_batch, remote_data_batch, sens_dict)
            total = tuple(map(sum, zip(total, found))) if total else tuple(found)
        self.optimizer(total)


class PartyGradScaler:
    """Gradients of one output with respect to inputs: what the other party multiplies its gradients by."""

    def __init__(self, grad_scale_yaml: dict[str, Any], net: nn.Cell, net_yaml: dict[str, Any]) -> None:
        self._wanted = [one["name"] for one in grad_scale_yaml["inputs"]]
        self._names = [one["name"] for one in net_yaml["inputs"]]
        self._output = grad_scale_yaml["output"]["name"]
        self._sens = grad_scale_yaml.get("sens")
        self._loss = _one_output(net, net_yaml, self._output)
        self._gradient = ops.GradOperation(get_all=True, sens_param=self._sens is not None)(self._loss)

    def __call__(self, local_data_batch: Batch = None, remote_data_batch: Batch = None, sens: Sens = None
                 ) -> OrderedDict[str, Tensor]:
        inputs = ordered_inputs(self._names, local_data_batch, remote_data_batch)
        if self._sens is None:
            scales = self._gradient(*inputs)
        else:
            loss = self._loss(*inputs) if isinstance(self._sens, (int, float)) else None
            scales = self._gradient(*inputs, _sens_value(self._sens, self._output, sens, loss))
        scales = scales if isinstance(scales, tuple) else (scales,)
        return OrderedDict((name, scales[self._names.index(name)]) for name in self._wanted)

    def grad_scale_name(self) -> str:
        """The output whose gradient it is."""
        return str(self._output)
