"""Tables too large for one process: rows lie on servers, workers pull the rows of a batch and push their gradients.

The parameter server of Li et al. (2014), in step with the workers. Row r lies on server r mod n; servers may be processes of their
own (which call `serve`) or the workers themselves. A pull sends the distinct ids of a batch to their servers and gets rows; a push
sends gradients, which the servers add up in the order of ranks and apply by the table's own optimizer, so all runs of as many
processes give the same bits. States of the optimizer never travel, and memory per process is its share of the table.

Workers may cache rows that they use often (least recently used ones leave). A cached row is asked for with its version: the server sends
it again only if it has changed since, so results do not depend on the cache, and rows that nobody updated cost 16 bytes instead of a row.

What a worker sees in a step is a small dense tensor of rows, of a size that does not change from batch to batch, so the network is
compiled once:

    rows, places = table.pull(ids)                        # rows of the distinct ids, and which of them each id means
    loss, gradient = step(rows, places, labels)           # step: ms.value_and_grad of rows[places] and the rest
    table.push(gradient)
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindspore.common.tensor import Tensor
from mindspore.prims import world

_FOLLOW, _PULL, _PUSH, _END = range(4)
_NAMES = {_PULL: "pull", _PUSH: "push", _END: "close"}
#: rows that are drawn from one seed, so that a row's first value does not depend on the servers
_DRAWN_TOGETHER = 1024

Rule = Callable[[np.ndarray, list[np.ndarray], np.ndarray, float], None]


def _sgd(rows: np.ndarray, states: list[np.ndarray], gradient: np.ndarray, rate: float) -> None:
    rows -= rate * gradient


def _adagrad(rows: np.ndarray, states: list[np.ndarray], gradient: np.ndarray, rate: float) -> None:
    states[0] += gradient * gradient
    rows -= rate * gradient / np.sqrt(states[0])


def _lazy_adam(rows: np.ndarray, states: list[np.ndarray], gradient: np.ndarray, rate: float) -> None:
    """Adam on the rows of a batch alone, each with a count of its own updates."""
    first, second, count = states
    count += 1
    first += 0.1 * (gradient - first)
    second += 0.001 * (gradient * gradient - second)
    rows -= rate * (first / (1 - 0.9**count)) / (np.sqrt(second / (1 - 0.999**count)) + 1e-8)


#: for each optimizer its rule and the first values of its states
_RULES: dict[str, tuple[Rule, tuple[float, ...]]] = {
    "sgd": (_sgd, ()), "adagrad": (_adagrad, (0.1,)), "lazy_adam": (_lazy_adam, (0.0, 0.0, 0.0)),
}  # fmt: skip


class _Shard:
    """The rows of one server: r, r + n, r + 2n …"""

    def __init__(self, rows: np.ndarray, starts: tuple[float, ...]):
        self.rows = rows
        self.states = [np.full(rows.shape, start, rows.dtype) for start in starts]
        self.versions = np.zeros(len(rows), np.int64)

    def changed(self, places: np.ndarray, versions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Which of these rows are not of the version that somebody has; their versions, and their values."""
        which = np.flatnonzero(self.versions[places] != versions)
        return which, self.versions[places[which]], self.rows[places[which]]

    def update(self, places: np.ndarray, gradient: np.ndarray, rule: Rule, rate: float) -> None:
        """Apply gradients; those of one row are added up first, in the order in which they stand."""
        found, inverse = np.unique(places, return_inverse=True)
        total = np.zeros((len(found), gradient.shape[1]), gradient.dtype)
        np.add.at(total, inverse, gradient)
        rows, states = self.rows[found], [state[found] for state in self.states]
        rule(rows, states, total, rate)
        self.rows[found] = rows
        for state, new in zip(self.states, states):
            state[found] = new
        self.versions[found] += 1


class _Cache:
    """The rows that this worker used last, with their versions."""

    def __init__(self, most: int):
        self.most = most
        self.known: OrderedDict[int, tuple[int, np.ndarray]] = OrderedDict()

    def versions(self, ids: np.ndarray) -> np.ndarray:
        return np.array([self.known[i][0] if i in self.known else -1 for i in ids.tolist()], np.int64)

    def rows(self, ids: np.ndarray, fresh: dict[int, tuple[int, np.ndarray]]) -> list[np.ndarray]:
        """The values of rows, of which `fresh` are new."""
        found = []
        for i in ids.tolist():
            entry = fresh[i] if i in fresh else self.known[i]
            found.append(entry[1])
            if self.most:
                self.known[i] = entry
                self.known.move_to_end(i)
        while len(self.known) > self.most:
            self.known.popitem(last=False)
        return found


class ServedTable:
    """A table of embedding vectors on servers.

    Args:
        rows: number of rows.
        width: size of a vector.
        optimizer: "sgd", "adagrad" or "lazy_adam".
        learning_rate: of the optimizer.
        initial: the first values, an array of shape (rows, width); None: normal with deviation 0.01, by `seed`.
        seed: of the first values.
        cache_rows: how many rows a worker keeps.
        servers: the ranks that hold rows; None: all processes.
        mean: gradients of the workers are averaged, not added up.

    Examples:
        >>> table = ms.parallel.ServedTable(4, 2, initial=np.arange(8.0).reshape(4, 2), learning_rate=0.5)
        >>> rows, places = table.pull(Tensor([3, 1, 3]))
        >>> print(rows[places])
        [[6. 7.]
         [2. 3.]
         [6. 7.]]
        >>> table.push(ops.ones_like(rows))
        >>> print(table.whole()[1])
        [1.5 2.5]
    """

    def __init__(
        self, rows: int, width: int, optimizer: str = "sgd", learning_rate: float = 0.01, initial: np.ndarray | None = None,
        seed: int = 0, cache_rows: int = 0, servers: Sequence[int] | None = None, mean: bool = True,
    ):  # fmt: skip
        transport = world.transport()
        if optimizer not in _RULES:
            raise ValueError(f"For 'ServedTable', 'optimizer' must be one of {sorted(_RULES)}, but got {optimizer!r}.")
        if initial is not None and np.shape(initial) != (rows, width):
            raise ValueError(f"For 'ServedTable', 'initial' must have the shape {(rows, width)}, but got {np.shape(initial)}.")
        self.everyone = tuple(range(transport.size))
        self.servers = tuple(servers) if servers is not None else self.everyone
        if not self.servers or not set(self.servers) <= set(self.everyone):
            raise ValueError(f"For 'ServedTable', 'servers' must be ranks of this run, 0 to {transport.size - 1}, but got {servers}.")
        self.rows, self.width, self.learning_rate, self.mean = rows, width, learning_rate, mean
        self.rule, starts = _RULES[optimizer]
        self.cache = _Cache(cache_rows)
        self.received = 0  #: rows that came from servers so far: what the cache saves can be seen by it
        self.shard: _Shard | None = None
        if transport.rank in self.servers:
            own = np.arange(self.servers.index(transport.rank), rows, len(self.servers))
            first = np.asarray(initial, np.float32)[own] if initial is not None else _drawn(own, rows, width, seed)
            self.shard = _Shard(np.array(first), starts)
        self._pulled: np.ndarray | None = None
        self._workers = transport.size

    # -- workers --------------------------------------------------------------------------------------------------------
    def pull(self, ids: Any) -> tuple[Tensor, Tensor]:
        """Rows of the distinct ids, filled up to as many as there are ids, and for each id the number of its row."""
        given = np.asarray(ids.asnumpy() if isinstance(ids, Tensor) else ids)
        wrong = given[(given < 0) | (given >= self.rows)]
        if wrong.size:
            raise IndexError(f"For 'ServedTable.pull', ids must be in 0 to {self.rows - 1}, but got {wrong.ravel()[0]}.")
        distinct, places = np.unique(given.ravel(), return_inverse=True)
        self._meet(_PULL)
        fresh = self._exchange_rows(distinct.astype(np.int64))
        found = np.zeros((given.size, self.width), np.float32)
        if distinct.size:
            found[: len(distinct)] = self.cache.rows(distinct, fresh)
        self._pulled = distinct
        return Tensor(found), Tensor(places.reshape(given.shape).astype(np.int32))

    def push(self, gradient: Any) -> None:
        """The gradient by the rows of the last `pull`; all servers have applied it when this returns."""
        if self._pulled is None:
            raise RuntimeError("For 'ServedTable.push', there is nothing to update: call 'pull' first, once for each push.")
        array = np.asarray(gradient.asnumpy() if isinstance(gradient, Tensor) else gradient, np.float32)
        ids, self._pulled = self._pulled, None
        if array.ndim != 2 or array.shape[1] != self.width or len(array) < len(ids):
            raise ValueError(
                f"For 'ServedTable.push', the gradient must have the shape of the rows pulled, (…, {self.width}), but got {array.shape}."
            )
        self._meet(_PUSH)
        self._exchange_gradients(ids.astype(np.int64), array[: len(ids)])

    def close(self) -> None:
        """Tell servers that call `serve` that there is no more to come; all workers call it."""
        self._meet(_END)

    # -- servers --------------------------------------------------------------------------------------------------------
    def serve(self) -> None:
        """Answer the workers until all of them have called `close`."""
        nothing = np.zeros(0, np.int64)
        while True:
            code = self._meet(_FOLLOW)
            if code == _END:
                return
            if code == _PULL:
                self._exchange_rows(nothing)
            else:
                self._exchange_gradients(nothing, np.zeros((0, self.width), np.float32))

    def whole(self) -> np.ndarray:
        """All rows, on every process; all processes call it (servers after `serve` has returned)."""
        transport, most = world.transport(), -(-self.rows // len(self.servers))
        mine = np.zeros((most, self.width), np.float32)
        if self.shard is not None:
            mine[: len(self.shard.rows)] = self.shard.rows
        parts = transport.all_gather(mine, self.everyone)
        found = np.empty((self.rows, self.width), np.float32)
        for number, rank in enumerate(self.servers):
            own = found[number :: len(self.servers)]
            own[:] = parts[rank][: len(own)]
        return found

    # -- what all processes do together -----------------------------------------------------------------------------------
    def _meet(self, code: int) -> int:
        """What the workers are about to do: the same."""
        found = [int(c) for c in world.transport().all_gather(np.asarray(code, np.int64), self.everyone)]
        wanted = {c for c in found if c != _FOLLOW}
        if len(wanted) != 1:
            said = ", ".join(f"rank {rank}: {_NAMES.get(c, 'serve')}" for rank, c in enumerate(found))
            raise RuntimeError(f"The workers of a 'ServedTable' must do the same, but got {said}.")
        self._workers = sum(c != _FOLLOW for c in found)
        return wanted.pop()

    def _exchange_rows(self, ids: np.ndarray) -> dict[int, tuple[int, np.ndarray]]:
        """Ask the servers for rows, and answer those who ask; what is new of the rows asked for."""
        nothing = np.zeros(0, np.int64)
        by_rank = {rank: ids[ids % len(self.servers) == n] for n, rank in enumerate(self.servers)}
        wanted = self._swap([by_rank.get(r, nothing) for r in self.everyone])
        versions = self._swap([self.cache.versions(by_rank.get(r, nothing)) for r in self.everyone])
        answers = [
            self.shard.changed(who // len(self.servers), known)
            if self.shard is not None
            else (nothing, nothing, np.zeros((0, self.width), np.float32))
            for who, known in zip(wanted, versions)
        ]
        which, new_versions, rows = (self._swap([answer[i] for answer in answers]) for i in range(3))
        fresh: dict[int, tuple[int, np.ndarray]] = {}
        for rank, mine in by_rank.items():
            for i, version, row in zip(mine[which[rank]].tolist(), new_versions[rank].tolist(), rows[rank]):
                fresh[i] = version, np.array(row)
        self.received += len(fresh)
        return fresh

    def _exchange_gradients(self, ids: np.ndarray, gradient: np.ndarray) -> None:
        parts = {rank: ids % len(self.servers) == n for n, rank in enumerate(self.servers)}
        nothing = np.zeros(len(ids), bool)
        which = self._swap([ids[parts.get(r, nothing)] for r in self.everyone])
        values = self._swap([gradient[parts.get(r, nothing)] for r in self.everyone])
        if self.shard is not None:
            total = np.concatenate(values) / np.float32(self._workers if self.mean else 1)
            self.shard.update(np.concatenate(which) // len(self.servers), total, self.rule, self.learning_rate)

    def _swap(self, parts: list[np.ndarray]) -> list[np.ndarray]:
        """Give part i to process i; what each gave to this one, of any number of rows."""
        transport = world.transport()
        counts = transport.all_to_all(
            [np.asarray(len(p), np.int64) for p in parts], [((), np.int64)] * len(parts), self.everyone
        )
        kind = parts[0].dtype
        expected = [((int(c), *parts[0].shape[1:]), kind) for c in counts]
        return transport.all_to_all([np.ascontiguousarray(p) for p in parts], expected, self.everyone)


def _drawn(own: np.ndarray, rows: int, width: int, seed: int) -> np.ndarray:
    """The first values of some rows, which do not depend on who holds them."""
    found = np.empty((len(own), width), np.float32)
    for block in range(-(-rows // _DRAWN_TOGETHER)):
        mine = np.flatnonzero(own // _DRAWN_TOGETHER == block)
        values = np.random.default_rng([seed, block]).standard_normal((_DRAWN_TOGETHER, width), np.float32)
        found[mine] = values[own[mine] % _DRAWN_TOGETHER] * np.float32(0.01)
    return found


__all__ = ["ServedTable"]
