"""Chat templates: programs in Jinja, of a model's author, that write a conversation as the text the model was trained on. They run in
Jinja's sandbox, with the names that Hugging Face's library gives them.

The sandbox keeps them from Python, not from loops without end: they run in a process of their own (`template_process.py`), whose time
for each conversation and whose memory are limited.
"""

from __future__ import annotations

import datetime
import json
import resource
import signal
import sys
from typing import Any

import jinja2
import jinja2.ext
import jinja2.nodes
import jinja2.parser
import jinja2.sandbox

from mindspore_serving.engine.errors import ServingError

#: seconds that a conversation may take, bytes of memory that the process may use
_SECONDS, _MEMORY = 2, 2 << 30


def read(given: Any) -> dict[str, str]:
    """The templates by name: a model gives one, or a list of {"name": …, "template": …}, of which "tool_use" is for conversations with
    tools. ValueError for what is no template."""
    if isinstance(given, str):
        given = [{"name": "default", "template": given}]
    entries = [entry for entry in given if isinstance(entry, dict)] if isinstance(given, list) else []
    found = {entry.get("name"): entry.get("template") for entry in entries}
    templates = {str(name): text for name, text in found.items() if isinstance(text, str)}
    for text in templates.values():
        try:
            _environment().parse(text)
        except jinja2.TemplateSyntaxError as error:
            raise ValueError(f"the model's chat template cannot be read: {error}") from None
    return templates


class ChatTemplates:
    def __init__(self, texts: dict[str, str]) -> None:
        self._templates = {name: _environment().from_string(text) for name, text in texts.items()}

    def render(self, messages: list[Any], tools: list[Any] | None, options: dict[str, Any]) -> str:
        """The conversation as a text, up to where the assistant's answer begins."""
        template = (self._templates.get("tool_use") if tools else None) or self._templates.get("default")
        if template is None:
            raise ServingError("this model has no chat template; use /v1/completions")
        told = [_with_arguments(message) for message in messages]
        given = {"add_generation_prompt": True, **options, "messages": told, "tools": tools or None}
        try:
            text = template.render(given)
            text.encode()  # no halves of characters
            return text
        except Exception as error:  # whatever the program raises
            raise ServingError(f"the chat template refuses these messages: {str(error) or type(error).__name__}"[:500]) from None


def _with_arguments(message: Any) -> Any:
    """A message whose calls of tools have their arguments as values: templates write these as JSON themselves."""
    calls = message.get("tool_calls") if isinstance(message, dict) else None
    if not isinstance(calls, list):
        return message
    return {**message, "tool_calls": [_with_values(call) for call in calls]}


def _with_values(call: Any) -> Any:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("arguments"), str):
        return call
    try:
        return {**call, "function": {**function, "arguments": json.loads(function["arguments"])}}
    except (ValueError, RecursionError):
        return call  # then they are a text


class _Generation(jinja2.ext.Extension):
    """`{% generation %}` … `{% endgeneration %}` marks what is the assistant's, for training: here it is like any other text."""

    tags = {"generation"}

    def parse(self, parser: jinja2.parser.Parser) -> list[jinja2.nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def _refuse(message: str) -> None:
    raise jinja2.TemplateError(message)


def _as_json(value: Any, ensure_ascii: bool = False, **options: Any) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, **options)


def _environment() -> jinja2.Environment:
    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols", _Generation]
    )
    environment.globals["raise_exception"] = _refuse
    environment.globals["strftime_now"] = lambda form: datetime.datetime.now().strftime(form)
    environment.filters["tojson"] = _as_json
    return environment


def _limit(kind: int, most: int) -> None:
    resource.setrlimit(kind, (most, resource.getrlimit(kind)[1]))


def _answer(templates: ChatTemplates, conversation: Any) -> dict[str, str]:
    try:
        return {"text": templates.render(*conversation)}
    except ServingError as error:
        return {"error": error.message}


def main() -> None:
    """Reads templates, then conversations, a line of JSON each; writes a line for each conversation. A process that takes longer than it
    may is ended by the kernel."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends with who started it
    _limit(resource.RLIMIT_AS, _MEMORY)
    _limit(resource.RLIMIT_CORE, 0)
    templates: ChatTemplates | None = None
    for line in sys.stdin.buffer:
        spent = resource.getrusage(resource.RUSAGE_SELF)
        _limit(resource.RLIMIT_CPU, int(spent.ru_utime + spent.ru_stime) + 1 + _SECONDS)
        if templates is None:
            templates = ChatTemplates(json.loads(line))
            continue
        sys.stdout.write(json.dumps(_answer(templates, json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

__all__ = ["ChatTemplates", "read"]
