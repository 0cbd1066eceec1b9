"""Checkpoints that the processes of a run write together: each a share of the bytes, and a manifest when all are there.

A checkpoint of step 12 is the folder `step_12`:

    rank_0.<token>.safetensors …    the parts that rank 0 has written
    manifest.json                   which part of which tensor is in which file, with checksums

Every process copies its parts, then writes them in the background if that is wanted, and at last a list of what it has written.
The thread of rank 0 waits for all lists and renames the manifest into place: only then does the checkpoint exist, and a crash
at any moment leaves the one before. The token tells files of this attempt from those that a crash left behind. Nothing is
communicated in the background; the processes need a common file system.

Parameters that are equal on all processes are written once: large ones are cut along the first dimension, one piece for each
process, small ones go to whoever has least. What differs (running statistics of a normalisation), and what is appended (states of
random numbers), every process writes for itself. Any number of processes can read a checkpoint; one that has no rank in it
takes over the own values of rank `r % processes`.

When a process is lost, one of the others can still write what it holds (`save_alone`).
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import secrets
import shutil
import tempfile
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from mindspore._base.files import atomic_write, read_file
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.formats import safetensors
from mindspore.prims import world
from mindspore.train._checkpoint import replicas
from mindspore.train._checkpoint.save import _appended, _Background, _named, _snapshot

_MANIFEST = "manifest.json"
_LOCK = "last_checkpoint"
_BESIDE = "last_checkpoint_"
_STEP = re.compile(r"step_(\d+)$")
_CUT_FROM = 1 << 20  # bytes
_VERSION = 1
#: seconds for which rank 0 waits for the other processes' files
_PATIENCE = 3600


class _Piece(NamedTuple):
    """Rows `start` to `stop` of a tensor; a whole one has the rows (0, -1)."""

    name: str
    start: int
    stop: int
    shape: tuple[int, ...]

    @property
    def key(self) -> str:
        return self.name if self.stop < 0 else f"{self.name}@{self.start}"


def save_sharded_checkpoint(
    save_obj: Any,
    directory: str,
    step: int,
    async_save: bool = False,
    append_dict: dict[str, Any] | None = None,
    keep: int = 0,
) -> None:
    """Save a network, or the named tensors that `save_checkpoint` takes, by all processes of the run together.

    Args:
        save_obj: a Cell, a list of Parameters, or a dict of names to Tensors; the same names on all processes.
        directory: the folder of the checkpoints, which all processes see.
        step: the number of this one.
        async_save: return when the data is copied, and write in the background.
        append_dict: further numbers, strings and tensors to store.
        keep: if not 0, so many of the newest checkpoints stay, and older ones go when this one is complete.

    Examples:
        >>> weight = ms.Parameter(ms.Tensor([1.0, 2.0]), name="w")
        >>> ms.parallel.save_sharded_checkpoint([weight], "doc_sharded", step=7, append_dict={"epoch": 3})
        >>> loaded = ms.parallel.load_sharded_checkpoint("doc_sharded")
        >>> print(loaded["w"].asnumpy(), int(loaded["epoch"]))
        [1. 2.] 3
    """
    if isinstance(step, bool) or not isinstance(step, int) or step < 0:
        raise ValueError(f"For 'save_sharded_checkpoint', 'step' must be an int of at least 0, but got {step!r}.")
    entries = {name: _snapshot(name, value, copy=False) for name, value in _named(save_obj, None)}
    named = {n: e for n, e in entries.items() if not isinstance(e, str)}
    entries |= {name: _snapshot(name, value, copy=False) for name, value in _appended(append_dict)}
    arrays = {n: _text_array(e) if isinstance(e, str) else e for n, e in entries.items()}
    texts = sorted(n for n, e in entries.items() if isinstance(e, str))
    transport = world.transport()
    token = _common_token(step)
    equal = replicas.shared(named)
    mine = [p for p, owner in _assigned(arrays, equal, transport.size) if owner in (transport.rank, -1)]
    data = {p.key: (arrays[p.name] if p.stop < 0 else arrays[p.name][p.start : p.stop]) for p in mine}
    data = {key: np.array(part, order="C") if async_save else part for key, part in data.items()}
    folder = _folder(directory, step)
    os.makedirs(folder, exist_ok=True)

    def write() -> None:
        _write_own(folder, token, data, mine, equal, texts)
        if transport.rank == 0:
            _complete(folder, token, range(transport.size), step)
            _tidy(directory, keep)

    if async_save:
        _Background.start(write, folder)
    else:
        write()
        if transport.size > 1:
            transport.barrier(tuple(range(transport.size)))


class Snapshot(NamedTuple):
    """What a process holds after a step, copied."""

    step: int
    arrays: dict[str, np.ndarray]
    texts: list[str]

    @classmethod
    def of(cls, save_obj: Any, step: int, append_dict: dict[str, Any] | None = None) -> Snapshot:
        entries = {name: _snapshot(name, value, copy=True) for name, value in (*_named(save_obj, None), *_appended(append_dict))}
        texts = sorted(n for n, e in entries.items() if isinstance(e, str))
        return cls(step, {n: _text_array(e) if isinstance(e, str) else e for n, e in entries.items()}, texts)


def save_alone(snapshot: Snapshot, directory: str) -> bool:
    """Write all of a checkpoint without the other processes, of which one is lost; False if it, or a newer one, is there already.

    Every process holds whole weights, so one of them can. They take turns by a lock that the system takes back from processes that end,
    and the checkpoint is written beside its place: it appears with its manifest.
    """
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, _LOCK), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _remove_interrupted(directory)
        if max(complete_steps(directory), default=-1) >= snapshot.step:
            return False
        beside = tempfile.mkdtemp(prefix=_BESIDE, dir=directory)
        pieces = [_Piece(name, 0, -1, tuple(array.shape)) for name, array in snapshot.arrays.items()]
        token = secrets.token_hex(4)
        _write_own(beside, token, snapshot.arrays, pieces, set(snapshot.arrays), snapshot.texts)
        _complete(beside, token, [world.transport().rank], snapshot.step)
        shutil.rmtree(_folder(directory, snapshot.step), ignore_errors=True)  # begun by all together, and never complete now
        os.rename(beside, _folder(directory, snapshot.step))
    return True


def _remove_interrupted(directory: str) -> None:
    """What processes have left that were ended while they wrote alone."""
    for name in os.listdir(directory):
        if name.startswith(_BESIDE):
            shutil.rmtree(os.path.join(directory, name), ignore_errors=True)


def _folder(directory: str, step: int) -> str:
    return os.path.join(directory, f"step_{step}")


def _text_array(text: str) -> np.ndarray:
    return np.frombuffer(text.encode() or b"\0", np.uint8)


def _common_token(step: int) -> str:
    """A few letters that no other attempt has, the same on all processes."""
    transport = world.transport()
    drawn = np.frombuffer(secrets.token_bytes(4), np.uint8).copy()
    numbered = np.concatenate([drawn, np.frombuffer(np.int64(step).tobytes(), np.uint8)])
    if transport.size == 1:
        return bytes(drawn).hex()
    common = transport.broadcast(numbered, 0, tuple(range(transport.size)))
    if int(common[4:].copy().view(np.int64)[0]) != step:
        raise RuntimeError(f"The processes save different steps: rank {transport.rank} has {step}, rank 0 has another one.")
    return bytes(common[:4]).hex()


def _assigned(arrays: Mapping[str, np.ndarray], equal: set[str], processes: int) -> list[tuple[_Piece, int]]:
    """All pieces and who writes them; -1: everybody writes their own."""
    load = [0] * processes
    found = []
    for name, array in sorted(arrays.items(), key=lambda item: -item[1].nbytes):
        shape = tuple(array.shape)
        if name not in equal:
            found.append((_Piece(name, 0, -1, shape), -1))
        elif array.nbytes >= _CUT_FROM and processes > 1 and shape[0] >= processes:
            edges = [shape[0] * r // processes for r in range(processes + 1)]
            found += [(_Piece(name, edges[r], edges[r + 1], shape), r) for r in range(processes)]
        else:
            owner = load.index(min(load))
            load[owner] += array.nbytes
            found.append((_Piece(name, 0, -1, shape), owner))
    return found


def _write_own(
    folder: str, token: str, data: dict[str, np.ndarray], pieces: list[_Piece], equal: set[str], texts: list[str]
) -> None:
    """This process's parts, then the list of them."""
    stem = f"rank_{world.transport().rank}.{token}"
    path = os.path.join(folder, f"{stem}.safetensors")
    safetensors.write(path, data)
    listed = {
        p.key: {
            "name": p.name, "shape": list(p.shape), "rows": [p.start, p.stop], "own": p.name not in equal,
            "checksum": zlib.crc32(np.ascontiguousarray(data[p.key]).reshape(-1).view(np.uint8).data),
        }
        for p in pieces
    }  # fmt: skip
    with atomic_write(os.path.join(folder, f"{stem}.json"), "w") as file:
        json.dump({"file": os.path.basename(path), "bytes": os.path.getsize(path), "parts": listed, "texts": texts}, file)


def _complete(folder: str, token: str, ranks: Sequence[int], step: int) -> None:
    """Wait for the lists of these processes, and make them the manifest."""
    names = [os.path.join(folder, f"rank_{r}.{token}.json") for r in ranks]
    deadline = time.monotonic() + _PATIENCE
    while not all(map(os.path.exists, names)):
        if time.monotonic() > deadline:
            missing = [r for r, name in zip(ranks, names) if not os.path.exists(name)]
            raise TimeoutError(f"ranks {missing} have not written their parts of {folder} in {_PATIENCE} s")
        time.sleep(0.02)
    lists = []
    for name in names:
        with open(name) as file:
            lists.append(json.load(file))
    with atomic_write(os.path.join(folder, _MANIFEST), "w") as file:
        json.dump({"version": _VERSION, "step": step, "processes": len(ranks), "files": lists}, file)
    kept = {_MANIFEST, *(one["file"] for one in lists)}
    for name in os.listdir(folder):  # lists, and what an attempt that was interrupted has left
        if name not in kept:
            os.remove(os.path.join(folder, name))


def _tidy(directory: str, keep: int) -> None:
    """Of the checkpoints before the newest only some stay, and nothing of those that were interrupted."""
    if keep:
        complete = complete_steps(directory)
        for step in _begun_steps(directory):
            if step < complete[-1] and step not in complete[-keep:]:
                remove(directory, step)


def _begun_steps(directory: str) -> list[int]:
    return sorted(int(m[1]) for m in map(_STEP.match, os.listdir(directory)) if m) if os.path.isdir(directory) else []


def remove(directory: str, step: int) -> None:
    """Delete a checkpoint, its manifest first: what is left of it never looks complete."""
    folder = os.path.join(directory, f"step_{step}")
    if os.path.exists(os.path.join(folder, _MANIFEST)):
        os.remove(os.path.join(folder, _MANIFEST))
    shutil.rmtree(folder, ignore_errors=True)


def complete_steps(directory: str) -> list[int]:
    """The steps that were stored completely, in ascending order."""
    return [s for s in _begun_steps(directory) if os.path.exists(os.path.join(directory, f"step_{s}", _MANIFEST))]


def remove_all(directory: str) -> None:
    """Delete all checkpoints of a folder, those that were interrupted, too."""
    for step in _begun_steps(directory):
        remove(directory, step)
    if os.path.isdir(directory):
        _remove_interrupted(directory)
    with contextlib.suppress(FileNotFoundError):
        os.remove(os.path.join(directory, _LOCK))


def load_sharded_checkpoint(
    directory: str, step: int | None = None, choice_func: Callable[[str], bool] | None = None, rank: int | None = None
) -> dict[str, Any]:
    """What `save_sharded_checkpoint` stored, whole: names to Parameters and strings, for `load_param_into_net`.

    Args:
        directory: the folder of the checkpoints.
        step: which of them; by default the newest that is complete.
        choice_func: only the names for which this returns True.
        rank: whose own values to take where processes had different ones; by default this process's rank.
    """
    steps = complete_steps(directory)
    if not steps or (step is not None and step not in steps):
        wanted = "" if step is None else f" of step {step}"
        raise ValueError(f"There is no complete checkpoint{wanted} in {directory}; complete are the steps {steps}.")
    folder = os.path.join(directory, f"step_{steps[-1] if step is None else step}")
    manifest = _manifest(folder)
    reader = (world.transport().rank if rank is None else rank) % manifest["processes"]
    whole: dict[str, np.ndarray] = {}
    for number, listed in enumerate(manifest["files"]):
        parts = {
            key: part for key, part in listed["parts"].items()
            if (not part["own"] or number == reader) and (choice_func is None or choice_func(part["name"]))
        }  # fmt: skip
        if parts:
            _read_parts(os.path.join(folder, listed["file"]), listed, parts, whole)
    texts = manifest["files"][reader]["texts"]
    texts = {name: bytes(whole.pop(name)).decode().rstrip("\0") for name in texts if name in whole}
    return {**{n: Parameter(Tensor.from_numpy(a), n) for n, a in whole.items()}, **texts}


def _manifest(folder: str) -> dict[str, Any]:
    path = os.path.join(folder, _MANIFEST)
    try:
        with open(path) as file:
            manifest = json.load(file)
        if manifest["version"] != _VERSION or len(manifest["files"]) != manifest["processes"]:
            raise ValueError(f"version {manifest['version']}, {len(manifest['files'])} files")
        for listed in manifest["files"]:
            if os.path.basename(listed["file"]) != listed["file"]:
                raise ValueError(f"a file outside of the folder: {listed['file']}")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is no manifest of a checkpoint: {error!r}.") from None
    return manifest


def _read_parts(path: str, listed: dict[str, Any], parts: dict[str, Any], whole: dict[str, np.ndarray]) -> None:
    """Put the parts of one file where they belong."""
    data = read_file(path) if os.path.exists(path) else memoryview(b"")
    if len(data) != listed["bytes"]:
        raise ValueError(f"The file {path} has {len(data)} bytes; the manifest says {listed['bytes']}.")
    arrays = safetensors.read(data, path, lambda key: key in parts)
    for key, part in parts.items():
        array = arrays.get(key)
        if array is None or zlib.crc32(array.reshape(-1).view(np.uint8).data) != part["checksum"]:
            raise ValueError(f"The part '{key}' in {path} is missing or damaged.")
        start, stop = part["rows"]
        if stop < 0:
            whole[part["name"]] = array
        else:
            target = whole.setdefault(part["name"], np.empty(part["shape"], array.dtype))
            target[start:stop] = array
