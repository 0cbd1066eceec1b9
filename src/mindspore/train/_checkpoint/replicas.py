"""What should be equal on all processes: compared by digests, of which every process gets everybody's."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping

import numpy as np

from mindspore.prims import world


def digest(array: np.ndarray) -> int:
    """63 bits of the content, the shape and the type."""
    state = hashlib.blake2b(f"{array.dtype}{array.shape}".encode(), digest_size=8)
    state.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return int.from_bytes(state.digest(), "little") >> 1


def digests(arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    """A row for each process of the run, a column for each array; names and order must be the same everywhere."""
    transport = world.transport()
    everyone = tuple(range(transport.size))
    names = np.array([digest(np.frombuffer("\n".join(arrays).encode() or b"\n", np.uint8))], np.int64)
    if len({int(other[0]) for other in transport.all_gather(names, everyone)}) > 1:
        raise RuntimeError("The parameters of the processes have different names: their networks differ.")
    mine = np.array([digest(array) for array in arrays.values()], np.int64)
    return np.stack(transport.all_gather(mine, everyone))


def shared(arrays: Mapping[str, np.ndarray]) -> set[str]:
    """The names of arrays that have the same bits on all processes."""
    found = digests(arrays)
    return {name for name, column in zip(arrays, found.T) if (column == column[0]).all()}


def deviating(arrays: Mapping[str, np.ndarray]) -> dict[str, list[int]]:
    """For each array that is not the same everywhere, the ranks that hold something else than most do."""
    result = {}
    for name, column in zip(arrays, digests(arrays).T):
        counts = Counter(column.tolist())
        if len(counts) > 1:
            usual, times = counts.most_common(1)[0]
            alone = times == 1 or list(counts.values()).count(times) > 1  # nobody can say who is right
            result[name] = list(range(len(column))) if alone else [r for r, d in enumerate(column.tolist()) if d != usual]
    return result
