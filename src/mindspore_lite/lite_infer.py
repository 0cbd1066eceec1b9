"""`LiteInfer`: a network of the framework, run by Lite."""

from __future__ import annotations

import os
import sys
import tempfile
from typing import Any

from mindspore_lite import _checks as check
from mindspore_lite.base_model import BaseModel, check_resize
from mindspore_lite.context import Context
from mindspore_lite.tensor import Tensor

__all__ = ["LiteInfer"]


class LiteInfer(BaseModel):
    """Runs a Cell or a `mindspore.Model`'s network, exported for inputs like `net_inputs`."""

    def __init__(
        self,
        model_or_net: Any,
        *net_inputs: Any,
        context: Context | None = None,
        model_group_id: int | None = None,
        config: dict[str, Any] | None = None,
    ):
        super().__init__()
        framework: Any = sys.modules.get("mindspore")  # whoever has a network has loaded it
        if framework is not None and isinstance(model_or_net, framework.train.Model):
            network = model_or_net.predict_network
        elif framework is not None and isinstance(model_or_net, framework.nn.Cell):
            network = model_or_net
        else:
            raise ValueError(
                f"For LiteInfer, input model_or_net should be ms.train.Model or ms.nn.Cell, but got {type(model_or_net)}."
            )
        _check_config(config)
        context = Context() if context is None else context
        check.instance("context", context, Context)
        from mindspore_lite import loading

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "net.mindir")
            framework.export(network, *net_inputs, file_name=path, file_format="MINDIR")
            self._start(loading.start(loading.load(path, lite=False), context))

    def predict(self, inputs: Any, outputs: Any = None) -> list[Tensor]:
        """Run the network on a list of tensors."""
        return super().predict(inputs, outputs)

    def resize(self, inputs: Any, dims: Any) -> None:
        """Give inputs other shapes; whether the network can take them is seen by `predict`."""
        check_resize(inputs, dims)
        for tensor, sizes in zip(inputs, dims):
            tensor.shape = list(sizes)


def _check_config(config: Any) -> None:
    if not config:
        return
    check.instance("config", config, dict)
    for key, value in config.items():
        check.instance("config_key", key, str)
        check.instance("config_value", value, str if key == "configPath" else dict)
        for option, text in value.items() if isinstance(value, dict) else ():
            check.instance("config_value_key", option, str)
            check.instance("config_value_value", text, str)
