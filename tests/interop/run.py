"""Files exchanged with official MindSpore 2.10, in both directions: `make interop`.

    python tests/interop/run.py                       makes a virtual environment with the official package
    python tests/interop/run.py --official PYTHON     uses an interpreter that has it (or MS_OFFICIAL_PYTHON)
    python tests/interop/run.py --keep FOLDER         leaves the files there

Each side runs `exchange.py`, first to write, then to read what the other wrote. Prints a table; fails if a file does.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ENVIRONMENT = HERE.parents[1] / ".venv-official"
OFFICIAL = ("mindspore==2.10.0", "setuptools<80")


def official_python(given: str | None) -> str:
    """The interpreter with the official package; made when none is given."""
    if given:
        return given
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *OFFICIAL], check=True)
    return str(python)


def side(python: str, action: str, folder: str, own: bool) -> list[dict]:
    """Run one side; returns its reports."""
    environment = {**os.environ, "GLOG_v": "3", "PYTHONPATH": str(HERE.parents[1] / "src") if own else ""}
    done = subprocess.run(
        [python, str(HERE / "exchange.py"), action, folder], env=environment, cwd=folder, text=True, capture_output=True
    )
    if done.returncode:
        print(done.stdout[-2000:], done.stderr[-4000:])
        raise SystemExit(f"{python} failed to {action} (code {done.returncode})")
    mark = "EXCHANGE "
    return [json.loads(line[len(mark) :]) for line in done.stdout.splitlines() if line.startswith(mark)]


def exchange(official: str, folder: Path) -> list[tuple[str, dict]]:
    """Both directions; returns (direction, report) pairs."""
    found = []
    pairs = (("ours → theirs", sys.executable, official), ("theirs → ours", official, sys.executable))
    for direction, writer, reader in pairs:
        place = folder / direction.split()[0]
        place.mkdir(parents=True, exist_ok=True)
        side(writer, "write", str(place), writer is sys.executable)
        reports = side(reader, "read", str(place), reader is sys.executable)
        found += [(direction, report) for report in reports]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--official", default=os.environ.get("MS_OFFICIAL_PYTHON"))
    parser.add_argument("--keep", type=Path)
    arguments = parser.parse_args()
    official = official_python(arguments.official)
    with tempfile.TemporaryDirectory() as temporary:
        found = exchange(official, arguments.keep or Path(temporary))
    width = max(len(report["file"]) for _, report in found)
    for direction, report in found:
        print(f"{direction}  {report['file']:{width}}  {'ok  ' if report['ok'] else 'FAIL'}  {report['note'][:160]}")
    failures = sum(not report["ok"] for _, report in found)
    print(f"{len(found) - failures} of {len(found)} files exchanged")
    raise SystemExit(1 if failures else 0)


if __name__ == "__main__":
    main()
