"""What a loss landscape is made from: checkpoints along the training, and a file that says which.

`ckpt_dir/train_metadata.json` lies in the folder of a summary. SummaryCollector writes it, SummaryLandscape reads it.
"""

from __future__ import annotations

import json
import os
from typing import Any

from mindspore._base.files import atomic_write

FOLDER, METADATA = "ckpt_dir", "train_metadata.json"
DEFAULTS: dict[str, Any] = {
    "landscape_size": 40, "unit": "step", "create_landscape": {"train": True, "result": True}, "num_samples": 2048,
    "intervals": None,
}  # fmt: skip


def check_landscape(owner: str, given: object) -> dict[str, Any]:
    """The settings of `collect_landscape` with defaults filled in."""
    if not isinstance(given, dict):
        raise TypeError(f"For '{owner}', 'collect_landscape' must be a dict, but got {type(given).__name__}.")
    unknown = sorted(set(given) - set(DEFAULTS))
    if unknown:
        raise ValueError(f"For '{owner}', 'collect_landscape' knows {sorted(DEFAULTS)}, not {unknown}.")
    plan = {**DEFAULTS, **given}
    _check_int(owner, "landscape_size", plan["landscape_size"], 3, 256)
    _check_int(owner, "num_samples", plan["num_samples"], 1, 1 << 40)
    if plan["unit"] not in ("step", "epoch"):
        raise ValueError(f"For '{owner}', 'unit' must be 'step' or 'epoch', but got {plan['unit']!r}.")
    kinds = plan["create_landscape"]
    if not isinstance(kinds, dict) or not set(kinds) <= {"train", "result"}:
        raise ValueError(
            f"For '{owner}', 'create_landscape' must be a dict of 'train' and 'result', but got {kinds!r}."
        )
    plan["create_landscape"] = {**DEFAULTS["create_landscape"], **kinds}
    if plan["intervals"] is not None:
        _check_intervals(owner, plan["intervals"])
    return plan


def _check_int(owner: str, name: str, value: object, low: int, high: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"For '{owner}', '{name}' must be an int, but got {type(value).__name__}.")
    if not low <= value <= high:
        raise ValueError(f"For '{owner}', '{name}' must be from {low} to {high}, but got {value}.")


def _check_intervals(owner: str, intervals: Any) -> None:
    if not isinstance(intervals, list) or not all(isinstance(i, list) for i in intervals):
        raise TypeError(f"For '{owner}', 'intervals' must be a list of lists of ints, but got {intervals!r}.")
    for interval in intervals:
        if len(interval) < 3:
            raise ValueError(f"For '{owner}', an interval needs at least three numbers, but got {interval}.")
        for number in interval:
            _check_int(owner, "intervals", number, 1, 1 << 40)


def write_metadata(folder: str, plan: dict[str, Any], files: dict[str, str], steps_per_epoch: int) -> None:
    """Store a plan with the checkpoints that were made for it: number of the step or epoch -> file."""
    content = {k: v for k, v in plan.items() if k != "intervals"}
    content["epoch_group"] = {str(i): interval for i, interval in enumerate(plan["intervals"] or [])}
    content["model_params_file_map"] = files
    content["step_per_epoch"] = steps_per_epoch
    with atomic_write(os.path.join(folder, METADATA), "w") as stream:
        json.dump(content, stream)


def read_metadata(folder: str) -> tuple[dict[str, Any], dict[str, str], int]:
    """Plan, checkpoints and steps per epoch, as `write_metadata` got them."""
    path = os.path.join(folder, METADATA)
    if not os.path.exists(path):
        raise FileNotFoundError(
            f"For 'SummaryLandscape', there is no {path}: train with a SummaryCollector whose "
            f"'collect_specified_data' has 'collect_landscape'."
        )
    try:
        with open(path, encoding="utf-8") as stream:
            content = json.load(stream)
        plan = {name: content[name] for name in DEFAULTS if name != "intervals"}
        plan["intervals"] = list(content["epoch_group"].values())
        files = {str(k): str(v) for k, v in content["model_params_file_map"].items()}
        return check_landscape("SummaryLandscape", plan), files, int(content["step_per_epoch"])
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"For 'SummaryLandscape', {path} cannot be used: {error}") from None
