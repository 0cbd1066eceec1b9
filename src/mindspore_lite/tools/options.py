"""Options of the tools: `--name=value`, names as in MindSpore Lite."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any


def parser(tool: str, about: str) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(prog=tool, description=about, allow_abbrev=False)


def truth(text: str) -> bool:
    """A value of on/off, true/false."""
    if text.lower() in ("true", "on", "1"):
        return True
    if text.lower() in ("false", "off", "0"):
        return False
    raise argparse.ArgumentTypeError(f"it must be true or false, but got {text!r}")


def shapes(text: str) -> dict[str, list[int]]:
    """`name:1,3,224,224;name:…`; sizes may be -1."""
    found: dict[str, list[int]] = {}
    for part in filter(None, text.split(";")):
        name, colon, sizes = part.rpartition(":")
        try:
            if not colon:
                raise ValueError
            found[name.strip('"')] = [int(n) for n in sizes.split(",") if n.strip()]
        except ValueError:
            raise argparse.ArgumentTypeError(
                f"it must look like name:1,3,224,224;other:1,8, but got {text!r}"
            ) from None
    return found


def split_shapes(text: str) -> list[list[int]]:
    """`1,224,224,3:1,8`, in the order of the inputs."""
    try:
        return [[int(n) for n in part.split(",")] for part in text.split(":") if part]
    except ValueError:
        raise argparse.ArgumentTypeError(f"it must look like 1,224,224,3:1,8, but got {text!r}") from None


def split_names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def split_numbers(text: str) -> list[int]:
    """`0,1,2`."""
    try:
        return [int(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise argparse.ArgumentTypeError(f"it must be numbers like 0,1,2, but got {text!r}") from None


def add(target: Any, name: str, default: Any, about: str, kind: Any = str, **more: Any) -> None:
    target.add_argument(f"--{name}", default=default, type=kind, help=about, **more)


def add_absent(target: argparse.ArgumentParser, table: Mapping[str, str]) -> None:
    """Options of MindSpore Lite's tools that are not there, with the reason: scripts may name them with what they do anyway."""
    for name, about in table.items():
        add(target, name, "", f"not there: {about}")


def refuse_absent(given: argparse.Namespace, table: Mapping[str, str]) -> None:
    """ValueError where one of them is asked for."""
    for name, about in table.items():
        if getattr(given, name).lower() not in ("", "false", "off"):
            raise ValueError(f"--{name} is not there: {about}")


def benchmarked(given: argparse.Namespace, run: Callable[[argparse.Namespace], int]) -> int:
    """The status of a benchmark's run; what is wrong with the model or the data is one line."""
    try:
        return run(given)
    except (RuntimeError, ValueError, OSError) as error:
        print(f"Run Benchmark {os.path.basename(given.modelFile)} Failed : {error}", file=sys.stderr)
        return 1
