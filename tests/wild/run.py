"""Real packages as they are: small programs over public checkouts, without any shim, in both modes.

    python tests/wild/run.py mindone=/src/mindone mindcv=/src/mindcv …        (`make wild CHECKOUTS="mindone=/src/mindone …"`)
    python tests/wild/run.py --only llama mindone=/src/mindone                some of the programs

Nothing is fetched: the paths of checkouts are given. What packages themselves need (transformers, omegaconf …) must be installed
in the environment. A program (`programs/package_subject.py`) has a function `main()` that raises if its result is not right. It runs
in a process of its own per mode; the result is a table, and the number of programs that failed. What cannot run in one of the modes
because the package itself or official MindSpore 2.10 does not allow it is not counted; the table says why.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODES = {"graph": 0, "pynative": 1}
SECONDS = 600
_RUN = """
import runpy, sys, warnings
import mindspore
warnings.simplefilter("ignore")
mindspore.set_context(mode=int(sys.argv[2]))
mindspore.set_seed(1)
runpy.run_path(sys.argv[1])["main"]()
"""


def run(program: Path, checkouts: list[str], mode: str) -> tuple[str, float, str]:
    """("ok" or the last line of the error, seconds, all output) of a program."""
    path = os.pathsep.join([*checkouts, *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path, "GLOG_v": "3", "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
    begin = time.monotonic()
    command = [sys.executable, "-c", _RUN, str(program), str(MODES[mode])]
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"longer than {SECONDS} s", time.monotonic() - begin, ""
    lines = [line for line in done.stderr.splitlines() if re.match(r"[\w.]*(Error|Exception|Interrupt)\b", line)]
    said = "ok" if done.returncode == 0 else (lines[-1] if lines else f"ended with {done.returncode}")
    return said, time.monotonic() - begin, done.stdout + done.stderr


def known(program: Path, mode: str, said: str) -> str:
    """Why the program cannot run in this mode whatever runs it (`KNOWN = {mode: (words of the error, reason)}`), or nothing."""
    for node in ast.parse(program.read_text()).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "KNOWN":
            words, reason = ast.literal_eval(node.value).get(mode, ("", ""))
            return reason if words and words in said else ""
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", nargs="+", help="package=path")
    parser.add_argument("--only", default="", help="programs with this in their name")
    parser.add_argument("--verbose", action="store_true", help="whole output of what fails")
    options = parser.parse_args()
    places = dict(item.split("=", 1) for item in options.checkouts)
    programs = [p for p in sorted((HERE / "programs").glob("*.py")) if options.only in p.stem]
    failed = skipped = 0
    print(f"{'program':32} {'mode':9} {'s':>6}  result")
    for program in programs:
        place = places.get(program.stem.partition("_")[0])
        if place is None:
            skipped += 1
            continue
        for mode in MODES:
            others = [p for p in places.values() if p != place]  # packages use each other
            said, seconds, output = run(program, [place, *others], mode)
            reason = known(program, mode, said)
            well = said == "ok" or bool(reason)
            said = f"not here: {reason}" if reason else said
            failed += not well
            print(f"{program.stem:32} {mode:9} {seconds:6.1f}  {said[:150]}", flush=True)
            if options.verbose and not well:
                print(output[-6000:], flush=True)
    print(f"{failed} failed; {skipped} programs have no checkout")
    return min(failed, 100)


if __name__ == "__main__":
    sys.exit(main())
