"""FLModel: one party's networks, optimizers and gradients in vertical training."""
from __future__ import annotations

import glob
import os
from collections import OrderedDict
from typing import Any

import mindspore
from mindspore import Tensor, nn
from mindspore_federated.common.vfl_utils import FLYamlData
from mindspore_federated.startup.compress_config import NO_COMPRESS_TYPE, CompressConfig
from mindspore_federated.trainer.vfl_optim import Batch, PartyGradScaler, PartyOptimizer, Sens, ordered_inputs


class FLModel:
    """Forward, backward and evaluation steps of one party; what has to travel comes back as dicts of tensors."""

    def __init__(self, yaml_data: FLYamlData, network: nn.Cell, loss_fn: nn.Cell | None = None, optimizers: Any = None,
                 metrics: Any = None, eval_network: nn.Cell | None = None) -> None:
        if not isinstance(network, nn.Cell):
            raise TypeError(f"FLModel: 'network' should be nn.Cell, but got {type(network).__name__}")
        if eval_network is not None and not isinstance(eval_network, nn.Cell):
            raise TypeError(f"FLModel: 'eval_network' should be nn.Cell, but got {type(eval_network).__name__}")
        self._yaml = yaml_data
        self._network = nn.WithLossCell(network, loss_fn) if loss_fn is not None else network
        self._network.set_train(True)
        self._eval_network = eval_network
        self._metrics = metrics
        self._checkpoints = yaml_data.ckpt_path
        self.global_step = 0
        if optimizers is None:
            self._optimizers = [PartyOptimizer(one, self._network, yaml_data.train_net) for one in yaml_data.opts]
        else:
            self._optimizers = optimizers if isinstance(optimizers, list) else [optimizers]
        self._scalers = [PartyGradScaler(one, self._network, yaml_data.train_net)
                         for one in yaml_data.grad_scalers or []]

    def forward_one_step(self, local_data_batch: Batch = None, remote_data_batch: Batch = None
                         ) -> OrderedDict[str, Tensor]:
        """The outputs of the training network."""
        inputs = ordered_inputs(self._yaml.train_net_in_names, local_data_batch, remote_data_batch)
        return self._named(self._network(*inputs), self._yaml.train_net_outs)

    def backward_one_step(self, local_data_batch: Batch = None, remote_data_batch: Batch = None, sens: Sens = None
                          ) -> dict[str, OrderedDict[str, Tensor]]:
        """Update the weights; returns what other parties need as their `sens`."""
        scales = {one.grad_scale_name(): one(local_data_batch, remote_data_batch, sens) for one in self._scalers}
        for optimizer in self._optimizers:
            if isinstance(optimizer, PartyOptimizer):
                optimizer(local_data_batch, remote_data_batch, sens)
            else:
                inputs = ordered_inputs(self._yaml.train_net_in_names, local_data_batch, remote_data_batch)
                optimizer(*inputs, **({"sens": sens} if sens else {}))
        self.global_step += 1
        return scales

    def eval_one_step(self, local_data_batch: Batch = None, remote_data_batch: Batch = None
                      ) -> OrderedDict[str, Tensor]:
        """The outputs of the evaluation network; the metrics take them in."""
        if self._eval_network is None:
            raise AttributeError("FLModel: try to execute eval_one_step but not specify eval_network")
        if self._metrics is None:
            raise AttributeError("FLModel: try to execute eval_one_step but not specify eval_metric")
        names = [one["name"] for one in self._yaml.eval_net_ins]
        outputs = self._eval_network(*ordered_inputs(names, local_data_batch, remote_data_batch))
        (label,) = ordered_inputs([self._yaml.eval_net_gt], local_data_batch, remote_data_batch)
        self._metrics.update(*(outputs if isinstance(outputs, tuple) else (outputs,)), label)
        return self._named(outputs, self._yaml.eval_net_outs)

    def get_compress_configs(self) -> dict[str, CompressConfig]:
        """How the YAML file wants tensors to be compressed, for the communicator."""
        ends = [*self._yaml.train_net_ins, *self._yaml.train_net_outs, *self._yaml.eval_net_ins,
                *self._yaml.eval_net_outs]
        return {one["name"]: CompressConfig(one["compress_type"], one.get("bit_num", 8)) for one in ends
                if one.get("compress_type", NO_COMPRESS_TYPE) != NO_COMPRESS_TYPE}

    def save_ckpt(self, path: str | None = None) -> None:
        """Write the training network's weights into a folder (default: `ckpt_path`)."""
        folder = os.path.abspath(path or self._checkpoints)
        self._checkpoints = folder
        os.makedirs(folder, exist_ok=True)
        file = os.path.join(folder, f"{self._yaml.train_net['name']}_step_{self.global_step}.ckpt")
        mindspore.save_checkpoint(self._network, file, append_dict={"global_step": self.global_step})

    def load_ckpt(self, phrase: str = "eval", path: str | None = None) -> None:
        """Read weights into the training (`phrase="train"`) or evaluation network, from a file or a folder's newest."""
        if phrase not in ("train", "eval"):
            raise AttributeError(f"FLModel: phrase should be 'train' or 'eval', but got {phrase!r}")
        place = os.path.abspath(path or self._checkpoints)
        if not os.path.exists(place):
            raise AttributeError(f"FLModel: {place} do not exits, please check it!")
        values = mindspore.load_checkpoint(self._newest(place) if os.path.isdir(place) else place)
        step = values.pop("global_step", None)
        network = self._network if phrase == "train" else self._eval_network
        if network is None:
            raise AttributeError("FLModel: there is no evaluation network")
        mindspore.load_param_into_net(network, values, strict_load=True)
        if phrase == "train" and step is not None:
            self.global_step = int(step.asnumpy())

    def _newest(self, folder: str) -> str:
        found = glob.glob(os.path.join(glob.escape(folder), f"{glob.escape(self._yaml.train_net['name'])}*"))
        if not found:
            raise AttributeError(f"FLModel: in folder {folder}, no file starts with the name of training network "
                                 f"({self._yaml.train_net['name']}), please check it!")
        return max(found, key=os.path.getmtime)

    @staticmethod
    def _named(outputs: Any, described: list[dict[str, Any]]) -> OrderedDict[str, Tensor]:
        values = outputs if isinstance(outputs, tuple) else (outputs,)
        if len(values) != len(described):
            raise ValueError(f"FLModel: the network gives {len(values)} outputs, the yaml describes {len(described)}")
        return OrderedDict((one["name"], value) for one, value in zip(described, values))
