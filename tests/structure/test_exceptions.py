"""Whoever catches every exception raises one again, or says on that line why it need not: nothing is hidden by accident."""

import ast

from imports import MODULES, SOURCE

BROAD = {"Exception", "BaseException"}


def caught(handler):
    """The names of what a handler catches; a bare `except` catches everything."""
    if handler.type is None:
        return {"BaseException"}
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return {ast.unparse(t) for t in types}


def is_silent(node, lines):
    """Whether a part of a program goes on after any exception, and does not say why."""
    if isinstance(node, ast.ExceptHandler) and caught(node) & BROAD:
        return not isinstance(node.body[-1], ast.Raise) and "#" not in lines[node.lineno - 1]
    suppresses = isinstance(node, ast.Call) and ast.unparse(node.func).endswith("suppress")
    return suppresses and bool({ast.unparse(a) for a in node.args} & BROAD)


def hidden(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    tree = ast.parse("\n".join(lines))
    return [f"{path.relative_to(SOURCE)}:{node.lineno}" for node in ast.walk(tree) if is_silent(node, lines)]


def test_no_exception_is_hidden():
    found = [place for path in MODULES.values() for place in hidden(path)]
    assert not found, "raise again, or say in a comment why not: " + ", ".join(found)


def test_what_would_be_found(tmp_path, monkeypatch):
    monkeypatch.setattr(f"{__name__}.SOURCE", tmp_path)
    file = tmp_path / "module.py"
    file.write_text(
        "try:\n    f()\nexcept Exception:\n    pass\n"
        "try:\n    f()\nexcept Exception:  # why\n    pass\n"
        "try:\n    f()\nexcept (ValueError, BaseException) as error:\n    raise OSError from error\n"
        "try:\n    f()\nexcept:\n    pass\n"
        "with contextlib.suppress(Exception):\n    f()\n"
    )
    assert hidden(file) == ["module.py:3", "module.py:15", "module.py:17"]
