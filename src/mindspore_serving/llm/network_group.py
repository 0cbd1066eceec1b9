"""A network whose parts are in processes of their own (`agent.py`), as the engine sees it."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindspore_serving import log
from mindspore_serving.engine.agent_group import AgentGroup, Answer, GroupPlace
from mindspore_serving.engine.starter import Starter
from mindspore_serving.llm.cut import Share
from mindspore_serving.llm.network import Part
from mindspore_serving.llm.sampling import Scores

#: how often agents are started anew before the model is given up
_RESTARTS = 1000
#: seconds until all agents must have loaded their share
_PATIENCE = 600


class NetworkGroup:
    """What a `Network` has. `Lost` (`engine/errors.py`) from them: keys and values are gone, new agents are coming."""

    def __init__(self, folder: str, kind: str, pages: int, adapters: Sequence[str], parts: int, stages: int) -> None:
        self._answering = Share(0, parts, stages - 1, stages).rank
        settings = {
            "folder": folder, "weights": kind, "pages": pages, "adapters": list(adapters), "parts": parts, "stages": stages
        }  # fmt: skip
        secret = secrets.token_hex(32)
        place = GroupPlace("127.0.0.1:0", ["127.0.0.1"] * (parts * stages), _PATIENCE, secret)
        self._group = AgentGroup(settings, place, lambda: log.error(f"the agents of {folder} cannot be started again"))
        try:
            self._starter = Starter(
                self._group.address, secret, "mindspore_serving.llm.agent", lambda ranks: [{}] * len(ranks), _RESTARTS
            )
            self._starter.begin()
        except BaseException:
            self._group.close()
            raise

    ahead = 0

    def begin(self, parts: Sequence[Part]) -> Callable[[], list[Scores]]:
        """A step, which is done when this returns."""
        found = self.forward(parts)
        return lambda: found

    def rows_of(self, parts: Sequence[Part]) -> list[int]:
        """No step names rows of another."""
        return [-1] * len(parts)

    def forward(self, parts: Sequence[Part]) -> list[Scores]:
        """Scores of what follows the tokens that are wanted, in their order."""
        order = {"kind": "step", "parts": [_fields(part) for part in parts]}
        return _scores(self._group.call(order)[self._answering])

    def warm(self, rows: int, prompt: bool) -> None:
        self._group.call({"kind": "warm", "rows": rows, "prompt": prompt})

    def prepare(self, first: int, last: int) -> None:
        self._group.call({"kind": "prepare", "first": first, "last": last})

    def close(self) -> None:
        self._group.close()
        self._starter.stop()


def _fields(part: Part) -> list[Any]:
    return [part.tokens, part.start, part.table, part.wanted, part.embeds, part.adapter]


def _scores(answer: Answer) -> list[Scores]:
    if not answer[1]:
        return []
    best, totals, *logits = (np.asarray(value) for value in answer[1])
    return [Scores(row, int(place), float(total)) for row, place, total in zip(logits, best, totals)]


__all__ = ["NetworkGroup"]
