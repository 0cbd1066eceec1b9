"""What stands in a statement: names and constants, and the kinds of statements."""

from __future__ import annotations

import ast
from enum import Enum
from typing import Any


class NodeType(Enum):
    """The kinds of nodes."""

    Unknown = 0
    CallCell = 1
    CallPrimitive = 2
    CallModule = 3
    CallFunction = 4
    CallMethod = 5
    Python = 6
    Input = 7
    Output = 8
    Tree = 9
    CellContainer = 10
    MathOps = 11
    ControlFlow = 12


class ValueType(Enum):
    """The kinds of values."""

    ConstantValue = 0
    TupleValue = 20
    ListValue = 21
    DictValue = 22
    NamingValue = 40
    CustomObjValue = 41
    UnsupportedValue = 50


class ScopedValue:
    """A value in a statement: a constant, or a name, possibly behind a scope (`self.x`).

    Examples:
        >>> from mindspore.rewrite import ScopedValue
        >>> str(ScopedValue.create_naming_value("x", "self"))
        'self.x'
    """

    def __init__(self, arg_type: ValueType, scope: str = "", value: Any = None):
        if not isinstance(arg_type, ValueType):
            raise TypeError(f"For 'ScopedValue', 'arg_type' must be a ValueType, but got {arg_type!r}.")
        self.type, self.scope, self.value = arg_type, scope, value

    @classmethod
    def create_variable_value(cls, value: Any) -> ScopedValue:
        """A constant, or a tuple, list or dict of them."""
        if isinstance(value, (tuple, list)):
            kind = ValueType.TupleValue if isinstance(value, tuple) else ValueType.ListValue
            return cls(kind, "", type(value)(cls.create_variable_value(v) for v in value))
        if isinstance(value, dict):
            return cls(ValueType.DictValue, "", {k: cls.create_variable_value(v) for k, v in value.items()})
        if value is None or isinstance(value, (bool, int, float, str)):
            return cls(ValueType.ConstantValue, "", value)
        return cls(ValueType.CustomObjValue, "", value)

    @classmethod
    def create_naming_value(cls, name: str, scope: str = "") -> ScopedValue:
        """A name."""
        for word, value in (("name", name), ("scope", scope)):
            if not isinstance(value, str):
                raise TypeError(f"For 'create_naming_value', '{word}' must be a str, but got {value!r}.")
        return cls(ValueType.NamingValue, scope, name)

    @staticmethod
    def create_name_values(names: Any, scopes: Any = None) -> list[ScopedValue]:
        """Several names."""
        if scopes is None:
            scopes = [""] * len(names)
        if len(names) != len(scopes):
            raise ValueError(
                f"For 'create_name_values', {len(names)} names need as many scopes, but got {len(scopes)}."
            )
        return [ScopedValue.create_naming_value(n, s) for n, s in zip(names, scopes)]

    # -- syntax trees -------------------------------------------------------------------------------------------------
    @classmethod
    def of(cls, expression: ast.expr) -> ScopedValue:
        """The value that an expression stands for."""
        if isinstance(expression, ast.Constant):
            return cls(ValueType.ConstantValue, "", expression.value)
        if isinstance(expression, ast.Name):
            return cls(ValueType.NamingValue, "", expression.id)
        if isinstance(expression, ast.Attribute):
            return cls(ValueType.NamingValue, ast.unparse(expression.value), expression.attr)
        if isinstance(expression, (ast.Tuple, ast.List)):
            items = [cls.of(e) for e in expression.elts]
            if isinstance(expression, ast.Tuple):
                return cls(ValueType.TupleValue, "", tuple(items))
            return cls(ValueType.ListValue, "", items)
        return cls(ValueType.UnsupportedValue, "", ast.unparse(expression))

    def expression(self) -> ast.expr:
        """The expression of a value."""
        return ast.parse(str(self), mode="eval").body

    def __str__(self) -> str:
        if self.type is ValueType.NamingValue:
            return f"{self.scope}.{self.value}" if self.scope else str(self.value)
        if self.type is ValueType.UnsupportedValue:
            return str(self.value)
        if self.type is ValueType.TupleValue:
            return f"({', '.join(map(str, self.value))}{',' if len(self.value) == 1 else ''})"
        if self.type is ValueType.ListValue:
            return f"[{', '.join(map(str, self.value))}]"
        if self.type is ValueType.DictValue:
            return "{" + ", ".join(f"{k!r}: {v}" for k, v in self.value.items()) + "}"
        if self.type is ValueType.CustomObjValue:
            raise TypeError(f"a {type(self.value).__name__} cannot be written into the code of a network.")
        return repr(self.value)

    def __repr__(self) -> str:
        return str(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ScopedValue) and (self.type, self.scope, self.value) == (
            other.type,
            other.scope,
            other.value,
        )

    def __hash__(self) -> int:
        return hash((self.type, self.scope, str(self.value)))
