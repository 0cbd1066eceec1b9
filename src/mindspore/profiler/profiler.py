"""Profiler and profile: record a run and write where its time went."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

from mindspore import log as logger
from mindspore.ir import FuncGraph
from mindspore.profiler import report
from mindspore.profiler.options import ProfilerAction, ProfilerLevel, schedule
from mindspore.profiler.recorder import Recorder, Span, now

OUTPUT_FOLDER = "PROFILER_OUTPUT"


class profile:
    """Record what happens inside a `with` block, or between `start` and `stop`.

    Args:
        activities: accepted.
        record_shapes: also note the shapes of operands.
        profile_memory: note the memory in use after each step; the peak of the process is always noted.
        start_profile: start at once.
        schedule: which steps to record; `step()` counts them.
        on_trace_ready: called with the profiler when steps are recorded; default: write the results to ./data.
        experimental_config: further options.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore.profiler import profile, tensorboard_trace_handler
        >>> with profile(on_trace_ready=tensorboard_trace_handler("doc_profile")) as prof:
        ...     _ = ms.ops.exp(ms.Tensor([1.0]))
        ...     prof.step()
        >>> import os
        >>> os.path.exists("doc_profile/PROFILER_OUTPUT/trace_view.json")
        True
    """

    def __init__(
        self,
        activities: Any = None,
        with_stack: bool = False,
        profile_memory: bool = False,
        data_process: bool = False,
        parallel_strategy: bool = False,
        start_profile: bool = True,
        hbm_ddr: bool = False,
        pcie: bool = False,
        sync_enable: bool = True,
        record_shapes: bool = False,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[..., Any] | None = None,
        experimental_config: Any = None,
    ):
        if schedule is not None and not callable(schedule):
            raise TypeError(f"For 'profile', 'schedule' must be a function, but got {type(schedule).__name__}.")
        if on_trace_ready is not None and not callable(on_trace_ready):
            raise TypeError(f"For 'profile', 'on_trace_ready' must be a function, not {type(on_trace_ready).__name__}.")
        level = getattr(experimental_config, "profiler_level", ProfilerLevel.Level0)
        self._enabled = level != ProfilerLevel.LevelNone
        self._shapes = record_shapes
        self._memory = profile_memory
        self._schedule = schedule
        self._on_ready = on_trace_ready
        self._recorder: Recorder | None = None
        self.spans: list[Span] = []
        self.samples: list[tuple[int, dict[str, int]]] = []
        self.ready: list[tuple[int, int]] = []
        self.graphs: dict[str, FuncGraph] = {}
        self.metadata: dict[str, Any] = {}
        self.step_num = 0
        self._step_start = 0
        self._running = False
        if start_profile:
            self.start()

    # -- running --------------------------------------------------------------------------------------------------
    def start(self) -> None:
        """Begin to record (as the schedule says). The constructor has done so unless it was told not to."""
        if self._running:
            logger.warning("For 'profile.start', the profiler is running already.")
            return
        self._running = True
        self._step_start = now()
        self._follow(self._action())

    def stop(self) -> None:
        """End recording and hand the result on."""
        if not self._running:
            raise RuntimeError("For 'profile', it is not running.")
        self._running = False
        if self._recorder is not None:
            self._end_step()
            self._collect()
            self._ready()

    def step(self) -> None:
        """Say that a training step has ended."""
        if not self._running:
            logger.warning("For 'profile.step', the profiler is not running.")
            return
        before = self._action()
        if self._recorder is not None:
            self._end_step()
        self.step_num += 1
        self._step_start = now()
        if before == ProfilerAction.RECORD_AND_SAVE and self._recorder is not None:
            self._collect()
            self._ready()
        self._follow(self._action())

    def __enter__(self) -> profile:
        if not self._running:
            self.start()
        return self

    def __exit__(self, *err: Any) -> None:
        if self._running:
            self.stop()

    def _action(self) -> ProfilerAction:
        return ProfilerAction.RECORD if self._schedule is None else self._schedule(self.step_num)

    def _follow(self, action: ProfilerAction) -> None:
        wanted = self._enabled and action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
        if wanted and self._recorder is None:
            self._recorder = Recorder(self._shapes, self._memory)
            self._recorder.start()
            self._step_start = now()
        elif not wanted and self._recorder is not None:
            self._collect()

    def _end_step(self) -> None:
        assert self._recorder is not None
        self._recorder.end_step(f"step {self.step_num}", self._step_start)

    def _collect(self) -> None:
        assert self._recorder is not None
        self._recorder.stop()
        self.spans += self._recorder.spans
        self.samples += self._recorder.samples
        self.graphs |= self._recorder.graphs
        self.ready += self._recorder.pipeline.ready
        self._recorder = None

    def _ready(self) -> None:
        if self._on_ready is not None:
            self._on_ready(self)
            self.spans, self.samples, self.ready = [], [], []

    # -- results --------------------------------------------------------------------------------------------------
    def add_metadata(self, key: str, value: str) -> None:
        """Store a string with the profile."""
        self.metadata[key] = value

    def add_metadata_json(self, key: str, value: str) -> None:
        """Store JSON text with the profile."""
        try:
            self.metadata[key] = json.loads(value)
        except (TypeError, ValueError):
            logger.warning("For 'profile.add_metadata_json', the value of '%s' is no JSON.", key)

    def summary(self) -> str:
        """A text that says where the time went."""
        return report.summary(self.spans, peak_memory())

    def write(self, folder: str, pretty: bool = False) -> None:
        """Write the results to a folder."""
        found = report.Profile(self.spans, self.samples, self.metadata, peak_memory(), self.graphs, self.ready)
        report.write(os.path.join(folder, OUTPUT_FOLDER), found, pretty)


class Profiler(profile):
    """Record a run until `analyse` writes the results.

    Args:
        output_path: the folder of the results; default "./data".

    The other arguments are those of `profile`, with `profiler_level` beside them.

    Examples:
        >>> import mindspore as ms
        >>> profiler = ms.Profiler(output_path="doc_profiler")
        >>> _ = ms.ops.exp(ms.Tensor([1.0]))
        >>> profiler.analyse()
        >>> import os
        >>> sorted(name for name in os.listdir("doc_profiler/PROFILER_OUTPUT") if name.endswith(".csv"))
        ['data_queue.csv', 'dataset.csv', 'flops.csv', 'kernel_details.csv', 'memory_record.csv', 'op_statistic.csv', 'step_trace_time.csv']
    """

    def __init__(self, **kwargs: Any):
        output = kwargs.pop("output_path", "./data")
        if not isinstance(output, str):
            raise TypeError(f"For 'Profiler', 'output_path' must be a string, but got {type(output).__name__}.")
        level = kwargs.pop("profiler_level", None) or ProfilerLevel.Level0
        own = {
            k: kwargs[k]
            for k in ("schedule", "on_trace_ready", "record_shapes", "profile_memory", "activities")
            if k in kwargs
        }
        self.output_path = os.path.realpath(output)
        super().__init__(**own, start_profile=False)
        self._enabled = level != ProfilerLevel.LevelNone
        if kwargs.get("start_profile", True):
            self.start()

    def analyse(
        self, offline_path: Any = None, pretty: bool = False, step_list: Any = None, mode: str = "sync"
    ) -> None:
        """End recording and write the results."""
        if self._running:
            self.stop()
        self.write(self.output_path, pretty)

    def op_analyse(self, op_name: str | list[str], device_id: int | None = None) -> str:
        """The calls and times of operations, as JSON text."""
        names = [op_name] if isinstance(op_name, str) else list(op_name)
        found = {}
        for t in report.totals(self.spans):
            if t.name in names:
                mean = t.total / t.calls / 1e3
                found[t.name] = {
                    "count": t.calls,
                    "total_us": t.total / 1e3,
                    "mean_us": mean,
                    "max_us": t.longest / 1e3,
                }
        return json.dumps(found)

    @classmethod
    def offline_analyse(
        cls, path: str, pretty: bool = False, step_list: Any = None, data_simplification: bool = True
    ) -> None:
        """Check that a folder holds results; they are complete when `analyse` has written them."""
        analyse(path, 1, pretty, step_list, data_simplification)


def analyse(
    profiler_path: str,
    max_process_number: int = 1,
    pretty: bool = False,
    step_list: Any = None,
    data_simplification: bool = True,
) -> None:
    """Check that a folder holds results. They are complete when recording ends, so there is nothing left to compute."""
    if not isinstance(profiler_path, str) or not os.path.isdir(profiler_path):
        raise ValueError(f"For 'analyse', there is no folder {profiler_path!r}.")


def tensorboard_trace_handler(
    dir_name: str | profile | None = None,
    worker_name: str | None = None,
    analyse_flag: bool = True,
    async_mode: bool = False,
) -> Callable[[profile], None]:
    """A function for `on_trace_ready` that writes the results to a folder.

    It is also one itself: `on_trace_ready=tensorboard_trace_handler` writes to the folder "data".
    """
    if isinstance(dir_name, profile):
        tensorboard_trace_handler()(dir_name)
        dir_name = None
    folder = dir_name if dir_name is not None else os.path.join(".", "data")
    if not isinstance(folder, str):
        raise TypeError(f"For 'tensorboard_trace_handler', 'dir_name' must be a string, not {type(folder).__name__}.")

    def write(prof: profile) -> None:
        if analyse_flag:
            prof.write(folder)

    return write


class EnvProfiler:
    """A profiler that MS_PROFILER_OPTIONS switches on: {"start": true, "output_path": "…"}."""

    def __init__(self) -> None:
        try:
            options = json.loads(os.environ.get("MS_PROFILER_OPTIONS", "{}"))
        except ValueError:
            logger.warning("MS_PROFILER_OPTIONS is no JSON; it is ignored.")
            options = {}
        wanted = isinstance(options, dict) and options.get("start")
        self._profiler = Profiler(output_path=options.get("output_path", "./data")) if wanted else None

    def analyse(self) -> None:
        """Write the results, if the profiler was switched on."""
        if self._profiler is not None:
            self._profiler.analyse()


def peak_memory() -> int:
    """The most memory this process has used, in bytes; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:
        return 0
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used if sys.platform == "darwin" else used * 1024


__all__ = ["EnvProfiler", "Profiler", "analyse", "profile", "schedule", "tensorboard_trace_handler"]
