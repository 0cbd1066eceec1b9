"""The command line of msrun."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

from mindspore._base.rendezvous import DEFAULT_PORT


def _boolean(text: str) -> bool:
    if text.lower() in ("true", "1", "yes"):
        return True
    if text.lower() in ("false", "0", "no"):
        return False
    raise argparse.ArgumentTypeError(f"must be True or False, but got {text!r}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("msrun", description="Start the processes of a distributed run.")
    add = parser.add_argument
    add("--worker_num", type=int, default=8, help="processes of the run, on all machines together")
    add("--local_worker_num", type=int, default=8, help="processes on this machine")
    add("--master_addr", default="127.0.0.1", help="address of the machine where all processes meet")
    add("--master_port", type=int, default=DEFAULT_PORT, help="its port")
    add("--node_rank", type=int, default=-1, help="number of this machine, from 0; -1: ranks as processes come")
    add("--log_dir", default="", help="folder of worker_<rank>.log and scheduler.log")
    add("--join", type=_boolean, default=False, help="wait for the processes, and return their exit status")
    add("--cluster_time_out", type=int, default=600, help="seconds in which all processes must have come")
    add("--bind_core", nargs="?", type=_boolean, const=True, default=False, help="give each process cores of its own")
    add("--sim_level", type=int, default=-1, help="dry run of one process: MS_SIMULATION_LEVEL")
    add("--sim_rank_id", type=int, default=-1, help="which one")
    add("--rank_table_file", default="", help="a rank table, passed on as RANK_TABLE_FILE")
    add("--worker_log_name", default="", help="name of the workers' logs; {rank} and {hostname} are replaced")
    add("--tail_worker_log", default="-1", help="ranks whose output is shown: -1 all, or 0,2; with --join")
    add("--max_restarts", type=int, default=0, help="how often all processes are started again after one was lost")
    add("task_script", help="a Python script, or a command")
    add("task_script_args", nargs=argparse.REMAINDER)
    return parser


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The options; an error of the user's ends the program with a message."""
    parser = _parser()
    given = parser.parse_args(arguments)
    if given.worker_num < 1 or given.local_worker_num < 1:
        parser.error("--worker_num and --local_worker_num must be at least 1")
    if given.local_worker_num > given.worker_num:
        parser.error(
            f"--local_worker_num, {given.local_worker_num}, must not be more than --worker_num, {given.worker_num}"
        )
    if given.max_restarts < 0:
        parser.error("--max_restarts must not be negative")
    if given.node_rank >= 0 and given.node_rank * given.local_worker_num >= given.worker_num:
        parser.error(f"--node_rank {given.node_rank} lies beyond {given.worker_num} processes")
    if given.task_script.endswith(".py") and not os.path.exists(given.task_script):
        parser.error(f"there is no script {given.task_script}")
    if given.sim_rank_id >= given.worker_num:
        parser.error(f"--sim_rank_id must be less than --worker_num, {given.worker_num}, but is {given.sim_rank_id}")
    return given
