"""A smaller model of the same vocabulary guesses greedily. It has a cache of its own, which follows what the large one accepts."""

from __future__ import annotations

from dataclasses import dataclass, field

from mindspore_serving.llm.cache import BLOCK, OutOfPages, PageTable, pages_for
from mindspore_serving.llm.checkpoint import load
from mindspore_serving.llm.network import Network, Part


@dataclass
class _State:
    """`known`: the tokens whose keys and values are in the cache."""

    table: list[int] = field(default_factory=list)
    known: list[int] = field(default_factory=list)


class DraftModel:
    def __init__(self, folder: str, vocabulary: int, megabytes: int, weights: str) -> None:
        shape, arrays = load(folder)
        if shape.vocabulary != vocabulary:
            raise ValueError(f"the draft model {folder} has {shape.vocabulary} tokens, but the model has {vocabulary}")
        count = pages_for(megabytes, weights, shape.layers, shape.kv_heads, shape.head_width)
        self._positions = shape.positions
        self._pages = PageTable(count)
        self._network = Network(shape, arrays, weights, count)
        self._states: dict[int, _State] = {}

    def guess(self, numbers: list[int], tokens: list[list[int]], count: int) -> list[list[int]]:
        texts = [list(mine) for mine in tokens]
        states = [self._states.setdefault(number, _State()) for number in numbers]
        for _ in range(count):
            able = [n for n, (state, text) in enumerate(zip(states, texts)) if self._reserve(state, len(text))]
            if not able:
                break
            parts = [_part(states[n], texts[n]) for n in able]
            for n, score in zip(able, self._network.forward(parts)):
                states[n].known = list(texts[n])
                texts[n].append(score.best)
        return [text[len(mine) :] for text, mine in zip(texts, tokens)]

    def _reserve(self, state: _State, tokens: int) -> bool:
        if tokens > self._positions:
            return False
        try:
            while len(state.table) * BLOCK < tokens:
                state.table.append(self._pages.take())
        except OutOfPages:
            return False
        return True

    def forget(self, number: int) -> None:
        state = self._states.pop(number, None)
        if state is not None:
            self._pages.release(state.table)


def _part(state: _State, text: list[int]) -> Part:
    """What the cache does not hold yet: it may hold guesses that were wrong."""
    begin = next((n for n, (a, b) in enumerate(zip(state.known, text)) if a != b), min(len(state.known), len(text) - 1))
    return Part(text[begin:], begin, state.table, 1)


__all__ = ["DraftModel"]
