"""Guesses of the next tokens. The engine computes them along and keeps those that are right (Leviathan et al., 2023)."""

from __future__ import annotations

from typing import Protocol


class Draft(Protocol):
    """Sequences are known by number; what is forgotten does not come again."""

    def guess(self, numbers: list[int], tokens: list[list[int]], count: int) -> list[list[int]]:
        """Up to `count` tokens that may follow each sequence."""

    def forget(self, number: int) -> None:
        """A sequence has ended."""


class NoDraft:
    def guess(self, numbers: list[int], tokens: list[list[int]], count: int) -> list[list[int]]:
        return [[] for _ in numbers]

    def forget(self, number: int) -> None:
        pass


class Lookup:
    """What followed the last two tokens where they stood together before: texts repeat themselves (Saxena, Prompt lookup, 2023)."""

    def __init__(self) -> None:
        self._seen: dict[int, dict[tuple[int, int], int]] = {}  # sequence -> pair -> the place behind it
        self._read: dict[int, int] = {}

    def guess(self, numbers: list[int], tokens: list[list[int]], count: int) -> list[list[int]]:
        return [self._guess(number, mine, count) for number, mine in zip(numbers, tokens)]

    def _guess(self, number: int, tokens: list[int], count: int) -> list[int]:
        seen = self._seen.setdefault(number, {})
        for place in range(self._read.get(number, 2), len(tokens)):  # the last pair is not noted: it is what is looked for
            seen[tokens[place - 2], tokens[place - 1]] = place
        self._read[number] = len(tokens)
        found = seen.get((tokens[-2], tokens[-1])) if len(tokens) > 1 else None
        return [] if found is None else tokens[found : found + count]

    def forget(self, number: int) -> None:
        self._seen.pop(number, None)
        self._read.pop(number, None)


__all__ = ["Draft", "Lookup", "NoDraft"]
