"""What is tuned, how it is put into force, and what came out."""

from __future__ import annotations

import dataclasses
from typing import Any

from mindspore import context
from mindspore.train.tuning.turns import BUSY


@dataclasses.dataclass(frozen=True)
class Settings:
    """What is tuned; the defaults leave everything as it is.

    Attributes:
        threads: 0: as many as there are.
        fusion: the level; −1: the default one.
        winograd: whether 3×3 convolutions may go through Winograd's transform.
        workers: threads that make the data; 0: the dataset's default.
        prefetch: batches that are made ahead; 0: the dataset's default.
        sink: whether steps that sink are quicker (`ms.data_sink`; on accelerators `Model.train(…, dataset_sink_mode=True)`). It is left
            to the caller, whose callbacks see fewer steps.
        batch: rows of a batch; 0: the dataset's own.
        recompute: which cells are computed again instead of kept: none "", whole "blocks" or their "layers".
    """

    graph: bool = True
    threads: int = 0
    fusion: int = -1
    winograd: bool = True
    precision: str = "float32"
    workers: int = 0
    prefetch: int = 0
    sink: bool = False
    batch: int = 0
    recompute: str = ""

    def named(self, other: Settings) -> str:
        """In what these differ from others."""
        changed = [f.name for f in dataclasses.fields(self) if getattr(self, f.name) != getattr(other, f.name)]
        return ", ".join(f"{name} {_words(getattr(self, name))}" for name in changed) or "as it is"

    def in_context(self) -> dict[str, Any]:
        """The arguments of `set_context`; flags that the user gave stay."""
        found: dict[str, Any] = {"mode": context.GRAPH_MODE if self.graph else context.PYNATIVE_MODE}
        found["runtime_num_threads"] = self.threads or context.get_context("runtime_num_threads")
        flags = [f"--opt_level={self.fusion}"] if self.fusion >= 0 else []
        flags += [] if self.winograd else ["--winograd=off"]
        if flags:
            found["graph_kernel_flags"] = " ".join([context.get_context("graph_kernel_flags") or "", *flags]).strip()
        return found


def _words(value: Any) -> str:
    return {"True": "on", "False": "off", "": "none"}.get(str(value), str(value))


@dataclasses.dataclass(frozen=True)
class Trial:
    """A line of the report; 0 milliseconds: it was not timed."""

    settings: str
    milliseconds: float
    remark: str

    def __str__(self) -> str:
        time = f"{self.milliseconds:10.3f} ms" if self.milliseconds else 13 * " "
        return f"  {self.settings:24} {time}  {self.remark}"


@dataclasses.dataclass(frozen=True)
class Tuning:
    """What came out: the settings, a step's milliseconds before and after, everything that was tried.

    Attributes:
        before: of a step as it was; with other sizes of batches tried, of as many rows as the first one has. `after` likewise.
        bytes: what the step takes with its weights, optimizer and batch; 0 where no limit was given.
        others: the share of the processors that others took while this was measured.
    """

    settings: Settings
    before: float
    after: float
    trials: tuple[Trial, ...] = ()
    stored: bool = False
    bytes: int = 0
    others: float = 0.0

    def __str__(self) -> str:
        if self.stored:
            return f"auto_tune: found earlier: {self.settings.named(Settings(self.settings.graph))}"
        lines = [f"auto_tune: {self.before:.3f} ms a step as it is", *map(str, self.trials)]
        if self.others >= BUSY:
            lines.append(f"  others use {100 * self.others:.0f} % of the processors: threads stay, and this is not stored")
        last = f"auto_tune: {self.after:.3f} ms a step, {100 * (1 - self.after / self.before):.0f} % less"
        return "\n".join([*lines, last + (f", {self.bytes / 2**20:,.0f} MiB" if self.bytes else "")])
