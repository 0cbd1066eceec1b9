"""Built-in functions that mean something else on values only the graph knows."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from mindspore._base import dtype as mstype
from mindspore.compiler.parse.loops import SymbolicRange
from mindspore.prims import arrays, checks, values
from mindspore.prims import elementwise as ew
from mindspore.prims.debug import Print, printed
from mindspore.prims.values import SymbolicScalarBase, TensorBase, ValueUnknownError

if TYPE_CHECKING:
    from mindspore.compiler.parse.interpreter import Interpreter
    from mindspore.prims.primitive import Primitive


def _number(interpreter: Interpreter, value: Any, python_type: type, dtype: mstype.DType, *rest: Any) -> Any:
    if not interpreter.is_variable(value):
        return python_type(value, *rest)
    if isinstance(value, TensorBase):
        if value.size != 1:
            raise ValueError(
                f"Only one element tensors can be converted to Python scalars by {python_type.__name__}(), but this one has shape "
                f"{value.shape}."
            )
        value = arrays.TensorToScalar()(value)
    return ew.Cast()(value, dtype)


def _int(interpreter: Interpreter, value: Any = 0, *rest: Any) -> Any:
    if interpreter.is_variable(value) and values.dtype_of(value).kind == "f":
        value = ew.Trunc()(value)
    return _number(interpreter, value, int, mstype.int64, *rest)


def _float(interpreter: Interpreter, value: Any = 0.0) -> Any:
    return _number(interpreter, value, float, mstype.float64)


def _bool(interpreter: Interpreter, value: Any = False) -> Any:
    if not interpreter.is_variable(value):
        method = getattr(type(value), "__bool__", None)
        if method is not None and interpreter.should_interpret(method):
            return interpreter.call(method, (value,), {})
        return bool(value)
    return arrays.TensorToScalar()(interpreter.truth(value))


def _range(interpreter: Interpreter, *bounds: Any) -> Any:
    if not 1 <= len(bounds) <= 3:
        raise TypeError(f"For 'range', the input size should within [1, 3] but got {len(bounds)}.")
    for place, bound in enumerate(bounds):
        if isinstance(bound, (TensorBase, SymbolicScalarBase)):
            whole = values.dtype_of(bound).kind in "iub" and not getattr(bound, "ndim", 0)
        else:
            whole = hasattr(type(bound), "__index__")
        if not whole:
            raise TypeError(f"For 'range', the {place}th input should be a int scalar but got {checks.describe(bound)}.")
    bounds = tuple(int(b) if isinstance(b, TensorBase) and not interpreter.is_variable(b) else b for b in bounds)
    if len(bounds) == 3 and not interpreter.is_variable(bounds[2]) and bounds[2] == 0:
        raise ValueError("For 'range', the argument 'step' could not be 0.")
    if not any(interpreter.is_variable(b) for b in bounds):
        return range(*bounds)
    bounds = tuple(arrays.TensorToScalar()(b) if isinstance(b, TensorBase) else b for b in bounds)
    return SymbolicRange(0, *bounds) if len(bounds) == 1 else SymbolicRange(*bounds)


def _len(interpreter: Interpreter, value: Any) -> Any:
    method = getattr(type(value), "__len__", None)
    if method is not None and interpreter.should_interpret(method):
        return interpreter.call(method, (value,), {})
    return _unless_dynamic(value, len(value))


def _unless_dynamic(sequence: Any, number: int) -> Any:
    """What is counted in a sequence of variable length is known when the graph runs."""
    return values.symbolic_number(number) if getattr(sequence, "__ms_dynamic__", False) else number


def _refuse_dynamic(name: str, sequences: Iterable[Any]) -> None:
    """A graph runs through a sequence of one length."""
    if any(getattr(sequence, "__ms_dynamic__", False) for sequence in sequences):
        raise RuntimeError(f"For '{name}', the dynamic length input is unsupported in graph mode.")


def _map(interpreter: Interpreter, function: Any, *sequences: Any) -> Any:
    _refuse_dynamic("map", sequences)
    out = [interpreter.call(function, items, {}) for items in zip(*(interpreter.iterate(s) for s in sequences))]
    return iter(out if any(isinstance(s, list) for s in sequences) else tuple(out))


def _filter(interpreter: Interpreter, function: Any, sequence: Any) -> Any:
    chosen = []
    for item in interpreter.iterate(sequence):
        keep = item if function is None else interpreter.call(function, (item,), {})
        if interpreter.is_variable(keep):
            raise TypeError("filter() needs conditions that are known when compiling; use a mask instead.")
        if keep:
            chosen.append(item)
    return iter(chosen)


def _zip(interpreter: Interpreter, *sequences: Any, strict: bool = False) -> Any:
    if not sequences:
        raise ValueError("The zip operator must have at least 1 argument, but got none.")
    _refuse_dynamic("zip", sequences)
    return iter(tuple(zip(*(interpreter.iterate(s) for s in sequences), strict=strict)))


def _enumerate(interpreter: Interpreter, sequence: Any, start: int = 0) -> Any:
    _refuse_dynamic("enumerate", (sequence,))
    if not isinstance(start, int):
        raise TypeError(f"For 'enumerate', the 'start' should be a const int number, but got {start!r}.")
    if isinstance(sequence, (bool, int, float)):
        raise TypeError(f"For 'enumerate', the 'first input' should be tuple or list or tensor, but got {type(sequence)}.")
    return iter(tuple(enumerate(interpreter.iterate(sequence), start)))


def _sum(interpreter: Interpreter, sequence: Any, start: Any = 0) -> Any:
    total = start
    for item in interpreter.iterate(sequence):
        total = total + item
    return total


def _all(interpreter: Interpreter, sequence: Any) -> Any:
    result: Any = True
    for item in interpreter.iterate(sequence):
        result = interpreter.both(result, item)
        if not interpreter.is_variable(result) and not result:
            return False
    return result if interpreter.is_variable(result) else bool(result)


def _any(interpreter: Interpreter, sequence: Any) -> Any:
    result: Any = False
    for item in interpreter.iterate(sequence):
        if not interpreter.is_variable(item):
            if item:
                return True
            continue
        item = interpreter.truth(item)
        result = item if result is False else ew.LogicalOr()(result, item)
    return result


def _extremum(prim: Primitive, native: Callable) -> Any:
    def rule(interpreter: Interpreter, *items: Any, **options: Any) -> Any:
        candidates = list(interpreter.iterate(items[0])) if len(items) == 1 else list(items)
        if options or not any(interpreter.is_variable(c) for c in candidates):
            return native(*items, **options)
        out = candidates[0]
        for c in candidates[1:]:
            symbolic_scalars = not isinstance(out, TensorBase) and not isinstance(c, TensorBase)
            if symbolic_scalars:
                out, c = (values.symbolic_number(v) if values.is_number(v) else v for v in (out, c))
            out = prim(out, c)
        return out

    return rule


def _isinstance(interpreter: Interpreter, value: Any, kinds: Any) -> bool:
    if isinstance(value, SymbolicScalarBase):
        kind = {"b": bool, "i": int, "u": int, "f": float}[value.dtype.kind]
        return issubclass(kind, kinds)
    if isinstance(value, SymbolicRange):
        return issubclass(tuple, kinds)  # numbers whose count only the running graph knows
    try:
        return isinstance(value, kinds)
    except TypeError:
        raise TypeError(f"isinstance() arg 2 must be a type or tuple of types, but got {kinds!r:.80}.") from None


class Text:
    """An f-string given to `print`: its parts, some of which only the running graph knows, with their formats."""

    def __init__(self, parts: list[Any]):
        self.parts = parts


def _print(interpreter: Interpreter, *items: Any, **options: Any) -> None:
    pieces: list[Any] = []
    separator = options.get("sep")
    for i, item in enumerate(items):
        pieces += [" " if separator is None else separator] * (i > 0)
        pieces += item.parts if isinstance(item, Text) else printed(item)
    if options.get("file") is None or any(isinstance(p, tuple) for p in pieces):
        end = options.get("end")
        Print.emit(tuple(pieces), "", "\n" if end is None else end)
    else:
        print("".join(map(str, pieces)), end=options.get("end"), file=options["file"])


def _getattr(interpreter: Interpreter, owner: Any, name: str, *default: Any) -> Any:
    try:
        return interpreter.getattribute(owner, name)
    except AttributeError:
        if default:
            return default[0]
        raise


def _hasattr(interpreter: Interpreter, owner: Any, name: str) -> bool:
    return (id(owner), name) in interpreter.attributes or hasattr(owner, name)


def _setattr(interpreter: Interpreter, owner: Any, name: str, value: Any) -> None:
    interpreter.setattribute(owner, name, value)


def _sequence(kind: type) -> Any:
    def rule(interpreter: Interpreter, value: Any = ()) -> Any:
        if getattr(value, "__ms_dynamic__", False):
            return value.as_sequence(kind)
        return kind(interpreter.iterate(value))

    return rule


def _round(interpreter: Interpreter, value: Any, digits: int | None = None) -> Any:
    if not interpreter.is_variable(value):
        return round(value, digits) if digits is not None else round(value)
    scale = 10 ** (digits or 0)
    return ew.Round()(value * scale) / scale if digits else ew.Round()(value)


def _super(interpreter: Interpreter, *args: Any) -> Any:
    return super(*args) if args else interpreter.zero_argument_super()


def _locals(interpreter: Interpreter) -> dict:
    return interpreter.frame.locals


def _sorted(interpreter: Interpreter, sequence: Any, *, key: Any = None, reverse: bool = False) -> list:
    wrapped = None if key is None else (lambda item: interpreter.call(key, (item,), {}))
    return sorted(interpreter.iterate(sequence), key=wrapped, reverse=reverse)


def _count(interpreter: Interpreter, sequence: Any, item: Any) -> Any:
    total: Any = 0
    for element in sequence:
        equal = interpreter.same_value(element, item)
        if not interpreter.is_variable(equal):
            total = total + bool(equal)
        else:
            total = total + _int(interpreter, equal)
    return total if interpreter.is_variable(total) else _unless_dynamic(sequence, total)


def _index(interpreter: Interpreter, sequence: Any, item: Any, *bounds: int) -> int:
    places = range(len(sequence))
    for i in places[slice(*(*bounds, None)[:2])] if bounds else places:
        equal = interpreter.same_value(sequence[i], item)
        if interpreter.is_variable(equal):
            raise ValueUnknownError("finding a tensor in a sequence needs its value.")
        if equal:
            return i
    raise ValueError(f"{item!r:.60} is not in {type(sequence).__name__}")


def _remove(interpreter: Interpreter, sequence: list, item: Any) -> None:
    del sequence[_index(interpreter, sequence, item)]


#: methods of lists and tuples that compare elements, which tensors do one by one
SEQUENCE_RULES: dict[str, Callable[..., Any]] = {"count": _count, "index": _index, "remove": _remove}

BUILTIN_RULES: dict[Any, Any] = {
    builtins.int: _int,
    builtins.float: _float,
    builtins.bool: _bool,
    builtins.range: _range,
    builtins.len: _len,
    builtins.map: _map,
    builtins.filter: _filter,
    builtins.zip: _zip,
    builtins.enumerate: _enumerate,
    builtins.sum: _sum,
    builtins.all: _all,
    builtins.any: _any,
    builtins.max: _extremum(ew.Maximum(), max),
    builtins.min: _extremum(ew.Minimum(), min),
    builtins.isinstance: _isinstance,
    builtins.print: _print,
    builtins.getattr: _getattr,
    builtins.hasattr: _hasattr,
    builtins.setattr: _setattr,
    builtins.list: _sequence(list),
    builtins.tuple: _sequence(tuple),
    builtins.round: _round,
    builtins.super: _super,
    builtins.locals: _locals,
    builtins.sorted: _sorted,
}
