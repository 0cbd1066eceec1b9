"""A network with its own parallel settings.

They are in force, in a context of their own, while the network is compiled and called: other networks of the program do not see
them, and what `set_auto_parallel_context` says holds for whatever they leave open.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from mindspore import context
from mindspore.nn.cell import Cell
from mindspore.runtime.context import scope

#: what the modes are called in `set_auto_parallel_context`
_CONTEXT_MODES: dict[str, dict[str, Any]] = {
    "semi_auto": {"parallel_mode": "semi_auto_parallel"},
    "sharding_propagation": {"parallel_mode": "auto_parallel", "search_mode": "sharding_propagation"},
    "recursive_programming": {"parallel_mode": "auto_parallel", "search_mode": "recursive_programming"},
}
#: settings that go by the same name there
_SAME_NAMES = (
    "dataset_strategy", "full_batch", "enable_parallel_optimizer", "optimizer_weight_shard_size", "pipeline_stages",
    "pipeline_result_broadcast", "gradients_mean", "gradient_fp32_sync", "loss_repeated_mean", "force_fp32_communication",
    "comm_fusion", "group_ckpt_save_file", "dump_local_norm", "dump_local_norm_path", "dump_device_local_norm",
)  # fmt: skip
_MODES = ("semi_auto", "sharding_propagation", "recursive_programming")
_SCHEDULERS = ("1f1b", "gpipe", "seqpipe", "seqvpp", "seqsmartvpp", "zero_bubble_v")
_LEVELS = ("level1", "level2", "level3")


class AutoParallel(Cell):
    """Run a network in parallel, with settings given by methods instead of `set_auto_parallel_context`.

    >>> parallel_net = AutoParallel(net, parallel_mode="semi_auto")
    >>> parallel_net.dataset_strategy("full_batch")

    The settings are in `parallel_net.settings`; they hold for calls and compilations of `parallel_net`, and for the training and
    evaluation of a `Model` made of it. The devices are the processes of the run, or `device_num` of
    `set_auto_parallel_context`. With one device the network runs as it is.

    Whatever is compiled as a whole must be wrapped as a whole: a training step of your own, not the network within it.
    """

    def __init__(self, network: Cell, parallel_mode: str = "semi_auto"):
        super().__init__(auto_prefix=False)
        if not isinstance(parallel_mode, str):
            raise TypeError(f"the argument 'parallel_mode' must be str, but got the type : {type(parallel_mode)} .")
        if parallel_mode not in _MODES:
            raise ValueError(
                f"the argument 'parallel_mode' must be one of {list(_MODES)}, but got the value : {parallel_mode} ."
            )
        self.network = network
        self.settings: dict[str, Any] = {"parallel_mode": parallel_mode, "dataset_strategy": "data_parallel"}

    def construct(self, *args: Any, **kwargs: Any) -> Any:
        self._check_in_force()
        return self.network(*args, **kwargs)

    def _check_in_force(self) -> None:
        if context.get_auto_parallel_context("parallel_mode") != self.context_settings()["parallel_mode"]:
            raise RuntimeError(
                "An 'AutoParallel' cell is called within another graph, where its settings cannot hold. Wrap what is compiled: "
                "AutoParallel(nn.TrainOneStepCell(net, optimizer)), or give the AutoParallel cell to 'Model'."
            )

    # -- the settings at work ---------------------------------------------------------------------------------------
    def context_settings(self) -> dict[str, Any]:
        """The settings as `set_auto_parallel_context` takes them."""
        own = self.settings
        found = {**_CONTEXT_MODES[own["parallel_mode"]], **{name: own[name] for name in _SAME_NAMES if name in own}}
        if "parallel_optimizer_threshold" in own:
            level = {"parallel_optimizer_threshold": own["parallel_optimizer_threshold"], "optimizer_level": own["optimizer_level"]}
            found["parallel_optimizer_config"] = level
        if "pipeline_stages" in own:
            schedule = {"pipeline_interleave": own["pipeline_interleave"], "pipeline_scheduler": own["pipeline_scheduler"]}
            found["pipeline_config"] = schedule
        files = {
            "save_file": own.get("strategy_ckpt_save_file", ""), "load_file": own.get("strategy_ckpt_load_file", ""),
            "only_trainable_params": own.get("only_trainable_params", True),
        }  # fmt: skip
        operators = {"SAVE": own.get("save_operator_strategy_file"), "LOAD": own.get("load_operator_strategy_file")}
        found["strategy_ckpt_config"] = files
        found["operator_strategy_files"] = {mode: path for mode, path in operators.items() if path}
        return found

    @contextlib.contextmanager
    def _in_force(self) -> Iterator[None]:
        with scope():
            context.set_auto_parallel_context(**self.context_settings())
            yield

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with self._in_force():
            return super().__call__(*args, **kwargs)

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Compile the network for these arguments, with the settings, without running it."""
        with self._in_force():
            super().compile(*args, **kwargs)

    def around(self, network: Cell) -> AutoParallel:
        """Another network with these settings."""
        twin = AutoParallel(network, self.settings["parallel_mode"])
        twin.settings = self.settings
        return twin

    # -- switches -------------------------------------------------------------------------------------------------
    def no_init_parameters_in_compile(self) -> None:
        """Leave parameters without values when the network is compiled."""
        self.settings["init_param_in_compile"] = False

    def disable_strategy_file_only_for_trainable_params(self) -> None:
        """Strategy files contain all parameters."""
        self.settings["only_trainable_params"] = False

    def enable_fp32_communication(self) -> None:
        """Communicate in float32."""
        self.settings["force_fp32_communication"] = True

    def enable_gradients_mean(self) -> None:
        """Average gradients over devices instead of summing them."""
        self.settings["gradients_mean"] = True

    def disable_gradient_fp32_sync(self) -> None:
        """Combine gradients in their own type."""
        self.settings["gradient_fp32_sync"] = False

    def disable_loss_repeated_mean(self) -> None:
        """Do not divide the loss by the number of devices that compute the same."""
        self.settings["loss_repeated_mean"] = False

    def print_local_norm(self) -> None:
        """Print the norms of gradients on each device."""
        self.settings["dump_local_norm"] = True

    def enable_device_local_norm(self) -> None:
        """Compute one norm for each device."""
        self.settings["dump_device_local_norm"] = True

    # -- files ----------------------------------------------------------------------------------------------------
    def _file(self, name: str, file_path: Any) -> None:
        if not isinstance(file_path, str):
            raise TypeError(f"the argument 'file_path' must be str, but got the type : {type(file_path)} .")
        self.settings[name] = file_path

    def load_param_strategy_file(self, file_path: str) -> None:
        """Read the layouts of parameters from a file."""
        self._file("strategy_ckpt_load_file", file_path)

    def save_param_strategy_file(self, file_path: str) -> None:
        """Write the layouts of parameters to a file."""
        self._file("strategy_ckpt_save_file", file_path)

    def load_operator_strategy_file(self, file_path: str) -> None:
        """Read the strategies of operators from a JSON file."""
        self._json_file("load_operator_strategy_file", file_path)

    def save_operator_strategy_file(self, file_path: str) -> None:
        """Write the strategies of operators to a JSON file."""
        self._json_file("save_operator_strategy_file", file_path)

    def _json_file(self, name: str, file_path: Any) -> None:
        if isinstance(file_path, str) and not file_path.endswith(".json"):
            raise ValueError(f"the argument 'file_path' must end with '.json', but got {file_path}.")
        self._file(name, file_path)

    def set_group_ckpt_save_file(self, file_path: str) -> None:
        """Write the communication groups to a file."""
        self._file("group_ckpt_save_file", file_path)

    def dump_local_norm(self, file_path: str) -> None:
        """Write the norms of gradients on each device to a folder."""
        self._file("dump_local_norm_path", file_path)
        self.settings["dump_local_norm"] = True

    def transformer_opt(self, file_path: str | None) -> None:
        """Read tuning options from a file; None for none."""
        if file_path is not None:
            self._file("transformer_opt", file_path)

    # -- plans ----------------------------------------------------------------------------------------------------
    def dataset_strategy(self, config: Any) -> None:
        """How data sets are cut: "full_batch", "data_parallel", or an entry for each input."""
        if isinstance(config, str) and config not in ("full_batch", "data_parallel"):
            raise ValueError(
                "For 'AutoParallel.dataset_strategy', the argument 'config' must be 'full_batch' or 'data_parallel', "
                f"but got the value : {config}."
            )
        if not isinstance(config, (str, tuple)):
            raise TypeError(
                "For 'AutoParallel.dataset_strategy', the argument 'config' must be a str or a tuple, "
                f"but got the type : {type(config)}."
            )
        self.settings.update(dataset_strategy=config, full_batch=config == "full_batch")

    def hsdp(self, shard_size: int = -1, threshold: int = 64, optimizer_level: str = "level1") -> None:
        """Divide optimizer state among groups of `shard_size` devices (-1: all), for parameters over `threshold` KB."""
        if not _is_int(shard_size) or (shard_size <= 0 and shard_size != -1):
            raise ValueError(f"shard_size must be a positive integer or -1, but got {shard_size}.")
        if not _is_int(threshold) or threshold < 0:
            raise ValueError(f"threshold must be a positive integer or 0, but got {threshold}.")
        if optimizer_level not in _LEVELS:
            raise ValueError(f"Optimizer level should in {list(_LEVELS)}, but got {optimizer_level}")
        self.settings.update(
            enable_parallel_optimizer=True,
            optimizer_weight_shard_size=shard_size,
            parallel_optimizer_threshold=threshold,
            optimizer_level=optimizer_level,
        )

    def pipeline(
        self, stages: int = 1, output_broadcast: bool = False, interleave: bool = False, scheduler: str = "1f1b"
    ) -> None:
        """Divide the layers among `stages` groups of devices."""
        name = "For 'AutoParallel.pipeline', the argument"
        if not _is_int(stages):
            raise TypeError(f"{name} 'stages' must be int type, but got the type : {type(stages)}.")
        if stages <= 0:
            raise ValueError(f"{name} 'stages' must be larger than zero, but got value: {stages}.")
        for key, value in (("output_broadcast", output_broadcast), ("interleave", interleave)):
            if not isinstance(value, bool):
                raise TypeError(f"{name} '{key}' must be bool type, but got the type : {type(value)}.")
        if scheduler not in _SCHEDULERS:
            raise ValueError(f"{name} 'scheduler' must be one of {_SCHEDULERS}, but got the value : {scheduler}.")
        self.settings.update(
            pipeline_stages=stages,
            pipeline_result_broadcast=output_broadcast,
            pipeline_interleave=interleave,
            pipeline_scheduler=scheduler,
        )

    def get_pipeline_stages(self) -> int:
        """The number of pipeline stages."""
        return self.settings.get("pipeline_stages", 1)

    def comm_fusion(self, config: dict) -> None:
        """How communication is combined into larger packets."""
        if not isinstance(config, dict):
            raise TypeError(f"The parameter '{config}' must be {dict}, but got {type(config)}.")
        self.settings["comm_fusion"] = dict(config)


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
