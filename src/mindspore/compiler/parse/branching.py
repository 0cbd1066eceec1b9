"""`if` on values that only the running graph knows.

Both branches are interpreted, each into a graph of its own, starting from the same variables. What they leave behind
(local variables, contents of lists and dicts, Parameters written to) is joined, and a Cond node chooses.

A branch that returns, breaks or continues has no place to join before the end of the function or loop body. Then the
statements that follow are interpreted inside each branch that falls through, and the branches join at that end.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from mindspore.compiler.builder import Builder
from mindspore.compiler.control.join import DEAD, Joiner, Slot, Unjoined
from mindspore.compiler.control.lift import close_graphs
from mindspore.compiler.parse.errors import CompileError
from mindspore.compiler.parse.frames import Jump, Mixed, Return, Undefined
from mindspore.compiler.parse.outside import Outside, same_items
from mindspore.compiler.parse.rules import Rules
from mindspore.ir import Node, ValueNode
from mindspore.prims.active import ACTIVE
from mindspore.prims.control import Cond
from mindspore.prims.values import ValueUnknownError

if TYPE_CHECKING:
    from mindspore.ir import FuncGraph
    from mindspore.prims.values import TensorBase


class Leaf(NamedTuple):
    """What one branch left behind."""

    builder: Builder
    flow: Any
    names: dict[str, Any]
    contents: dict[int, Any]
    attributes: dict[Any, tuple]
    error: BaseException | None


class RaisedByUser(Exception):
    """A `raise` statement was reached while interpreting; carries the user's exception."""

    def __init__(self, error: BaseException):
        super().__init__(str(error))
        self.error = error


class ResultUnknown(Exception):
    """A recursive call was met before anything is known of the function's result."""


class BranchRules(Rules):
    """Mixed into the interpreter."""

    outside: Outside

    def exec_If(self, node: ast.If, rest: tuple) -> Any:
        condition = self.decided(self.eval(node.test))
        if not self.is_variable(condition):
            return self.run_block(node.body if condition else node.orelse, rest)
        condition = self.truth(condition)
        if not _jumps(node.body) and not _jumps(node.orelse):
            try:
                return self.branch(
                    condition, lambda: self.run_block(node.body, None), lambda: self.run_block(node.orelse, None), node
                )
            except ResultUnknown:  # recursion: what follows a side tells what the function returns
                if self.frame.region != "function":
                    raise
        return self.branch(
            condition,
            lambda: self._to_region_end(node.body, rest),
            lambda: self._to_region_end(node.orelse, rest),
            node,
        )

    def _to_region_end(self, body: list[ast.stmt], rest: tuple) -> Any:
        flow = self.run_block(body, rest)
        if flow is None:
            flow = self.run_rest(rest)
        if flow is None:
            flow = Return(None) if self.frame.region == "function" else Mixed(False, False, DEAD)
        return flow

    def choose(self, condition: TensorBase, left: Callable[[], Any], right: Callable[[], Any]) -> Any:
        """An expression with two alternatives."""
        out = self.branch(condition, lambda: Return(left()), lambda: Return(right()), self.frame.node)
        return out.value

    # -- the general branch ---------------------------------------------------------------------------------------
    def branch(
        self, condition: TensorBase, left: Callable[[], Any], right: Callable[[], Any], node: ast.AST | None
    ) -> Any:
        """Interpret two alternatives and join them; returns the joined flow."""
        before = self._snapshot()
        first = self._alternative("if_true", left, before)
        second = self._alternative("if_false", right, before)
        if first is None and second is None:
            raise ResultUnknown
        if first is None:  # recursion: the other branch tells the type of the result
            self.provide_result(second.flow)
            first = self._alternative("if_true", left, before, last_try=True)
        elif second is None:
            self.provide_result(first.flow)
            second = self._alternative("if_false", right, before, last_try=True)
        self.frame.node = node
        if first.error is not None or second.error is not None:
            return self._one_raises(condition, first, second, left, right, before)
        return self._join(condition, first, second, before)

    def _alternative(self, name: str, run: Callable[[], Any], before: tuple, last_try: bool = False) -> Any:
        """Interpret one side in a child graph, then put everything back as it was."""
        frame = self.frame
        builder = ACTIVE.builder.child(name)
        error: BaseException | None = None
        flow = None
        try:
            with builder.active():
                flow = run()
        except RaisedByUser as raised:
            error = raised.error
            self.frame = frame
        except ResultUnknown:
            self.frame = frame
            self._restore(before)
            if last_try:
                raise
            return None
        self._note_met(before)
        self.outside.refuse_changes(before[1], joined=(list, dict))
        leaf = Leaf(builder, flow, dict(frame.locals), self._contents(before), dict(self.attributes), error)
        self._restore(before)
        return leaf

    def _join(self, condition: TensorBase, first: Leaf, second: Leaf, before: tuple) -> Any:
        joiner = Joiner(first.builder, second.builder, first.contents, second.contents)
        flow = self._join_flows(joiner, first.flow, second.flow)
        live = not isinstance(flow, Return)
        names = self._join_names(joiner, first, second) if live else {}
        attributes = self._join_attributes(joiner, first.attributes, second.attributes)
        self._join_outside(joiner, first, second)
        state = self._join_state(joiner, first.builder, second.builder)
        outputs = self._emit_cond(condition, first.builder, second.builder, joiner)
        joiner.write_back(outputs)
        for target, slot in state:
            ACTIVE.builder.write(target, ACTIVE.builder.node_of(outputs[slot.index]))
        for name, template in names.items():
            self.frame.locals[name] = _usable(name, joiner.fill(template, outputs))
        for (_, name), (owner, template) in attributes.items():
            self.attributes[(id(owner), name)] = (owner, name, _usable(name, joiner.fill(template, outputs)))
        return _fill_flow(flow, joiner, outputs)

    def _join_flows(self, joiner: Joiner, a: Any, b: Any) -> Any:
        if a is None and b is None:
            return None
        if isinstance(a, Return) and isinstance(b, Return):
            value = joiner.join(a.value, b.value)
            if isinstance(value, Unjoined) or _unjoined_inside(value):
                reason = value if isinstance(value, Unjoined) else _unjoined_inside(value)
                raise _cannot_join(reason)
            return Return(value)
        (broke1, returned1, value1), (broke2, returned2, value2) = _flags(a), _flags(b)
        return Mixed(joiner.join(broke1, broke2), joiner.join(returned1, returned2), joiner.join(value1, value2))

    def _value_in(self, leaf: Leaf, name: str, branch: str, other: str) -> Any:
        """What a branch leaves in a name; if nothing, the other one has set it."""
        if name in leaf.names:
            return leaf.names[name]
        return Undefined(_one_branch(name, branch, other) + _setting(self.frame.node, name))

    def _join_names(self, joiner: Joiner, first: Leaf, second: Leaf) -> dict[str, Any]:
        out = {}
        dead1, dead2 = _never_continues(first.flow), _never_continues(second.flow)
        for name in [*first.names, *(n for n in second.names if n not in first.names)]:
            a = DEAD if dead1 else self._value_in(first, name, "true", "false")
            b = DEAD if dead2 else self._value_in(second, name, "false", "true")
            if isinstance(a, Undefined) or isinstance(b, Undefined):
                out[name] = b if a is DEAD else (a if isinstance(a, Undefined) else b)
            elif not (a is DEAD and b is DEAD):
                out[name] = joiner.join(a, b)
        return out

    def _join_attributes(self, joiner: Joiner, first: dict, second: dict) -> dict[Any, tuple[Any, Any]]:
        """What either branch stored in attributes, as templates."""
        owners = {k: (first.get(k) or second[k])[0] for k in {**first, **second} if first.get(k) is not second.get(k)}
        out = {}
        for key, owner in owners.items():
            a, b = (self.attribute_or_undefined(stores, key, owner) for stores in (first, second))
            missing = [v for v in (a, b) if isinstance(v, Undefined)]
            out[key] = (owner, missing[0] if missing else joiner.join(a, b))
        return out

    def _join_outside(self, joiner: Joiner, first: Leaf, second: Leaf) -> None:
        """What either branch left in lists and dicts from outside."""
        for contents in self.outside.lists_and_dicts():
            container = contents.container
            sides = [leaf.contents.get(id(container), container) for leaf in (first, second)]
            is_changed = any(not same_items(side, container) for side in sides)
            if is_changed and not any(container is known for known, _ in joiner.rewritten):
                joined = joiner.join(container, container)
                if isinstance(joined, Unjoined):
                    raise ValueUnknownError(
                        f"A {type(container).__name__} from outside of the compiled function is {joined.describe()} of an 'if' "
                        "that depends on run-time values."
                    )

    def _join_state(self, joiner: Joiner, left: Builder, right: Builder) -> list[tuple[Any, Slot]]:
        targets = {key: entry[0] for b in (left, right) for key, entry in b.state.items() if b.outlives(entry[0])}
        return [(t, joiner.join_nodes(left.node_of(t), right.node_of(t))) for t in targets.values()]

    def _emit_cond(self, condition: TensorBase, left: Builder, right: Builder, joiner: Joiner) -> list[Any]:
        """Add the Cond node; returns its outputs as public values."""
        if not joiner.pairs:
            return []
        for side, builder in enumerate((left, right)):
            builder.graph.output = builder.make_tuple([pair[side] for pair in joiner.pairs])
        return emit_cond(ACTIVE.builder, ACTIVE.builder.node_of(condition), left.graph, right.graph)

    # -- raise under a run-time condition ---------------------------------------------------------------------------
    def _one_raises(self, condition: Any, first: Leaf, second: Leaf, left: Any, right: Any, before: Any) -> Any:
        if first.error is not None and second.error is not None:
            raise RaisedByUser(first.error)
        error = first.error or second.error
        self.raise_when(condition if first.error is not None else self.negate(condition), error)
        return right() if first.error is not None else left()

    # -- saving and restoring what branches change --------------------------------------------------------------------
    def _snapshot(self) -> tuple:
        containers: dict[int, tuple[Any, Any]] = {}
        frame = self.frame
        while frame is not None:
            for value in frame.locals.values():
                _collect_containers(value, containers)
            frame = frame.enclosing
        for contents in self.outside.lists_and_dicts():
            containers.setdefault(id(contents.container), (contents.container, _shallow(contents.container)))
        return dict(self.frame.locals), containers, dict(self.attributes)

    def _note_met(self, before: tuple) -> None:
        """What a branch was the first to meet had been as it found it."""
        for contents in self.outside.lists_and_dicts():
            before[1].setdefault(id(contents.container), (contents.container, _shallow(contents.kept)))

    def _contents(self, before: tuple) -> dict[int, Any]:
        return {key: _shallow(container) for key, (container, _) in before[1].items()}

    def _restore(self, before: tuple) -> None:
        names, containers, attributes = before
        self.attributes = dict(attributes)
        self.frame.locals.clear()
        self.frame.locals.update(names)
        for container, content in containers.values():
            if isinstance(container, list):
                container[:] = content
            else:
                container.clear()
                container.update(content)


def emit_cond(builder: Builder, condition: Node, left: FuncGraph, right: FuncGraph) -> list[Any]:
    """Close two branch graphs and add the node that chooses; outputs as public values."""
    free = close_graphs([left, right])
    node = builder.emit(Cond(), (condition, ValueNode(left), ValueNode(right), *free))
    return list(builder.public(node))


def _collect_containers(value: Any, found: dict[int, tuple[Any, Any]]) -> None:
    if isinstance(value, (list, dict)):
        if id(value) in found:
            return
        found[id(value)] = (value, _shallow(value))
        for item in value.values() if isinstance(value, dict) else value:
            _collect_containers(item, found)
    elif isinstance(value, tuple):
        for item in value:
            _collect_containers(item, found)


def _shallow(container: Any) -> Any:
    return list(container) if isinstance(container, list) else dict(container)


def _jumps(statements: list[ast.stmt]) -> bool:
    """Whether a block can leave by return, break or continue (of an outer loop)."""
    return any(_statement_jumps(s, False) for s in statements)


def _statement_jumps(node: ast.AST, in_loop: bool) -> bool:
    if isinstance(node, ast.Return):
        return True
    if isinstance(node, (ast.Break, ast.Continue)):
        return not in_loop
    if isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef, ast.AsyncFunctionDef)):
        return False
    inside = in_loop or isinstance(node, (ast.For, ast.While))
    return any(
        _statement_jumps(child, inside)
        for child in ast.iter_child_nodes(node)
        if isinstance(child, (ast.stmt, ast.excepthandler, ast.match_case))
    )


def _flags(flow: Any) -> tuple[Any, Any, Any]:
    """A flow at the end of a loop body as (broke, returned, value)."""
    if isinstance(flow, Mixed):
        return flow.broke, flow.returned, flow.value
    if isinstance(flow, Return):
        return False, True, flow.value
    if isinstance(flow, Jump):
        return flow.kind == "break", False, DEAD
    return False, False, DEAD


def _never_continues(flow: Any) -> bool:
    return isinstance(flow, Return)


def _fill_flow(flow: Any, joiner: Joiner, outputs: list[Any]) -> Any:
    if isinstance(flow, Return):
        return Return(joiner.fill(flow.value, outputs))
    if isinstance(flow, Mixed):
        return Mixed(
            joiner.fill(flow.broke, outputs), joiner.fill(flow.returned, outputs), joiner.fill(flow.value, outputs)
        )
    return flow


def _cannot_join(values: Unjoined) -> Exception:
    message = (
        "Cannot join the return values of different branches of an 'if' that depends on run-time values: "
        f"{values.describe()}. Make both the same type and shape."
    )
    return ValueUnknownError(message) if values.dynamic else TypeError(message)


def _usable(name: str, value: Any) -> Any:
    if isinstance(value, Unjoined):
        return Undefined(
            f"'{name}' is {value.describe()} of an 'if' that depends on run-time values; give it the same type and shape in both.",
            value.dynamic,
        )
    return value


def _unjoined_inside(value: Any) -> Any:
    items = value.values() if isinstance(value, dict) else value if isinstance(value, (tuple, list)) else ()
    for item in items:
        if isinstance(item, Unjoined):
            return item
        found = _unjoined_inside(item)
        if found is not None:
            return found
    return None


def _setting(node: Any, name: str) -> str:
    """Where in a statement a name is set, for messages."""
    for n in ast.walk(node) if isinstance(node, ast.stmt) else ():
        if isinstance(n, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            targets = n.targets if isinstance(n, ast.Assign) else [n.target]
            if any(isinstance(t, ast.Name) and t.id == name for target in targets for t in ast.walk(target)):
                text = ast.unparse(n)
                return f" It is set by '{text[:60]}' in line {n.lineno}." if "\n" not in text else ""
    return ""


def _one_branch(name: str, missing: str, present: str) -> str:
    return (
        f"The local variable '{name}' is not defined in {missing} branch, but defined in {present} branch. "
        "Define it in both, or before the 'if', whose condition only the running graph knows."
    )


__all__ = ["BranchRules", "CompileError", "RaisedByUser", "ResultUnknown", "emit_cond"]
