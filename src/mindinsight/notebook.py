"""The dashboard inside a notebook: `mindinsight.notebook.start("runs")` shows it under the cell.

    >>> import mindinsight.notebook
    >>> mindinsight.notebook.start("runs", page="scalars")   # doctest: +SKIP

The server is one for each folder and lives as long as the notebook's process.
"""

from __future__ import annotations

import atexit
import html
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

_PAGES = ("runs", "scalars", "distributions", "images", "tensors", "media", "graph", "dataset", "landscape", "lineage", "tuner",
          "profiler", "explainer", "debugger")  # fmt: skip
_servers: dict[Path, Board] = {}


@dataclass
class Board:
    """A dashboard; notebooks show it as a frame."""

    address: str
    height: int
    process: subprocess.Popen[bytes]

    def _repr_html_(self) -> str:
        source = html.escape(self.address, quote=True)
        return f'<iframe src="{source}" width="100%" height="{self.height}" style="border:1px solid #ccc;border-radius:8px"></iframe>'

    def stop(self) -> None:
        """End the server."""
        self.process.terminate()
        self.process.wait(10)


def start(folder: str | os.PathLike[str] = ".", page: str = "scalars", height: int = 760) -> Board:
    """Show the runs below a folder."""
    if page not in _PAGES:
        raise ValueError(f"'page' should be one of {', '.join(_PAGES)}, not {page!r}.")
    base = Path(folder).expanduser().resolve()
    if not base.is_dir():
        raise FileNotFoundError(f"There is no folder {base}.")
    board = _servers.get(base)
    if board is None or board.process.poll() is not None:
        board = _servers[base] = _launch(base, height)
    return Board(f"{board.address.partition('#')[0]}#/{quote(page)}", height, board.process)


def _launch(base: Path, height: int) -> Board:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    workspace = Path(os.environ.get("MINDINSIGHT_WORKSPACE") or tempfile.mkdtemp(prefix="mindinsight_"))
    settings = json.dumps({"summary_base_dir": str(base), "workspace": str(workspace), "port": port})
    process = subprocess.Popen([sys.executable, "-m", "mindinsight.server", settings], stdin=subprocess.DEVNULL)
    atexit.register(process.terminate)
    address = f"http://127.0.0.1:{port}/"
    for _ in range(600):
        if process.poll() is not None:
            raise RuntimeError("The dashboard could not be started; its message is above.")
        try:
            with urllib.request.urlopen(address, timeout=5):
                return Board(address, height, process)
        except OSError:
            time.sleep(0.05)
    process.terminate()
    raise RuntimeError("The dashboard does not answer.")
