"""OpenAI's `/v1/responses`: the chat in other words. A request is written as one of `/v1/chat/completions`, its answer as an item
('message', or 'function_call' for each call of a tool), whole or as events that say what is begun, what is added and what is done.

Nothing is kept between requests: what went before is given again in 'input'.
"""

from __future__ import annotations

import contextlib
import itertools
import secrets
from collections.abc import AsyncGenerator, Iterator
from typing import TYPE_CHECKING, Any

import orjson

from mindspore_serving.engine.errors import ServingError
from mindspore_serving.llm.language_models import LanguageModels
from mindspore_serving.protocols.http import Exchange
from mindspore_serving.protocols.openai import Request, parsed_chat

if TYPE_CHECKING:
    from mindspore_serving.llm.language_model import Piece

Json = dict[str, Any]

#: settings that the chat has under the same name, and under another one
_SAME = ("model", "temperature", "top_p", "top_k", "min_p", "seed", "stop", "logit_bias", "presence_penalty", "frequency_penalty",
         "repetition_penalty", "priority", "ignore_eos", "parallel_tool_calls", "chat_template_kwargs", "stream")  # fmt: skip
#: what needs answers that are kept, or tools of OpenAI's own
_IMPOSSIBLE = ("previous_response_id", "conversation", "background", "prompt", "top_logprobs", "max_tool_calls")


async def generate(models: LanguageModels, exchange: Exchange, body: Json) -> None:
    request = await parsed_chat(models, _chat(body))
    answer = _Answer(request, body)
    if body.get("stream") is True:
        pieces = request.answer(request.prompts[0], request.samplings[0])
        begun = await anext(pieces)  # so that a request that is refused gets a status of its own
        await exchange.stream(_events(answer, begun, pieces))
        return
    await exchange.while_there(answer.read())
    await exchange.answer_json(answer.described("completed"))


def _chat(body: Json) -> Json:
    """The same request as the chat has it."""
    for name in _IMPOSSIBLE:
        if body.get(name):
            raise ServingError(f"'{name}' is not possible here")
    found = {name: body[name] for name in _SAME if body.get(name) is not None}
    instructions = body.get("instructions")
    if instructions is not None and not isinstance(instructions, str):
        raise ServingError("'instructions' must be a text")
    system = [{"role": "system", "content": instructions}] if instructions else []
    found["messages"] = [*system, *_messages(body.get("input"))]
    found["max_completion_tokens"] = body.get("max_output_tokens")
    if body.get("tools"):
        found["tools"] = [_tool(tool) for tool in body["tools"]] if isinstance(body["tools"], list) else body["tools"]
    choice = body.get("tool_choice")
    found["tool_choice"] = {"type": "function", "function": choice} if isinstance(choice, dict) and "name" in choice else choice
    text = body.get("text") or {}
    if not isinstance(text, dict):
        raise ServingError("'text' must be an object")
    found["response_format"] = _format(text.get("format"))
    return found


def _format(given: Any) -> Any:
    if isinstance(given, dict) and given.get("type") == "json_schema":
        return {"type": "json_schema", "json_schema": given}
    return given


def _tool(tool: Any) -> Any:
    if not isinstance(tool, dict) or tool.get("type") != "function":
        raise ServingError("'tools' must be a list of {'type': 'function', 'name': …, 'parameters': …}")
    return {"type": "function", "function": {name: value for name, value in tool.items() if name != "type"}}


def _messages(given: Any) -> Iterator[Json]:
    if isinstance(given, str):
        given = [{"role": "user", "content": given}]
    if not isinstance(given, list) or not given or not all(isinstance(item, dict) for item in given):
        raise ServingError("'input' must be a text or a list of items")
    for item in given:
        kind = item.get("type", "message")
        if kind == "message":
            yield {"role": item.get("role"), "content": _content(item.get("content"))}
        elif kind == "function_call":
            function = {"name": item.get("name"), "arguments": item.get("arguments")}
            call = {"id": item.get("call_id"), "type": "function", "function": function}
            yield {"role": "assistant", "content": None, "tool_calls": [call]}
        elif kind == "function_call_output":
            yield {"role": "tool", "tool_call_id": item.get("call_id"), "content": _content(item.get("output"))}
        elif kind != "reasoning":
            raise ServingError(f"items of the type {kind!r} are not possible in 'input'"[:200])


def _content(given: Any) -> Any:
    """Parts of a text are called otherwise there."""
    if not isinstance(given, list):
        return given
    known = ("input_text", "output_text", "text")
    return [{**part, "type": "text"} if isinstance(part, dict) and part.get("type") in known else part for part in given]


def _name(kind: str) -> str:
    return f"{kind}_{secrets.token_hex(12)}"


class _Answer:
    """What comes of a request, and how it is described."""

    def __init__(self, request: Request, body: Json) -> None:
        self.request, self._body = request, body
        self._id, self._message = _name("resp"), _name("msg")
        self.text = ""
        self.made = 0
        self.reason: str | None = None
        self.calls: list[Json] = []

    async def read(self) -> None:
        async with contextlib.aclosing(self.request.answer(self.request.prompts[0], self.request.samplings[0])) as pieces:
            async for piece in pieces:
                self.take_in(piece)

    def take_in(self, piece: Piece) -> None:
        self.text += piece.text
        self.made += len(piece.choices)
        self.reason = piece.reason
        if piece.reason is not None and self.request.tools is not None:
            self.calls = [
                {"type": "function_call", "id": _name("fc"), "call_id": call["id"], **call["function"], "status": "completed"}
                for call in self.request.tools.calls(self.text)
            ]

    @property
    def status(self) -> str:
        return "incomplete" if self.reason == "length" else "completed"

    @property
    def items(self) -> list[Json]:
        return self.calls or [self.message(self.status, [self.part(self.text)])]

    def message(self, status: str, content: list[Json]) -> Json:
        return {"type": "message", "id": self._message, "role": "assistant", "status": status, "content": content}

    def part(self, text: str) -> Json:
        return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}

    def described(self, status: str) -> Json:
        """The whole answer; while it is `in_progress` it has no items yet."""
        ended = status != "in_progress"
        status = self.status if ended else status
        body, request = self._body, self.request
        asked = {name: body.get(name) for name in ("instructions", "max_output_tokens", "metadata", "temperature", "top_p", "user")}
        return {
            "id": self._id, "object": "response", "created_at": request.created, "model": request.model.name, "status": status,
            "error": None, "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None, **asked,
            "output": self.items if ended else [], "usage": self._usage() if ended else None, "tools": body.get("tools") or [],
            "tool_choice": body.get("tool_choice") or "auto", "parallel_tool_calls": body.get("parallel_tool_calls") is not False,
            "previous_response_id": None, "text": body.get("text") or {"format": {"type": "text"}}, "truncation": "disabled",
        }  # fmt: skip

    def _usage(self) -> Json:
        prompt = sum(map(len, self.request.prompts))
        return {
            "input_tokens": prompt, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": self.made,
            "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": prompt + self.made,
        }  # fmt: skip


async def _events(answer: _Answer, begun: Piece, pieces: AsyncGenerator[Piece]) -> AsyncGenerator[bytes]:
    numbers = itertools.count()

    def event(kind: str, **what: Any) -> bytes:
        text = orjson.dumps({"type": f"response.{kind}", "sequence_number": next(numbers), **what}).decode()
        return f"event: response.{kind}\ndata: {text}\n\n".encode()

    place = {"item_id": answer.message("", [])["id"], "output_index": 0, "content_index": 0}
    calls = answer.request.tools is not None  # whether a text calls tools is known at its end
    for kind in ("created", "in_progress"):
        yield event(kind, response=answer.described("in_progress"))
    if not calls:
        yield event("output_item.added", output_index=0, item=answer.message("in_progress", []))
        yield event("content_part.added", **place, part=answer.part(""))
    async with contextlib.aclosing(pieces):
        try:
            async for piece in _joined(begun, pieces):
                answer.take_in(piece)
                if piece.text and not calls:
                    yield event("output_text.delta", **place, delta=piece.text, logprobs=[])
        except ServingError as error:
            yield event("failed", response={**answer.described("in_progress"), "status": "failed",
                                            "error": {"code": "server_error", "message": error.message}})  # fmt: skip
            return
    for end in _ends(answer, place, calls, event):
        yield end
    yield event(answer.status, response=answer.described(answer.status))


async def _joined(begun: Piece, pieces: AsyncGenerator[Piece]) -> AsyncGenerator[Piece]:
    yield begun
    async for piece in pieces:
        yield piece


def _ends(answer: _Answer, place: Json, calls: bool, event: Any) -> Iterator[bytes]:
    """What is done, and, of items that are known at the end alone, that they were begun."""
    if not answer.calls:
        part = answer.part(answer.text)
        if calls:
            yield event("output_item.added", output_index=0, item=answer.message("in_progress", []))
            yield event("content_part.added", **place, part=answer.part(""))
            yield event("output_text.delta", **place, delta=answer.text, logprobs=[])
        yield event("output_text.done", **place, text=answer.text, logprobs=[])
        yield event("content_part.done", **place, part=part)
        yield event("output_item.done", output_index=0, item=answer.items[0])
    for number, call in enumerate(answer.calls):
        here = {"item_id": call["id"], "output_index": number}
        yield event("output_item.added", output_index=number, item={**call, "arguments": "", "status": "in_progress"})
        yield event("function_call_arguments.delta", **here, delta=call["arguments"])
        yield event("function_call_arguments.done", **here, name=call["name"], arguments=call["arguments"])
        yield event("output_item.done", output_index=number, item=call)


__all__ = ["generate"]
