"""A folder of a language model, ready to answer: tokenizer, engine, and the way of a request's events to the server's loop."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from mindspore_serving.llm.engine import Engine, Event, Limits, Reason
from mindspore_serving.llm.sampling import Choice, Sampling
from mindspore_serving.llm.text import Stream, Tokenizer


@dataclass(frozen=True)
class Piece:
    """Text that came, the tokens it came from, and at the end the reason."""

    text: str
    choices: tuple[Choice, ...] = ()
    reason: Reason | None = None


class LanguageModel:
    def __init__(self, folder: str, name: str = "", limits: Limits | None = None) -> None:
        self.name = name or os.path.basename(os.path.realpath(folder))
        self.tokenizer = Tokenizer(folder)
        self.engine = Engine(folder, limits)

    async def answer(self, prompt: list[int], sampling: Sampling) -> AsyncGenerator[Piece]:
        """The answer piece by piece. Leaving the iteration cancels the request."""
        loop = asyncio.get_running_loop()
        events: asyncio.Queue[Event] = asyncio.Queue()
        sequence = self.engine.submit(prompt, sampling, lambda event: loop.call_soon_threadsafe(events.put_nowait, event))
        stream = Stream(self.tokenizer, sampling.stop)
        held: list[Choice] = []
        try:
            while True:
                event = await events.get()
                if event.error is not None:
                    raise event.error
                if event.choice is None:
                    text = stream.finish()
                    yield Piece(text, tuple(held), "stop" if stream.stopped else event.reason)
                    return
                text = stream.add(event.choice.token)
                held.append(event.choice)
                if stream.stopped:
                    yield Piece(text, tuple(held), "stop")
                    return
                if text:
                    yield Piece(text, tuple(held))
                    held = []
        finally:
            self.engine.cancel(sequence)
