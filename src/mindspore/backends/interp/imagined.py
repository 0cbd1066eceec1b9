"""Any collective of N devices in one process, by what each of them would send and receive.

`communicate` says what a process does in a collective: it exchanges messages by the transport. Here the transport of each device puts
what it sends into a common post. A device that wants what is not there yet is begun again later, with the messages that it has had
so far: the collective is a function of them. When nobody gets any further they would wait for each other forever.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from typing import Any

import numpy as np

from mindspore.prims import world
from mindspore.prims.collective import Collective
from mindspore.prims.world import Expected, Message

#: messages that were sent, by (source, destination, tag)
Post = defaultdict[tuple[int, int, int], deque]


class _Waits(Exception):
    """A device wants messages that are not there yet."""

    def __init__(self, receives: list[Expected], tag: int):
        super().__init__()
        self.sources, self.tag = [e.source for e in receives], tag


class _Member(world.Transport):
    """One device."""

    def __init__(self, rank: int, size: int, post: Post):
        self.rank, self.size, self._post = rank, size, post
        self._had: list[list[np.ndarray]] = []  # what each exchange so far gave
        self._place, self._sent = 0, False

    @property
    def progress(self) -> tuple[int, bool]:
        return len(self._had), self._sent

    def again(self) -> None:
        self._place = 0

    def exchange(self, sends: list[Message], receives: list[Expected], tag: int = 0) -> list[np.ndarray]:
        self._place += 1
        if self._place <= len(self._had):
            return self._had[self._place - 1]
        self._send(sends, tag)
        wanted = Counter((e.source, self.rank, tag) for e in receives)
        if any(len(self._post[key]) < count for key, count in wanted.items()):
            raise _Waits(receives, tag)
        self._had.append([world.as_expected(self._post[e.source, self.rank, tag].popleft(), e) for e in receives])
        self._sent = False
        return self._had[-1]

    def _send(self, sends: list[Message], tag: int) -> None:
        for message in () if self._sent else sends:
            if not 0 <= message.to < self.size:
                raise ValueError(f"there is no device of rank {message.to}: there are {self.size}, from 0 on.")
            self._post[self.rank, message.to, tag].append(np.array(message.array))
        self._sent = True


def communicated(op: Collective, args: list[list[Any]], post: Post) -> list[Any]:
    """The results of a collective on all devices, from the arguments of each."""
    members = [_Member(rank, len(args), post) for rank in range(len(args))]
    results: dict[int, Any] = {}
    while len(results) < len(args):
        waits: dict[int, _Waits] = {}
        before = [m.progress for m in members]
        for member in members:
            if member.rank not in results:
                member.again()
                try:
                    with world.acting_as(member):
                        results[member.rank] = op.communicate(*args[member.rank])
                except _Waits as wait:
                    waits[member.rank] = wait
        if waits and before == [m.progress for m in members]:
            rank, first = next(iter(waits.items()))
            raise RuntimeError(
                f"{op.name} would wait forever: device {rank} of {len(args)} expects a message of device {first.sources[0]} "
                f"(tag {first.tag}), which sends none. One process that stands for all devices gives them one program; where they have "
                "different ones, run as many processes: msrun --worker_num."
            )
    return [results[rank] for rank in range(len(args))]
