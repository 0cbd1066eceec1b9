"""The JSON file that says what is dumped."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from typing import Any

VARIABLE = "MINDSPORE_DUMP_CONFIG"
ALL, CHOSEN, MARKED = 0, 1, 2  # dump_mode
OVERFLOW, EXCEPTION = 3, 4  # op_debug_mode
CATEGORIES = {
    "max": "Max Value", "min": "Min Value", "avg": "Avg Value", "count": "Count",
    "negative zero count": "Negative Zero Count", "positive zero count": "Positive Zero Count",
    "nan count": "NaN Count", "negative inf count": "Negative Inf Count", "positive inf count": "Positive Inf Count",
    "zero count": "Zero Count", "md5": "MD5", "l2norm": "L2Norm Value",
}  # fmt: skip
_DEFAULT_CATEGORIES = ["max", "min", "l2norm"]


@dataclass(frozen=True)
class DumpConfig:
    """What to dump, and where to.

    `iteration`: "all", or numbers and ranges such as "0|5-8". `sample`: so many elements of each end of a tensor, 0 for
    all. `overflow_number`: at most so many overflowing operations per iteration, 0 for no limit.
    """

    path: str
    net_name: str
    mode: int
    debug_mode: int
    iteration: str
    initial_iteration: int
    saved_data: str
    input_output: int
    kernels: tuple[str, ...]
    devices: frozenset[int]
    categories: tuple[str, ...]
    overflow_number: int
    sample: int

    @property
    def tensors(self) -> bool:
        return self.saved_data in ("tensor", "full")

    @property
    def statistics(self) -> bool:
        return self.saved_data in ("statistic", "full")

    @property
    def inputs(self) -> bool:
        return self.input_output in (0, 1)

    @property
    def outputs(self) -> bool:
        return self.input_output in (0, 2)

    def wants_iteration(self, number: int) -> bool:
        return self.iteration == "all" or any(_in_range(number, part) for part in self.iteration.split("|"))

    def wants_node(self, name: str, marked: bool = False) -> bool:
        """Whether the node of this full name is to be dumped; `marked`: `set_dump` was called for it."""
        if self.mode == ALL:
            return True
        return marked if self.mode == MARKED else any(_fits(kernel, name) for kernel in self.kernels)


def _in_range(number: int, part: str) -> bool:
    low, _, high = part.partition("-")
    if not low.isdigit() or not (high or low).isdigit():
        return False
    return int(low) <= number <= int(high or low) if "-" not in part or high else False


def _fits(kernel: str, name: str) -> bool:
    """A kernel is given as `name-regex(…)`, as a full name, or as a part of the operation's type."""
    if kernel.startswith("name-regex(") and kernel.endswith(")"):
        return re.fullmatch(kernel[len("name-regex(") : -1], name) is not None
    if "/" in kernel or "-op" in kernel:
        return kernel == name
    return kernel.lower() in name.rpartition("/")[2].rpartition("-")[0].lower()


def read(path: str) -> DumpConfig:
    """Read and check the file; RuntimeError says what is wrong with it."""
    try:
        with open(path, encoding="utf-8") as stream:
            content = json.load(stream)
    except OSError as error:
        raise RuntimeError(f"{VARIABLE}: the file {path!r} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise RuntimeError(f"{VARIABLE}: the file {path!r} is not JSON: {error}.") from None
    if not isinstance(content, dict) or not isinstance(content.get("common_dump_settings"), dict):
        raise RuntimeError(f"{VARIABLE}: the file {path!r} needs an object 'common_dump_settings'.")
    return _build(_Fields(content["common_dump_settings"]), _Fields(content.get("e2e_dump_settings") or {}))


def _build(common: _Fields, details: _Fields) -> DumpConfig:
    mode = common.number("dump_mode", choices=(ALL, CHOSEN, MARKED))
    debug_mode = common.number("op_debug_mode", 0, (0, 1, 2, OVERFLOW, EXCEPTION))
    debug_mode = OVERFLOW if debug_mode in (1, 2) else debug_mode
    iteration = common.text("iteration", r"all|[0-9|\-]+")
    saved_data = common.text("saved_data", "tensor|statistic|full", "tensor")
    sampled = details.number("sample_mode", 0, (0, 1))
    return DumpConfig(
        path=_path(common),
        net_name=common.text("net_name", r"[A-Za-z0-9_\-]+"),
        mode=ALL if debug_mode else mode,
        debug_mode=debug_mode,
        iteration="all" if debug_mode == EXCEPTION else iteration,
        initial_iteration=common.number("initial_iteration", 0),
        saved_data="tensor" if debug_mode == EXCEPTION else saved_data,
        input_output=0 if debug_mode == OVERFLOW else common.number("input_output", choices=(0, 1, 2)),
        kernels=_kernels(common.items("kernels", str)),
        devices=frozenset(common.items("support_device", int)),
        categories=_categories(common.items("statistic_category", str, _DEFAULT_CATEGORIES)),
        overflow_number=common.number("overflow_number", 0),
        sample=details.number("sample_num", 100) if sampled else 0,
    )


def _path(common: _Fields) -> str:
    path = common.text("path", r"[A-Za-z0-9_\-/.]*", "")
    if not path:
        root = os.environ.get("MS_DIAGNOSTIC_DATA_PATH", "")
        if not root:
            raise RuntimeError(f"{VARIABLE}: 'path' is empty; set it, or the variable MS_DIAGNOSTIC_DATA_PATH.")
        path = f"{root}/debug_dump"
    if not path.startswith("/"):
        raise RuntimeError(f"{VARIABLE}: 'path' must be absolute, but got {path!r}.")
    return path


def _kernels(given: list[str]) -> tuple[str, ...]:
    names = [kernel.replace(" ", "") for kernel in given]
    for name in names:
        if name.startswith("name-regex(") and name.endswith(")"):
            try:
                re.compile(name[len("name-regex(") : -1])
            except re.error as error:
                raise RuntimeError(f"{VARIABLE}: {name!r} in 'kernels' is no regular expression: {error}.") from None
    return tuple(n for n in names if n) or ("",)


def _categories(given: list[str]) -> tuple[str, ...]:
    unknown = [name for name in given if name not in CATEGORIES]
    if unknown:
        raise RuntimeError(f"{VARIABLE}: 'statistic_category' holds {unknown}; allowed are {list(CATEGORIES)}.")
    return tuple(given)


class _Fields:
    """An object of the file, with checks."""

    _missing = object()

    def __init__(self, content: Any):
        if not isinstance(content, dict):
            raise RuntimeError(f"{VARIABLE}: 'e2e_dump_settings' must be an object.")
        self.content = content

    def _get(self, name: str, default: Any) -> Any:
        value = self.content.get(name, default)
        if value is self._missing:
            raise RuntimeError(f"{VARIABLE}: the setting {name!r} is missing.")
        return value

    def number(self, name: str, default: Any = _missing, choices: tuple[int, ...] = ()) -> int:
        value = self._get(name, default)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0 or (choices and value not in choices):
            allowed = f"one of {list(choices)}" if choices else "an int that is not negative"
            raise RuntimeError(f"{VARIABLE}: {name!r} must be {allowed}, but got {value!r}.")
        return value

    def text(self, name: str, pattern: str, default: Any = _missing) -> str:
        value = self._get(name, default)
        if not isinstance(value, str) or not re.fullmatch(pattern, value):
            raise RuntimeError(f"{VARIABLE}: {name!r} must be a string of the form {pattern}, but got {value!r}.")
        return value

    def items(self, name: str, kind: type, default: Any = _missing) -> list[Any]:
        value = self._get(name, default)
        if not isinstance(value, list) or not all(isinstance(item, kind) for item in value):
            raise RuntimeError(f"{VARIABLE}: {name!r} must be a list of {kind.__name__}, but got {value!r}.")
        return value
