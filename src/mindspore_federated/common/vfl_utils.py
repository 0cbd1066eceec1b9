"""The YAML file of a party of vertical training, checked while it is read."""
from __future__ import annotations

import difflib
import os
from typing import Any

from mindspore import ParameterTuple, nn

Entry = dict[str, Any]

_END = frozenset({"name", "source", "destination", "compress_type", "bit_num"})
_GRADIENT = frozenset({"inputs", "output", "params", "sens"})
# the keys of each place; those of a dataset, and an optimizer's hyper_parameters, are the user's
_KNOWN: dict[str, frozenset[str]] = {
    "the file": frozenset({"role", "model", "opts", "grad_scalers", "dataset", "hyper_parameters", "privacy", "ckpt_path"}),
    "'model'": frozenset({"train_net", "eval_net"}),
    "'train_net'": frozenset({"name", "inputs", "outputs"}),
    "'eval_net'": frozenset({"name", "inputs", "outputs", "gt"}),
    "'opts'": frozenset({"type", "grads", "params", "hyper_parameters"}),
    "'hyper_parameters'": frozenset({"epochs", "batch_size", "is_eval"}),
}


class FLYamlData:
    """Networks, optimizers, gradients and privacy of one party."""

    def __init__(self, yaml_path: str) -> None:
        self.yaml_data = _read(yaml_path)
        self.role = self._need(self.yaml_data, "role", "the file")
        if self.role not in ("leader", "follower"):
            raise ValueError(f"FLYamlData init failed: role should be 'leader' or 'follower', but got {self.role!r}")
        self.model_data: Entry = self._need(self.yaml_data, "model", "the file")
        _only_known(self.model_data, "'model'")
        self.train_net: Entry = self._need(self.model_data, "train_net", "'model'")
        self.train_net_ins, self.train_net_outs = self._ends(self.train_net, "train_net")
        self.train_net_in_names = [one["name"] for one in self.train_net_ins]
        self.train_net_out_names = [one["name"] for one in self.train_net_outs]
        self.eval_net: Entry = self._need(self.model_data, "eval_net", "'model'")
        self.eval_net_ins, self.eval_net_outs = self._ends(self.eval_net, "eval_net")
        self.eval_net_gt = self.eval_net.get("gt")
        self.opts: list[Entry] = self._need(self.yaml_data, "opts", "the file")
        for opt in self.opts:
            _only_known(opt, "'opts'")
            for grad in self._need(opt, "grads", "'opts'"):
                self._check_gradient(grad, f"optimizer {opt.get('type')}")
        self.grad_scalers: list[Entry] | None = self.yaml_data.get("grad_scalers")
        for scaler in self.grad_scalers or []:
            self._check_gradient(scaler, "'grad_scalers'")
        self._read_rest()

    @staticmethod
    def _need(place: Entry, name: str, where: str) -> Any:
        if not isinstance(place, dict) or place.get(name) in (None, [], {}):
            raise ValueError(f"FLYamlData init failed: missing field of '{name}' in {where}")
        return place[name]

    def _ends(self, net: Entry, name: str) -> tuple[list[Entry], list[Entry]]:
        _only_known(net, f"'{name}'")
        ends = []
        for end in ("inputs", "outputs"):
            items = self._need(net, end, f"'{name}'")
            for item in items:
                self._need(item, "name", f"'{end}' of '{name}'")
                _only_known(item, f"'{end}' of '{name}'", _END)
            ends.append(list(items))
        return ends[0], ends[1]

    def _check_gradient(self, grad: Entry, where: str) -> None:
        _only_known(grad, where, _GRADIENT)
        inputs = {one["name"] for one in self._need(grad, "inputs", where)}
        if not inputs <= set(self.train_net_in_names):
            raise ValueError(f"FLYamlData init failed: {where} has undefined inputs "
                             f"{sorted(inputs - set(self.train_net_in_names))}")
        output = self._need(self._need(grad, "output", where), "name", where)
        if output not in self.train_net_out_names:
            raise ValueError(f"FLYamlData init failed: {where} has the undefined output {output!r}")
        if "sens" in grad and not isinstance(grad["sens"], (str, int, float)):
            raise ValueError(f"FLYamlData init failed: 'sens' of {where} should be a name or a number")

    def _read_rest(self) -> None:
        _only_known(self.yaml_data, "the file")             # after what is missing: a misspelled key is told as both
        dataset = self.yaml_data.get("dataset") or {}
        self.dataset_name = dataset.get("name", "")
        self.features = dataset.get("features", [])
        self.labels = dataset.get("labels", [])
        hyper = self.yaml_data.get("hyper_parameters") or {}
        _only_known(hyper, "'hyper_parameters'")
        self.epochs = hyper.get("epochs", 1)
        self.batch_size = hyper.get("batch_size", 1)
        self.is_eval = hyper.get("is_eval", False)
        self.ckpt_path = self.yaml_data.get("ckpt_path", "./checkpoints")
        for scheme, values in (self.yaml_data.get("privacy") or {}).items():
            if scheme not in ("label_dp", "embedding_dp"):
                raise ValueError(f"FLYamlData init failed: unknown privacy scheme {scheme}.")
            setattr(self, f"{scheme}_eps", _eps(scheme, values))


def _only_known(place: Entry, where: str, known: frozenset[str] | None = None) -> None:
    """Refuse keys that nobody would read."""
    for name in place:
        if name not in (known or _KNOWN[where]):
            near = difflib.get_close_matches(str(name), known or _KNOWN[where], 1)
            hint = f", did you mean '{near[0]}'?" if near else ""
            raise ValueError(f"FLYamlData init failed: unknown field '{name}' in {where}{hint}")


def _read(path: str) -> Entry:
    import yaml

    full = os.path.abspath(path)
    if not os.path.isfile(full):
        raise ValueError(f"File {full} not exit")
    with open(full, encoding="utf-8") as source:
        try:
            data = yaml.safe_load(source)
        except yaml.YAMLError as error:
            raise ValueError(f"FLYamlData init failed: {full} is no YAML: {error}") from None
    if not isinstance(data, dict):
        raise ValueError(f"FLYamlData init failed: {full} should hold a mapping")
    return data


def _eps(scheme: str, values: Any) -> float | None:
    if not isinstance(values, dict) or "eps" not in values:
        raise ValueError(f"FLYamlData init failed: parameter eps missed for {scheme}.")
    eps = values["eps"]
    if eps is None:
        if scheme == "label_dp":
            raise ValueError("FLYamlData init failed: the value of eps is missing.")
        return None
    if isinstance(eps, bool) or not isinstance(eps, (int, float)):
        raise TypeError(f"FLYamlData init failed: parameter eps must be an int or a float number, but {type(eps)} "
                        "found.")
    if eps < 0:
        raise ValueError(f"FLYamlData init failed: parameter eps cannot be negative, but got {eps}.")
    return float(eps)


def get_params_by_name(net: nn.Cell, names: list[str]) -> ParameterTuple:
    """The trainable parameters whose names contain one of `names`."""
    return ParameterTuple([one for name in names for one in net.trainable_params() if name in one.name])


class IthOutputCellInTuple(nn.Cell):
    """A network with one of its outputs only."""

    def __init__(self, network: nn.Cell, output_index: int) -> None:
        super().__init__()
        self.network = network
        self.output_index = output_index

    def construct(self, *inputs: Any) -> Any:
        """The chosen output."""
        return self.network(*inputs)[self.output_index]
