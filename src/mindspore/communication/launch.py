"""How this process was started: alone, in a dry run, or as one of several.

| started by | says so in | meets at |
|---|---|---|
| msrun, or a script that also starts a scheduler | MS_WORKER_NUM, MS_NODE_ID, MS_ROLE | MS_SCHED_HOST:MS_SCHED_PORT |
| mpiexec, mpirun | PMI_SIZE, PMI_RANK; OMPI_COMM_WORLD_… | the launcher |
| a rank table | RANK_TABLE_FILE, RANK_ID | the table's first server; the process of rank 0 is the scheduler |
| Ray, or anybody else, with MS_TRANSPORT=xla | as msrun; MS_NODE_ID is needed | the process of rank 0, by JAX |
| a job of Kubernetes, SLURM … | WORLD_SIZE, RANK, MASTER_ADDR, MASTER_PORT | there; the process of rank 0 is the scheduler |
"""

from __future__ import annotations

import json
import os
import socket
import sys
from typing import NamedTuple

from mindspore._base import flags, rendezvous
from mindspore.prims import world

_JAX = "jax_coordinator"
_PMI_SIZES = ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE")


class Place(NamedTuple):
    """This process in its run. `host` is empty when the launcher brings the processes together; rank -1 is any."""

    size: int
    rank: int
    host: str = ""
    port: int = rendezvous.DEFAULT_PORT
    hosts_server: bool = False


def _first(variables: tuple[str, ...], default: int) -> int:
    return next((flags.integer(v, default) for v in variables if flags.text(v)), default)


def place() -> Place:
    """What the environment says."""
    if any(flags.text(v) for v in _PMI_SIZES):
        return Place(_first(_PMI_SIZES, 1), _first(("PMI_RANK", "OMPI_COMM_WORLD_RANK"), 0))
    if flags.text("MS_WORKER_NUM"):
        size, rank = flags.integer("MS_WORKER_NUM", 1), _first(("MS_NODE_ID", "RANK_ID"), -1)
        return Place(size, rank, flags.text("MS_SCHED_HOST", "127.0.0.1"), flags.integer("MS_SCHED_PORT", 8118))
    if flags.text("RANK_TABLE_FILE"):
        hosts = _rank_table(flags.text("RANK_TABLE_FILE"))
        rank = flags.integer("RANK_ID", 0)
        return Place(len(hosts), rank, hosts[0], flags.integer("MS_SCHED_PORT", 8118), rank == 0)
    if flags.text("WORLD_SIZE") and flags.text("MASTER_ADDR"):
        rank = flags.integer("RANK", 0)
        where = flags.text("MASTER_ADDR"), flags.integer("MASTER_PORT", 8118)
        return Place(flags.integer("WORLD_SIZE", 1), rank, *where, rank == 0)
    return Place(flags.integer("RANK_SIZE", 1), flags.integer("RANK_ID", 0))


def _rank_table(path: str) -> list[str]:
    """The address of the server of each rank."""
    try:
        with open(path) as file:
            table = json.load(file)
        servers = table["server_list"]
        found = {int(d["rank_id"]): str(s.get("host_nic_ip") or s["server_id"]) for s in servers for d in s["device"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"RANK_TABLE_FILE={path} is no rank table: {error!r}.") from None
    if sorted(found) != list(range(len(found))) or not found:
        raise ValueError(f"the ranks in RANK_TABLE_FILE={path} must be 0, 1, 2, …, but are {sorted(found)}.")
    reserved = {"reserve", "127.0.0.1"}
    return [servers[0]["server_id"] if found[r] in reserved else found[r] for r in range(len(found))]


def make_transport() -> world.Transport:
    """The transport that fits how the process was started."""
    here = place()
    if flags.text("MS_ROLE") == "MS_SCHED" and here.size > 1:
        _be_scheduler(here)
    if here.size <= 1:
        return world.Alone()
    if here.rank >= here.size:
        raise ValueError(
            f"the rank of this process, {here.rank}, must be at least 0 and less than the number of processes, {here.size}."
        )
    if flags.text("MS_SIMULATION_LEVEL"):
        return world.Rehearsal(max(here.rank, 0), here.size)
    if flags.text("MS_TRANSPORT") == "xla":
        return _by_xla(here)
    if not here.host:
        return _by_mpi(here)
    if here.hosts_server:
        rendezvous.start_server(here.host, here.port, here.size, flags.integer("MS_NODE_TIMEOUT", 300), _patience())
    with _join(here) as seat:
        _tell_mpi(here, seat.rank)
        return _by_mpi(here)


def meeting_point(host: str, size: int) -> rendezvous.Server:
    """Where `size` processes meet that are started with MS_SCHED_HOST=host and MS_SCHED_PORT=the result's port."""
    return rendezvous.Server(host, 0, size)


def _be_scheduler(here: Place) -> None:
    """The process is no worker: it brings the others together, and ends with them."""
    silence = flags.integer("MS_NODE_TIMEOUT", 300)
    server = rendezvous.Server(here.host, here.port, here.size, silence=silence, told=print, patience=_patience())
    sys.exit(0 if server.wait() else f"The run has failed: {server.lost}.")


def _patience() -> int:
    """Seconds in which all processes must have come."""
    return flags.integer("MS_TOPO_TIMEOUT", 600)


def _join(here: Place) -> rendezvous.Seat:
    return rendezvous.join(here.host, here.port, here.rank, here.size, flags.integer("MS_RESTART_COUNT"), _patience())


def _tell_mpi(here: Place, rank: int) -> None:
    """Where the MPI library finds the others."""
    os.environ.update(PMI_PORT=f"{here.host}:{here.port}", PMI_ID=str(rank))
    os.environ.update(MS_SCHED_HOST=here.host, MS_SCHED_PORT=str(here.port), MS_NODE_ID=str(rank), RANK_ID=str(rank))


def _by_xla(here: Place) -> world.Transport:
    """Where no launcher brings processes together, and XLA's own collectives are wanted."""
    if here.rank < 0 or not here.host:
        raise ValueError("For MS_TRANSPORT=xla, each process must be told its rank (MS_NODE_ID) and where to meet (MS_SCHED_HOST).")
    from mindspore.runtime.transports.xla import XlaTransport, own_host

    if not flags.text("MS_RESTART_COUNT"):  # nobody launched them together
        return XlaTransport(f"{here.host}:{here.port}", here.rank, here.size)
    with _join(here) as seat:
        if seat.rank == 0:
            rendezvous.publish(here.host, here.port, _JAX, f"{own_host(f'{here.host}:{here.port}')}:{_free_port()}")
        return XlaTransport(rendezvous.published(here.host, here.port, _JAX, _patience()), seat.rank, here.size, meets=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("", 0))
        return probe.getsockname()[1]


def _by_mpi(here: Place) -> world.Transport:
    from mindspore.runtime.transports.mpi import MpiTransport

    transport = MpiTransport()
    if transport.size != here.size:
        raise RuntimeError(
            f"The environment says that {here.size} processes take part in this run, but MPI knows of {transport.size}. "
            "Start them by msrun, or by the mpiexec of the MPI library that is installed beside this interpreter."
        )
    return transport
