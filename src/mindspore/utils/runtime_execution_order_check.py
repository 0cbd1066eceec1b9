"""Whether the processes of a run communicate in orders that fit together, from the files that official MindSpore writes.

Each process of a run on a cluster leaves a folder `rank_N` with `execute_order/comm_execute_order.csv`: its collectives, sends and
receives in the order it ran them. The n-th use of a communication gets a name that is the same on all its members. Two things
let a run hang, and both are seen in the names alone:

- a member that never runs what the others wait for: the name is missing in its list;
- members that run two of them in opposite orders: "runs before", drawn as a graph of names, has a cycle. Depth-first search
  finds one: a neighbour that is still on the path closes it.
"""

from __future__ import annotations

import csv
import itertools
import os
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mindspore import log

_FILE = os.path.join("execute_order", "comm_execute_order.csv")
_SENDS = ("Send", "DistCommIsend", "InnerCommIsend")
_RECEIVES = ("Receive", "DistCommIrecv", "InnerCommIrecv")
_LONGEST_FIELD = 10 * 1024 * 1024  # the members of a group of 150,000 processes are one field


@dataclass
class ExecuteOrder:
    """A line of the file: one communication."""

    index: str
    group: str
    comm_rank: Any
    primitive: str
    src_rank: str = ""
    dest_rank: str = ""
    root_rank: str = ""
    input_shape: str = ""
    output_shape: str = ""

    def __post_init__(self) -> None:
        self.comm_rank = self.comm_rank.split()

    def generate_base_key(self, rank: str) -> str:
        """The name that all members give this communication, without its number."""
        if self.primitive in _SENDS and self.dest_rank:
            return f"Send_Receive_{self.group}_({rank})->({self.dest_rank})_{self.input_shape}"
        if self.primitive in _RECEIVES and self.src_rank:
            return f"Send_Receive_{self.group}_({self.src_rank})->({rank})_{self.output_shape}"
        members = ",".join(self.comm_rank)
        ends = (("srcRank", self.src_rank), ("destRank", self.dest_rank), ("rootRank", self.root_rank))
        named = "".join(f"_{name}:({end})" for name, end in ends if end)
        return f"{self.primitive}_{self.group}_" + (f"commRank:({members}){named}" if named else f"({members})")

    def generate_key(self, rank: str, count: int) -> str:
        """The name of its `count`-th use."""
        return f"{self.generate_base_key(rank)}_{count}th"


class RankFolderParser:
    """Reads the files of one folder of a run, or of the given folders of processes.

    Args:
        folders (str, list): absolute paths of folders `rank_N`, or of one that holds them.
    """

    REQUIRED_COLUMNS = [
        "index", "group", "comm_rank", "primitive", "src_rank", "dest_rank", "root_rank", "input_shape", "input_type", "output_shape",
        "output_type", "input_size", "output_size",
    ]  # fmt: skip

    def __init__(self, folders: str | list[str]):
        self.folders = [folders] if isinstance(folders, str) else folders
        self.result_map: dict[str, list[ExecuteOrder]] = {}
        names: Counter = Counter(os.path.basename(place) for path in self.folders for place in _rank_folders(path))
        for name, count in names.items():
            if count > 1:
                raise ValueError(
                    f"Duplicate rank folder detected: {name} is given {count} times. Give each process once."
                )

    def parse(self) -> dict[str, list[ExecuteOrder]]:
        """The communications of each process; what cannot be read is logged and left out."""
        for place in (place for path in self.folders for place in _rank_folders(path)):
            rank = os.path.basename(place).split("_", 1)[1]
            found = self.parse_rank_folder(os.path.join(place, os.path.dirname(_FILE)), rank)[1]
            if found:
                self.result_map[rank] = found
        return self.result_map

    def parse_rank_folder(self, rank_folder_path: str, rank_id: str) -> tuple[str, list[ExecuteOrder] | None]:
        """A process and its communications; None for them if the file is missing or has other columns."""
        path = os.path.join(rank_folder_path, os.path.basename(_FILE))
        limit = csv.field_size_limit(_LONGEST_FIELD)
        try:
            with open(path, encoding="utf-8", newline="") as file:
                rows = csv.DictReader(file)
                if rows.fieldnames != self.REQUIRED_COLUMNS:
                    log.error(
                        "%s has the columns %s, not %s; it is left out.", path, rows.fieldnames, self.REQUIRED_COLUMNS
                    )
                    return rank_id, None
                columns = list(ExecuteOrder.__dataclass_fields__)
                return rank_id, [ExecuteOrder(*(row[c] or "" for c in columns)) for row in rows]
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            log.error("The communications of process %s cannot be read from %s: %s.", rank_id, path, error)
            return rank_id, None
        finally:
            csv.field_size_limit(limit)


def _rank_folders(path: str) -> list[str]:
    if not os.path.isabs(path):
        raise ValueError(f"Invalid path: {path}. It must be absolute.")
    if not os.path.exists(path):
        raise ValueError(f"Path does not exist: {path}.")
    if not os.path.isdir(path):
        raise ValueError(f"Invalid path: {path} is a file. Give a folder 'rank_N', or one that holds such folders.")
    if os.path.basename(path).startswith("rank_"):
        return [path]
    inner = [os.path.join(path, name) for name in sorted(os.listdir(path)) if name.startswith("rank_")]
    found = [place for place in inner if os.path.isdir(place)]
    if not found:
        raise ValueError(f"No rank_x folders found in {path}. Give a folder 'rank_N', or one that holds such folders.")
    return found


def modify_execute_orders(execute_orders_map: Mapping[str, list[ExecuteOrder] | None]) -> dict[str, list[str]]:
    """The names of each process's communications, numbered by how often it has run the like."""
    named: dict[str, list[str]] = {}
    for rank, orders in execute_orders_map.items():
        seen: Counter = Counter()
        named[rank] = []
        for order in orders or ():
            seen[order.generate_base_key(rank)] += 1
            named[rank].append(order.generate_key(rank, seen[order.generate_base_key(rank)]))
    return named


def parse_and_validate(data: dict[str, list[str]], all_rank: bool = True) -> None:
    """Log what a member of a communication does not run.

    Args:
        data (dict): the names of each process's communications.
        all_rank (bool): whether `data` has all processes of the run, so that a missing one is an error.
    """
    if not isinstance(data, dict):
        log.error("A dict of lists of names is needed, but got %s.", type(data).__name__)
        return
    lists = {}
    for rank, names in data.items():
        if isinstance(names, list) and all(isinstance(name, str) for name in names):
            lists[rank] = set(names)
        else:
            log.error("The communications of process %s must be a list of names.", rank)
    uses = [(name, member) for names in lists.values() for name in sorted(names) for member in sorted(_members(name))]
    for name, member in uses:
        if member not in lists and all_rank:
            log.error("Process %s takes part in %s, but nothing is known of it.", member, name)
        elif member in lists and name not in lists[member]:
            log.error("Process %s does not run %s, for which others wait.", member, name)


def _members(name: str) -> set[str]:
    groups = re.findall(r"\((.*?)\)", name)[:2]
    return {member.strip() for group in groups for member in group.split(",")}


def detect_cycle_in_graph(ranks_map: dict[str, list[str]]) -> tuple[list[str], list[str]] | tuple[None, None]:
    """Communications that processes run in a circle of orders: the names, the first once more at the end, and for each step the
    process that takes it; (None, None) if there are none."""
    after: dict[str, list[str]] = {}
    takes: dict[tuple[str, str], str] = {}
    for rank, names in ranks_map.items():
        for step in itertools.pairwise(names):
            after.setdefault(step[0], []).append(step[1])
            takes[step] = rank
    done: set[str] = set()
    for start in after:
        path = (
            {start: iter(after[start])} if start not in done else {}
        )  # the way to here, and what is left to try from each
        while path:
            here = next(reversed(path))
            following = next(path[here], None)
            if following is None:
                done.add(here)
                del path[here]
            elif following in path:
                way = list(path)
                circle = [*way[way.index(following) :], following]
                return circle, [f"{takes[a, b]} {a} -> {b}" for a, b in itertools.pairwise(circle)]
            elif following not in done:
                path[following] = iter(after.get(following, ()))
    return None, None


def determine_all_rank(folders_: Any) -> bool | None:
    """Whether the folders are a whole run: one path is, several are a choice; None for neither."""
    if isinstance(folders_, str):
        return True if folders_ else None
    return (len(folders_) == 1 if folders_ else None) if isinstance(folders_, list) else None


def output_cycle_results(cycle_path: list[str] | None, cycle_ranks: list[str] | None) -> None:
    """Log a circle, or that there is none."""
    if not cycle_path:
        log.warning("Cycle Check success. There is no cycle in the graph.")
        return
    log.error("Processes communicate in orders that do not fit together:\n%s", "\n".join(cycle_ranks or ()))


def runtime_execution_order_check(folders_: str | list[str], all_rank: bool | None = None) -> None:
    """Read the communications of a run and log what lets it hang: what a member does not run, and orders that do not fit together.

    Args:
        folders_ (str, list): the absolute path of the folder of a run, or those of some of its processes (`rank_N`).
        all_rank (bool): whether these are all processes. Default: one path is a whole run, several are some of its processes.
    """
    if not folders_:
        log.error("A folder of a run, or a list of folders of its processes, is needed, but got %r.", folders_)
        return
    found = RankFolderParser(folders_).parse()
    if not found:
        log.error("There are no communications in %s.", folders_)
        return
    named = modify_execute_orders(found)
    parse_and_validate(named, bool(determine_all_rank(folders_) if all_rank is None else all_rank))
    output_cycle_results(*detect_cycle_in_graph(named))


class _Collection:
    running = False


def comm_exec_order_check(action: str) -> None:
    """Begin ("start") or end ("end") a part of a program whose communication is compared between processes.

    On Ascend processors official MindSpore compares at the end. Here every graph compares its collectives with those of the other
    processes when it first runs, with or without this call.
    """
    if not isinstance(action, str):
        raise TypeError(f"The 'action' must be a str, but got {type(action).__name__}.")
    if action not in ("start", "end"):
        raise ValueError(f"The 'action' must be 'start' or 'end', but got {action!r}.")
    if _Collection.running is (action == "start"):
        before = "called twice" if action == "start" else "called before the 'start' action"
        log.error("The %r action cannot be %s.", action, before)
        return
    _Collection.running = action == "start"


__all__ = ["comm_exec_order_check", "runtime_execution_order_check"]
