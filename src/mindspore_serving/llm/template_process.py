"""The process in which a model's chat templates run (`chat_template.py`): it may be ended at any time, and is started again."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from typing import Any

from mindspore_serving.engine.environment import child_environment
from mindspore_serving.engine.errors import ServingError
from mindspore_serving.llm import chat_template

_REFUSED = "the chat template takes more time or memory for these messages than it may"
#: characters of an answer
_LONGEST = 1 << 28


class TemplateProcess:
    """`given`: what a model's files say of its templates; ValueError for what is no template."""

    def __init__(self, given: Any) -> None:
        self._texts = chat_template.read(given)
        self._lock = threading.Lock()
        self._process = self._start() if self._texts else None

    def _start(self) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", chat_template.__name__]
        started = subprocess.Popen(
            command, env=child_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self._tell(started, self._texts)
        return started

    def render(self, messages: list[Any], tools: list[Any] | None, options: dict[str, Any]) -> str:
        """The conversation as a text, up to where the assistant's answer begins; any thread, others wait meanwhile."""
        if self._process is None:
            raise ServingError("this model has no chat template; use /v1/completions")
        with self._lock:
            answer = self._ask([messages, tools, options]) or self._ask_another([messages, tools, options])
        found = json.loads(answer) if answer else {"error": _REFUSED}
        if "error" in found:
            raise ServingError(found["error"])
        return str(found["text"])

    def _ask(self, conversation: list[Any]) -> str:
        """A line, or nothing if the process ends, be it within a line, or writes too much."""
        assert self._process is not None and self._process.stdout is not None
        self._tell(self._process, conversation)
        line = self._process.stdout.readline(_LONGEST)
        return line if line.endswith("\n") else ""

    def _ask_another(self, conversation: list[Any]) -> str:
        """Ask a new process, unless the one before has used up its time."""
        ended = self._close()
        self._process = self._start()
        return "" if ended == -signal.SIGXCPU else self._ask(conversation)

    @staticmethod
    def _tell(process: subprocess.Popen[str], what: Any) -> None:
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(what) + "\n")
            process.stdin.flush()
        except BrokenPipeError:
            pass  # it has ended, which the answer will tell

    def _close(self) -> int | None:
        process, self._process = self._process, None
        if process is None:
            return None
        process.kill()  # of no effect where it has ended
        process.communicate()
        return process.returncode

    def __del__(self) -> None:
        if hasattr(self, "_process"):
            self._close()


__all__ = ["TemplateProcess"]
