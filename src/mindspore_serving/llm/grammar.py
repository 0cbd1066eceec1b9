"""Answers that obey a JSON schema: llguidance (an optional library) says which tokens may come next."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from mindspore_serving.engine.errors import Kind, ServingError
from mindspore_serving.llm.checkpoint import Array

#: Space between the parts of a JSON text ends: models that are lost would write nothing else until their tokens are used up.
_FORM = {"whitespace_pattern": r"[ \t\r\n]{0,20}"}


class Grammars:
    """Makes constraints for the tokens of one model; `tokenizer`: what its `tokenizer.json` says."""

    def __init__(self, tokenizer: str, vocabulary: int, end: tuple[int, ...]) -> None:
        try:
            import llguidance
        except ImportError:
            raise ServingError("answers in JSON need pymindspore[grammar] on the server", Kind.UNAVAILABLE) from None
        self._library: Any = llguidance
        self._end = [token for token in end if 0 <= token < vocabulary]
        self._tokenizer: Any = llguidance.LLTokenizer(tokenizer, n_vocab=vocabulary, eos_token=self._end or None)

    def json(self, schema: Any) -> JsonConstraint:
        """An answer that is a JSON text of this schema."""
        matcher = self._library.LLMatcher
        try:
            grammar = matcher.grammar_from_json_schema(json.dumps(schema), defaults=_FORM)
        except (ValueError, RecursionError) as error:
            raise _refusal(str(error)) from None
        made = matcher(self._tokenizer, grammar)
        if made.is_error():
            raise _refusal(made.get_error())
        return JsonConstraint(made, self._end)


def _refusal(reason: str) -> ServingError:
    return ServingError(f"the JSON schema cannot be used: {reason.partition('<state>')[0].strip()}"[:500])


class JsonConstraint:
    """`end`: the tokens that end an answer, whatever their text is."""

    def __init__(self, matcher: Any, end: list[int]) -> None:
        self._matcher, self._end = matcher, end

    def allowed(self) -> Array:
        allowed = np.frombuffer(self._matcher.compute_logit_bias(), np.uint8) > 0
        allowed[self._end] = self._matcher.is_accepting()
        if not allowed.any():
            raise _refusal("nothing can follow what has been written, and it is not whole")
        return allowed

    def accept(self, token: int) -> None:
        self._matcher.consume_token(token)
        if self._matcher.is_error():  # a schema's size may show only as it is written
            raise _refusal(self._matcher.get_error())

    @property
    def complete(self) -> bool:
        return bool(self._matcher.is_stopped())


__all__ = ["Grammars", "JsonConstraint"]
