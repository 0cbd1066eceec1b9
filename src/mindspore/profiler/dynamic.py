"""DynamicProfilerMonitor: a callback that records the steps a JSON file asks for, while training runs."""

from __future__ import annotations

import json
import os
from typing import Any

from mindspore import log as logger
from mindspore.profiler.profiler import Profiler
from mindspore.train.callback import Callback


class DynamicProfilerMonitor(Callback):
    """Records from `start_step` to `stop_step` as the file `profiler_config.json` in `cfg_path` says.

    The file is read again before every step, so profiling can be asked for while the run goes on.

    Args:
        cfg_path: the folder of the file.
        output_path: the folder of the results.
        poll_interval: accepted.
    """

    def __init__(
        self,
        cfg_path: str | None = None,
        output_path: str = "./dyn_profile_data",
        poll_interval: int = 2,
        **kwargs: Any,
    ):
        super().__init__()
        if not isinstance(cfg_path, str):
            raise TypeError(
                f"For 'DynamicProfilerMonitor', 'cfg_path' must be a string, but got {type(cfg_path).__name__}."
            )
        self._config = os.path.join(cfg_path, "profiler_config.json")
        self._output_path = output_path
        self._profiler: Profiler | None = None
        self._stop_step = -1
        self._own_step = 0

    def step_begin(self, run_context: Any) -> None:
        self._begin(run_context.original_args().cur_step_num)

    def step_end(self, run_context: Any) -> None:
        self._end(run_context.original_args().cur_step_num)

    def step(self) -> None:
        """Say that a step has ended, in a training loop of your own."""
        self._end(self._own_step)
        self._own_step += 1
        self._begin(self._own_step)

    def _begin(self, step: int) -> None:
        wanted = self._wanted()
        if self._profiler is None and wanted is not None and wanted[0] == step:
            folder = os.path.join(self._output_path, f"rank0_start{wanted[0]}_stop{wanted[1]}")
            self._profiler = Profiler(output_path=folder)
            self._stop_step = wanted[1]

    def _end(self, step: int) -> None:
        if self._profiler is None:
            return
        self._profiler.step()
        if step >= self._stop_step:
            self._profiler.analyse()
            self._profiler = None

    def end(self, run_context: Any) -> None:
        if self._profiler is not None:
            self._profiler.analyse()
            self._profiler = None

    def _wanted(self) -> tuple[int, int] | None:
        try:
            with open(self._config, encoding="utf-8") as stream:
                config = json.load(stream)
            return int(config["start_step"]), int(config["stop_step"])
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError) as error:
            logger.warning("The file %s cannot be used: %s", self._config, error)
            return None
