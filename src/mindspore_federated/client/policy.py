"""When a device takes part: policies for `FederatedClient(policy=...)`, asked before each round.

    policy = all_of(battery_above(0.5), phone.is_on_wifi)   # any function that tells yes or no is a policy
"""
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

Policy = Callable[[], bool]


def all_of(*policies: Policy) -> Policy:
    """Yes where all of them say yes."""
    return lambda: all(policy() for policy in policies)


def battery_above(level: float, folder: str = "/sys/class/power_supply") -> Policy:
    """Yes on mains, while charging, or with every battery above `level` (0 to 1); Linux tells it in `folder`."""
    if not 0 <= level <= 1:
        raise ValueError(f"level should be in [0, 1], but got {level}")

    def allowed() -> bool:
        supplies = list(Path(folder).iterdir()) if Path(folder).is_dir() else []
        batteries = [one for one in supplies if _read(one / "type") == "Battery"]
        plugged = any(_read(one / "online") == "1" for one in supplies if one not in batteries)
        return plugged or all(_read(one / "status") in ("Charging", "Full") or _level(one) > level for one in batteries)

    return allowed


def _level(battery: Path) -> float:
    text = _read(battery / "capacity")
    return int(text) / 100 if text.isdecimal() else 1.0     # a battery that does not tell its level keeps nobody out


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
