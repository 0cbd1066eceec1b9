"""A folder of a language model, ready to answer: tokenizer, engine, and the way of a request's events to the server's loop."""

from __future__ import annotations

import asyncio
import copy
import functools
import os
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from mindspore_serving.engine.errors import Kind, ServingError
from mindspore_serving.engine.threads import in_thread
from mindspore_serving.llm import sentences
from mindspore_serving.llm.checkpoint import Array
from mindspore_serving.llm.encoder import EncoderEngine
from mindspore_serving.llm.engine import Engine, Event, Limits, Reason
from mindspore_serving.llm.grammar import Grammars
from mindspore_serving.llm.sampling import Choice, Sampling
from mindspore_serving.llm.text import Stream, Tokenizer


@dataclass(frozen=True)
class Piece:
    """Text that came, the tokens it came from, and at the end the reason. `read`: the prompt's tokens, from the second on."""

    text: str
    choices: tuple[Choice, ...] = ()
    reason: Reason | None = None
    read: tuple[Choice, ...] = ()


class LanguageModel:
    """`folder`: of the model, or its GGUF file; `adapters`: folders by name; each is a model of its own to clients, on the same engine."""

    def __init__(self, folder: str, name: str = "", limits: Limits | None = None, adapters: Mapping[str, str] | None = None) -> None:
        self.name = name or os.path.basename(os.path.realpath(folder)).removesuffix(".gguf")
        self.parent = ""  # the name of the model whose adapter this is
        self._adapter = 0
        self._adapters = dict(adapters or {})
        self.tokenizer = Tokenizer(folder)
        self._pooling = sentences.read(folder, "lasttoken").pooling
        self.engine = Engine(folder, replace(limits or Limits(), adapters=tuple(self._adapters.values())))

    def adapted(self) -> Iterator[LanguageModel]:
        """This model with each of its adapters."""
        for number, name in enumerate(self._adapters, 1):
            variant = copy.copy(self)
            variant.name, variant.parent, variant._adapter, variant._adapters = name, self.name, number, {}
            yield variant

    @functools.cached_property
    def grammars(self) -> Grammars:
        shape = self.engine.shape
        return Grammars(self.tokenizer.written, shape.vocabulary, shape.end)

    async def embedding(self, prompt: list[int]) -> Array:
        if self._pooling != "lasttoken":
            raise ServingError(f"this model's vectors are made by {self._pooling} pooling, which is possible for encoders alone")
        events, send = _queue()
        sequence = self.engine.embed(prompt, send, self._adapter)
        try:
            event = await events.get()
        finally:
            self.engine.cancel(sequence)
        if event.embedding is None:
            raise event.error or ServingError("the engine stopped", Kind.UNAVAILABLE)
        return event.embedding

    async def answer(
        self, prompt: list[int], sampling: Sampling, schema: Any = None, priority: int = 0, reads: bool = False
    ) -> AsyncGenerator[Piece]:
        """The answer piece by piece, as JSON of a schema if one is given; `reads`: the first pieces tell the probabilities of the
        prompt's tokens. Leaving the iteration cancels the request."""
        events, send = _queue()
        constraint = None if schema is None else await in_thread(self.grammars.json, schema)  # large ones take seconds
        sequence = self.engine.submit(prompt, sampling, send, constraint, adapter=self._adapter, priority=priority, reads=reads)
        stream = Stream(self.tokenizer, sampling.stop)
        held: list[Choice] = []
        try:
            while True:
                event = await events.get()
                if event.error is not None:
                    raise event.error
                if event.read:
                    yield Piece("", read=event.read)
                    continue
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


class TextEncoder:
    """A folder of an encoder, ready to make vectors of texts."""

    def __init__(self, folder: str, name: str = "", kind: str = "float32", waiting: int = 1024) -> None:
        self.name = name or os.path.basename(os.path.realpath(folder))
        self.tokenizer = Tokenizer(folder)
        self.engine = EncoderEngine(folder, kind, waiting)

    async def embedding(self, prompt: list[int]) -> Array:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Array | ServingError] = loop.create_future()
        work = self.engine.embed(prompt, lambda found: loop.call_soon_threadsafe(_set, future, found))
        try:
            found = await future
        finally:
            work.cancelled = True
        if isinstance(found, ServingError):
            raise found
        return found


def _set(future: asyncio.Future[Array | ServingError], found: Array | ServingError) -> None:
    if not future.done():
        future.set_result(found)


def _queue() -> tuple[asyncio.Queue[Event], Callable[[Event], object]]:
    """Events for this task, and how the engine's thread sends them."""
    loop = asyncio.get_running_loop()
    events: asyncio.Queue[Event] = asyncio.Queue()
    return events, lambda event: loop.call_soon_threadsafe(events.put_nowait, event)
