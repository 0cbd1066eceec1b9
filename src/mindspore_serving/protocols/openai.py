"""OpenAI's API: `/v1/models`, `/v1/completions` and `/v1/chat/completions`, whole or as server-sent events, and `/v1/embeddings`.

`responses.py` has `/v1/responses`, which is the chat in other words.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import functools
import math
import secrets
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np
import orjson

from mindspore_serving.engine.errors import Kind, ServingError
from mindspore_serving.engine.threads import in_thread
from mindspore_serving.llm.checkpoint import Array
from mindspore_serving.llm.language_models import LanguageModels
from mindspore_serving.llm.sampling import Sampling
from mindspore_serving.protocols.http import Exchange, Handler, retry_after
from mindspore_serving.protocols.logprobs import ChatLogprobs, Logprobs, TextLogprobs
from mindspore_serving.protocols.tools import Tools

if TYPE_CHECKING:
    from mindspore_serving.llm.language_model import LanguageModel, Piece, TextEncoder

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")

#: answers, prompts and stop texts of one request
_MAX_ANSWERS, _MAX_PROMPTS, _MAX_STOPS = 16, 512, 16
#: texts to make vectors of, by which clients send all they have
_MAX_TEXTS = 2048
#: how many answers or vectors of one request are made at once: the others wait in it, not in the queue of all
_AT_ONCE = 64
#: characters of a stop text; each is looked for with every token
_LONGEST_STOP = 1024
#: bytes of a request whose texts take so long to cut into tokens that a thread of its own does it
_LONG = 1 << 14


#: what is done with the body of a request
Endpoint = Callable[[LanguageModels, Exchange, dict[str, Any]], Awaitable[None]]


def handler(models: LanguageModels, more: Mapping[str, Endpoint]) -> Handler:
    """`more`: what is done at other paths."""
    endpoints = _ENDPOINTS | dict(more)

    async def answer(exchange: Exchange) -> None:
        try:
            await _answer(models, exchange, endpoints)
        except ServingError as error:
            kind = "invalid_request_error" if error.kind.http < 500 else "server_error"
            body = {"error": {"message": error.message, "type": kind, "param": None, "code": None}}
            await exchange.answer_json(body, error.kind.http, retry_after(error))

    return answer


async def _answer(models: LanguageModels, exchange: Exchange, endpoints: Mapping[str, Endpoint]) -> None:
    path = exchange.path.rstrip("/")
    if path == "/v1/models" and exchange.method == "GET":
        await exchange.answer_json({"object": "list", "data": [_listed(models.embedder(name)) for name in models.names]})
    elif path.startswith("/v1/models/") and exchange.method == "GET":
        await exchange.answer_json(_listed(models.embedder(path.removeprefix("/v1/models/"))))
    elif path in endpoints and exchange.method == "POST":
        body = await exchange.json()
        if not isinstance(body, dict):
            raise ServingError("the body must be an object")
        _refuse_depths(body)
        await endpoints[path](models, exchange, body)
    else:
        raise ServingError(f"there is nothing at {exchange.method} {exchange.path[:200]}", Kind.NOT_FOUND)


def _refuse_depths(body: dict[str, Any]) -> None:
    """Parts of a request go to templates and come back in answers, as JSON that cannot be written deeper than it can be read."""
    try:
        orjson.dumps([[[[body]]]])  # as deep as an answer may have it
    except TypeError:
        raise ServingError("the request is nested too deeply") from None


def _listed(model: LanguageModel | TextEncoder) -> dict[str, Any]:
    """A model in lists; `parent`: whose adapter it is."""
    parent = getattr(model, "parent", "")
    adapter = {"parent": parent} if parent else {}
    return {"id": model.name, "object": "model", "created": 0, "owned_by": "mindspore", **adapter}


@dataclass
class Request:
    model: LanguageModel
    chat: bool
    prompts: list[list[int]]
    samplings: list[Sampling]  # one for each answer to each prompt
    id: str
    created: int
    with_usage: bool
    schema: Any = None  # of the answer, if it must be JSON
    tools: Tools | None = None
    returned: int = 0  # the best of all answers to a prompt; 0: all
    priority: int = 0  # lower ones come first
    echo: bool = False  # the prompt is part of the answer

    def answer(self, prompt: list[int], sampling: Sampling) -> AsyncGenerator[Piece]:
        reads = self.echo and sampling.logprobs is not None
        pieces = self.model.answer(prompt, sampling, self.schema, self.priority, reads)
        return _behind(self.model.tokenizer.decode(prompt), pieces) if self.echo else pieces

    def logprobs(self, prompt: list[int], sampling: Sampling) -> Logprobs | None:
        """What describes the tokens of an answer, if that is wanted."""
        if sampling.logprobs is None:
            return None
        tokenizer = self.model.tokenizer
        return ChatLogprobs(tokenizer) if self.chat else TextLogprobs(tokenizer, prompt[0] if self.echo else None)

    @property
    def jobs(self) -> list[tuple[int, list[int], Sampling]]:
        """(index, prompt, sampling) of all answers."""
        count = len(self.samplings)
        return [(p * count + n, prompt, s) for p, prompt in enumerate(self.prompts) for n, s in enumerate(self.samplings)]

    def usage(self, made: int) -> dict[str, int]:
        prompt = sum(map(len, self.prompts))
        return {"prompt_tokens": prompt, "completion_tokens": made, "total_tokens": prompt + made}

    def head(self, chunk: bool) -> dict[str, Any]:
        kind = ("chat.completion.chunk" if chunk else "chat.completion") if self.chat else "text_completion"
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model.name}


async def _behind(text: str, pieces: AsyncGenerator[Piece]) -> AsyncGenerator[Piece]:
    """The same pieces, the first one behind a text."""
    async with contextlib.aclosing(pieces):
        async for piece in pieces:
            yield replace(piece, text=text + piece.text)
            text = ""


#: what OpenAI's API and other servers have and is not here; of no effect where it is empty
_IMPOSSIBLE = ("suffix", "functions", "function_call", "audio", "web_search_options", "min_tokens", "stop_token_ids", "bad_words",
               "allowed_token_ids", "prompt_logprobs", "truncate_prompt_tokens", "use_beam_search", "logits_processors",
               "guided_json", "guided_regex", "guided_choice", "guided_grammar", "structured_outputs", "grammar",
               "include_stop_str_in_output")  # fmt: skip
_INSTEAD = {"functions": "tools", "function_call": "tools", "guided_json": "response_format", "structured_outputs": "response_format"}


def _refuse_impossible(body: dict[str, Any], chat: bool) -> None:
    for name in _IMPOSSIBLE:
        if body.get(name):
            raise ServingError(f"'{name}' is not possible here" + (f"; use '{_INSTEAD[name]}'" if name in _INSTEAD else ""))
    if chat and body.get("top_logprobs") is not None and body.get("logprobs") is not True:
        raise ServingError("'top_logprobs' needs 'logprobs': true")
    if body.get("stream_options") is not None and body.get("stream") is not True:
        raise ServingError("'stream_options' is for 'stream': true alone")
    if body.get("modalities") not in (None, ["text"]):
        raise ServingError("'modalities' can be ['text'] alone")


def parsed(models: LanguageModels, body: dict[str, Any], chat: bool) -> Request:
    model = models.find(body.get("model"))
    _refuse_impossible(body, chat)
    prompts = [_chat_prompt(model, body)] if chat else _prompts(model, body.get("prompt"), "prompt")
    sampling = _sampling(body, chat, model.engine.longest - max(map(len, prompts)))
    count = int(_number(body, "n", 1, 1, _MAX_ANSWERS, whole=True))
    made = count if chat else int(_number(body, "best_of", count, count, _MAX_ANSWERS, whole=True))
    if made > count and body.get("stream") is True:
        raise ServingError("'best_of' cannot be streamed: which answers are the best is known at the end")
    samplings = [replace(sampling, seed=sampling.seed + n) for n in range(made)]
    tools = Tools.of(body) if chat else None
    schema = tools.schema if tools is not None and tools.schema is not None else _schema(body.get("response_format"))
    options = body.get("stream_options") or {}
    if not isinstance(options, dict):
        raise ServingError("'stream_options' must be an object")
    name = ("chatcmpl-" if chat else "cmpl-") + secrets.token_hex(12)
    with_usage = options.get("include_usage") is True
    priority = int(_number(body, "priority", 0, -(2**31), 2**31, whole=True))
    returned = count if made > count else 0
    echo = not chat and body.get("echo") is True
    return Request(model, chat, prompts, samplings, name, int(time.time()), with_usage, schema, tools, returned, priority, echo)


def _schema(given: Any) -> Any:
    """The JSON schema of a `response_format`."""
    if given is None or given == {"type": "text"}:
        return None
    if isinstance(given, dict) and given.get("type") == "json_object":
        return {"type": "object"}
    described = given.get("json_schema") if isinstance(given, dict) and given.get("type") == "json_schema" else None
    if not isinstance(described, dict) or not isinstance(described.get("schema"), (dict, bool)):
        raise ServingError("'response_format' must be text, json_object, or json_schema with a 'schema'")
    return described["schema"]


def _chat_prompt(model: LanguageModel, body: dict[str, Any]) -> list[int]:
    messages = body.get("messages")
    if (
        not isinstance(messages, list)
        or not messages
        or not all(isinstance(m, dict) and isinstance(m.get("role"), str) for m in messages)
    ):
        raise ServingError("'messages' must be a list of objects with 'role' and 'content'")
    tools = None if body.get("tool_choice") == "none" else body.get("tools")
    options = body.get("chat_template_kwargs") or {}
    if not isinstance(options, dict):
        raise ServingError("'chat_template_kwargs' must be an object")
    return model.tokenizer.chat([_message(message) for message in messages], tools, model.engine.shape.positions, options)


def _message(message: dict[str, Any]) -> dict[str, Any]:
    content = message.get("content")
    if isinstance(content, list):
        if not all(isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str) for part in content):
            raise ServingError("only texts are possible in 'content'")
        return {**message, "content": "".join(part["text"] for part in content)}
    if content is not None and not isinstance(content, str):
        raise ServingError("'content' must be a text")
    return message


def _prompts(model: LanguageModel | TextEncoder, prompt: Any, name: str, most: int = _MAX_PROMPTS) -> list[list[int]]:
    """A text, several texts, tokens, or several lists of tokens."""
    if isinstance(prompt, str):
        prompt = [prompt]
    if isinstance(prompt, list) and prompt and all(isinstance(item, int) for item in prompt):
        prompt = [prompt]
    if not isinstance(prompt, list) or not 0 < len(prompt) <= most:
        raise ServingError(f"'{name}' must be a text, a list of at most {most} texts, or tokens")
    found = []
    for item in prompt:
        if isinstance(item, str):
            found.append(model.tokenizer.encode(item, most=model.engine.shape.positions))
        elif isinstance(item, list) and all(isinstance(token, int) and not isinstance(token, bool) for token in item):
            found.append(item)
        else:
            raise ServingError(f"'{name}' must be texts or lists of tokens")
    if not all(found):
        raise ServingError(f"'{name}' is empty")
    return found


def _number(body: dict[str, Any], name: str, default: float, low: float, high: float, whole: bool = False) -> float:
    value = body.get(name)
    if value is None:
        return default
    if (
        isinstance(value, bool)
        or not isinstance(value, int if whole else (int, float))
        or not low <= value <= high
        or not math.isfinite(value)
    ):
        raise ServingError(
            f"'{name}' must be {'a whole number' if whole else 'a number'} from {low} to {high}, but is {value!r}"[:200]
        )
    return float(value)


def _sampling(body: dict[str, Any], chat: bool, room: int) -> Sampling:
    least = 0 if not chat and body.get("echo") is True else 1  # of the tokens of an answer: where the prompt comes back, none may be wanted
    longest = _number(
        body, "max_completion_tokens", _number(body, "max_tokens", room if chat else 16, least, 1 << 20, True), least, 1 << 20, True
    )
    stop = body.get("stop") or []
    stops = [stop] if isinstance(stop, str) else stop
    if not isinstance(stops, list) or len(stops) > _MAX_STOPS or not all(isinstance(text, str) and text for text in stops):
        raise ServingError(f"'stop' must be a text or a list of at most {_MAX_STOPS} texts")
    if any(len(text) > _LONGEST_STOP for text in stops):
        raise ServingError(f"a text of 'stop' has more than {_LONGEST_STOP} characters")
    return Sampling(
        temperature=_number(body, "temperature", 1.0, 0.0, 100.0),
        top_k=int(_number(body, "top_k", 0, -1, 1 << 20, True)),
        top_p=_number(body, "top_p", 1.0, 0.0, 1.0),
        min_p=_number(body, "min_p", 0.0, 0.0, 1.0),
        repetition_penalty=_number(body, "repetition_penalty", 1.0, 0.01, 100.0),
        presence_penalty=_number(body, "presence_penalty", 0.0, -2.0, 2.0),
        frequency_penalty=_number(body, "frequency_penalty", 0.0, -2.0, 2.0),
        seed=_seed(body),
        max_tokens=max(min(int(longest), 1 << 20), least),
        stop=tuple(stops),
        ignore_end=body.get("ignore_eos") is True,
        logprobs=_logprobs(body, chat),
        bias=_bias(body.get("logit_bias")),
    )


def _seed(body: dict[str, Any]) -> int:
    """The number that random numbers come from: 0 or more."""
    given = body.get("seed")
    if given is None:
        return secrets.randbits(31)
    if isinstance(given, bool) or not isinstance(given, int) or not -(2**63) <= given < 2**63:
        raise ServingError(f"'seed' must be a whole number of 64 bits, but is {given!r}"[:200])
    return given % 2**64


def _logprobs(body: dict[str, Any], chat: bool) -> int | None:
    if not chat:
        return None if body.get("logprobs") is None else int(_number(body, "logprobs", 0, 0, 20, True))
    return int(_number(body, "top_logprobs", 0, 0, 20, True)) if body.get("logprobs") is True else None


def _bias(given: Any) -> dict[int, float]:
    if given is None:
        return {}
    if not isinstance(given, dict) or not all(key.isascii() and key.isdecimal() and len(key) < 10 for key in given):
        raise ServingError("'logit_bias' must be an object from tokens to numbers from -100 to 100")
    return {int(key): _number(given, key, 0.0, -100.0, 100.0) for key in given}


async def parsed_chat(models: LanguageModels, body: dict[str, Any]) -> Request:
    """What a chat asks for; its template runs in another process, which is waited for."""
    return await in_thread(parsed, models, body, True)


async def _read_aside(exchange: Exchange, read: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What `read` makes of a request; the server's loop does not wait where that takes long."""
    if exchange.size < _LONG:
        return read(*args, **kwargs)
    return await in_thread(read, *args, **kwargs)


async def _generate(models: LanguageModels, exchange: Exchange, body: dict[str, Any], chat: bool) -> None:
    request = await (parsed_chat(models, body) if chat else _read_aside(exchange, parsed, models, body, False))
    if body.get("stream") is True:
        first = _Merged(request)
        await first.start()
        await exchange.stream(_events(request, first))
        return
    answers = await exchange.while_there(_each(functools.partial(_whole, request), request.jobs))
    made = sum(answer.tokens for answer in answers)
    best = _best(answers, len(request.samplings), request.returned) if request.returned else answers
    choices = [{"index": index, **answer.entry} for index, answer in enumerate(best)]
    await exchange.answer_json({**request.head(False), "choices": choices, "usage": request.usage(made)})


async def _each(work: Callable[[S], Awaitable[T]], items: list[S]) -> list[T]:
    """What work gives for all items; when it fails for one, the others end, too."""
    places = asyncio.Semaphore(_AT_ONCE)

    async def one(item: S) -> T:
        async with places:
            return await work(item)

    tasks = [asyncio.ensure_future(one(item)) for item in items]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


def _best(answers: list[_Answer], made: int, returned: int) -> list[_Answer]:
    """Of the answers to each prompt those with the highest log-probability per token."""
    groups = [answers[begin : begin + made] for begin in range(0, len(answers), made)]
    return [answer for group in groups for answer in sorted(group, key=lambda a: -a.likelihood)[:returned]]


async def _complete(models: LanguageModels, exchange: Exchange, body: dict[str, Any]) -> None:
    await _generate(models, exchange, body, False)


async def _chat(models: LanguageModels, exchange: Exchange, body: dict[str, Any]) -> None:
    await _generate(models, exchange, body, True)


async def _embed(models: LanguageModels, exchange: Exchange, body: dict[str, Any]) -> None:
    model = models.embedder(body.get("model"))
    form = body.get("encoding_format") or "float"
    if form not in ("float", "base64"):
        raise ServingError("'encoding_format' must be 'float' or 'base64'")
    prompts = await _read_aside(exchange, _prompts, model, body.get("input"), "input", _MAX_TEXTS)
    vectors = await exchange.while_there(_each(model.embedding, prompts))
    vectors = [_shortened(vector, body) for vector in vectors]
    encoded = [base64.b64encode(v.astype("<f4").tobytes()).decode() if form == "base64" else v for v in vectors]
    data = [{"object": "embedding", "index": index, "embedding": vector} for index, vector in enumerate(encoded)]
    count = sum(map(len, prompts))
    usage = {"prompt_tokens": count, "total_tokens": count}
    await exchange.answer_json({"object": "list", "data": data, "model": model.name, "usage": usage})


def _shortened(vector: Array, body: dict[str, Any]) -> Array:
    """The first `dimensions` numbers, of length 1 again, if the request wants fewer."""
    wanted = int(_number(body, "dimensions", len(vector), 1, len(vector), whole=True))
    if wanted == len(vector):
        return vector
    length = float(np.linalg.norm(vector[:wanted]))
    return vector[:wanted] / length if length else vector[:wanted]


@dataclass
class _Answer:
    """An entry of 'choices', the number of its tokens, and their mean log-probability."""

    entry: dict[str, Any]
    tokens: int
    likelihood: float


async def _whole(request: Request, job: tuple[int, list[int], Sampling]) -> _Answer:
    _, prompt, sampling = job
    async with contextlib.aclosing(request.answer(prompt, sampling)) as answer:
        pieces = [piece async for piece in answer]
    text = "".join(piece.text for piece in pieces)
    chosen = [choice for piece in pieces for choice in piece.choices]
    described = request.logprobs(prompt, sampling)
    reason: str | None = pieces[-1].reason
    content: dict[str, Any] = {"text": text}
    if request.chat:
        content = {"message": {"role": "assistant", "content": text}}
        calls = request.tools.calls(text) if request.tools is not None else []
        if calls:
            content = {"message": {"role": "assistant", "content": None, "tool_calls": calls}}
            reason = "tool_calls" if reason == "stop" else reason
    tokens = [choice for piece in pieces for choice in (*piece.read, *piece.choices)]
    entry = {"finish_reason": reason, "logprobs": described.of(tokens) if described is not None else None, **content}
    return _Answer(entry, len(chosen), sum(choice.logprob for choice in chosen) / max(len(chosen), 1))


class _Merged:
    """The pieces of all answers of a request, as they come."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._pieces: asyncio.Queue[tuple[int, Piece | ServingError]] = asyncio.Queue()
        self._places = asyncio.Semaphore(_AT_ONCE)
        self._tasks: list[asyncio.Task[None]] = []
        self._first: list[tuple[int, Piece]] = []

    async def start(self) -> None:
        """Wait for the first piece, so that a request that is refused gets a status of its own."""
        self._tasks = [asyncio.ensure_future(self._run(*job)) for job in self._request.jobs]
        index, piece = await self._pieces.get()
        if isinstance(piece, ServingError):
            self._cancel()
            raise piece
        self._first = [(index, piece)]

    async def _run(self, index: int, prompt: list[int], sampling: Sampling) -> None:
        try:
            async with self._places, contextlib.aclosing(self._request.answer(prompt, sampling)) as pieces:
                async for piece in _gathered(pieces) if self._request.tools is not None else pieces:
                    await self._pieces.put((index, piece))
        except ServingError as error:
            await self._pieces.put((index, error))

    def _cancel(self) -> None:
        for task in self._tasks:
            task.cancel()

    async def items(self) -> AsyncGenerator[tuple[int, Piece | ServingError]]:
        unfinished = len(self._tasks)
        try:
            while unfinished:
                item = self._first.pop() if self._first else await self._pieces.get()
                unfinished -= isinstance(item[1], ServingError) or item[1].reason is not None
                yield item
        finally:
            self._cancel()


async def _gathered(pieces: AsyncGenerator[Piece]) -> AsyncGenerator[Piece]:
    """All in one piece: whether a text calls tools is known at its end."""
    found = [piece async for piece in pieces]
    choices = tuple(choice for piece in found for choice in piece.choices)
    yield replace(found[-1], text="".join(piece.text for piece in found), choices=choices)


async def _events(request: Request, pieces: _Merged) -> AsyncGenerator[bytes]:
    head = request.head(True)
    made = 0
    begun: set[int] = set()
    described = {index: request.logprobs(prompt, sampling) for index, prompt, sampling in request.jobs}
    async with contextlib.aclosing(pieces.items()) as items:
        async for index, piece in items:
            if isinstance(piece, ServingError):
                yield _event({"error": {"message": piece.message, "type": "server_error"}})
                continue
            made += len(piece.choices)
            for entry in _entries(request, index, described[index], piece, index not in begun):
                yield _event({**head, "choices": [entry], **({"usage": None} if request.with_usage else {})})
            begun.add(index)
    if request.with_usage:
        yield _event({**head, "choices": [], "usage": request.usage(made)})
    yield b"data: [DONE]\n\n"


def _entries(request: Request, index: int, described: Logprobs | None, piece: Piece, first: bool) -> Iterator[dict[str, Any]]:
    """A piece as it is sent: calls of tools one by one, and why the answer ends behind them, since clients take a call that comes with
    the end for one that is not over."""
    logprobs = described.of([*piece.read, *piece.choices]) if described is not None else None
    entry: dict[str, Any] = {"index": index, "finish_reason": piece.reason, "logprobs": logprobs}
    if not request.chat:
        yield {**entry, "text": piece.text}
        return
    role = {"role": "assistant"} if first else {}
    calls = request.tools.calls(piece.text) if request.tools is not None else []
    for number, call in enumerate(calls):
        yield {**entry, "finish_reason": None, "delta": {**role, "tool_calls": [{"index": number, **call}]}}
        role, entry["logprobs"] = {}, None
    if calls:
        yield {**entry, "finish_reason": "tool_calls" if piece.reason == "stop" else piece.reason, "delta": {}}
    else:
        yield {**entry, "delta": {**role, "content": piece.text} if piece.text or role else {}}


def _event(value: Any) -> bytes:
    return b"data: " + orjson.dumps(value) + b"\n\n"


_ENDPOINTS: dict[str, Endpoint] = {"/v1/completions": _complete, "/v1/chat/completions": _chat, "/v1/embeddings": _embed}
