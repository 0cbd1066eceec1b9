"""`for` and `while`.

A loop whose course is known is simply run, body after body (unrolled). It becomes a While node when its condition
depends on run-time values, when a `break` or `return` in it does, or when it would unroll more than `UNROLL_LIMIT`
times. Loop variables are found by a fixpoint: a constant that the body changes is widened to a run-time value and the
body interpreted again, until nothing changes.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from mindspore._base import flags
from mindspore._base.keys import same_constant
from mindspore.compiler.builder import Builder
from mindspore.compiler.control.join import DEAD, Unjoined, common_abstract, convert, short, zeros_node
from mindspore.compiler.control.lift import close_graphs
from mindspore.compiler.parse.attributes import Key
from mindspore.compiler.parse.errors import CompileError, DecisionError
from mindspore.compiler.parse.frames import Jump, Mixed, Return, Undefined
from mindspore.compiler.parse.outside import same_items
from mindspore.compiler.parse.rules import Rules
from mindspore.ir import Abstract, AbstractScalar, ValueNode
from mindspore.ir.graph import topological_order
from mindspore.prims import elementwise as ew
from mindspore.prims import values
from mindspore.prims.active import ACTIVE
from mindspore.prims.control import While
from mindspore.prims.structure import parts_of, with_parts
from mindspore.prims.values import SymbolicScalarBase, TensorBase, ValueUnknownError


def unroll_limit() -> int:
    """How many trips of a loop are unrolled before it is turned into a While node."""
    return flags.integer("MS_DEV_LOOP_UNROLL_LIMIT", 600)


class TooLong(Exception):
    """Unrolling reached its limit."""


class LoopRules(Rules):
    """Mixed into the interpreter."""

    # -- for --------------------------------------------------------------------------------------------------------
    def exec_For(self, node: ast.For, rest: tuple) -> Any:
        source = self.eval(node.iter)
        if isinstance(source, SymbolicRange) and self.decides:
            source = source.known()
        if isinstance(source, SymbolicRange):
            return self._counted_loop(node, source, rest)
        items = self.iterate(source)
        before = self._snapshot()
        saved_state = dict(ACTIVE.builder.state)
        try:
            flow = self._run_items(node, iter(items), 0 if _may_roll_up(source) else None)
            self._mark_undefined()
        except TooLong:
            self._restore(before)
            ACTIVE.builder.state = saved_state
            return self._roll_up(node, source, rest)
        return self._after_loop(node, flow, rest)

    def _mark_undefined(self) -> None:
        """Names that some trip may not define: say so by the loop, which is what the user looks at after it."""
        for name, value in self.frame.locals.items():
            if type(value) is Undefined and not value.dynamic and "'for' loop body" not in value.message:
                outside = f"The local variable '{name}' defined in the 'for' loop body cannot be used outside of the loop body. "
                self.frame.locals[name] = Undefined(outside + value.message)

    def _run_items(self, node: ast.For, items: Any, count: int | None) -> Any:
        """Unroll; returns None (ran to the end), BREAK, a Return, or Mixed. `count` None: however many there are."""
        for item in items:
            count = None if count is None else count + 1
            if count is not None and count > unroll_limit():
                raise TooLong
            self.assign(node.target, item)
            flow = self._run_body(node.body)
            if isinstance(flow, Mixed) and (self.is_variable(flow.broke) or self.is_variable(flow.returned)):
                return self._guarded(flow, lambda: self._run_items(node, items, count))  # noqa: B023 - used at once
            flow = _settle(flow)
            if flow is not None:
                return flow
        return None

    def _run_body(self, body: list[ast.stmt]) -> Any:
        frame = self.frame
        saved = frame.region
        frame.region = "loop"
        flow = self.run_block(body, None)
        frame.region = saved
        return flow

    def _guarded(self, flow: Mixed, go_on: Callable[[], Any]) -> Any:
        """After a body that may have left the loop: the remaining trips run only if it did not."""
        done = self._either(flow.broke, flow.returned)

        def continue_loop() -> Any:
            after = go_on()
            return after if after is not None else Mixed(False, False, DEAD)

        saved, self.frame.region = self.frame.region, "loop"
        out = self.branch(self.truth(done), lambda: flow, continue_loop, self.frame.node)
        self.frame.region = saved
        return out

    def _either(self, a: Any, b: bool) -> Any:
        if not self.is_variable(a):
            return a or b
        if not self.is_variable(b):
            return b or a
        return ew.LogicalOr()(self.truth(a), self.truth(b))

    def _after_loop(self, node: ast.For | ast.While, flow: Any, rest: tuple) -> Any:
        """What follows a loop: `else`, and the return that a trip may have made."""
        if isinstance(flow, Return):
            return flow
        if isinstance(flow, Jump):
            return None
        if isinstance(flow, Mixed):
            if node.orelse and self.is_variable(flow.broke):
                raise DecisionError(
                    "'else' after a loop that may break depending on run-time values cannot be compiled."
                )
            if self.is_variable(flow.returned):
                value = flow.value
                return self.branch(
                    self.truth(flow.returned), lambda: Return(value), lambda: self._to_region_end([], rest), node
                )
            if flow.returned:
                return Return(flow.value)
            if flow.broke is not False:
                return None
        return self.run_block(node.orelse, rest) if node.orelse else None

    def _roll_up(self, node: ast.For, source: Any, rest: Any) -> Any:
        """A long loop as a While node over an index."""
        if isinstance(source, range):
            return self._counted_loop(node, SymbolicRange(source.start, source.stop, source.step), rest)
        if isinstance(source, TensorBase):
            return self._counted_loop(node, SymbolicRange(0, source.shape[0], 1), rest, element=lambda i: source[i])  # type: ignore[index]
        raise CompileError(
            f"this loop runs more than {unroll_limit()} times over Python values and would unroll without end. Loop over a range "
            "or a tensor, or raise the environment variable MS_DEV_LOOP_UNROLL_LIMIT."
        )

    def _counted_loop(self, node: ast.For, bounds: SymbolicRange, rest: Any, element: Any = None) -> Any:
        """`for i in range(a, b, c)` with run-time bounds or many trips."""
        frame = self.frame
        counter = f"<counter of line {node.lineno}>"
        step = bounds.step
        if self.is_variable(step):
            step = operator.index(step)
        frame.locals[counter] = bounds.start

        def condition() -> Any:
            i = frame.locals[counter]
            return i < bounds.stop if step > 0 else i > bounds.stop

        def body() -> Any:
            i = frame.locals[counter]
            self.assign(node.target, element(i) if element is not None else i)
            frame.locals[counter] = i + step
            return self._run_body(node.body)

        names = [counter, *assigned_names(node.target), *assigned_names(*node.body)]
        known = all(isinstance(b, int) for b in (bounds.start, bounds.stop))
        bound = len(range(bounds.start, bounds.stop, step)) if known else None
        flow = self.symbolic_while(condition, body, names, node, bound)
        frame.locals.pop(counter, None)
        return self._after_loop(node, flow, rest)

    # -- while --------------------------------------------------------------------------------------------------------
    def exec_While(self, node: ast.While, rest: tuple) -> Any:
        before = self._snapshot()
        saved_state = dict(ACTIVE.builder.state)
        try:
            flow = self._run_while(node)
        except TooLong:
            self._restore(before)
            ACTIVE.builder.state = saved_state
            flow = self._while_node(node, Mixed(False, False, DEAD))
        return self._after_loop(node, flow, rest)

    def _run_while(self, node: ast.While) -> Any:
        for _ in range(unroll_limit()):
            test = self.decided(self.eval(node.test))
            if self.is_variable(test):
                return self._while_node(node, Mixed(False, False, DEAD))
            if not test:
                return None
            before = self._snapshot()
            saved_state = dict(ACTIVE.builder.state)
            flow = self._run_body(node.body)
            if isinstance(flow, Mixed) and (self.is_variable(flow.broke) or self.is_variable(flow.returned)):
                self._restore(before)
                ACTIVE.builder.state = saved_state
                return self._while_node(node, Mixed(False, False, DEAD))
            flow = _settle(flow)
            if flow is not None:
                return flow
        raise TooLong

    def _while_node(self, node: ast.While, flow: Mixed) -> Any:
        names = assigned_names(*node.body, node.test)
        if not any(isinstance(n, ast.NamedExpr) for n in ast.walk(node.test)):
            return self.symbolic_while(lambda: self.eval(node.test), lambda: self._run_body(node.body), names, node)
        return self._while_assigning(node, names)

    def _while_assigning(self, node: ast.While, names: list[str]) -> Any:
        """A loop whose condition assigns: the body must see what the test before it assigned, and so must what follows."""
        if any(isinstance(n, (ast.Break, ast.Return)) for statement in node.body for n in ast.walk(statement)):
            raise ValueUnknownError(
                "a condition with ':=' of a loop that may be left early depends on run-time values."
            )

        def body() -> Any:
            self.eval(node.test)
            return self._run_body(node.body)

        flow = self.symbolic_while(lambda: self.eval(node.test), body, names, node)
        self.eval(node.test)
        return flow

    # -- the While node -------------------------------------------------------------------------------------------------
    def symbolic_while(
        self,
        test: Callable[[], Any],
        body: Callable[[], Any],
        names: Iterable[str],
        node: ast.AST,
        bound: int | None = None,
    ) -> Any:
        """Build a While node; returns the flow after the loop with its flags."""
        carry = LoopCarry(self, list(dict.fromkeys(names)), node, bound)
        return carry.build(test, body)


_FINITE: tuple[type, ...] = (
    list, tuple, dict, set, frozenset, str, type(iter([])), type(iter(())), type({}.items()), type({}.keys()), type({}.values()),
)  # fmt: skip


def _may_roll_up(source: Any) -> bool:
    """Whether a long loop over `source` is not simply unrolled: it can become a While node, or might never end."""
    return not isinstance(source, _FINITE)


class SymbolicRange:
    """`range` with bounds that only the graph knows."""

    def __init__(self, start: Any, stop: Any, step: int = 1):
        self.start, self.stop, self.step = start, stop, step

    def known(self) -> range:
        """As a range of ints, in a graph that may be made for them."""
        return range(*map(operator.index, (self.start, self.stop, self.step)))

    def __iter__(self) -> Iterator[int]:
        return iter(self.known())

    def __len__(self) -> int:
        return len(self.known())


class Variable:
    """One leaf of a loop-carried value."""

    def __init__(self, name: Any, path: tuple, value: Any):
        self.name = name  # of a local variable, or the key of an attribute
        self.path = path
        self.initial = value
        self.abstract: Any = None  # an Abstract; None: still a constant


class LoopCarry:
    """The variables of a loop, found by interpreting its body until nothing changes."""

    def __init__(self, interpreter: Any, names: list[str], node: ast.AST, bound: int | None = None):
        self.bound = bound
        self.interpreter = interpreter
        self.frame = interpreter.frame
        self.node = node
        self.outer: Builder = ACTIVE.builder
        self.names = names
        self.start: dict[Any, Any] = {
            n: self.frame.locals[n]
            for n in names
            if n in self.frame.locals and not isinstance(self.frame.locals[n], Undefined)
        }
        self.replaced: set[tuple] = set()  # names and paths of lists and dicts in whose place the body puts others
        self.filled: list[str] = []  # names of what the body changes without assigning to it, in functions that it calls
        self.owners: dict[Key, Any] = {}  # objects whose attributes the body stores; their keys are names too
        self.known = {id(leaf) for value in self.frame.locals.values() for _, leaf in leaves(value)}
        self.variables: dict[tuple, Variable] = {}
        self.entered: dict[tuple, Any] = {}  # what stands for the variables in the graph being built
        self.state: dict[int, Any] = {}  # Parameters and tensors written in the body
        self.flags: dict[str, Any] = {"<broke>": False, "<returned>": False, "<value>": DEAD}
        self.held: dict[tuple, Any] = {}  # lists and dicts that they hold before the loop, by name and path
        for name, value in [*self.start.items(), *self.flags.items()]:
            self._add(name, value)

    # -- leaves ---------------------------------------------------------------------------------------------------
    def _add(self, name: Any, value: Any) -> None:
        self.held.update(containers(value, (name,)))
        for path, leaf in leaves(value):
            variable = self.variables[(name, *path)] = Variable(name, path, leaf)
            if self.outer.is_variable(leaf):
                variable.abstract = values.abstract_of(leaf)

    def build(self, test: Callable, body: Callable) -> Any:
        interpreter, frame = self.interpreter, self.frame
        before = interpreter._snapshot()
        for _ in range(12):
            attempt = self._attempt(test, body, before)
            interpreter._restore(before)
            for name in [n for n in self.names if n not in self.start and n in self.filled]:
                self.start[name] = self.frame.locals[name]
                self._add(name, self.start[name])
            if attempt is not None:
                if not self._changes_condition(attempt[0], attempt[1]):
                    return self._endless(test())
                return self._emit(*attempt)
        frame.node = self.node
        raise DecisionError("the variables of this loop change their type from trip to trip and never settle.")

    def _attempt(self, test: Callable, body: Callable, before: tuple) -> Any:
        """Interpret condition and body once; None if a variable had to be widened."""
        interpreter = self.interpreter
        cond_builder, body_builder = self.outer.child("while_cond"), self.outer.child("while_body")
        self._enter(cond_builder)
        with cond_builder.active():
            keep_going = self._condition(test())
        interpreter._restore(before)
        self._enter(body_builder)
        with body_builder.active():
            flow = body()
        interpreter.outside.refuse_changes(before[1])
        flags_after = dict(zip(self.flags, _flag_values(flow)))
        stored = self._attributes_after(before[2])
        left = {n: self.frame.locals.get(n, DEAD) for n in self.names}
        if self._finds_replaced(left) or self._finds_filled(before):
            return None
        after: dict[Any, Any] = {n: _copied(value) for n, value in left.items()} | flags_after | (stored or {})
        if self._widen(after, body_builder) or stored is None:
            return None
        if keep_going is True:
            self.frame.node = self.node
            raise CompileError(
                "this loop never ends: its condition is always true and nothing in it breaks or returns."
            )
        return cond_builder, keep_going, body_builder, after

    def _attributes_after(self, before: dict[Key, tuple]) -> dict[Key, Any] | None:
        """What the body left in attributes; None when it stored one that was not a variable of the loop yet."""
        interpreter, found = self.interpreter, False
        for key, entry in list(interpreter.attributes.items()):
            if key in self.owners or before.get(key) is entry:
                continue
            initial = interpreter.attribute_or_undefined(before, key, entry[0])
            if isinstance(initial, Undefined):
                raise AttributeError(initial.message)
            self.owners[key], self.start[key], found = entry[0], initial, True
            self._add(key, initial)
        return None if found else {key: interpreter.attributes[key][2] for key in self.owners}

    def _bind(self, name: Any, value: Any) -> None:
        if name in self.owners:
            self.interpreter.attributes[name] = (self.owners[name], name[1], value)
        else:
            self.frame.locals[name] = self._filled(self.start[name], value, (name,))

    def _filled(self, held: Any, value: Any, path: tuple) -> Any:
        """The lists and dicts that a variable held before the loop with new items: others may hold them, too."""
        if type(held) not in (list, dict, tuple) or type(value) is not type(held):
            return value
        keys = list(held) if isinstance(held, dict) else range(len(held))
        parts = [self._filled(held[key], value[key], (*path, key)) for key in keys]
        if isinstance(held, tuple) or path in self.replaced:
            return with_parts(held, parts)
        for key, part in zip(keys, parts):
            held[key] = part
        return held

    def _finds_replaced(self, left: dict[str, Any]) -> bool:
        """Whether the body puts other lists or dicts in the place of some that it was thought to fill."""
        found = {path for path, held in self.held.items() if path[0] in left and _at(left, path) is not held}
        known = len(self.replaced)
        self.replaced |= found
        return len(self.replaced) > known

    def _finds_filled(self, before: tuple) -> bool:
        """Whether the body, or what it calls, changes lists or dicts of variables that were not thought to be the loop's."""
        names, contents, _ = before
        own = {id(held) for held in self.held.values()}
        changed = {key: held for key, (held, kept) in contents.items() if key not in own and not same_items(kept, held)}
        found = [n for n, v in names.items() if n not in self.start and any(id(c) in changed for _, c in containers(v, (n,)))]
        if changed and not found:
            self.frame.node = self.node
            kind = type(next(iter(changed.values()))).__name__
            raise ValueUnknownError(f"This loop changes a {kind} of a function around it, where only a run knows how often.")
        self.filled += found
        self.names += found
        return bool(found)

    def _enter(self, builder: Builder) -> None:
        """Bind the loop variables to fresh parameters of a graph."""
        bound = self.entered = {}
        for key, variable in self.variables.items():
            if variable.abstract is not None:
                bound[key] = values.from_node(builder.graph.add_parameter(_label(variable.name), variable.abstract))
            else:
                bound[key] = variable.initial
        for target in self.state.values():
            parameter = builder.graph.add_parameter(getattr(target, "name", "state"), values.abstract_of(target))
            builder.state[id(target)] = (target, parameter)
        for name, value in self.start.items():
            self._bind(name, replace_leaves(value, lambda path, n=name: bound[(n, *path)]))
        self.broke = bound[("<broke>",)]
        self.returned = bound[("<returned>",)]

    def _condition(self, value: Any) -> Any:
        """The loop goes on while its test holds and no trip has left it."""
        interpreter = self.interpreter
        result = value
        for done in (self.broke, self.returned):
            if interpreter.is_variable(done):
                result = interpreter.both(interpreter.negate(done), result)
        if interpreter.is_variable(result):
            return interpreter.truth(result)
        if not result:
            raise CompileError("the condition of this loop is false from the start once its variables are widened.")
        return True

    # -- the fixpoint ---------------------------------------------------------------------------------------------
    def _widen(self, after: dict[Any, Any], builder: Builder) -> bool:
        changed = False
        for target_id, (target, _) in builder.state.items():
            if target_id not in self.state and self._existed(target, builder):
                self.state[target_id] = target
                changed = True
        for name, value in after.items():
            if name in self.start or name in self.flags:
                changed |= self._widen_name(name, value, builder)
        return changed

    def _existed(self, target: Any, builder: Builder) -> bool:
        """Whether what the body writes to was there before the loop; temporaries of the body are nobody's state."""
        if target._node is not None:
            return builder.outlives(target)
        lasting = isinstance(target, values.parameter_class()) or getattr(target, "_ms_keep", False)
        reports = builder.root.reports
        lasting = lasting or (reports is not None and reports.holds(target))
        return lasting or self.outer.written(target) or id(target) in self.known

    def _widen_name(self, name: Any, value: Any, builder: Builder) -> bool:
        known = {key[1:]: v for key, v in self.variables.items() if key[0] == name}
        found = dict(leaves(value))
        if name == "<value>" and set(known) != set(found):
            return self._widen_result(value)
        if set(known) != set(found):
            self.frame.node = self.node
            raise ValueUnknownError(
                f"'{_shown(name)}' changes its structure in this loop ({short(self.start.get(name))} becomes {short(value)}); a loop "
                "over run-time values must keep it."
            )
        changed = [
            self._widen_leaf(known[path], leaf, builder) for path, leaf in found.items()
        ]  # all of them, not the first
        return any(changed)

    def _widen_result(self, value: Any) -> bool:
        """The value that a `return` inside the loop gives: zeros until a trip returns."""
        for key in [k for k in self.variables if k[0] == "<value>"]:
            del self.variables[key]
        self.flags["<value>"] = value
        for path, leaf in leaves(value):
            variable = self.variables[("<value>", *path)] = Variable("<value>", path, leaf)
            if _is_data(leaf):
                variable.abstract = _abstract(leaf)
                variable.initial = values.from_node(zeros_node(variable.abstract))
        return True

    def _widen_leaf(self, variable: Variable, after: Any, builder: Builder) -> bool:
        """Make one variable general enough for what the body gives it."""
        if after is DEAD:
            return False
        if variable.abstract is None:
            if variable.initial is DEAD:
                return self._widen_result(after)
            if not builder.is_variable(after) and _same(variable.initial, after):
                return False
            if not _is_data(variable.initial) or not _is_data(after):
                self._refuse(variable, after)
            variable.abstract = self._fit(_abstract(variable.initial), variable, after)
            return True
        wider = self._fit(variable.abstract, variable, after)
        if wider == variable.abstract:
            return False
        variable.abstract = wider
        return True

    def _fit(self, before: Abstract, variable: Variable, after: Any) -> Abstract:
        if not _is_data(after):
            self._refuse(variable, after)
        wanted = _abstract(after)
        common = common_abstract(before, wanted)
        if common is None and isinstance(before, AbstractScalar) and wanted.shape == ():
            common = wanted  # a number that becomes a 0-d tensor
        if common is None:
            self._refuse(variable, after)
        return common  # type: ignore[return-value]

    def _refuse(self, variable: Variable, after: Any) -> None:
        self.frame.node = self.node
        message = (
            f"The variable '{_shown(variable.name)}' must keep its type and shape in a loop that depends on run-time values, but it "
            f"is {short(variable.initial)} before a trip and {short(after)} after it."
        )
        if Unjoined(variable.initial, after).dynamic or self._is_replaced(variable, after):
            raise ValueUnknownError(message)
        raise TypeError(message)

    def _is_replaced(self, variable: Variable, after: Any) -> bool:
        """Whether the body gives a variable a value of its own: then its type is known once it is known whether there is a trip."""
        before, new = (getattr(x, "_node", None) for x in (self.entered.get((variable.name, *variable.path)), after))
        if before is None or new is None:
            return False
        return not any(arg is before for user in topological_order(new, before.graph) for arg in user.args)

    # -- the node -------------------------------------------------------------------------------------------------
    def _emit(self, cond_builder: Builder, keep_going: TensorBase, body_builder: Builder, after: dict[Any, Any]) -> Any:
        carried = [v for v in self.variables.values() if v.abstract is not None]
        finals = {(n, *path): leaf for n, value in after.items() for path, leaf in leaves(value)}
        outputs = [self._final(body_builder, v, finals) for v in carried]
        outputs += [body_builder.node_of(t) for t in self.state.values()]
        body_builder.graph.output = body_builder.make_tuple(outputs)
        cond_builder.graph.output = cond_builder.node_of(keep_going)
        free = close_graphs([cond_builder.graph, body_builder.graph])
        initial = [self.outer.node_of(convert(v.initial, v.abstract)) for v in carried]
        initial += [self.outer.node_of(t) for t in self.state.values()]
        prim = While(len(initial), self.bound)
        node = self.outer.emit(prim, (ValueNode(cond_builder.graph), ValueNode(body_builder.graph), *initial, *free))
        return self._leave(list(self.outer.public(node)), carried)

    def _changes_condition(self, cond_builder: Builder, keep_going: TensorBase) -> bool:
        """Whether a variable of the loop enters its condition."""
        return depends_on(cond_builder.node_of(keep_going), set(map(id, cond_builder.graph.parameters)))

    def _endless(self, condition: TensorBase) -> Any:
        """A condition that nothing in the loop changes: either it does not run at all, or the graph reports that it never ends."""
        interpreter = self.interpreter
        self.frame.node = self.node
        holds = interpreter.truth(condition) if interpreter.is_variable(condition) else condition
        interpreter.raise_when(holds, RuntimeError("this loop never ends: nothing in it changes its condition."))
        self._forget_names()
        return Mixed(False, False, DEAD)

    def _forget_names(self) -> None:
        """Names that only the body gives a value have none after the loop."""
        kind = "for" if isinstance(self.node, ast.For) else "while"
        for name in self.names:
            if name not in self.start:
                self.frame.locals[name] = Undefined(
                    f"The local variable '{name}' defined in the '{kind}' loop body cannot be used outside of the loop body. "
                    "The loop may not run at all; give the variable a value before it."
                )

    def _final(self, builder: Builder, variable: Variable, finals: dict[tuple, Any]) -> Any:
        value = finals.get((variable.name, *variable.path), DEAD)
        if value is DEAD:
            return zeros_node(variable.abstract)
        with builder.active():
            return builder.node_of(convert(value, variable.abstract))

    def _leave(self, outputs: list[Any], carried: list[Variable]) -> Any:
        """Bind what the loop leaves behind; return the flow with its flags."""
        result = {(v.name, *v.path): out for v, out in zip(carried, outputs)}
        for target, out in zip(self.state.values(), outputs[len(carried) :]):
            self.outer.write(target, self.outer.node_of(out))

        def final(name: Any, value: Any) -> Any:
            return replace_leaves(value, lambda path: result.get((name, *path), self.variables[(name, *path)].initial))

        for name, value in self.start.items():
            self._bind(name, final(name, value))
        self._forget_names()
        return Mixed(*(final(name, value) for name, value in self.flags.items()))


def _flag_values(flow: Any) -> tuple[Any, Any, Any]:
    if isinstance(flow, Mixed):
        return flow.broke, flow.returned, flow.value
    if isinstance(flow, Return):
        return False, True, flow.value
    if isinstance(flow, Jump):
        return flow.kind == "break", False, DEAD
    return False, False, DEAD


def _settle(flow: Any) -> Any:
    """A body's flow when it is fully known: None means the loop goes on."""
    if isinstance(flow, Mixed):
        if flow.returned:
            return Return(flow.value)
        return Jump("break") if flow.broke else None
    return None if isinstance(flow, Jump) and flow.kind == "continue" else flow


def _label(name: Any) -> str:
    return name[1] if isinstance(name, tuple) else name.strip("<>")


def _shown(name: str) -> str:
    return "the returned value" if name == "<value>" else _label(name)


def _is_data(value: object) -> bool:
    return isinstance(value, (TensorBase, SymbolicScalarBase)) or values.is_number(value)


def _abstract(value: Any) -> Abstract:
    if isinstance(value, (TensorBase, SymbolicScalarBase)):
        return values.abstract_of(value)
    return AbstractScalar(values.scalar_dtype(value))


def _same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if isinstance(a, (TensorBase, Unjoined)) or isinstance(b, (TensorBase, Unjoined)):
        return False
    return same_constant(a, b)


def depends_on(node: Any, wanted: set[int]) -> bool:
    """Whether a node uses one of some parameters, directly or through others."""
    stack, seen = [node], set[int]()
    while stack:
        node = stack.pop()
        if id(node) in wanted:
            return True
        if id(node) not in seen:
            seen.add(id(node))
            stack += getattr(node, "args", ())
    return False


def leaves(value: Any, path: tuple = ()) -> list[tuple[tuple, Any]]:
    """The innermost parts of a structure with their paths."""
    parts = parts_of(value)
    if parts is None:
        return [(path, value)]
    keys = value if isinstance(value, dict) else range(len(parts))
    return [found for key, part in zip(keys, parts) for found in leaves(part, (*path, key))]


def containers(value: Any, path: tuple) -> list[tuple[tuple, Any]]:
    """The lists and dicts in a structure of lists, dicts and tuples, with their paths."""
    if type(value) not in (list, dict, tuple):
        return []
    items = value.items() if isinstance(value, dict) else enumerate(value)
    inner = [found for key, part in items for found in containers(part, (*path, key))]
    return inner if isinstance(value, tuple) else [(path, value), *inner]


def _at(structure: Any, path: tuple) -> Any:
    """What is in a structure at a path; None if there is nothing."""
    for key in path:
        if type(structure) not in (list, dict, tuple):
            return None
        try:
            structure = structure[key]
        except (KeyError, IndexError):
            return None
    return structure


def _copied(value: Any) -> Any:
    """A structure that stays as it is when lists and dicts in the value are changed."""
    parts = parts_of(value)
    return value if parts is None else with_parts(value, [_copied(part) for part in parts])


def replace_leaves(value: Any, leaf: Callable[..., Any], path: tuple = ()) -> Any:
    parts = parts_of(value)
    if parts is None:
        return leaf(path)
    keys = value if isinstance(value, dict) else range(len(parts))
    return with_parts(value, [replace_leaves(part, leaf, (*path, key)) for key, part in zip(keys, parts)])


def assigned_names(*nodes: ast.AST) -> list[str]:
    """Names that statements bind or whose elements they may change."""
    found: dict[str, None] = {}
    for root in nodes:
        for node in ast.walk(root):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found[node.id] = None
            elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                base: Any = node.value
                while isinstance(base, (ast.Subscript, ast.Attribute)):
                    base = base.value
                if isinstance(base, ast.Name):
                    found[base.id] = None
            elif isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name is not None:
                found[node.name] = None
            elif _mutated_name(node):
                found[_mutated_name(node)] = None
    return list(found)


def _mutated_name(node: ast.AST) -> str:
    """The variable of `variable.append(…)` and the like, or ""."""
    method = node.func if isinstance(node, ast.Call) else None
    if isinstance(method, ast.Attribute) and isinstance(method.value, ast.Name) and method.attr in _MUTATING_METHODS:
        return method.value.id
    return ""


_MUTATING_METHODS = {
    "append",
    "extend",
    "insert",
    "pop",
    "remove",
    "clear",
    "reverse",
    "sort",
    "update",
    "setdefault",
    "popitem",
}
