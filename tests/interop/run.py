"""Files exchanged with official MindSpore 2.10, in both directions, and shown by MindInsight: `make interop`.

    python tests/interop/run.py                         makes virtual environments with the official packages
    python tests/interop/run.py --environments FOLDER   makes them there, or uses those that are there
    python tests/interop/run.py --official PYTHON       uses an interpreter that has it (or MS_OFFICIAL_PYTHON)
    python tests/interop/run.py --dashboards PYTHON     the same for MindInsight and TensorBoard (or MS_DASHBOARDS_PYTHON)
    python tests/interop/run.py --originals PYTHON      the same for PyTorch's networks (or MS_ORIGINALS_PYTHON)
    python tests/interop/run.py --keep FOLDER           leaves the files there

Each side runs `exchange.py`, first to write, then to read what the other wrote; and `observed.py`, whose traces
`dashboards.py` looks at. Networks of the zoo get the weights of those that `zoo_originals.py` made with torchvision, timm and
Hugging Face, and must give the same results (`zoo_weights.py`); modules are taken over whole by
`from_torch` (`torch_modules.py`). Prints a table; fails if a file does.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
#: what the environments hold; both packages were built against NumPy 1, MindInsight also against older libraries
PACKAGES = {
    "official": ("mindspore==2.10.0", "numpy<2", "setuptools<80"),
    "dashboards": ("mindinsight==2.3.1", "numpy<2", "pandas<2.2", "marshmallow<4", "setuptools<80", "tensorboard"),
    "originals": (
        "torch==2.13.0", "torchvision==0.28.0", "timm", "transformers", "safetensors", "onnx", "llvmlite", "onednn-cpu-gomp==2023.2.0",
        "scipy", "ml_dtypes",
    ),
}


def interpreter(name: str, given: str | None, folder: Path) -> str:
    """The interpreter with certain packages; made when none is given."""
    if given:
        return given
    place = folder / name
    python, finished = place / "bin" / "python", place / ".installed"
    wanted = " ".join(PACKAGES[name])
    if not finished.exists() or finished.read_text() != wanted:
        print(f"installing {wanted} in {place}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(place)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *PACKAGES[name]], check=True)
        finished.write_text(wanted)
    return str(python)


def side(python: str, program: str, *arguments: str, own: bool = False, folder: Path | None = None) -> list[dict]:
    """Run one side; returns its reports."""
    environment = {**os.environ, "GLOG_v": "3", "PYTHONPATH": str(HERE.parents[1] / "src") if own else ""}
    command = [python, str(HERE / program), *arguments]
    done = subprocess.run(command, env=environment, cwd=folder, text=True, capture_output=True)
    if done.returncode:
        print(done.stdout[-2000:], done.stderr[-4000:])
        raise SystemExit(f"{' '.join(command)} failed (code {done.returncode})")
    mark = "EXCHANGE "
    return [json.loads(line[len(mark) :]) for line in done.stdout.splitlines() if line.startswith(mark)]


def empty(folder: Path) -> Path:
    """A folder without the files of an earlier run."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def exchange(official: str, folder: Path) -> list[tuple[str, dict]]:
    """Both directions; returns (direction, report) pairs."""
    found = []
    pairs = (("ours → theirs", sys.executable, official), ("theirs → ours", official, sys.executable))
    for direction, writer, reader in pairs:
        place = empty(folder / direction.split()[0])
        side(writer, "exchange.py", "write", str(place), own=writer is sys.executable, folder=place)
        reports = side(reader, "exchange.py", "read", str(place), own=reader is sys.executable, folder=place)
        found += [(direction, report) for report in reports]
    return found


def shown(official: str, dashboards: str, folder: Path) -> list[tuple[str, dict]]:
    """What the dashboards find of a run of each side."""
    empty(folder)
    for name, python in (("ours", sys.executable), ("theirs", official)):
        side(python, "observed.py", str(folder / name), own=python is sys.executable, folder=folder)
    return [("ours = theirs", report) for report in side(dashboards, "dashboards.py", str(folder))]


def zoo(originals: str, folder: Path) -> list[tuple[str, dict]]:
    """Networks of the zoo with the weights of other libraries' networks."""
    empty(folder)
    side(originals, "zoo_originals.py", str(folder))
    reports = side(sys.executable, "zoo_weights.py", str(folder), own=True)
    reports += side(originals, "torch_modules.py", own=True)  # from_torch needs both libraries in one process
    return [("theirs → ours", report) for report in reports]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--official", default=os.environ.get("MS_OFFICIAL_PYTHON"))
    parser.add_argument("--dashboards", default=os.environ.get("MS_DASHBOARDS_PYTHON"))
    parser.add_argument("--originals", default=os.environ.get("MS_ORIGINALS_PYTHON"))
    parser.add_argument("--environments", type=Path, default=HERE.parents[1] / ".venv-interop")
    parser.add_argument("--keep", type=Path)
    arguments = parser.parse_args()
    folder = arguments.environments.resolve()
    official = interpreter("official", arguments.official, folder)
    dashboards = interpreter("dashboards", arguments.dashboards, folder)
    originals = interpreter("originals", arguments.originals, folder)
    with tempfile.TemporaryDirectory() as temporary:
        place = (arguments.keep or Path(temporary)).resolve()
        found = exchange(official, place) + shown(official, dashboards, place / "observed")
        found += zoo(originals, place / "zoo")
    width = max(len(report["file"]) for _, report in found)
    for direction, report in found:
        print(f"{direction}  {report['file']:{width}}  {'ok  ' if report['ok'] else 'FAIL'}  {report['note'][:160]}")
    failures = sum(not report["ok"] for _, report in found)
    print(f"{len(found) - failures} of {len(found)} files and pages as they should be")
    raise SystemExit(1 if failures else 0)


if __name__ == "__main__":
    main()
