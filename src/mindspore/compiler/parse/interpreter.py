"""The front end: an interpreter of Python syntax trees that builds a graph as it goes.

This is partial evaluation. The interpreter runs the user's function on a mix of known Python values and symbolic
tensors. What is known (attributes, shapes, loop bounds, configuration) is computed on the spot and leaves no trace in the
graph; every primitive applied to a symbolic tensor becomes a typed node. Parsing, name resolution, type inference and
specialisation thus happen in one walk: a call is specialised to its arguments because it is interpreted with them, a
static `if` takes one branch because its condition is a Python bool.

Only control flow that depends on run-time values needs more than Python's own semantics: see branching.py and loops.py.
Which functions are interpreted and which are simply called is decided in calls.py.
"""

from __future__ import annotations

from typing import Any

from mindspore.compiler.parse.attributes import AttributeRules, Key, Read
from mindspore.compiler.parse.branching import BranchRules, RaisedByUser
from mindspore.compiler.parse.calls import CallRules
from mindspore.compiler.parse.expressions import ExpressionRules
from mindspore.compiler.parse.loops import LoopRules
from mindspore.compiler.parse.matching import MatchRules
from mindspore.compiler.parse.outside import Outside
from mindspore.compiler.parse.statements import StatementRules
from mindspore.ir import Location
from mindspore.prims import values
from mindspore.prims.active import ACTIVE
from mindspore.prims.values import TensorBase


class Interpreter(AttributeRules, ExpressionRules, StatementRules, BranchRules, LoopRules, MatchRules, CallRules):
    """Interprets user code into the active Builder's graph."""

    def __init__(self, max_call_depth: int = 1000, variable: frozenset[Key] = frozenset(), decides: bool = False):
        self.frame: Any = None
        self.max_call_depth = max_call_depth
        self.scope = "Default"
        self.attributes: dict[Key, tuple[Any, str, Any]] = {}  # attribute stores made while interpreting
        self.reads: dict[Key, Read] = {}  # attributes read
        self.outside = Outside()  # lists, dicts … found in them
        self.variable = variable  # attributes that are inputs of the graph rather than constants
        self.decides = decides  # conditions are asked for, so that the graph is made for one way through the program
        self.attribute_inputs: dict[Key, Any] = {}
        self.properties = 0
        self.dictionaries: dict[int, list] = {}  # those from outside, and how often each was used other than by a key
        self.cells: dict[int, tuple[Any, tuple]] = {}  # cells met, with their signature
        self.recursion: dict[Any, Any] = {}
        self.active_calls: dict[Any, int] = {}
        self.levels: dict[
            Any, list[tuple[Any, dict]]
        ] = {}  # calls under way per function: where and with what arguments

    # -- values -----------------------------------------------------------------------------------------------------
    def is_variable(self, value: object) -> bool:
        """Whether only the running graph knows the value."""
        builder = ACTIVE.builder
        if isinstance(value, (TensorBase, values.SymbolicScalarBase)):
            return builder.is_variable(value)
        return False

    def decided(self, condition: TensorBase | float) -> Any:
        """A condition as a plain bool if the graph is to be made for one way through the program."""
        if not self.decides or not self.is_variable(condition):
            return condition
        answer = values.answer(self.truth(condition))
        return condition if answer is None else bool(answer)

    def origin(self) -> tuple[tuple[Location, ...], str]:
        """Where the node being made comes from."""
        return (self.frame.locations() if self.frame is not None else ()), self.scope

    # -- errors at run time -------------------------------------------------------------------------------------------
    def user_raised(self, error: BaseException) -> Exception:
        return RaisedByUser(error)

    def raise_when(self, condition: TensorBase, error: BaseException) -> None:
        """Have the graph report `error` when `condition` holds; the first one met wins."""
        builder = ACTIVE.builder
        builder.root.reports.note(builder, condition, lambda _: error)
