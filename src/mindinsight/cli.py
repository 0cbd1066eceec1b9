"""`mindinsight start | stop | parse_summary`, with the options and the words of the official command."""

from __future__ import annotations

import argparse
import json
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from mindinsight import __version__
from mindinsight.server.security import LOOPBACK, address
from mindinsight.server.workspace import Settings

_PREFIX = re.compile(r"(/[\w.-]+)+")
_WAIT = 60.0


def _bounded(name: str, low: int, high: int) -> Callable[[str], int]:
    def check(value: str) -> int:
        if not value.lstrip("-").isdigit() or not low <= int(value) <= high:
            raise argparse.ArgumentTypeError(f"{name} should be chosen from {low} to {high}")
        return int(value)

    return check


def _prefix(value: str) -> str:
    path = "/" + value.strip("/") if value.strip("/") else ""
    if path and (not _PREFIX.fullmatch(path) or {".", ".."} & set(path.split("/"))):
        raise argparse.ArgumentTypeError(
            "--url-path-prefix should be segments of letters, digits, underscores, dashes and dots, separated by slashes")
    return path  # fmt: skip


def _truth(value: str) -> bool:
    if value.lower() not in ("true", "false", "1", "0"):
        raise argparse.ArgumentTypeError("--enable-debugger should be one of True/False/1/0")
    return value.lower() in ("true", "1")


def _folder(value: str) -> Path:
    if "\0" in value or not value.strip():
        raise argparse.ArgumentTypeError("a path is needed")
    return Path(value).expanduser().absolute()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("mindinsight", description="The dashboard and debugger of MindSpore.")
    parser.add_argument("--version", action="version", version=f"%(prog)s ({__version__})")
    commands = parser.add_subparsers(dest="command")
    start = commands.add_parser("start", help="Start the service.")
    start.add_argument("--workspace", type=_folder, default=_folder("~/mindinsight"),
                       help="where the index and the logs are kept; $HOME/mindinsight by default")  # fmt: skip
    start.add_argument("--port", type=_bounded("--port", 1, 65535), default=8080, help="1 to 65535; 8080 by default")
    start.add_argument("--url-path-prefix", type=_prefix, default="", help="what the address begins with; nothing by default")
    start.add_argument("--reload-interval", type=_bounded("--reload-interval", 0, 300), default=3,
                       help="seconds between looks for new data, 0 to load once; 3 by default")  # fmt: skip
    start.add_argument("--summary-base-dir", type=_folder, default=_folder("."), help="the folder of runs; the current one by default")
    start.add_argument("--enable-debugger", type=_truth, default=False, nargs="?", const=True, help="True or False; False by default")
    start.add_argument("--debugger-port", type=_bounded("--debugger-port", 1, 65535), default=50051, help="50051 by default")
    start.add_argument("--offline-debugger-mem-limit", type=_bounded("--offline-debugger-mem-limit", 6144, 2**31 - 1),
                       default=16384, help="MB; 16384 by default")  # fmt: skip
    start.add_argument("--max-offline-debugger-session-num", type=_bounded("--max-offline-debugger-session-num", 1, 2), default=2,
                       help="1 or 2; 2 by default")  # fmt: skip
    start.add_argument("--max-graph-node-size", type=_bounded("--max-graph-node-size", 1, 2_000_000), default=100_000,
                       help="accepted for old scripts; graphs of any size are shown")  # fmt: skip
    start.add_argument("--host", default="127.0.0.1", help="address to listen on; others than this machine's need a token, which is made")
    start.add_argument("--allowed-host", action="append", default=[], help="a name under which browsers may reach this server")
    start.add_argument("--foreground", action="store_true", help="do not go to the background")
    stop = commands.add_parser("stop", help="Stop the service.")
    stop.add_argument("--port", type=_bounded("--port", 1, 65535), default=8080, help="8080 by default")
    parse = commands.add_parser("parse_summary", help="Write scalars and images of a run as CSV and PNG files.")
    parse.add_argument("--summary-dir", type=_folder, default=_folder("."), help="the run; the current folder by default")
    parse.add_argument("--output", type=_folder, default=_folder("."), help="where to write; the current folder by default")
    return parser


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command."""
    parser = _parser()
    given = parser.parse_args(arguments)
    if given.command == "start":
        sys.exit(_start(given))
    if given.command == "stop":
        sys.exit(_stop(given.port))
    if given.command == "parse_summary":
        from mindinsight.parse_summary import parse_summary

        sys.exit(parse_summary(given.summary_dir, given.output))
    parser.print_help()


# ---------------------------------------------------------------------------------------------------------------------
# Starting


def _start(given: argparse.Namespace) -> int:
    settings = Settings(
        given.summary_base_dir, given.workspace, given.host, given.port, given.url_path_prefix, given.reload_interval,
        given.enable_debugger, given.debugger_port, given.offline_debugger_mem_limit, given.max_offline_debugger_session_num,
        "" if given.host in LOOPBACK else secrets.token_urlsafe(24), tuple(given.allowed_host),
    )  # fmt: skip
    if not _free(settings.host, settings.port):
        print(f"Port {settings.port} is no available for MindInsight", file=sys.stderr)
        return 1
    try:
        settings.workspace.mkdir(parents=True, exist_ok=True, mode=0o700)
        log = os.open(settings.workspace / f"server_{settings.port}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError as error:
        print(f"The workspace {settings.workspace} cannot be used: {error.strerror}", file=sys.stderr)
        return 1
    print(f"Workspace: {settings.workspace}")
    print(f"Summary base dir: {settings.summary_base_dir}")
    command = [sys.executable, "-m", "mindinsight.server", json.dumps(asdict(settings), default=str)]
    output = None if given.foreground else log
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=not given.foreground)
    os.close(log)
    _note(settings.port).write_text(json.dumps({"pid": process.pid}))
    started = _answers(process, settings)
    print(f"Web address: {address(settings)}")
    print(f"service start state: {'success' if started else 'failed'}", flush=True)
    if not started:
        print(f"The log is {settings.workspace}/server_{settings.port}.log", file=sys.stderr)
        return 1
    if given.foreground:
        try:
            return process.wait()
        except KeyboardInterrupt:
            process.wait()
    return 0


def _free(host: str, port: int) -> bool:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def _answers(process: subprocess.Popen[bytes], settings: Settings) -> bool:
    """Wait for the first answer."""
    base = address(settings).partition("/?")[0].replace("0.0.0.0", "127.0.0.1")
    request = urllib.request.Request(f"{base}/v1/mindinsight/ui-config", headers={"Authorization": f"Bearer {settings.token}"})
    end = time.monotonic() + _WAIT
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(request, timeout=5):
                return True
        except urllib.error.HTTPError:
            return True
        except OSError:
            time.sleep(0.05)
    return False


# ---------------------------------------------------------------------------------------------------------------------
# Stopping


def _note(port: int) -> Path:
    """Where the process that serves a port is written down."""
    place = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mindinsight"
    place.mkdir(parents=True, exist_ok=True)
    return place / f"server_{port}.json"


def _stop(port: int) -> int:
    note = _note(port)
    try:
        pid = int(json.loads(note.read_text())["pid"])
        ours = b"mindinsight.server" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except (OSError, ValueError, KeyError):
        ours = False
    if not ours:
        print(f"No mindinsight service started by current user found for port {port}")
        return 1
    os.kill(pid, signal.SIGTERM)
    for _ in range(100):
        if not Path(f"/proc/{pid}").exists() or b"mindinsight" not in Path(f"/proc/{pid}/cmdline").read_bytes():
            break
        time.sleep(0.1)
    else:
        os.kill(pid, signal.SIGKILL)
    note.unlink(missing_ok=True)
    print("Stop mindinsight service successfully")
    return 0
