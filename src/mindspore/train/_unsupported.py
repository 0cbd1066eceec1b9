"""Functions for files that exist in official MindSpore and are refused here; each says what to use instead."""

from __future__ import annotations

import os
from typing import Any, NoReturn

_ENCRYPT = "MindIR files are not obfuscated; encrypt them with 'enc_key', or obfuscate weights with 'obfuscate_ckpt'"


def _refuse(name: str, reason: str) -> NoReturn:
    raise RuntimeError(f"For '{name}', {reason}.")


def export_split_mindir(
    file_name: str, device_num: int = 8, rank_id: int = 0, dynamic: bool = True, sapp: bool = True
) -> NoReturn:
    """Refused: splitting a model among devices is the work of Ascend's own tools."""
    if not isinstance(file_name, str) or not file_name.endswith(".mindir") or not os.path.exists(file_name):
        raise ValueError(
            f"For 'export_split_mindir', 'file_name' must be an existing '.mindir' file, not {file_name!r}."
        )
    _refuse("export_split_mindir", "models are not split among devices here; load the whole model with 'load'")


def obfuscate_model(obf_config: dict[str, Any], **kwargs: Any) -> NoReturn:
    """Refused."""
    _refuse("obfuscate_model", _ENCRYPT)
