"""Joining JAX's distributed run, with its coordination service in a process of its own.

`jax.distributed.initialize` keeps the service in the process of rank 0, and XLA aborts whoever loses the service: were rank 0 lost,
the others would have no time to store anything. So rank 0 starts a process that does nothing else. When rank 0 is gone it stays until
nobody is connected any more, a minute at most; whoever still waits then is ended with it.

JAX has no public way to join a service that is elsewhere. Where the names used for that are missing, `initialize` is what is left.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

_GRACE = 60.0  # seconds
_NAMES = ("get_distributed_runtime_client", "get_distributed_runtime_service")
_ESTABLISHED = "01"


def join(jax: Any, address: str, size: int, rank: int, patience: int = 300) -> None:
    """Make this process one of the run that meets at `address`; JAX must not have looked for devices yet."""
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    runtime, state = _runtime()
    if state is None:
        jax.distributed.initialize(address, size, rank, initialization_timeout=patience)
        return
    if rank == 0:
        _start_service(address, size)
    client = runtime.get_distributed_runtime_client(
        address, rank, init_timeout=patience, use_compression=True, shutdown_on_destruction=False
    )
    client.connect()
    state.client, state.process_id, state.num_processes, state.coordinator_address = client, rank, size, address
    atexit.register(_leave, jax, state)


def _leave(jax: Any, state: Any) -> None:
    """All processes wait for each other here, but for one that ends by an exception: nobody must wait for that, nor it for others."""
    if getattr(sys, "last_value", None) is not None:
        state.client = None
    jax.distributed.shutdown()


def _runtime() -> tuple[Any, Any]:
    """JAX's functions for this, and where it remembers what was joined; None if this JAX has them elsewhere."""
    try:
        from jax._src import distributed
        from jax._src.lib import _jax
    except ImportError:
        return None, None
    known = all(hasattr(_jax, name) for name in _NAMES) and hasattr(distributed.global_state, "coordinator_address")
    return (_jax, distributed.global_state) if known else (None, None)


def _start_service(address: str, size: int) -> None:
    """It ends when this process does: the end of the pipe tells."""
    command = [sys.executable, "-P", __file__, address.rpartition(":")[2], str(size)]
    service = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    atexit.register(service.wait)
    atexit.register(service.stdin.close)  # type: ignore[union-attr]  # the last function that is registered is the first called


def _serve(port: str, size: str) -> None:
    runtime, _ = _runtime()
    service = runtime.get_distributed_runtime_service(f"[::]:{port}", int(size))
    sys.stdin.read()
    deadline = time.monotonic() + _GRACE
    while _connected(int(port)) and time.monotonic() < deadline:
        time.sleep(0.1)
    del service
    os._exit(0)


def _connected(port: int) -> bool:
    """Whether somebody is connected to a port of this machine; where the system does not tell, not."""
    for table in ("tcp", "tcp6"):
        path = Path("/proc/net") / table
        for line in path.read_text().splitlines()[1:] if path.exists() else ():
            _, local, _, state, *_ = line.split()
            if state == _ESTABLISHED and int(local.rpartition(":")[2], 16) == port:
                return True
    return False


if __name__ == "__main__":
    _serve(*sys.argv[1:])
