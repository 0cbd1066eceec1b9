"""DumpAnalyzer: nodes and tensors of a dump folder, by name or by source line; checks and statistics."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from mindinsight.debugger.conditions import Watchpoint, WatchpointHit, check
from mindinsight.debugger.dump import GraphFile, Rank, ranks
from mindinsight.debugger.nodes import DebuggerTensor, Node, _listed

#: lines of statistic.csv by `name:io:slot`
Lines = dict[str, list[dict[str, str]]]
_LEAST_MEMORY, _MOST_MEMORY = 2 * 1024, 2**31 - 1


class DumpAnalyzer:
    """A dump folder.

    Args:
        dump_dir: the folder that holds `rank_0`, `rank_1`, …
        mem_limit: the largest tensor to check, in MB; no limit by default.
    """

    def __init__(self, dump_dir: str, mem_limit: int | None = None) -> None:
        if mem_limit is not None and (not isinstance(mem_limit, int) or not _LEAST_MEMORY <= mem_limit <= _MOST_MEMORY):
            raise ValueError(f"If mem_limit is not None, it should be set in [{_LEAST_MEMORY}, {_MOST_MEMORY}].")
        self._largest = None if mem_limit is None else mem_limit << 20
        self._ranks = {rank.number: rank for rank in ranks(Path(dump_dir))}
        self._nodes = {number: _nodes(rank) for number, rank in self._ranks.items()}

    # -----------------------------------------------------------------------------------------------------------------
    # What there is

    def get_ranks(self) -> list[int]:
        """The ranks."""
        return sorted(self._ranks)

    def _chosen(self, wanted: Any) -> list[int]:
        if wanted is None:
            return self.get_ranks()
        found = _listed(wanted, "ranks")
        missing = [rank for rank in found if rank not in self._ranks]
        if missing:
            raise ValueError(f"The param `ranks` should be in {self.get_ranks()}, not {missing}.")
        return found

    def get_iterations(self, ranks: int | Iterable[int] | None = None) -> list[int]:
        """The iterations that were dumped."""
        return sorted({step for rank in self._chosen(ranks) for steps in self._ranks[rank].iterations.values() for step in steps})

    def graph_files(self, rank: int) -> list[GraphFile]:
        """The graphs of a rank."""
        return self._ranks[rank].graphs

    def runs_of_graphs(self, rank: int) -> dict[int, tuple[list[int], list[int]]]:
        """By root graph, the iterations in which it ran and those that were dumped."""
        ran, dumped = self._ranks[rank].history, self._ranks[rank].iterations
        return {root: (ran.get(root, []), dumped.get(root, [])) for root in sorted({*ran, *dumped})}

    def select_nodes(self, query_string: str, use_regex: bool = False, select_by: str = "node_name",
                     ranks: int | Iterable[int] | None = None, case_sensitive: bool = True) -> list[Node]:  # fmt: skip
        """Nodes whose name (or whose source lines, `code_stack`) holds or matches a text."""
        fits = _matcher(query_string, use_regex, case_sensitive)
        if select_by not in ("node_name", "code_stack"):
            raise ValueError("The param `select_by` only support `node_name` or `code_stack`.")
        found = []
        for rank in self._chosen(ranks):
            for node in self._nodes[rank]:
                if fits(node.name) if select_by == "node_name" else any(map(fits, node.stack)):
                    found.append(node)
        return found

    def select_tensors(self, query_string: str, use_regex: bool = False, select_by: str = "node_name",
                       iterations: int | Iterable[int] | None = None, ranks: int | Iterable[int] | None = None,
                       slots: Iterable[int] | None = None, case_sensitive: bool = True) -> list[DebuggerTensor]:  # fmt: skip
        """What such nodes computed."""
        steps = None if iterations is None else _listed(iterations, "iterations")
        nodes = self.select_nodes(query_string, use_regex, select_by, ranks, case_sensitive)
        return [tensor for node in nodes for tensor in node.get_output_tensors(steps, slots)]

    def get_input_nodes(self, node: Node) -> list[Node]:
        """The nodes that a node reads from."""
        return list(node.input_nodes)

    def get_output_nodes(self, node: Node) -> list[Node]:
        """The nodes that read a node."""
        return list(node.downstream)

    def list_affected_nodes(self, tensor: DebuggerTensor) -> list[Node]:
        """The nodes that read a tensor."""
        return list(tensor.node.downstream)

    # -----------------------------------------------------------------------------------------------------------------
    # Checks

    def check_watchpoints(self, watchpoints: Iterable[Watchpoint], error_on_no_value: bool = False) -> list[WatchpointHit]:
        """The hits, in the order of iterations and watchpoints."""
        numbered = list(enumerate(watchpoints))
        wanted = [(tensor.iteration, number, tensor, watch.condition) for number, watch in numbered for tensor in watch.tensors]
        wanted.sort(key=lambda entry: entry[:2])
        found = (check(tensor, condition, self._largest, error_on_no_value) for _, _, tensor, condition in wanted)
        return [hit for hit in found if hit is not None]

    # -----------------------------------------------------------------------------------------------------------------
    # Tables

    def select_tensor_statistics(self, iterations: int | Iterable[int] | None = None,
                                 ranks: int | Iterable[int] | None = None) -> dict[int, dict[int, Lines]]:  # fmt: skip
        """The lines of statistic.csv by rank, iteration and `name:io:slot`."""
        wanted = None if iterations is None else _listed(iterations, "iterations")
        found: dict[int, dict[int, Lines]] = {}
        for rank in self._chosen(ranks):
            steps = [step for step in self.get_iterations(rank) if wanted is None or step in wanted]
            found[rank] = {step: _by_tensor(self._ranks[rank].statistics(step)) for step in steps}
        return found

    def summary_statistics(self, statistics: dict[int, Any], overflow_value: float = 65500, out_path: str = "./") -> None:
        """Write `statistics_summary.csv`: how often each tensor was infinite, not a number, or out of range."""
        table: dict[str, list[Any]] = {}
        for by_step in statistics.values():
            for by_name in by_step.values():
                for name, rows in by_name.items():
                    line = table.setdefault(name, [rows[0].get("Op Type", ""), rows[0].get("Op Name", ""), name, 0, 0, 0, 0, 0, 0])
                    line[8] += 1
                    for row in rows:
                        _count(row, line, overflow_value)
        Path(out_path).mkdir(parents=True, exist_ok=True)
        with open(Path(out_path) / "statistics_summary.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["op_type", "op_name", "tensor_name", "inf_number", "nan_number", "out_of_range_number", "total_number",
                             "none_overflow_number", "total_iterations"])  # fmt: skip
            writer.writerows(table.values())

    def export_graphs(self, output_dir: str | None = None) -> str:
        """Write all nodes with their inputs, shapes and source lines as CSV; the path of the file."""
        folder = Path(output_dir or ".")
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "graphs.csv"
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["rank", "graph", "name", "type", "inputs", "stack"])
            for nodes in self._nodes.values():
                for node in nodes:
                    inputs = "; ".join(one.name for one in node.input_nodes)
                    writer.writerow([node.rank, node.graph_name, node.name, node.kind, inputs, "\n".join(node.stack)])
        return str(path.absolute())


def _matcher(query: str, regex: bool, case: bool) -> Callable[[str], bool]:
    if not isinstance(query, str):
        raise TypeError(f"The param `query_string` should be a str, not {query!r}.")
    if regex:
        pattern = re.compile(query, 0 if case else re.IGNORECASE)
        return lambda text: pattern.search(text) is not None
    if case:
        return lambda text: query in text
    lower = query.lower()
    return lambda text: lower in text.lower()


def _nodes(rank: Rank) -> list[Node]:
    if not rank.graphs:
        return _nodes_of_files(rank)
    return [node for graph in rank.graphs for node in _graph_nodes(rank, graph)]


def _graph_nodes(rank: Rank, graph: GraphFile) -> list[Node]:
    """Constants, parameters and operators of a graph, joined by their inputs."""
    found: dict[str, Node] = {}
    common = (graph.name, graph.root)
    for key, _, _ in graph.message.constants:
        found[key] = Node(rank, key, "Const", *common, [], 1)
    for name, kind in graph.message.parameters:
        found[name] = Node(rank, name, "Parameter", *common, [], max(1, len(kind.shapes)))
    for one in graph.message.nodes:
        name = one.full_name or "/".join(part for part in (one.scope, one.name) if part)
        found[one.name] = Node(rank, name, one.op_type, *common, one.stack, max(1, len(one.type.shapes)))
    for one in graph.message.nodes:
        for source, _ in one.inputs:
            origin = found.get(source)
            if origin is not None:
                found[one.name].input_nodes.append(origin)
                origin.downstream.append(found[one.name])
    return list(found.values())


def _nodes_of_files(rank: Rank) -> list[Node]:
    """Without graphs, the files tell which nodes there are."""
    slots: dict[tuple[int, str, str], int] = {}
    for root, steps in rank.iterations.items():
        for step in steps:
            for file in rank.files(root, step):
                if file.io == "output":
                    key = (root, file.name, file.kind)
                    slots[key] = max(slots.get(key, 0), file.slot + 1)
    return [Node(rank, name, kind, f"kernel_graph_{root}", root, [], count) for (root, name, kind), count in slots.items()]


def _by_tensor(rows: list[dict[str, str]]) -> dict[str, list[dict[str, str]]]:
    found: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        found.setdefault(f"{row.get('Op Name', '')}:{row.get('IO', '')}:{row.get('Slot', '')}", []).append(row)
    return found


def _count(row: dict[str, str], line: list[Any], overflow: float) -> None:
    def number(name: str) -> float:
        try:
            return float(row.get(name) or 0)
        except ValueError:
            return 0.0

    infinite = number("Positive Inf Count") + number("Negative Inf Count") > 0
    nan = number("NaN Count") > 0
    outside = max(abs(number("Min Value")), abs(number("Max Value"))) > overflow
    for place, happened in ((3, infinite), (4, nan), (5, outside), (6, True), (7, not (infinite or nan or outside))):
        line[place] += happened
