"""Interpreting statements.

`run_block` executes statements until one leaves the block. Each statement also gets `rest`, the chain of statement
lists that follow it up to the end of the function or loop body: an `if` on a run-time value whose branches jump has to
run them inside its branches (see branching.py).
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore.compiler.parse.errors import CompileError, DecisionError
from mindspore.compiler.parse.expressions import INPLACE
from mindspore.compiler.parse.frames import BREAK, CONTINUE, Return
from mindspore.compiler.parse.rules import Rules
from mindspore.prims.values import TensorBase

#: stands in a chain of following statements where they cannot be run early
BARRIER = object()


def _picks_part(container: Any, index: Any) -> bool:
    """Whether container[index] is a part of a tensor, as ints, slices, None and Ellipsis pick it, rather than a copy."""
    picks = index if isinstance(index, tuple) else (index,)
    return isinstance(container, TensorBase) and not any(isinstance(pick, (TensorBase, list, np.ndarray)) for pick in picks)


class StatementRules(Rules):
    """Mixed into the interpreter."""

    def run_block(self, statements: list[ast.stmt], rest: Any = None) -> Any:
        """Execute statements; return a flow object, or None when control falls off the end."""
        frame = self.frame
        for i, statement in enumerate(statements):
            frame.node = statement
            rule = getattr(self, "exec_" + type(statement).__name__, None)
            if rule is None:
                raise CompileError(
                    f"'{_statement_name(statement)}' statements cannot be compiled; rewrite this line without it."
                )
            flow = rule(statement, (statements[i + 1 :], rest))
            if flow is not None:
                return flow
        return None

    def run_rest(self, rest: tuple | None) -> Any:
        """Execute what follows, up to the end of the region."""
        while rest is not None:
            if rest is BARRIER:
                raise DecisionError(
                    "a branch that depends on run-time values cannot leave a try block by return, break or continue; "
                    "move the jump out of the try."
                )
            statements, rest = rest
            flow = self.run_block(statements, rest)
            if flow is not None:
                return flow
        return None

    # -- simple statements ----------------------------------------------------------------------------------------
    def exec_Expr(self, node: ast.Expr, rest: tuple) -> None:
        self.eval(node.value)

    def exec_Pass(self, node: ast.Pass, rest: Any) -> None:
        return None

    def exec_Return(self, node: ast.Return, rest: tuple) -> Return:
        return Return(None if node.value is None else self.eval(node.value))

    def exec_Break(self, node: ast.Break, rest: tuple) -> Any:
        return BREAK

    def exec_Continue(self, node: ast.Continue, rest: Any) -> Any:
        return CONTINUE

    def exec_Global(self, node: ast.Global, rest: tuple) -> None:
        self.frame.nonlocals.update(node.names)

    exec_Nonlocal = exec_Global

    def exec_Delete(self, node: ast.Delete, rest: Any) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.frame.locals.pop(target.id, None)
            elif isinstance(target, ast.Subscript):
                del self.eval(target.value)[self.eval(target.slice)]
            elif isinstance(target, ast.Attribute):
                delattr(self.eval(target.value), target.attr)

    def exec_Import(self, node: ast.stmt, rest: Any) -> None:
        module = ast.fix_missing_locations(ast.Module([node], []))
        exec(compile(module, self.frame.file, "exec"), self.frame.globals, self.frame.locals)

    exec_ImportFrom = exec_Import

    def exec_FunctionDef(self, node: ast.FunctionDef, rest: Any) -> None:
        function: Any = self.make_function(node)
        for decorator in reversed(node.decorator_list):
            function = self.call(self.eval(decorator), (function,), {})
        self.frame.store(node.name, function)

    def exec_ClassDef(self, node: ast.ClassDef, rest: Any) -> None:
        module = ast.fix_missing_locations(ast.Module([node], []))
        names = dict(self.frame.globals)
        enclosing = self.frame
        chain = []
        while enclosing is not None:
            chain.append(enclosing.locals)
            enclosing = enclosing.enclosing
        for names_of_frame in reversed(chain):
            names.update(names_of_frame)
        exec(compile(module, self.frame.file, "exec"), names)
        self.frame.store(node.name, names[node.name])

    def exec_Assert(self, node: ast.Assert, rest: Any) -> None:
        condition = self.eval(node.test)
        if self.is_variable(condition):
            message = "" if node.msg is None else str(self.eval(node.msg))
            self.raise_when(self.negate(self.truth(condition)), AssertionError(message))
        elif not condition:
            raise AssertionError("" if node.msg is None else self.eval(node.msg))

    def exec_Raise(self, node: ast.Raise, rest: Any) -> Any:
        if node.exc is None:
            raise CompileError("a bare 'raise' cannot be compiled; name the exception.")
        error = self.eval(node.exc)
        if isinstance(error, type):
            error = error()
        if not isinstance(error, BaseException):
            raise TypeError(f"exceptions must derive from BaseException, but got {type(error).__name__}")
        error.__cause__ = self.eval(node.cause) if node.cause is not None else None
        raise self.user_raised(error)

    # -- assignment -----------------------------------------------------------------------------------------------
    def exec_Assign(self, node: ast.Assign, rest: tuple) -> None:
        value = self.eval(node.value)
        for target in node.targets:
            self.assign(target, value)

    def exec_AnnAssign(self, node: ast.AnnAssign, rest: Any) -> None:
        if node.value is not None:
            self.assign(node.target, self.eval(node.value))

    def exec_AugAssign(self, node: ast.AugAssign, rest: tuple) -> None:
        function = INPLACE[type(node.op)]
        value = self.eval(node.value)
        target = node.target
        if isinstance(target, ast.Name):
            self.store_name(target.id, self._inplace(function, self.eval_Name(target), value))
        elif isinstance(target, ast.Attribute):
            owner = self.eval(target.value)
            self.setattribute(owner, target.attr, self._inplace(function, self.getattribute(owner, target.attr), value))
        else:
            chain = self._chain(target)
            self._set_through(chain, self._inplace(function, self.getitem(*chain[-1]), value))

    def _inplace(self, function: Callable, current: Any, value: TensorBase | float) -> Any:
        return function(current, value)

    def assign(self, target: ast.expr, value: Any) -> None:
        """Bind a value to a name, attribute, element, or pattern of these."""
        if isinstance(target, ast.Name):
            self.store_name(target.id, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target.elts, value)
        elif isinstance(target, ast.Attribute):
            self.setattribute(self.eval(target.value), target.attr, value)
        elif isinstance(target, ast.Subscript):
            self._set_through(self._chain(target), value)
        elif isinstance(target, ast.Starred):
            self.assign(target.value, list(value))
        else:
            raise CompileError(f"cannot assign to {type(target).__name__}")

    def _chain(self, target: ast.Subscript) -> list[tuple[Any, Any]]:
        """The containers and places that x[i][j][k] goes through, from the outside in."""
        if isinstance(target.value, ast.Subscript):
            links = self._chain(target.value)
            container = self.getitem(*links[-1])
        else:
            links, container = [], self.eval(target.value)
        return [*links, (container, self.eval(target.slice))]

    def _set_through(self, chain: list[tuple[Any, Any]], value: Any) -> None:
        """Set the last element of a chain. Parts of tensors are tensors of their own in a graph: they are put back."""
        while True:
            container, index = chain.pop()
            self.setitem(container, index, value)
            if not chain or not isinstance(container, TensorBase) or not _picks_part(*chain[-1]):
                return
            value = container

    def _unpack(self, targets: list[ast.expr], value: tuple) -> None:
        items = list(self.iterate(value))
        starred = [i for i, t in enumerate(targets) if isinstance(t, ast.Starred)]
        if starred:
            i = starred[0]
            after = len(targets) - i - 1
            if len(items) < len(targets) - 1:
                raise ValueError(
                    f"not enough values to unpack (expected at least {len(targets) - 1}, got {len(items)})"
                )
            items = [*items[:i], items[i : len(items) - after], *items[len(items) - after :]]
        if len(items) != len(targets):
            kind = "not enough" if len(items) < len(targets) else "too many"
            raise ValueError(f"{kind} values to unpack (expected {len(targets)}, got {len(items)})")
        for t, item in zip(targets, items):
            self.assign(t, item)

    def setitem(self, container: Any, index: Any, value: Any) -> None:
        if not isinstance(container, TensorBase):
            method = getattr(type(container), "__setitem__", None)
            if method is not None and self.should_interpret(method):
                self.call(method, (container, index, value), {})
                return
        container[index] = value

    # -- compound statements without run-time choices ----------------------------------------------------------------
    def exec_With(self, node: ast.With, rest: Any) -> Any:
        return self._with_items(node.items, node.body, rest)

    def _with_items(self, items: list[ast.withitem], body: list[ast.stmt], rest: Any) -> Any:
        if not items:
            return self.run_block(body, rest)
        manager = self.eval(items[0].context_expr)
        with manager as value:
            if items[0].optional_vars is not None:
                self.assign(items[0].optional_vars, value)
            return self._with_items(items[1:], body, rest)

    def exec_Try(self, node: ast.Try, rest: Any) -> Any:
        try:
            flow = self._try_body(node)
        except Exception:
            if self.run_block(node.finalbody, BARRIER) is not None:
                raise CompileError("'finally' may not return, break or continue after an exception.") from None
            raise
        final = self.run_block(node.finalbody, BARRIER)
        return flow if final is None else final

    def _try_body(self, node: ast.Try) -> Any:
        frame = self.frame
        try:
            flow = self.run_block(node.body, BARRIER)
        except Exception as error:  # the user's handlers say which ones they take
            self.frame = frame
            for handler in node.handlers:
                kinds = self.eval(handler.type) if handler.type is not None else Exception
                if isinstance(error, kinds):
                    if handler.name:
                        frame.locals[handler.name] = error
                    return self.run_block(handler.body, BARRIER)
            raise
        if flow is None and node.orelse:
            flow = self.run_block(node.orelse, BARRIER)
        return flow


def _statement_name(statement: ast.stmt) -> str:
    return {"AsyncFunctionDef": "async def", "AsyncFor": "async for", "AsyncWith": "async with",
            "TryStar": "try/except*", "TypeAlias": "type"}.get(type(statement).__name__, type(statement).__name__.lower())  # fmt: skip
