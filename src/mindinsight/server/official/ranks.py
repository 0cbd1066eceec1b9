"""Ranks side by side: their steps, operations and memory, and what goes between them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mindinsight.server import errors
from mindinsight.server.official.files import STEPS, TO_MS, all_ranks, csv_rows, csv_table, devices, json_file, whole
from mindinsight.server.official.memory import flops, memory_summary
from mindinsight.server.official.query import Table, paged

_ANALYSED = re.compile(r"(ascend|gpu)_cluster_analyse_([a-z]+-parallel)_(\d+)_(\d+)_\d+\.csv")
_BOTTLENECKS = ("iteration_interval", "computation", "communication_alone", "stage", "receive_alone", "collective_communication_alone")

_STEP_COLUMNS = (
    "step_num",
    "start_point",
    "end_point",
    "total",
    "fp_point",
    "bp_point",
    "iteration_interval",
    "fp_and_bp",
    "tail",
)


def steps_of_devices(folder: Path) -> dict[str, Any]:
    """For Marey's graph."""
    tables = {f"device{d}": csv_table(folder, STEPS.format(d)) for d in devices(folder)}
    return {
        device: [{name: row.get(name) for name in _STEP_COLUMNS} for row in rows] for device, rows in tables.items()
    }


def cluster_flops(folder: Path) -> list[dict[str, Any]]:
    """Operations of each rank, and their share of the most."""
    rows = [
        {"rank_id": rank, **flops(folder, str(rank))}
        for rank in all_ranks(folder)
        if (folder / f"flops_summary_{rank}.json").is_file()
    ]
    for row in rows:
        row["FLOPs"] = row.get("FLOPs") or row.get("cube_FLOPs", 0) + row.get("vec_FLOPs", 0)
    most = max((row["FLOPs"] for row in rows), default=0)
    return [{**row, "FLOPs_norm": row["FLOPs"] / most if most else 0.0} for row in rows]


def cluster_memory(folder: Path) -> list[dict[str, Any]]:
    """The most memory of each rank."""
    found = [(rank, memory_summary(folder, str(rank))) for rank in all_ranks(folder)]
    return [
        {"rank_id": rank, "capacity": summary.get("capacity"), "peak_mem": summary.get("peak_mem")}
        for rank, summary in found
    ]


@dataclass(frozen=True)
class Cut:
    """How a network was cut over ranks; `kind` is None where no file says it."""

    device: str = "ascend"
    kind: str | None = None
    stages: int = 1
    size: int = 1

    @property
    def width(self) -> int:
        """Ranks of a stage."""
        return max(1, self.size // self.stages)


def cut_of(folder: Path) -> Cut:
    """From the names of files, `ascend_cluster_analyse_KIND_STAGES_SIZE_RANK.csv`."""
    found = (_ANALYSED.fullmatch(entry.name) for entry in folder.iterdir())
    return next((Cut(m[1], m[2], max(1, int(m[3])), int(m[4])) for m in found if m), Cut())


def _bottlenecks(cut: Cut, rank: int) -> str:
    return f"{cut.device}_cluster_analyse_{cut.kind}_{cut.stages}_{cut.size}_{rank}.csv"


def has_bottleneck(folder: Path, cut: Cut, rank: int) -> bool:
    """Whether it was recorded where a rank's steps spend their time."""
    return (folder / _bottlenecks(cut, rank)).is_file() and (folder / STEPS.format(rank)).is_file()


def _row(table: list[list[str]], step: int) -> list[str]:
    if not 0 <= step < len(table):
        raise errors.wrong_value(f"'step_id' should be in [0, {len(table) - 2}].")
    return table[step or -1]


def bottleneck(folder: Path, cut: Cut, rank: int, step: int) -> list[float]:
    """Milliseconds of a step (0: the mean): the interval before it, computing, communication, and in pipelines more."""
    parts = _row(csv_rows(folder, _bottlenecks(cut, rank)), step)
    return [_parts(folder, rank, step)[0], *(float(part) for part in parts)]


def _parts(folder: Path, rank: int, step: int) -> list[float]:
    """Milliseconds of a step (0: the mean): the interval before it, both passes, its tail, all of it."""
    row = _row(csv_rows(folder, STEPS.format(rank)), step)
    return [round(float(row[place]) / TO_MS, 4) for place in (6, 7, 8, 3)]


def cluster_steps(folder: Path, body: dict[str, Any]) -> dict[str, Any]:
    """A step, or the mean step (0), of each rank (of a stage), in milliseconds."""
    about = folder / f"profiler_info_{int(body.get('device_id', 0))}.json"
    if about.is_file() and json_file(folder, about.name).get("is_heterogeneous"):
        return {"is_heterogeneous": True}
    cut, wanted = cut_of(folder), body.get("filter_condition") or {}
    step, stage = whole(wanted.get("step_id", 0)), whole(wanted.get("stage_id", 0))
    alike = cut.kind in (None, "data-parallel")
    members = [rank for rank in all_ranks(folder) if alike or stage in (0, rank // cut.width + 1)]
    rows = [[*(_parts(folder, rank, step) if alike else bottleneck(folder, cut, rank, step)), rank] for rank in members]
    columns = ("iteration_interval", "fp_and_bp", "tail") if alike else _BOTTLENECKS[: 3 if cut.kind == "model-parallel" else None]
    shown = paged(Table(columns).sorted(rows, body), body)
    name = "step_trace_info" if alike else "step_bottleneck_info"
    recorded = [csv_rows(folder, STEPS.format(rank)) for rank in all_ranks(folder)[:1]]
    return {"total_step_num": next((table[-2][0] for table in recorded if len(table) > 1), 0), "stage_num": cut.stages,
            "info": [{name: row[:-1], "rank_id": row[-1], "profiler_dir": "profiler"} for row in shown], "size": len(rows),
            "parallel-mode": cut.kind or "data-parallel"}  # fmt: skip


# ---------------------------------------------------------------------------------------------------------------------
# Communication


def communication_of_devices(folder: Path) -> dict[str, Any]:
    """The communication of each device's steps, with links and operators."""
    found = {}
    for device in devices(folder):
        rows = csv_table(folder, f"hccl_raw_{device}.csv")
        for row in rows:
            row |= {
                name: json.loads(row[name])
                for name in ("link_info", "communication_operator_cost")
                if isinstance(row.get(name), str)
            }
        found[f"device{device}"] = rows
    return found


def _communication(folder: Path, step: Any) -> list[list[Any]]:
    """Step, seconds of communication and of waiting, links, operators and rank, for each rank; step 0 is the mean."""
    wanted = "-" if str(step) == "0" else str(step)
    found = []
    for rank in all_ranks(folder):
        rows = csv_rows(folder, f"hccl_raw_{rank}.csv")
        row = next((row for row in rows if row[0] == wanted), None)
        if row is None or len(row) < 4:
            raise errors.wrong_value(f"'step_id' should be in [0, {max(0, len(rows) - 2)}].")
        found.append([row[0], float(row[1]), float(row[2]), *(json.loads(cell) for cell in row[3:5]), rank])
    return found


def communication(folder: Path, body: dict[str, Any]) -> dict[str, Any]:
    """What each rank spent on communication in a step."""
    rows = _communication(folder, (body.get("filter_condition") or {}).get("step_id", 0))
    size = len(rows)
    rows = paged(Table(["step_num", "communication_cost", "wait_cost"]).sorted(rows, body), body)
    ranks = all_ranks(folder)
    steps = len(csv_rows(folder, f"hccl_raw_{ranks[0]}.csv")) - 2 if ranks else 0
    return {"total_step_num": max(0, steps), "size": size,
            "communication": [{"communication_info": row[1:-1], "rank_id": row[-1]} for row in rows]}  # fmt: skip


def links(folder: Path, body: dict[str, Any]) -> dict[str, Any]:
    """What went over each link in a step: from rank to rank, kind, milliseconds, bytes, bandwidth."""
    wanted = body.get("filter_condition") or {}
    rows = [[ends, kind, *numbers[:3]] for row in _communication(folder, wanted.get("step_id", 0))
            for ends, kinds in row[3].items() for kind, numbers in kinds.items()]  # fmt: skip
    for place, end in enumerate(("src_rank", "dst_rank")):
        if end in wanted:
            rows = [row for row in rows if row[0].split("-")[place] == str(wanted[end])]
    if "link_type" in wanted:
        rows = [row for row in rows if row[1].startswith(str(wanted["link_type"]))]
    size = len(rows)
    columns = ["src_dst", "link_type", "communication_cost", "communication_size", "band_width"]
    return {"cluster_link_info": paged(Table(columns).sorted(rows, body), body), "size": size}
