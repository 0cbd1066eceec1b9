"""`match` statements. Which case applies must be known when compiling; a choice by run-time values needs `if`."""

from __future__ import annotations

import ast
from typing import Any

from mindspore.compiler.parse.builtin_rules import BUILTIN_RULES
from mindspore.compiler.parse.rules import Rules
from mindspore.prims.values import ValueUnknownError

#: classes whose one positional pattern matches the object itself
_SELF_MATCHING = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)


class MatchRules(Rules):
    """Mixed into the interpreter."""

    def exec_Match(self, node: ast.Match, rest: Any) -> Any:
        subject = self.eval(node.subject)
        for case in node.cases:
            names: dict[str, Any] = {}
            if not self._matches(case.pattern, subject, names):
                continue
            for name, value in names.items():
                self.store_name(name, value)
            if case.guard is None or self._known(self.eval(case.guard)):
                return self.run_block(case.body, rest)
        return None

    def _known(self, condition: Any) -> bool:
        condition = self.decided(condition)
        if self.is_variable(condition):
            raise ValueUnknownError("which case of a 'match' applies depends on run-time values; write it with 'if'.")
        return bool(condition)

    def _matches(self, pattern: ast.pattern, value: Any, names: dict[str, Any]) -> bool:
        """Whether a value has the form of a pattern; what its names stand for is added to `names`."""
        if isinstance(pattern, ast.MatchValue):
            return self._known(self.same_value(value, self.eval(pattern.value)))
        if isinstance(pattern, ast.MatchSingleton):
            return value is pattern.value
        if isinstance(pattern, ast.MatchOr):
            return any(self._matches(p, value, names) for p in pattern.patterns)
        if isinstance(pattern, ast.MatchAs):
            if pattern.pattern is not None and not self._matches(pattern.pattern, value, names):
                return False
            if pattern.name is not None:
                names[pattern.name] = value
            return True
        if isinstance(pattern, ast.MatchSequence):
            return isinstance(value, (list, tuple)) and self._matches_items(pattern.patterns, list(value), names)
        if isinstance(pattern, ast.MatchMapping):
            return isinstance(value, dict) and self._matches_mapping(pattern, value, names)
        assert isinstance(pattern, ast.MatchClass)
        return self._matches_class(pattern, value, names)

    def _matches_items(self, patterns: list[ast.pattern], items: list[Any], names: dict[str, Any]) -> bool:
        starred = [i for i, p in enumerate(patterns) if isinstance(p, ast.MatchStar)]
        if not starred:
            return len(items) == len(patterns) and all(self._matches(p, v, names) for p, v in zip(patterns, items))
        first, after = starred[0], len(patterns) - starred[0] - 1
        if len(items) < first + after:
            return False
        star: Any = patterns[first]
        if star.name is not None:
            names[star.name] = items[first : len(items) - after]
        before = zip(patterns[:first], items[:first])
        behind = zip(patterns[first + 1 :], items[len(items) - after :])
        return all(self._matches(p, v, names) for p, v in (*before, *behind))

    def _matches_mapping(self, pattern: ast.MatchMapping, value: dict, names: dict[str, Any]) -> bool:
        keys = [self.eval(k) for k in pattern.keys]
        if not all(k in value and self._matches(p, value[k], names) for k, p in zip(keys, pattern.patterns)):
            return False
        if pattern.rest is not None:
            names[pattern.rest] = {k: v for k, v in value.items() if k not in keys}
        return True

    def _matches_class(self, pattern: ast.MatchClass, value: Any, names: dict[str, Any]) -> bool:
        cls = self.eval(pattern.cls)
        if not BUILTIN_RULES[isinstance](self, value, cls):
            return False
        if pattern.patterns and issubclass(cls, _SELF_MATCHING):
            return len(pattern.patterns) == 1 and self._matches(pattern.patterns[0], value, names)
        attributes = [*getattr(cls, "__match_args__", ())[: len(pattern.patterns)], *pattern.kwd_attrs]
        patterns = [*pattern.patterns, *pattern.kwd_patterns]
        if len(attributes) != len(patterns):
            raise TypeError(
                f"{cls.__name__}() accepts {len(attributes)} positional sub-patterns ({len(patterns)} given)"
            )
        return all(
            hasattr(value, a) and self._matches(p, self.getattribute(value, a), names)
            for a, p in zip(attributes, patterns)
        )
