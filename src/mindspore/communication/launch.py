"""How this process was started: alone, in a dry run, or as one of several."""

from __future__ import annotations

from mindspore._base import flags
from mindspore.prims import world

#: variables in which launchers say how many processes there are: msrun, mpirun, and scripts of their own
_SIZE_VARIABLES = ("MS_WORKER_NUM", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "RANK_SIZE")
_RANK_VARIABLES = ("MS_NODE_ID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "RANK_ID")


def _first(variables: tuple[str, ...], default: int) -> int:
    return next((flags.integer(v, default) for v in variables if flags.text(v)), default)


def make_transport() -> world.Transport:
    """The transport that fits how the process was started."""
    size, rank = _first(_SIZE_VARIABLES, 1), _first(_RANK_VARIABLES, 0)
    if size <= 1:
        return world.Alone()
    if not 0 <= rank < size:
        raise ValueError(
            f"the rank of this process, {rank}, must be at least 0 and less than the number of processes, {size}."
        )
    if flags.text("MS_SIMULATION_LEVEL"):
        return world.Rehearsal(rank, size)
    raise RuntimeError(
        f"The environment says that {size} processes take part in this run, but no transport between processes is "
        "installed. Start one process, or set MS_SIMULATION_LEVEL=1 for a dry run of one of them."
    )
