"""Interpreting expressions.

Values are ordinary Python values; what only the running graph will know is a symbolic Tensor or scalar, on which the
ordinary operators add nodes. So most rules here simply do what Python does.
"""

from __future__ import annotations

import ast
import inspect
import operator
import types
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.compiler.parse.builtin_rules import Text
from mindspore.compiler.parse.errors import CompileError, DecisionError, SliceError, ZeroDivisorError
from mindspore.compiler.parse.forbidden import refuse_forbidden
from mindspore.compiler.parse.frames import Frame, InterpretedFunction
from mindspore.compiler.parse.overloads import complaint
from mindspore.compiler.parse.rules import Rules
from mindspore.compiler.parse.source import is_library
from mindspore.prims import checks, values
from mindspore.prims import elementwise as ew
from mindspore.prims.active import ACTIVE
from mindspore.prims.checks import OutOfRangeError
from mindspore.prims.debug import printed
from mindspore.prims.values import SymbolicScalarBase, TensorBase, ValueUnknownError

BINARY = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.MatMult: operator.matmul,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor, ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}  # fmt: skip
INPLACE = {
    ast.Add: operator.iadd, ast.Sub: operator.isub, ast.Mult: operator.imul, ast.Div: operator.itruediv,
    ast.FloorDiv: operator.ifloordiv, ast.Mod: operator.imod, ast.Pow: operator.ipow, ast.MatMult: operator.imatmul,
    ast.BitAnd: operator.iand, ast.BitOr: operator.ior, ast.BitXor: operator.ixor, ast.LShift: operator.ilshift,
    ast.RShift: operator.irshift,
}  # fmt: skip
COMPARE = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}  # fmt: skip


#: keys, values and items of dictionaries
_VIEWS: tuple[type[Collection], ...] = (type({}.keys()), type({}.values()), type({}.items()))


class ExpressionRules(Rules):
    """Mixed into the interpreter; `self.frame` is the current frame."""

    def eval(self, node: ast.expr) -> Any:
        frame = self.frame
        saved = frame.node
        frame.node = node
        rule = getattr(self, "eval_" + type(node).__name__, None)
        if rule is None:
            raise CompileError(f"'{type(node).__name__}' expressions cannot be compiled; rewrite this line without it.")
        result = rule(node)
        frame.node = saved
        return result

    # -- atoms ----------------------------------------------------------------------------------------------------
    def eval_Constant(self, node: ast.Constant) -> Any:
        return node.value

    def eval_Tuple(self, node: ast.Tuple) -> tuple:
        return tuple(self._elements(node.elts))

    def eval_List(self, node: ast.List) -> list:
        return self._elements(node.elts)

    def eval_Set(self, node: ast.Set) -> set:
        return set(self._elements(node.elts))

    def _elements(self, nodes: list[ast.expr]) -> list:
        out: list[Any] = []
        for item in nodes:
            if isinstance(item, ast.Starred):
                out.extend(self.iterate(self.eval(item.value)))
            else:
                out.append(self.eval(item))
        return out

    def eval_Dict(self, node: ast.Dict) -> dict:
        out: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values):
            if key is None:
                out.update(self.eval(value))
            else:
                out[self.eval(key)] = self.eval(value)
        return out

    def eval_JoinedStr(self, node: ast.JoinedStr) -> str:
        return "".join(self.eval(part) for part in node.values)

    def text_parts(self, node: ast.JoinedStr) -> list[Any]:
        """An f-string that is printed: text, and pairs of a run-time value and its format."""
        parts: list[Any] = []
        for part in node.values:
            value = self.eval(part.value) if isinstance(part, ast.FormattedValue) else self.eval(part)
            if not isinstance(part, ast.FormattedValue):
                parts.append(value)
            elif self.is_variable(value) and part.conversion < 0 and part.format_spec is not None:
                parts.append((value, self.eval(part.format_spec)))
            elif part.format_spec is None and part.conversion != ord("a"):
                parts += printed(value, part.conversion == ord("r"))
            else:
                parts.append(self.format_value(part, value))
        return parts

    def eval_FormattedValue(self, node: ast.FormattedValue) -> str:
        return self.format_value(node, self.eval(node.value))

    def format_value(self, node: ast.FormattedValue, value: Any) -> str:
        if node.conversion >= 0:
            conversions: dict[str, Callable[[Any], str]] = {"s": str, "r": repr, "a": ascii}
            value = conversions[chr(node.conversion)](value)
        spec = self.eval(node.format_spec) if node.format_spec is not None else ""
        return format(value, spec)

    def eval_NamedExpr(self, node: ast.NamedExpr) -> Any:
        value = self.eval(node.value)
        self.frame.store(node.target.id, value)
        return value

    def eval_Yield(self, node: ast.Yield) -> None:
        self._yield([None if node.value is None else self.eval(node.value)])

    def eval_YieldFrom(self, node: ast.YieldFrom) -> None:
        self._yield(self.iterate(self.eval(node.value)))

    def _yield(self, items: Any) -> None:
        frame = self.frame
        while frame.yielded is None:  # a comprehension has a frame of its own
            frame = frame.enclosing
        if ACTIVE.builder is not frame.yielded[1]:
            raise ValueUnknownError("whether a generator gives an item depends on run-time values.")
        frame.yielded[0].extend(items)

    def eval_Starred(self, node: ast.Starred) -> Any:
        raise CompileError("a starred expression is not allowed here")

    # -- operators ------------------------------------------------------------------------------------------------
    def eval_BinOp(self, node: ast.BinOp) -> Any:
        left, right = self.eval(node.left), self.eval(node.right)
        return self.binary(BINARY[type(node.op)], left, right)

    def binary(self, function: Callable, left: Any, right: Any) -> Any:
        try:
            return function(left, right)
        except ZeroDivisionError as error:
            modulo = function is operator.mod
            text = "Cannot perform modulo operation on zero" if modulo else "The divisor could not be zero"
            raise ZeroDivisorError(f"{text}: {error}.") from None
        except (TypeError, ValueError):
            if function in (operator.lshift, operator.rshift):
                _check_shift(left, right)
            raise

    def eval_UnaryOp(self, node: ast.UnaryOp) -> Any:
        value = self.eval(node.operand)
        if isinstance(node.op, ast.Not):
            return self.negate(value)
        if isinstance(node.op, ast.USub):
            return -value
        if isinstance(node.op, ast.UAdd):
            return +value
        return ~value

    def negate(self, value: bool) -> Any:
        if self.is_variable(value):
            return _like(ew.LogicalNot()(self.truth(value)), value)
        return not value

    def eval_Compare(self, node: ast.Compare) -> Any:
        left = self.eval(node.left)
        result: Any = True
        for op, right_node in zip(node.ops, node.comparators):
            right = self.eval(right_node)
            step = self._compare(op, left, right)
            if len(node.ops) == 1:
                return step
            if not self.is_variable(step) and not step:
                return step
            result = step if result is True else self.both(result, step)
            left = right
        return result

    def _compare(self, op: ast.cmpop, left: Any, right: Any) -> Any:
        if isinstance(op, ast.Is):
            return self.identical(left, right)
        if isinstance(op, ast.IsNot):
            return self.negate(self.identical(left, right))
        if isinstance(op, ast.In):
            return self.contains(right, left)
        if isinstance(op, ast.NotIn):
            return self.negate(self.contains(right, left))
        if isinstance(left, (tuple, list)) and isinstance(right, (tuple, list)) and self._has_variables((left, right)):
            return self._compare_sequences(op, left, right)
        return COMPARE[type(op)](left, right)

    def identical(self, left: Any, right: Any) -> Any:
        """`is`: of an int or bool that only the running graph knows there is one object per value, as of Python's own small ints."""
        if left is right or not any(isinstance(value, SymbolicScalarBase) for value in (left, right)):
            return left is right
        kind = _whole_kind(left)
        return COMPARE[ast.Eq](left, right) if kind and kind == _whole_kind(right) else False

    def _compare_sequences(self, op: ast.cmpop, left: Any, right: Any) -> Any:
        if not isinstance(op, (ast.Eq, ast.NotEq)):
            return self._order_sequences(op, left, right)
        same: Any = type(left) is type(right) and len(left) == len(right)
        if same:
            for a, b in zip(left, right):
                equal = self._compare(ast.Eq(), a, b)
                same = self.both(same, equal.all() if isinstance(equal, TensorBase) else equal)
        return same if isinstance(op, ast.Eq) else self.negate(same)

    def _order_sequences(self, op: ast.cmpop, left: Any, right: Any) -> Any:
        """The order of the first elements that differ, if it is known before a tensor has to be looked at."""
        for a, b in zip(left, right):
            if self._has_variables((a, b)):
                raise ValueUnknownError(
                    "ordering sequences needs the values of the tensors in them, which only the running graph knows."
                )
            if a != b:
                return COMPARE[type(op)](a, b)
        return COMPARE[type(op)](len(left), len(right))

    def _has_variables(self, value: Any) -> bool:
        if isinstance(value, (tuple, list)):
            return any(self._has_variables(v) for v in value)
        return self.is_variable(value)

    def contains(self, container: Any, item: int) -> Any:
        if self.is_variable(container):
            return ew.Equal()(container, item).any()
        if isinstance(container, (tuple, list)) and any(map(_compares_elementwise, (item, *container))):
            found: Any = False
            for element in container:
                equal = self.same_value(element, item)
                if not self.is_variable(equal):
                    if equal:
                        return True
                    continue
                found = equal if found is False else ew.LogicalOr()(found, equal)
            return found
        return item in container

    def same_value(self, a: Any, b: Any) -> Any:
        """Whether two values are equal as a whole; tensors of different shapes are not."""
        if a is b:
            return True
        if any(map(_compares_elementwise, (a, b))):
            if np.shape(a) != np.shape(b) if _have_shapes(a, b) else not _numbers(a, b):
                return False
            equal = a == b
            if isinstance(equal, (TensorBase, np.ndarray)) and not self.is_variable(equal):
                return bool(np.all(np.asarray(equal)))
            return equal.all() if isinstance(equal, TensorBase) and equal.size > 1 else equal
        return a == b

    def eval_BoolOp(self, node: ast.BoolOp) -> Any:
        result = self.eval(node.values[0])
        conjunction = isinstance(node.op, ast.And)
        for item in node.values[1:]:
            if not self.is_variable(result):
                if bool(result) is not conjunction:
                    return result
                result = self.eval(item)
                continue
            result = self._lazy_bool(result, item, conjunction)
        return result

    def _lazy_bool(self, left: Any, item: ast.expr, conjunction: bool) -> Any:
        """`a and b` where a is symbolic: b is evaluated only where Python would."""
        condition = self.truth(left)
        if conjunction:
            return self.choose(
                condition, lambda: self._as_bool(self.eval(item), left), lambda: self._as_bool(left, left)
            )
        return self.choose(condition, lambda: self._as_bool(left, left), lambda: self._as_bool(self.eval(item), left))

    def _as_bool(self, value: Any, like: Any) -> Any:
        """Conditions join as booleans; other values keep their type."""
        if isinstance(value, bool) or values.dtype_of(like).kind == "b":
            return _like(self.truth(value), value) if self.is_variable(value) else bool(value)
        return value

    def both(self, left: Any, right: Any) -> Any:
        if not self.is_variable(left):
            return right if left else left
        if not self.is_variable(right):
            return left if right else right
        return _like(ew.LogicalAnd()(self.truth(left), self.truth(right)), left, right)

    def eval_IfExp(self, node: ast.IfExp) -> Any:
        condition = self.decided(self.eval(node.test))
        if not self.is_variable(condition):
            return self.eval(node.body if condition else node.orelse)
        return self.choose(self.truth(condition), lambda: self.eval(node.body), lambda: self.eval(node.orelse))

    def truth(self, value: Any) -> Any:
        """A symbolic value as a 0-d bool tensor."""
        if isinstance(value, SymbolicScalarBase):
            value = _scalar_to_tensor(value)
        if value.size != 1:
            raise ValueError(checks.ambiguous_truth(tuple(value.shape)))
        if values.dtype_of(value).kind != "b":
            value = ew.NotEqual()(value, 0)
        return value.reshape(()) if value.ndim else value

    # -- access ---------------------------------------------------------------------------------------------------
    def eval_Attribute(self, node: ast.Attribute) -> Any:
        return self.getattribute(self.eval(node.value), node.attr)

    def getitem(self, container: Any, index: Any) -> Any:
        if self.is_variable(index) and (isinstance(container, (tuple, list)) or _is_cell_list(container)):
            return self._dynamic_element(list(container), index)
        if isinstance(
            container, _VIEWS
        ):  # graphs know no other order of keys: what they take from a dictionary is a sequence
            container = tuple(container)
        if isinstance(index, slice) and isinstance(container, (tuple, list, str)):
            _check_slice(index)
        elif isinstance(index, TensorBase) and _is_cell_list(container):
            index = int(index)
        method = getattr(type(container), "__getitem__", None)
        if method is not None and self.should_interpret(method):
            return self.call(method, (container, index), {})
        return container[index]

    def _dynamic_element(self, container: Any, index: Any) -> Any:
        """Choose among equal-typed tensors (or callables) by an index that only the graph knows."""
        if not container:
            raise OutOfRangeError("cannot get item by index from an empty sequence.")
        position: Any = index if isinstance(index, TensorBase) else _scalar_to_tensor(index)
        if values.dtype_of(position).kind == "b":  # False and True are 0 and 1
            position = index = ew.Cast()(position, mstype.int64)
        if all(callable(c) and not isinstance(c, TensorBase) for c in container):
            return lambda *args, **kwargs: self._call_chosen(container, index, args, kwargs)
        if not all(isinstance(c, (TensorBase, SymbolicScalarBase)) or values.is_number(c) for c in container):
            raise ValueUnknownError("an element of a sequence is chosen by an index that only the running graph knows.")
        numbers = not any(isinstance(c, TensorBase) for c in container)
        tensors = (
            [_exact(c) for c in container]
            if numbers
            else [c if isinstance(c, TensorBase) else values.tensor_class()(c) for c in container]
        )
        if len({(tuple(t.shape), values.dtype_of(t)) for t in tensors}) > 1:
            raise ValueUnknownError(
                "tensors of different types are chosen by an index that only the running graph knows."
            )
        from mindspore.prims.arrays import TENSOR_INDEX, GetItem, Stack, TensorToScalar

        chosen = GetItem((TENSOR_INDEX,))(Stack(0)(tensors), position.reshape(()))
        return TensorToScalar()(chosen) if numbers else chosen

    def _call_chosen(self, functions: Any, index: Any, args: tuple, kwargs: dict) -> Any:
        """Call one of several functions, chosen by a run-time index; the last serves for all larger ones."""
        function, *others = functions
        if not others:
            return self.call(function, args, kwargs)
        first = self.truth(ew.LogicalOr()(ew.Equal()(index, 0), ew.Equal()(index, -len(functions))))
        return self.choose(
            first,
            lambda: self.call(function, args, kwargs),
            lambda: self._call_chosen(others, ew.Select()(ew.Greater()(index, 0), index - 1, index), args, kwargs),
        )

    def eval_Slice(self, node: ast.Slice) -> slice:
        def part(item: ast.expr | None) -> Any:
            value: Any = None if item is None else self.eval(item)
            concrete = isinstance(value, TensorBase) and not self.is_variable(value)
            return int(value) if concrete else value

        return slice(part(node.lower), part(node.upper), part(node.step))

    # -- functions and comprehensions -----------------------------------------------------------------------------
    def eval_Lambda(self, node: ast.Lambda) -> InterpretedFunction:
        return self.make_function(node)

    def make_function(self, node: ast.FunctionDef | ast.Lambda) -> InterpretedFunction:
        defaults = tuple(self.eval(d) for d in node.args.defaults)
        kw = {a.arg: self.eval(d) for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults) if d is not None}
        return InterpretedFunction(node, self.frame, defaults, kw, self)

    def eval_Call(self, node: ast.Call) -> Any:
        if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
            return self.zero_argument_super()
        function = self.eval(node.func)
        if not is_library(self.frame.globals.get("__name__")):
            refuse_forbidden(function, self.properties > 0)
        if function is print:
            args = [a for n in node.args for a in self._printed(n)]
        else:
            args = self._elements(node.args)
        kwargs: dict[str, Any] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                kwargs.update(self.eval(keyword.value))
            else:
                kwargs[keyword.arg] = self.eval(keyword.value)
        given = _method_arguments(node.func, function, tuple(args))
        if given is None:
            return self.call(function, tuple(args), kwargs)
        return self._call_tensor_method(node.func.attr, given, function, tuple(args), kwargs)  # type: ignore[attr-defined]

    def _call_tensor_method(self, name: str, given: tuple, function: Callable, args: tuple, kwargs: dict) -> Any:
        """What is wrong with the call of a Tensor method is told by the ways in which it may be called."""
        wrong = complaint(name, given, kwargs) if not is_library(self.frame.globals.get("__name__")) else None
        if wrong is not None:
            raise TypeError(wrong)
        return self.call(function, args, kwargs)

    def _printed(self, node: ast.expr) -> list[Any]:
        return [Text(self.text_parts(node))] if isinstance(node, ast.JoinedStr) else self._elements([node])

    def _comprehend(self, generators: list[ast.comprehension], emit: Callable) -> None:
        """Run nested `for … if …` clauses in a scope of their own."""
        outer = self.frame
        scope = Frame(outer.name, outer.file, outer.globals, outer, {}, outer.parent)
        first = self.iterate(self.eval(generators[0].iter))
        self.frame = scope
        scope.node = outer.node
        try:
            self._clause(generators, 0, first, emit)
        finally:
            self.frame = outer

    def _clause(self, generators: list[ast.comprehension], depth: int, items: Any, emit: Callable) -> None:
        for item in items:
            self.assign(generators[depth].target, item)
            if not all(self._static_condition(c) for c in generators[depth].ifs):
                continue
            if depth + 1 < len(generators):
                self._clause(generators, depth + 1, self.iterate(self.eval(generators[depth + 1].iter)), emit)
            else:
                emit()

    def _static_condition(self, node: ast.expr) -> bool:
        value = self.decided(self.eval(node))
        if self.is_variable(value):
            raise DecisionError(
                "the condition of a comprehension depends on tensor values, so the length of the result is unknown when "
                "compiling; use ops.select or a mask instead."
            )
        return bool(value)

    def eval_ListComp(self, node: ast.ListComp) -> list:
        out: list[Any] = []
        self._comprehend(node.generators, lambda: out.append(self.eval(node.elt)))
        return out

    def eval_SetComp(self, node: ast.SetComp) -> set:
        out: set[Any] = set()
        self._comprehend(node.generators, lambda: out.add(self.eval(node.elt)))
        return out

    def eval_DictComp(self, node: ast.DictComp) -> dict:
        out: dict[Any, Any] = {}
        self._comprehend(node.generators, lambda: out.__setitem__(self.eval(node.key), self.eval(node.value)))
        return out

    def eval_GeneratorExp(self, node: ast.GeneratorExp) -> Any:
        out: list[Any] = []
        self._comprehend(node.generators, lambda: out.append(self.eval(node.elt)))
        return iter(out)


def _method_arguments(target: ast.expr, function: Any, args: tuple) -> tuple | None:
    """What a call gives to a Tensor method besides the tensor, called as `x.f(…)` or `Tensor.f(x, …)`; None for other calls."""
    if not isinstance(target, ast.Attribute):
        return None
    if isinstance(function, types.MethodType):
        return args if isinstance(function.__self__, TensorBase) else None
    is_method = isinstance(target.value, ast.Name) and target.value.id == "Tensor"
    if not is_method or function is not inspect.getattr_static(values.tensor_class(), target.attr, None):
        return None  # a static method is not the function that getattr_static finds
    if not args or not isinstance(args[0], TensorBase):
        raise TypeError(
            f"Tensor.{target.attr}() must be given a Tensor first, but got {args[0] if args else 'nothing'}."
        )
    return args[1:]


def _compares_elementwise(value: Any) -> bool:
    return isinstance(value, (TensorBase, SymbolicScalarBase, np.ndarray))


def _have_shapes(a: Any, b: Any) -> bool:
    return hasattr(a, "shape") and hasattr(b, "shape")


def _numbers(a: Any, b: Any) -> bool:
    """Whether both can be compared as single numbers."""
    return all(isinstance(v, SymbolicScalarBase) or values.is_number(v) or getattr(v, "size", 0) == 1 for v in (a, b))


def _whole_kind(value: object) -> str:
    """Whether a Python number, known or not, is a bool or an int; empty for anything else."""
    if isinstance(value, SymbolicScalarBase):
        return {"b": "bool", "i": "int", "u": "int"}.get(value.dtype.kind, "")
    return type(value).__name__ if isinstance(value, int) else ""


def _check_shift(left: Any, right: Any) -> None:
    """Say what is wrong with known numbers that are shifted."""
    for number in (left, right):
        if isinstance(number, float):
            raise TypeError(f"For shifts, only integer types are supported, but got {number!r} of type float.")
    if isinstance(right, int) and right < 0:
        raise ValueError(f"The shift count must be a non-negative integer, but got {right}.")


def _check_slice(index: slice) -> None:
    for part in ("start", "stop", "step"):
        value = getattr(index, part)
        if value is not None and not hasattr(type(value), "__index__"):
            raise SliceError(
                f"Attribute '{part}' of {index} should be int or Tensor with Int type but got {value}. "
                "Slice indices must be integers or bool."
            )
    if index.step is not None and not isinstance(index.step, SymbolicScalarBase) and int(index.step) == 0:
        raise ValueError("Slice step cannot be zero.")


def _is_cell_list(container: Any) -> bool:
    return (
        hasattr(container, "run_around")
        and hasattr(type(container), "__getitem__")
        and hasattr(type(container), "__iter__")
    )


def _scalar_to_tensor(value: Any) -> Any:
    from mindspore.prims.arrays import ScalarToTensor

    return ScalarToTensor()(value)


def _like(condition: Any, *sources: Any) -> Any:
    """A condition found from numbers alone is a bool, one found from tensors a tensor."""
    from mindspore.prims.arrays import TensorToScalar

    return TensorToScalar()(condition) if all(isinstance(s, SymbolicScalarBase) for s in sources) else condition


def _exact(number: Any) -> Any:
    """A number as a 0-d tensor that loses nothing of it: floats stay double."""
    from mindspore.prims.arrays import ScalarToTensor

    if values.is_number(number):
        return values.number_tensor(number, values.scalar_dtype(number))
    return ScalarToTensor()(number, values.dtype_of(number))
