"""A dump folder under the debugger: what was dumped takes the place of the training, so every route and page serves both.

Steps are those that were dumped; going on moves to the next one and checks the watchpoints there, by the conditions of
`mindinsight.debugger`. Numbers of steps begin with 1, as online: step 1 is iteration 0. Nothing is kept waiting: tensors are
read when they are asked for.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mindinsight import __version__
from mindinsight.debugger.analyzer import DumpAnalyzer
from mindinsight.debugger.conditions import check, condition_of
from mindinsight.debugger.nodes import DebuggerTensor, Node
from mindinsight.online import messages
from mindinsight.online.conditions import CONDITIONS
from mindinsight.online.graphs import Graph, Graphs
from mindinsight.online.session import WAITING, Session, refused
from mindinsight.online.watching import Watchpoint
from mindinsight.server import errors


class DumpSession(Session):
    """One rank of a dump folder."""

    def __init__(self, run: DumpAnalyzer, rank: int) -> None:
        super().__init__()
        self._run, self._rank = run, rank
        self._iterations = run.get_iterations(rank)
        if not self._iterations:
            raise ValueError(f"rank_{rank} holds no dumped steps.")
        self.graphs = Graphs([Graph(file.name, file.message) for file in run.graph_files(rank)])
        if not self.graphs.names:
            raise ValueError(f"rank_{rank}/graphs holds no graphs: they are needed to show what the tensors belong to.")
        self._nodes = {(node.graph_name, node.name): node for node in run.select_nodes("", ranks=rank)}
        self.state = WAITING
        self.about = messages.Metadata(str(rank), self._iterations[0] + 1, "GPU", ms_version=__version__)
        self.shelf.step = self.about.cur_step

    # -- where it is --------------------------------------------------------------------------------------------------------
    def metadata(self) -> dict[str, Any]:
        """Where the reading is."""
        return {**super().metadata(), "total_step_num": self._iterations[-1] + 1}

    @property
    def may_recheck(self) -> bool:
        """Whether watchpoints have changed since the step was checked."""
        return bool(self._deleted) or any(watch.changed for watch in self.watchpoints.values())

    def devices(self) -> list[dict[str, Any]]:
        """All ranks of the dump."""
        return [{"rank_id": rank, "server_ip": "", "device_id": str(rank), "graph_names": [f.name for f in self._run.graph_files(rank)]}
                for rank in self._run.get_ranks()]  # fmt: skip

    def graph_runs(self) -> list[dict[str, Any]]:
        """Which graph ran in which step, and whether it was dumped."""
        found = []
        for root, (ran, dumped) in self._run.runs_of_graphs(self._rank).items():
            members = [file.name for file in self._run.graph_files(self._rank) if file.root == root]
            names = {"graph_name": members[0] if members else f"kernel_graph_{root}", "sub_graph_names": members[1:]}
            found += [{"count": step + 1, **names, "has_data": step in dumped} for step in sorted({*ran, *dumped})]
        return sorted(found, key=lambda one: (one["count"], one["graph_name"]))

    # -- commands -----------------------------------------------------------------------------------------------------------
    def go_on(self, level: str, steps: int, node: str) -> None:
        """Go to a later step: as many as asked for, or up to the next hit, which may be in this one if it was not checked."""
        if level == "node":
            raise refused("A dump holds whole steps: there is no stopping at a node.")
        if level == "recheck":
            self._check()
            return
        if steps < 0 and self.may_recheck and self._check():
            return
        later = [step + 1 for step in self._iterations if step + 1 > self.about.cur_step]
        if not later:
            raise refused(f"Step {self.about.cur_step} is the last one of the dump.")
        for step in later if steps < 0 else later[:steps]:
            self._move(step)
            if self._check():
                return

    def reset(self, step: int) -> None:
        """Go to any step."""
        if step - 1 not in self._iterations:
            raise errors.wrong_value(f"Step {step} was not dumped; those that were are {_few(self._iterations)}.")
        self._move(step)
        for watch in self.watchpoints.values():
            watch.changed = True
        self._tell({"metadata": self.metadata()})

    def _move(self, step: int) -> None:
        self.shelf.move_to(step)
        self.about.cur_step = step
        self.hits = []

    def terminate(self) -> None:
        """A dump has ended already."""
        raise refused("A dump cannot be ended; delete its session.")

    # -- tensors ------------------------------------------------------------------------------------------------------------
    def ask_for(self, tensors: list[tuple[str, str, str]], about: dict[str, Any]) -> None:
        """Read tensors; `about` is told when they are there."""
        for full, slot, when in tensors:
            tensor = self._tensor(None, full, int(slot))
            wanted = tensor.before() if tensor is not None and when == "prev" else tensor
            value = _read(wanted) if wanted is not None else None
            if value is not None:
                self.shelf.put(f"{full}:{slot}", when, np.asarray(value))
        if tensors:
            self._tell({"receive_tensor": about})

    def _tensor(self, graph: str | None, full: str, slot: int) -> DebuggerTensor | None:
        """A tensor of the step at hand. Parameters stand below scopes here, and by their own names in dumps."""
        names = (full, full.rpartition("/")[2])
        node: Node | None = next((self._nodes[g, name] for name in names for g in ([graph] if graph else self.graphs.names)
                                  if (g, name) in self._nodes), None)  # fmt: skip
        return None if node is None else DebuggerTensor(node, slot, self.about.cur_step - 1)

    # -- watchpoints --------------------------------------------------------------------------------------------------------
    def _check(self) -> bool:
        """Check the step at hand; whether there are hits."""
        self._deleted.clear()
        self.hits = [hit for number, watch in self.watchpoints.items() for hit in self._found(number, watch)]
        self._tell({"receive_watchpoint_hits": True, "metadata": self.metadata()} if self.hits else {"metadata": self.metadata()})
        return bool(self.hits)

    def _found(self, number: int, watch: Watchpoint) -> list[messages.Hit]:
        watch.changed = False
        given = {name: value for name, off, value in watch.protocol_params() if not off and name != "equal_nan"}
        try:
            condition = condition_of(CONDITIONS[watch.condition].number, given)
        except ValueError as error:
            raise errors.wrong_value(f"Watchpoint {number}: {error}") from None
        found = []
        for (graph, full), _ in watch.targets(self.graphs):
            first = self._tensor(graph, full, 0)
            for slot in range(first.node.outputs if first else 0):
                tensor = DebuggerTensor(first.node, slot, first.iteration) if first else None
                hit = check(tensor, condition, None, False) if tensor is not None and _read(tensor) is not None else None
                if hit is not None:
                    found.append(messages.Hit(number, full, str(slot), hit.error_code, hit.get_hit_detail() or {}))
        return found


def _read(tensor: DebuggerTensor) -> NDArray[Any] | None:
    """The value of a tensor; a damaged file is said to be one."""
    try:
        return tensor.value()
    except (OSError, ValueError, EOFError) as error:
        raise refused(f"{tensor.node.name}:{tensor.slot} of iteration {tensor.iteration} cannot be read: {error}") from None


def open_dump(folder: Path) -> dict[int, DumpSession]:
    """The ranks of a dump folder under the debugger. ValueError and OSError say why it cannot be read."""
    run = DumpAnalyzer(str(folder))
    return {rank: DumpSession(run, rank) for rank in run.get_ranks()}


def _few(iterations: list[int]) -> str:
    steps = [str(step + 1) for step in iterations]
    return ", ".join(steps if len(steps) <= 12 else [*steps[:10], "…", steps[-1]])
