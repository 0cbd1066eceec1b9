"""The settings behind `Model(..., boost_level=...)`."""

from __future__ import annotations

import warnings
from typing import Any

from mindspore.nn.cell import Cell

_FEATURES = ("less_bn", "grad_freeze", "adasum", "grad_accumulation", "dim_reduce", "loss_scale_group")
_LEVELS = {
    "O0": dict.fromkeys(_FEATURES, False),
    "O1": {**dict.fromkeys(_FEATURES, False), "less_bn": True, "grad_freeze": True},
    "O2": {**dict.fromkeys(_FEATURES, False), "less_bn": True, "grad_freeze": True, "adasum": True},
}
#: features that nothing here carries out, and what to do instead
_INSTEAD = {
    "less_bn": "wrap the network in boost.LessBN",
    "grad_freeze": "use boost.GradientFreeze",
    "adasum": "wrap the optimizer in nn.AdaSumByGradWrapCell",
    "dim_reduce": "train in the full space",
    "loss_scale_group": "use amp.DynamicLossScaler",
}
_MODES = ("auto", "manual", "enable_all", "disable_all")


class AutoBoost:
    """Which features of a boost level are on, with their settings.

    `grad_accumulation` is carried out by `BoostTrainOneStepCell`. The others trade accuracy for speed on Ascend
    clusters; those that are switched on are named in a warning, and training goes on without them.
    """

    def __init__(self, level: str = "O0", boost_config_dict: Any = ""):
        self.level = level if level in _LEVELS else "O0"
        self.boost_config_dict = boost_config_dict or {}
        self.grad_accumulation_step = 1
        self.boost_config = self._features()
        idle = [f"'{name}' ({_INSTEAD[name]})" for name, on in self.boost_config.items() if on and name in _INSTEAD]
        if idle:
            warnings.warn(f"AutoBoost: without effect here: {', '.join(idle)}.", stacklevel=2)

    def _features(self) -> dict[str, bool]:
        config, wanted = dict(_LEVELS[self.level]), self.boost_config_dict.get("boost", {})
        mode = wanted.get("mode", "auto")
        if mode not in _MODES:
            raise ValueError(f"The boost mode must be in {list(_MODES)}, but got {mode}")
        if mode == "manual":
            config.update({key: bool(value) for key, value in wanted.items() if key in config})
        elif mode != "auto":
            config = dict.fromkeys(config, mode == "enable_all")
        if config["grad_accumulation"]:
            step = self.boost_config_dict.get("grad_accumulation", {}).get("grad_accumulation_step", 1)
            if isinstance(step, bool) or not isinstance(step, int) or step < 1:
                raise ValueError(f"'grad_accumulation_step' must be a positive int, but got {step!r}.")
            self.grad_accumulation_step = step
        return config

    def network_auto_process_train(self, network: Cell, optimizer: Cell) -> tuple[Cell, Cell]:
        """The network and optimizer to train with."""
        return network, optimizer

    def network_auto_process_eval(self, network: Cell) -> Cell:
        """The network to evaluate with."""
        return network
