"""Data loading, ours beside other loaders, interleaved in one run on the same generated files.

    python benchmarks/data/run.py [--photos FOLDER] [--works jpeg mnist …] [--rounds 3] [--workers 2] \
        [--rival official=PYTHON] [--rival torch=PYTHON] [--rival tf=PYTHON] [--rival grain=PYTHON]

A rival is an interpreter (of its own environment) that has that loader installed. Prints medians of rows a second and our
ratio to each rival: machines are shared and noisy, so read the ratios. `--photos` are the real images from which the
JPEG folder is cut; without it pictures are drawn.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
WORKS = ["jpeg", "mnist", "mindrecord", "tfrecord", "pyfunc", "memory"]
SCRIPTS = {
    "ours": "mindspore_worker.py",
    "official": "mindspore_worker.py",
    "torch": "torch_worker.py",
    "tf": "tf_worker.py",
    "grain": "grain_worker.py",
}


def measure(name, python, work, folder, workers):
    """One run of one loader in a fresh process: {variant: rows a second}."""
    environment = dict(os.environ, GLOG_v="4", TF_CPP_MIN_LOG_LEVEL="3", PYTHONWARNINGS="ignore")
    environment["PYTHONPATH"] = str(HERE.parents[1] / "src") if name == "ours" else ""
    command = [python, str(HERE / SCRIPTS[name]), work, str(folder), str(workers)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    for line in run.stdout.splitlines():
        if line.startswith("RESULT "):
            return json.loads(line[7:])
    if name == "ours":
        sys.exit(f"{' '.join(command)} failed:\n{run.stderr[-3000:]}")
    print(f"{work:12s} {name:24s} failed: {(run.stderr.strip() or '?').splitlines()[-1]}", flush=True)
    return {}


def report(work, results):
    """Medians, and our ratio to every rival."""
    medians = {key: statistics.median(values) for key, values in results.items()}
    ours = medians.get("ours")
    unit = "MiB of growth after the first epoch" if work == "memory" else "rows/s"
    for key, value in medians.items():
        ratio = "" if key == "ours" or work == "memory" else f"   ours is {ours / value:5.2f} x"
        print(f"{work:12s} {key:24s} {value:12.1f} {unit}{ratio}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rival", action="append", default=[], metavar="NAME=PYTHON")
    parser.add_argument("--photos", help="folder of real images")
    parser.add_argument("--data", help="where the generated files are kept; by default a temporary folder")
    parser.add_argument("--works", nargs="+", default=WORKS, choices=WORKS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--images", type=int, default=2000)
    options = parser.parse_args()
    loaders = {"ours": sys.executable, **dict(item.split("=", 1) for item in options.rival)}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(options.data or temporary)
        command = [sys.executable, str(HERE / "make_data.py"), str(folder), str(options.images), options.photos or ""]
        subprocess.run(command, env=dict(os.environ, PYTHONPATH=str(HERE.parents[1] / "src")), check=True)
        for work in options.works:
            results: dict[str, list[float]] = {}
            for _ in range(options.rounds):
                for name, python in loaders.items():
                    for variant, value in measure(name, python, work, folder, options.workers).items():
                        results.setdefault(f"{name} {variant}".strip(), []).append(value)
            report(work, results)


if __name__ == "__main__":
    main()
