"""A dump folder: which ranks, graphs, iterations and files there are.

    rank_{r}/graphs/ms_output_trace_code_graph_{g}.pb              the graphs, as model messages
    rank_{r}/execution_order/ms_global_execution_order_graph_{g}.csv   the iterations in which a graph ran
    rank_{r}/{net}/{g}/{iteration}/{type}.{name}.{task}.{stream}.{time}.{io}.{slot}.{format}[.{dtype}].npy
    rank_{r}/{net}/{g}/{iteration}/{statistic.csv, mapping.csv}    statistics; long names by their short ones
"""

from __future__ import annotations

import csv
import re
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mindinsight.events.wire import BYTES, Malformed, fields, text
from mindinsight.graph.message import Message, read

_GRAPH = re.compile(r"ms_output_trace_code_graph_(\d+)\.pb")
_FILE = re.compile(r"(?P<type>[^.]+)\.(?P<name>.+?)\.\d+\.\d+\.(?P<time>\d+)\.(?P<io>input|output)\.(?P<slot>\d+)\..*npy")
_LARGEST_GRAPH = 1 << 30


class DumpFile(NamedTuple):
    """A dumped tensor."""

    path: Path
    kind: str
    name: str
    io: str
    slot: int
    time: int


class GraphFile(NamedTuple):
    """A graph and the root graph it belongs to."""

    number: int
    name: str
    root: int
    message: Message


class Rank:
    """What one process has dumped."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.number = int(folder.name.rpartition("_")[2])

    @cached_property
    def graphs(self) -> list[GraphFile]:
        """The graphs."""
        found = []
        for path in sorted((self.folder / "graphs").glob("*.pb")):
            match = _GRAPH.fullmatch(path.name)
            if match and path.stat().st_size <= _LARGEST_GRAPH:
                found.append(_graph(int(match[1]), path))
        return found

    @cached_property
    def networks(self) -> list[Path]:
        """The folders of networks."""
        other = {"graphs", "execution_order", ".dump_metadata", "debug_files"}
        return sorted(path for path in self.folder.iterdir() if path.is_dir() and path.name not in other)

    @cached_property
    def iterations(self) -> dict[int, list[int]]:
        """The iterations with data, by root graph."""
        found: dict[int, set[int]] = {}
        for network in self.networks:
            for graph in network.iterdir():
                if graph.name.isdigit():
                    found.setdefault(int(graph.name), set()).update(int(p.name) for p in graph.iterdir() if p.name.isdigit() and p.is_dir())
        return {graph: sorted(steps) for graph, steps in found.items()}

    @cached_property
    def history(self) -> dict[int, list[int]]:
        """The iterations in which each root graph ran."""
        found = {}
        for path in (self.folder / "execution_order").glob("ms_global_execution_order_graph_*.csv"):
            number = path.stem.rpartition("_")[2]
            if number.isdigit():
                found[int(number)] = sorted(int(line) for line in path.read_text().split() if line.isdigit())
        return found

    def previous(self, graph: int, iteration: int) -> int | None:
        """The iteration in which a graph ran before."""
        ran = self.history.get(graph) or self.iterations.get(graph, [])
        return max((step for step in ran if step < iteration), default=None)

    @lru_cache(maxsize=64)  # noqa: B019 - ranks live as long as their analyzer
    def files(self, graph: int, iteration: int) -> tuple[DumpFile, ...]:
        """The tensors of an iteration."""
        found = []
        for network in self.networks:
            folder = network / str(graph) / str(iteration)
            if not folder.is_dir():
                continue
            names = _long_names(folder / "mapping.csv")
            for path in sorted(folder.glob("*.npy")):
                match = _FILE.fullmatch(names.get(path.name, path.name))
                if match:
                    found.append(DumpFile(path, match["type"], match["name"], match["io"], int(match["slot"]), int(match["time"])))
        return tuple(found)

    @lru_cache(maxsize=64)  # noqa: B019 - ranks live as long as their analyzer
    def named(self, graph: int, iteration: int) -> dict[tuple[str, int, str], DumpFile]:
        """The tensors of an iteration by "input" or "output", slot and name; of several the first."""
        found: dict[tuple[str, int, str], DumpFile] = {}
        for file in self.files(graph, iteration):
            found.setdefault((file.io, file.slot, file.name), file)
        return found

    def statistics(self, iteration: int) -> list[dict[str, str]]:
        """The lines of statistic.csv of an iteration."""
        rows: list[dict[str, str]] = []
        for network in self.networks:
            for path in sorted(network.glob(f"*/{iteration}/statistic.csv")):
                with open(path, newline="", encoding="utf-8", errors="replace") as file:
                    rows += list(csv.DictReader(file))
        return rows


def _long_names(path: Path) -> dict[str, str]:
    try:
        with open(path, newline="", encoding="utf-8", errors="replace") as file:
            return {row[0]: row[1] for row in csv.reader(file) if len(row) >= 2}
    except OSError:
        return {}


def _graph(number: int, path: Path) -> GraphFile:
    """A graph of a model message; its name and its root's are fields 2 and 6."""
    data = path.read_bytes()
    try:
        inner = next((f for f in fields(data) if f.number == 4 and f.kind == BYTES), None)
        content = data if inner is None else data[inner.begin : inner.end]
        named = {f.number: text(content, f) for f in fields(content) if f.number in (2, 6) and f.kind == BYTES}
        root = named.get(6, "")
        return GraphFile(number, named.get(2, f"kernel_graph_{number}"), int(root) if root.isdigit() else number, read(content))
    except Malformed as error:
        raise ValueError(f"{path} is no graph: {error}.") from None


def load(file: DumpFile) -> NDArray[Any]:
    """A dumped tensor; nothing in the file is executed."""
    return np.asarray(np.load(file.path, mmap_mode="r", allow_pickle=False))


def ranks(folder: Path) -> list[Rank]:
    """The ranks of a dump folder."""
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no folder {folder}.")
    found = [Rank(p) for p in folder.iterdir() if re.fullmatch(r"rank_\d+", p.name) and p.is_dir()]
    if not found:
        raise ValueError(f"{folder} holds no dump: it has no folder rank_0.")
    return sorted(found, key=lambda rank: rank.number)
