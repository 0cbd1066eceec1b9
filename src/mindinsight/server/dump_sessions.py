"""Debugger sessions over dump folders: opened, listed and closed. What can be done with one is in `debugger.py`.

Official MindInsight refuses a session beyond `--max-offline-debugger-session-num`; here the one not used for longest is closed.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from mindinsight.online.dumped import DumpSession, open_dump
from mindinsight.online.session import refused
from mindinsight.server import errors
from mindinsight.server.calls import Call, route

_ONLINE = "0"
_GONE = "Debugger session is not found. {}"


class Sessions:
    """The dump folders that are open: by number, the one used last at the end."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.open: dict[str, tuple[str, dict[int, DumpSession]]] = {}
        self._last = 0

    def add(self, name: str, ranks: dict[int, DumpSession], most: int) -> str:
        """Keep a folder; its number."""
        while len(self.open) >= most:
            del self.open[next(iter(self.open))]
        self._last += 1
        self.open[str(self._last)] = (name, ranks)
        return str(self._last)


def _sessions(call: Call) -> Sessions:
    found: Sessions = call.state.setdefault("dumps", Sessions())
    return found


def find(call: Call, number: str) -> DumpSession:
    """The session of a request: of the rank it names, or of the first one."""
    sessions = _sessions(call)
    with sessions.lock:
        found = sessions.open.pop(number, None)
        if found is None:
            raise refused(_GONE.format(number))
        sessions.open[number] = found
    ranks = found[1]
    wanted = _rank(call)
    if wanted is None:
        return ranks[min(ranks)]
    if wanted not in ranks:
        raise errors.wrong_value(f"'rank_id' should be one of {sorted(ranks)}, not {wanted}.")
    return ranks[wanted]


def _rank(call: Call) -> int | None:
    given: Any = call.parts.get("rank") or call.query.get("rank_id")
    if given is None and call.content:
        body = call.body()
        inner = [body, body.get("params"), body.get("group_condition")]
        given = next((one["rank_id"] for one in inner if isinstance(one, dict) and "rank_id" in one), None)
    if given is None:
        return None
    if not str(given).isdigit():
        raise errors.wrong_type("rank_id", "Integer")
    return int(given)


@route("POST", "/debugger/sessions")
def create(call: Call) -> Any:
    """The number of the session of a dump folder, which is opened where it is not, or of the training that is connected."""
    body = call.body()
    kind, name = body.get("session_type"), body.get("dump_dir")
    if kind == "ONLINE":
        if "debugger" not in call.state:
            raise refused("The debugger is off: start the server with --enable-debugger True.")
        return _ONLINE
    if kind != "OFFLINE" or not isinstance(name, str) or "\0" in name:
        raise errors.wrong_value("'session_type' should be ONLINE or OFFLINE, and 'dump_dir' the name of a dump folder.")
    sessions = _sessions(call)
    with sessions.lock:
        for number, (other, _) in sessions.open.items():
            if other == name:
                return number
        return sessions.add(name, _opened(call, name), call.workspace.settings.max_offline_debugger_session_num)


def _opened(call: Call, name: str) -> dict[int, DumpSession]:
    folder = Path(call.workspace.path(name))
    try:
        return open_dump(folder)
    except (OSError, ValueError) as error:
        raise refused(f"{name} cannot be read as a dump: {error}") from None


@route("GET", "/debugger/sessions")
def listed(call: Call) -> Any:
    """The dump folders that are open."""
    sessions = _sessions(call)
    with sessions.lock:
        return {"train_jobs": {name: number for number, (name, _) in sessions.open.items()}}


@route("POST", "/debugger/sessions/{session}/delete")
def delete(call: Call) -> Any:
    """Close a dump folder."""
    number, sessions = call.parts["session"], _sessions(call)
    if number == _ONLINE:
        raise errors.wrong_value("The session of the training cannot be deleted.")
    with sessions.lock:
        if sessions.open.pop(number, None) is None:
            raise refused(_GONE.format(number))
    return None


@route("GET", "/debugger/sessions/{session}/ranks/{rank}/graph-runs")
def graph_runs(call: Call) -> Any:
    """Which graphs ran in which steps of a dump."""
    if call.parts["session"] == _ONLINE:
        return {"graph_runs": []}
    session = find(call, call.parts["session"])
    with session.lock:
        return {"graph_runs": session.graph_runs()}
