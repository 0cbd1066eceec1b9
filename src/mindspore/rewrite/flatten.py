"""Statements of one operation each: nested calls and arithmetic get variables of their own.

`x = self.relu(0.5 * self.dense(x))` becomes `dense_var = self.dense(x)`, `mult_var = 0.5 * dense_var`,
`x = self.relu(mult_var)`. What Python evaluates only sometimes (the right side of `and`, conditional expressions,
comprehensions, the test of `while`) stays as it is.
"""

from __future__ import annotations

import ast

_OPERATORS = {
    "Add": "add", "Sub": "sub", "Mult": "mult", "Div": "div", "Mod": "mod", "Pow": "pow", "FloorDiv": "floordiv",
    "MatMult": "matmul", "BitAnd": "bitand", "BitOr": "bitor", "BitXor": "bitxor", "LShift": "lshift", "RShift": "rshift",
    "And": "and", "Or": "or", "Not": "not", "USub": "usub", "UAdd": "uadd", "Invert": "invert",
}  # fmt: skip


class Names:
    """Names that are not taken yet."""

    def __init__(self, taken: set[str]):
        self.taken = set(taken)

    def unique(self, wanted: str) -> str:
        name, count = wanted, 0
        while name in self.taken:
            count += 1
            name = f"{wanted}_{count}"
        self.taken.add(name)
        return name


def operation_name(expression: ast.expr) -> str:
    """A word for what an expression does: `dense`, `mult`, `compare`, `and` …"""
    if isinstance(expression, ast.Call):
        function = expression.func
        return function.attr if isinstance(function, ast.Attribute) else ast.unparse(function)
    if isinstance(expression, (ast.BinOp, ast.UnaryOp, ast.BoolOp)):
        return _OPERATORS.get(type(expression.op).__name__, "op")
    return "compare" if isinstance(expression, ast.Compare) else type(expression).__name__.lower()


class Flattener:
    """Rewrites expressions, collecting the statements that must come before."""

    def __init__(self, names: Names):
        self.names = names

    def statement(self, stmt: ast.stmt) -> list[ast.stmt]:
        """The statement as several simple ones, it itself last."""
        before: list[ast.stmt] = []
        if isinstance(stmt, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr)) and stmt.value is not None:
            stmt.value = self._parts(stmt.value, before)
        elif isinstance(stmt, ast.Return) and stmt.value is not None:
            if isinstance(stmt.value, ast.Tuple):
                stmt.value.elts = [self.simple(e, before) for e in stmt.value.elts]
            else:
                stmt.value = self.simple(stmt.value, before)
        elif isinstance(stmt, ast.If):
            stmt.test = self.simple(stmt.test, before)
        elif isinstance(stmt, ast.For):
            stmt.iter = self._named(self.simple(stmt.iter, before), before)
        return [*before, stmt]

    def _named(self, expression: ast.expr, before: list[ast.stmt]) -> ast.expr:
        """An attribute that is gone through gets a variable: it may be a container of cells."""
        if not isinstance(expression, ast.Attribute):
            return expression
        name = self.names.unique(ast.unparse(expression).replace(".", "_"))
        before.append(ast.Assign([ast.Name(name, ast.Store())], expression, lineno=0))
        return ast.Name(name, ast.Load())

    def simple(self, expression: ast.expr, before: list[ast.stmt]) -> ast.expr:
        """A name, a constant or something that is left alone."""
        expression = self._parts(expression, before)
        if not isinstance(expression, (ast.Call, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare)):
            return expression
        if isinstance(expression, ast.UnaryOp) and isinstance(expression.operand, ast.Constant):
            return expression
        name = self.names.unique(f"{operation_name(expression)}_var")
        before.append(ast.Assign([ast.Name(name, ast.Store())], expression, lineno=0))
        return ast.Name(name, ast.Load())

    def _parts(self, expression: ast.expr, before: list[ast.stmt]) -> ast.expr:
        """The same expression with simple operands."""
        if isinstance(expression, ast.Call):
            function = expression.func
            if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Call):
                function.value = self.simple(function.value, before)
            expression.args = [self._argument(a, before) for a in expression.args]
            for keyword in expression.keywords:
                keyword.value = self._argument(keyword.value, before)
        elif isinstance(expression, ast.BinOp):
            expression.left, expression.right = (
                self.simple(expression.left, before),
                self.simple(expression.right, before),
            )
        elif isinstance(expression, ast.UnaryOp):
            expression.operand = self.simple(expression.operand, before)
        elif isinstance(expression, ast.BoolOp):
            expression.values[0] = self.simple(expression.values[0], before)
        elif isinstance(expression, ast.Compare) and len(expression.ops) == 1:
            expression.left = self.simple(expression.left, before)
            expression.comparators = [self.simple(c, before) for c in expression.comparators]
        elif isinstance(expression, (ast.Tuple, ast.List)):
            expression.elts = [self._argument(e, before) for e in expression.elts]
        return expression

    def _argument(self, expression: ast.expr, before: list[ast.stmt]) -> ast.expr:
        if isinstance(expression, ast.Starred):
            expression.value = self.simple(expression.value, before)
            return expression
        return self.simple(expression, before)
