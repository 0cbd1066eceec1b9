"""Tools of OpenAI's chat: how a request offers them, and how an answer calls them.

The chat template tells the model of the tools. Models write a call as JSON, `{"name": …, "arguments": {…}}` (or "parameters"), between
`<tool_call>` and `</tool_call>` or alone. Where a call is demanded (`tool_choice`), the answer is constrained to be one.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from typing import Any

import orjson

from mindspore_serving.engine.errors import ServingError

_MARKED = re.compile(r"<tool_call>(.*?)</tool_call>", re.DOTALL)


@dataclass(frozen=True)
class Tools:
    """`functions`: name → JSON schema of the arguments; `schema`: of the whole answer, where a call is demanded."""

    functions: dict[str, Any]
    schema: Any = None
    single: bool = False  # an answer has one call at most

    @classmethod
    def of(cls, body: dict[str, Any]) -> Tools | None:
        """The tools of a request; None if it offers none."""
        choice, given = body.get("tool_choice"), body.get("tools")
        if given is None or given == []:
            if choice not in (None, "none", "auto"):
                raise ServingError("'tool_choice' demands a call, and there are no 'tools'")
            return None
        if choice == "none":
            return None
        functions = _functions(given)
        if isinstance(choice, dict) and choice.get("type") == "allowed_tools":
            functions, choice = _allowed(choice.get("allowed_tools"), functions)
        if choice in (None, "auto"):
            return cls(functions, single=body.get("parallel_tool_calls") is False)
        if choice == "required":
            return cls(functions, {"anyOf": [_call_schema(name, schema) for name, schema in functions.items()]})
        name = _named(choice)
        if name is None or name not in functions:
            raise ServingError("'tool_choice' must be 'none', 'auto', 'required' or name one of the tools")
        return cls(functions, _call_schema(name, functions[name]))

    def calls(self, text: str) -> list[dict[str, Any]]:
        """The calls in an answer, as entries of 'tool_calls'; none if it is a text."""
        parts = _MARKED.findall(text) or [text]
        found = [_call(part, self.functions) for part in parts]
        return [call for call in found if call is not None][: 1 if self.single else None]


def _allowed(given: Any, functions: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Some of the functions, and whether one of them must be called."""
    mode, tools = (given.get("mode"), given.get("tools")) if isinstance(given, dict) else (None, None)
    names = [_named(tool) for tool in tools] if isinstance(tools, list) else []
    if mode not in ("auto", "required") or not names or any(name not in functions for name in names):
        raise ServingError("'allowed_tools' must have 'mode' auto or required, and in 'tools' names of the request's tools")
    return {name: functions[name] for name in names if name is not None}, mode


def _named(tool: Any) -> str | None:
    function = tool.get("function") if isinstance(tool, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    return name if isinstance(name, str) else None


def _functions(given: Any) -> dict[str, Any]:
    found = {}
    for tool in given if isinstance(given, list) else [None]:
        function = tool.get("function") if isinstance(tool, dict) and tool.get("type") == "function" else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str) or not function["name"]:
            raise ServingError("'tools' must be a list of {'type': 'function', 'function': {'name': …, 'parameters': …}}")
        parameters = function.get("parameters") or {"type": "object"}
        if not isinstance(parameters, dict):
            raise ServingError(f"'parameters' of the tool {function['name']!r} must be a JSON schema"[:200])
        found[function["name"]] = parameters
    return found


def _call_schema(name: str, parameters: Any) -> Any:
    properties = {"name": {"const": name}, "arguments": parameters}
    return {"type": "object", "properties": properties, "required": ["name", "arguments"], "additionalProperties": False}


def _call(text: str, functions: dict[str, Any]) -> dict[str, Any] | None:
    try:
        value = orjson.loads(text.strip())
    except orjson.JSONDecodeError:
        return None
    if not isinstance(value, dict) or not isinstance(value.get("name"), str) or value["name"] not in functions:
        return None
    arguments = value.get("arguments", value.get("parameters", {}))
    written = arguments if isinstance(arguments, str) else orjson.dumps(arguments).decode()
    return {"id": f"call_{secrets.token_hex(12)}", "type": "function", "function": {"name": value["name"], "arguments": written}}


__all__ = ["Tools"]
