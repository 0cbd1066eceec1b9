"""Starting real processes by msrun, and what they report."""

import ast
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[3] / "src"
HERE = Path(__file__).resolve().parent


def cases_of(worker):
    """The names of the functions of a worker that are marked as cases; it is not run for that."""
    functions = (f for f in ast.parse(worker.read_text()).body if isinstance(f, ast.FunctionDef))
    return [f.name for f in functions if any(getattr(d, "id", "") == "case" for d in f.decorator_list)]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def environment(**more):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("MS_", "PMI", "RANK", "OMPI"))}
    path = os.pathsep.join([str(SOURCE), kept.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    return {**kept, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", **{k: str(v) for k, v in more.items()}}


def command(script, *arguments, processes=2, folder, options=()):
    return [
        sys.executable, "-m", "mindspore.parallel.cluster.run", f"--worker_num={processes}", f"--local_worker_num={processes}",
        f"--master_port={free_port()}", "--join=True", f"--log_dir={folder}", *options, str(script), *map(str, arguments),
    ]  # fmt: skip


def msrun(script, *arguments, processes=2, folder, options=(), timeout=250, **variables):
    """Run a script on several processes; the finished msrun, with its output."""
    line = command(script, *arguments, processes=processes, folder=folder, options=options)
    return subprocess.run(line, env=environment(**variables), capture_output=True, text=True, timeout=timeout)


def without_launcher(script, *arguments, processes=2, timeout=250, **variables):
    """Processes that nobody launches together, as the pods of a job or actors: the output of each."""
    port = free_port()
    started = [
        subprocess.Popen(
            [sys.executable, str(script), *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env=environment(**{k: str(v).format(rank=rank, port=port, size=processes) for k, v in variables.items()}),
        )
        for rank in range(processes)
    ]  # fmt: skip
    return [process.communicate(timeout=timeout)[0] + f"\nstatus {process.returncode}" for process in started]


def report(script, folder, processes=2, arguments=(), timeout=250, **variables):
    """What each process has written about each of its cases: {case: [error of rank 0, error of rank 1, …]}."""
    done = msrun(script, folder, *arguments, processes=processes, folder=folder, timeout=timeout, **variables)
    found = []
    for rank in range(processes):
        path = Path(folder) / f"report_{rank}.json"
        assert path.exists(), f"status {done.returncode}\n{done.stdout}\n{done.stderr}"
        found.append(json.loads(path.read_text()))
    assert done.returncode == 0, done.stdout + done.stderr
    return {case: [one.get(case, "not run") for one in found] for case in found[0]}
