"""`mindoptimizer --config search.yaml --iter 20`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from mindinsight import __version__
from mindinsight.optimizer.config import ConfigError, read
from mindinsight.optimizer.study import Study


def _positive(value: str) -> int:
    if not value.isdigit() or int(value) == 0:
        raise argparse.ArgumentTypeError(f"{value} should be a positive integer.")
    return int(value)


def main(arguments: Sequence[str] | None = None) -> None:
    """Search."""
    parser = argparse.ArgumentParser("mindoptimizer", description="Searches for good hyper-parameters.")
    parser.add_argument("--version", action="version", version=f"%(prog)s ({__version__})")
    parser.add_argument("--config", type=Path, required=True, help="the YAML file that says what to run and what to search")
    parser.add_argument("--iter", type=_positive, default=1, help="how many more trials to run; 1 by default")
    given = parser.parse_args(arguments)
    if not given.config.exists():
        parser.error(f"--config {given.config.absolute()} not exists.")
    try:
        study = Study(read(given.config), given.config.stem)
        failed = study.run(given.iter)
    except (ConfigError, RuntimeError, OSError) as error:
        print(f"mindoptimizer: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    best = study.best()
    if best:
        shown = ", ".join(f"{name}={value:.6g}" for name, value in best["parameters"].items())
        print(f"best: trial {best['number']}, {study.config.target} {best['value']:.6g} with {shown}")
    sys.exit(1 if failed == given.iter else 0)


if __name__ == "__main__":
    main()
