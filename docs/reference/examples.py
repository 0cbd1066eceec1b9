"""The examples of docstrings: what they take for granted, and how a function's example shows the method or alias.

Docstrings leave out the usual imports. `runnable` puts them in front, so that what a page shows can be pasted and what
the tests run is what a page shows. A Tensor method that is a function of `ops` shares its docstring: `as_method` turns
`ops.abs(x)` in the example into `x.abs()`; `renamed` turns it into `mint.abs(x)`.
"""

from __future__ import annotations

import ast
import doctest
import re
import textwrap

#: what examples may use without importing it, in the order of the import lines
USUAL_IMPORTS = {
    "np": "import numpy as np",
    "ms": "import mindspore as ms",
    "mnp": "import mindspore.numpy as mnp",
    "ds": "import mindspore.dataset as ds",
    "audio": "from mindspore.dataset import audio",
    "text": "from mindspore.dataset import text",
    "transforms": "from mindspore.dataset import transforms",
    "vision": "from mindspore.dataset import vision",
    **{name: f"from mindspore import {name}" for name in ("Parameter", "Tensor", "amp", "mint", "nn", "ops", "train")},
}


def parts(docstring: str) -> tuple[str, str]:
    """The words of a docstring and its example."""
    words, _, example = docstring.partition("Examples:")
    return words.strip(), textwrap.dedent(example).strip("\n ")


def runnable(example: str) -> str:
    """An example with the import lines it needs."""
    used = {node.id for node in ast.walk(_program(example)) if isinstance(node, ast.Name)}
    given = {alias.asname or alias.name for node in ast.walk(_program(example))
             if isinstance(node, (ast.Import, ast.ImportFrom)) for alias in node.names}  # fmt: skip
    lines, short = [], []
    for name, line in USUAL_IMPORTS.items():
        if name in used - given:
            (short if line == f"from mindspore import {name}" else lines).append(name)
    imports = [USUAL_IMPORTS[name] for name in lines]
    if short:
        imports.append(f"from mindspore import {', '.join(short)}")
    return "\n".join([*(f">>> {line}" for line in imports), example])


def _program(example: str) -> ast.Module:
    return ast.parse("".join(e.source for e in doctest.DocTestParser().get_examples(example)))


def as_method(example: str, function: str, method: str) -> str:
    """`ops.function(x, …)` as `x.method(…)`."""
    return _each_statement(example, lambda source: _called_on_first(source, function, method))


def renamed(example: str, old: str, new: str) -> str:
    """`old(…)` as `new(…)`, both with dots."""
    return re.sub(rf"(?<![\w.]){re.escape(old)}\(", f"{new}(", example)


def _each_statement(example: str, change) -> str:
    out = []
    for part in doctest.DocTestParser().get_examples(example):
        first, *rest = change(part.source).rstrip("\n").split("\n")
        out += [f">>> {first}", *(f"... {line}" for line in rest)]
        out += part.want.rstrip("\n").split("\n") if part.want else []
    return "\n".join(out)


def _called_on_first(source: str, function: str, method: str) -> str:
    """The innermost calls first, so that positions of the outer ones are found anew."""
    while True:
        calls = [n for n in ast.walk(ast.parse(source)) if _is_call(n, function)]
        if not calls:
            return source
        call = max(calls, key=lambda n: (n.lineno, n.col_offset))
        whole, first = ast.get_source_segment(source, call), ast.get_source_segment(source, call.args[0])
        rest = [ast.get_source_segment(source, n) for n in call.args[1:]]
        rest += [f"{k.arg}={ast.get_source_segment(source, k.value)}" for k in call.keywords]
        simple = isinstance(call.args[0], (ast.Name, ast.Call, ast.Attribute, ast.Subscript))
        owner = first if simple else f"({first})"
        source = source.replace(whole, f"{owner}.{method}({', '.join(rest)})")


def _is_call(node: ast.AST, function: str) -> bool:
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return False
    if not node.args or isinstance(node.args[0], ast.Starred):
        return False
    return node.func.attr == function and ast.unparse(node.func.value) in ("ops", "ms.ops")


class NumbersAgree(doctest.OutputChecker):
    """Compares results by their words and, to about six digits, their numbers: spaces and last digits may differ."""

    _NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?(?![\w])|\S")

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        if super().check_output(want, got, optionflags):
            return True
        left, right = self._NUMBER.findall(want), self._NUMBER.findall(got)
        return len(left) == len(right) and all(map(_same, left, right))


def _same(want: str, got: str) -> bool:
    try:
        a, b = float(want), float(got)
    except ValueError:
        return want == got
    return abs(a - b) <= 2e-6 + 2e-6 * abs(a)


def failure(name: str, example: str) -> str:
    """What went wrong when the example ran; empty when its results are those it shows."""
    case = doctest.DocTestParser().get_doctest(example, {}, name, None, 0)
    report: list[str] = []
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    doctest.DocTestRunner(NumbersAgree(), optionflags=flags).run(case, out=report.append)
    return "".join(report)
