"""The server process: `python -m mindinsight.server SETTINGS`, with the settings as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import uvicorn

from mindinsight.server.app import create_app
from mindinsight.server.workspace import Settings


def main() -> None:
    """Serve until told to stop."""
    given = json.loads(sys.argv[1])
    for name in ("summary_base_dir", "workspace"):
        given[name] = Path(given[name])
    given["allowed_hosts"] = tuple(given.get("allowed_hosts", ()))
    settings = Settings(**given)
    uvicorn.run(create_app(settings), host=settings.host, port=settings.port, log_level="warning", access_log=False,
                timeout_graceful_shutdown=2, server_header=False)  # fmt: skip


if __name__ == "__main__":
    main()
