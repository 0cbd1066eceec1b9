"""How a model's folder says that one vector is made of a text, as sentence-transformers writes it.

    modules.json                 the steps: the model, pooling, a norm
    1_Pooling/config.json        which of the tokens' states count
    sentence_bert_config.json    the longest text
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any

#: names of pooling in older files, each a flag
_FLAG = "pooling_mode_"
_FLAGS = {"cls_token": "cls", "max_tokens": "max", "mean_tokens": "mean", "lasttoken": "lasttoken"}


@dataclass(frozen=True)
class Sentences:
    """`pooling`: 'mean', 'cls', 'max' or 'lasttoken'; `longest`: tokens of a text, 0: as many as the model takes."""

    pooling: str
    longest: int


def read(folder: str, pooling: str) -> Sentences:
    """What the folder says; `pooling` where it says nothing. ValueError for what would give other vectors."""
    modules = _json(folder, "modules.json", list)
    place = "1_Pooling"
    for module in modules or ():
        kind = str(module.get("type", "")).rpartition(".")[2] if isinstance(module, dict) else ""
        if kind not in ("Transformer", "Pooling", "Normalize"):
            raise ValueError(f"{folder} makes vectors by a module {kind!r}, which is not supported"[:300])
        place = str(module.get("path", place)) if kind == "Pooling" else place
    if os.path.isabs(place) or ".." in place.split("/"):
        raise ValueError(f"{folder}/modules.json names a folder outside: {place}"[:300])
    settings = _json(folder, os.path.join(place, "config.json"), dict)
    longest = (_json(folder, "sentence_bert_config.json", dict) or {}).get("max_seq_length") or 0
    if isinstance(longest, bool) or not isinstance(longest, int) or longest < 0:
        raise ValueError(f"'max_seq_length' in {folder}/sentence_bert_config.json must be a number of tokens, but is {longest!r}"[:300])
    return Sentences(pooling if settings is None else _pooling(folder, settings), longest)


def _pooling(folder: str, settings: dict[str, Any]) -> str:
    found = settings.get("pooling_mode") or [_FLAGS.get(name, name) for name in _flags(settings)]
    modes = [found] if isinstance(found, str) else list(found)
    if len(modes) != 1 or modes[0] not in _FLAGS.values():
        raise ValueError(f"the way of pooling of {folder}, {modes}, is not supported; it can be one of {', '.join(_FLAGS.values())}"[:300])
    return str(modes[0])


def _flags(settings: dict[str, Any]) -> list[str]:
    return [name.removeprefix(_FLAG) for name, value in settings.items() if name.startswith(_FLAG) and value]


def _json(folder: str, name: str, kind: type) -> Any:
    path = os.path.join(folder, name)
    if not os.path.isfile(path):
        return None
    with open(path, encoding="utf-8") as file:
        found = json.load(file)
    if not isinstance(found, kind):
        raise ValueError(f"{path} must hold {'an object' if kind is dict else 'a list'}")
    return found


__all__ = ["Sentences", "read"]
