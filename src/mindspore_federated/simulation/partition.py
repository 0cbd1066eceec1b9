"""Samples to clients: evenly, by Dirichlet shares of the labels, by writer; and the LEAF format."""
from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]


def iid_partition(samples: int, clients: int, seed: int = 0) -> list[Indices]:
    """Equal shares of a random order."""
    order = np.random.default_rng(seed).permutation(samples)
    return [np.sort(part) for part in np.array_split(order, clients)]


def dirichlet_partition(labels: Sequence[int] | Indices, clients: int, alpha: float, seed: int = 0,
                        least: int = 1) -> list[Indices]:
    """Each label's samples by shares from Dirichlet(alpha): small alpha, few labels per client (Hsu et al. 2019)."""
    rng = np.random.default_rng(seed)
    values = np.asarray(labels)
    if len(values) < clients * least:
        raise ValueError(f"{len(values)} samples are not enough for {clients} clients with {least} each")
    parts: list[list[int]] = [[] for _ in range(clients)]
    for label in np.unique(values):
        mine = rng.permutation(np.flatnonzero(values == label))
        cuts = (np.cumsum(rng.dirichlet(np.full(clients, alpha)))[:-1] * len(mine)).astype(int)
        for part, some in zip(parts, np.split(mine, cuts)):
            part.extend(some.tolist())
    for part in parts:                                   # nobody stays without data
        while len(part) < least:
            part.append(max(parts, key=len).pop())
    return [np.array(sorted(part), np.int64) for part in parts]


def by_writer(writers: Sequence[object]) -> list[Indices]:
    """One client per writer, in the writers' sorted order."""
    _, inverse = np.unique(np.asarray(writers), return_inverse=True)
    order = np.argsort(inverse, kind="stable")
    return np.split(order, np.cumsum(np.bincount(inverse))[:-1])


def read_leaf(folder: str, encode: Callable[[list[Any]], NDArray[Any]] | None = None
              ) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    """The users of a LEAF data set: JSON files with `users` and `user_data`.

    Numbers become float32 samples and int32 labels; `encode` turns a user's list of samples, and its list of labels, into arrays
    where they are text, as in Shakespeare or Reddit.
    """
    clients = []
    for path in sorted(Path(folder).glob("*.json")):
        content = _leaf_file(path)
        for user in content["users"]:
            data = content["user_data"].get(user, {})
            if len(data.get("x", ())) != len(data.get("y", ())) or not len(data.get("x", ())):
                raise ValueError(f"{path}: user {user!r} should have as many samples in 'x' as labels in 'y', at least one")
            try:
                x, y = ((encode(data["x"]), encode(data["y"])) if encode is not None
                        else (np.asarray(data["x"], np.float32), np.asarray(data["y"], np.int32)))
            except ValueError as error:
                raise ValueError(f"{path}: the samples of user {user!r} are no numbers, give encode=: {error}") from None
            clients.append((x, y))
    if not clients:
        raise ValueError(f"the folder {folder} has no LEAF files (*.json)")
    return clients


def _leaf_file(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is no JSON: {error}") from None
    if not isinstance(content, dict) or not {"users", "user_data"} <= set(content):
        raise ValueError(f"{path} should have the keys users and user_data of the LEAF format")
    return content
