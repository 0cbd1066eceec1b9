"""Borders of images that are cut over devices in a grid: each device gives its neighbours strips of its own part."""

from __future__ import annotations

from typing import Any

from mindspore.ops.composition import Composition
from mindspore.prims.arrays import Concat
from mindspore.prims.collective import WORLD
from mindspore.prims.exchange import NeighborExchange

__all__ = ["NeighborExchangeV2"]

#: neighbours clockwise from above: where each lies, as (row, column)
_PLACES = ((-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1))


class NeighborExchangeV2(Composition):
    """Send strips of (N, C, H, W) to up to eight neighbours, and enlarge the part by the strips that come from them.

    Args:
        send_rank_ids, recv_rank_ids: the neighbours' ranks clockwise from above: top, top right, right … top left; -1: none.
        send_lens, recv_lens: how wide the strips are at the top, at the bottom, on the left, on the right.
        data_format: "NCHW".
        group: the group of processes.

    Examples:
        >>> alone = [-1] * 8
        >>> exchange = ops.NeighborExchangeV2(alone, [0, 1, 0, 0], alone, [0, 1, 0, 0], "NCHW")
        >>> exchange(ops.ones((1, 1, 2, 2))).shape
        (1, 1, 2, 2)
    """

    def __init__(
        self, send_rank_ids: list[int], send_lens: list[int], recv_rank_ids: list[int], recv_lens: list[int], data_format: str,
        group: str = WORLD,
    ):  # fmt: skip
        super().__init__(
            "NeighborExchangeV2", send_rank_ids=_whole_numbers("send_rank_ids", send_rank_ids, 8),
            send_lens=_whole_numbers("send_lens", send_lens, 4), recv_rank_ids=_whole_numbers("recv_rank_ids", recv_rank_ids, 8),
            recv_lens=_whole_numbers("recv_lens", recv_lens, 4), data_format=data_format, group=group,
        )  # fmt: skip
        if data_format != "NCHW":
            raise ValueError(f"For 'NeighborExchangeV2', 'data_format' must be 'NCHW', but got {data_format!r}.")
        for name, ranks in (("send_rank_ids", send_rank_ids), ("recv_rank_ids", recv_rank_ids)):
            _check_rectangle(name, ranks)

    def compose(self, x: Any, *others: Any) -> Any:
        if others:
            raise ValueError(f"For 'NeighborExchangeV2', there must be one input, but got {1 + len(others)}.")
        if x.ndim != 4:
            raise ValueError(f"For 'NeighborExchangeV2', the input must have 4 dimensions, but got shape {x.shape}.")
        height, width = x.shape[2:]
        for length, size, name in zip(self.send_lens, (height, height, width, width), ("top", "bottom", "left", "right")):
            if length > size:
                raise ValueError(
                    f"For 'NeighborExchangeV2', {length} rows or columns at the {name} cannot be sent of an input of shape {x.shape}."
                )
        sent = [self._strip(x, place) for place, rank in zip(_PLACES, self.send_rank_ids) if rank >= 0]
        targets = [rank for rank in self.send_rank_ids if rank >= 0]
        sources = {place: rank for place, rank in zip(_PLACES, self.recv_rank_ids) if rank >= 0}
        shapes = [(*x.shape[:2], *self._size(place, height, width)) for place in sources]
        if not sent and not sources:
            return x
        exchange = NeighborExchange(targets, list(sources.values()), shapes, [tuple(s.shape) for s in sent], x.dtype, self.group)
        received = dict(zip(sources, exchange(*sent)))
        received[0, 0] = x
        rows = []
        for row in (-1, 0, 1):
            parts = [received[row, column] for column in (-1, 0, 1) if (row, column) in received]
            if parts:
                rows.append(Concat(3)(tuple(parts)) if len(parts) > 1 else parts[0])
        return Concat(2)(tuple(rows)) if len(rows) > 1 else rows[0]

    def _size(self, place: tuple[int, int], height: int, width: int) -> tuple[int, int]:
        """Rows and columns of what comes from a neighbour."""
        top, bottom, left, right = self.recv_lens
        return {-1: top, 0: height, 1: bottom}[place[0]], {-1: left, 0: width, 1: right}[place[1]]

    def _strip(self, x: Any, place: tuple[int, int]) -> Any:
        """What a neighbour is sent."""
        top, bottom, left, right = self.send_lens
        height, width = x.shape[2:]
        rows = {-1: slice(0, top), 0: slice(None), 1: slice(height - bottom, None)}[place[0]]
        columns = {-1: slice(0, left), 0: slice(None), 1: slice(width - right, None)}[place[1]]
        return x[:, :, rows, columns]


def _whole_numbers(name: str, values: Any, count: int) -> list[int]:
    if not isinstance(values, list) or not all(isinstance(v, int) and not isinstance(v, bool) for v in values):
        raise TypeError(f"For 'NeighborExchangeV2', '{name}' must be a list of ints, but got {values!r}.")
    if len(values) != count:
        raise ValueError(f"For 'NeighborExchangeV2', '{name}' must have {count} entries, but got {len(values)}.")
    if min(values) < (-1 if count == 8 else 0):
        raise ValueError(f"For 'NeighborExchangeV2', '{name}' must not be negative (a rank may be -1), but got {values}.")
    return values


def _check_rectangle(name: str, ranks: list[int]) -> None:
    """Whoever exchanges a corner exchanges the sides beside it, and the other way round, or it makes no rectangle."""
    for corner in (1, 3, 5, 7):
        beside = ranks[corner - 1] >= 0 and ranks[(corner + 1) % 8] >= 0
        if beside != (ranks[corner] >= 0):
            raise ValueError(f"For 'NeighborExchangeV2', {name} {ranks} makes no rectangle: a corner goes with both sides beside it.")
    known = [rank for rank in ranks if rank >= 0]
    if len(set(known)) != len(known):
        raise ValueError(f"For 'NeighborExchangeV2', {name} {ranks} names a rank twice.")
