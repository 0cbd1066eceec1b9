"""Attributes of objects: what interpreted code reads and stores.

Reads are noted, because the graph is made for the values found: whoever keeps the graph compares them before each call
(common/guards.py). An attribute in `variable` is not specialised to: it becomes an input of the graph, read anew at each
call. Buffers of cells always are.

Global variables of the user's modules, and variables of functions around the compiled one, are treated as attributes too, whatever
they hold: a function, a network or a class that is replaced is another program. So are what a class keeps for its objects, and the
items of dictionaries: one of which only items are asked for by their keys may change elsewhere. What the function does to lists and
dictionaries found so is undone when the trace ends, and done when the graph has run (outside.py).

Stores are kept aside until the graph has run; later reads see them. Branches and loops treat stored attributes like local
variables (branching.py, loops.py).
"""

from __future__ import annotations

import ast
import collections
import types
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mindspore.compiler.parse.frames import Undefined
from mindspore.compiler.parse.outside import Outside
from mindspore.compiler.parse.rules import Rules
from mindspore.compiler.parse.source import is_library
from mindspore.ir import AbstractScalar
from mindspore.prims import values
from mindspore.prims.active import ACTIVE
from mindspore.prims.primitive import Primitive
from mindspore.prims.values import TensorBase

if TYPE_CHECKING:
    from mindspore.nn.cell import Cell

#: attribute key: identity of the object, name (of a dictionary: the key)
Key = tuple[int, Any]

_NOT_OBSERVED = (Primitive, TensorBase)
_CELL_STORES = ("_params", "_cells", "_buffers")


class Read(NamedTuple):
    """An attribute that the interpretation read, with the value it had."""

    owner: Any
    store: Any  # where the value is kept: a dict, a CellStore or a Shadow
    name: Any
    value: Any


class AttributeInput:
    """Feeds a graph parameter with the current value of an attribute. Stands where a Parameter stands for a weight."""

    requires_grad = False

    def __init__(self, store: Any, name: Any):
        self.store, self.name = store, name
        self.kind = self._kind()

    def _kind(self) -> Any:
        value = self.store.get(self.name)
        return (value.dtype, value.shape) if isinstance(value, TensorBase) else type(value)

    @property
    def place(self) -> Key:
        """Equal for two of them that read the same variable."""
        return (id(getattr(self.store, "holder", self.store)), self.name)

    def fits(self) -> bool:
        """Whether the attribute still has the type the graph is made for."""
        return self._kind() == self.kind

    @property
    def _data(self) -> Any:
        value = self.store[self.name]
        return value._data if isinstance(value, TensorBase) else np.asarray(value)

    @_data.setter
    def _data(self, array: Any) -> None:
        kept = self.store[self.name]
        self.store[self.name] = values.from_array(array) if isinstance(kept, TensorBase) else np.asarray(array).item()


class GlobalNames:
    """The global variables of a module as attributes of an object."""

    def __init__(self, names: dict):
        self.__dict__ = names


class CellStore:
    """The variable that a Python closure holds, where a Read looks for it."""

    def __init__(self, cell: types.CellType):
        self.holder = cell

    def get(self, _: str) -> Any:
        try:
            return self.holder.cell_contents
        except ValueError:
            return None

    def __getitem__(self, _: str) -> Any:
        return self.holder.cell_contents

    def __setitem__(self, _: str, value: Any) -> None:
        self.holder.cell_contents = value


class Shadow:
    """What an object finds in its class, where a Read looks for it: the object may get an attribute of that name of its own."""

    def __init__(self, owner: Any):
        self.holder = owner

    def get(self, name: str) -> Any:
        return getattr(self.holder, name, None)

    def __getitem__(self, name: str) -> Any:
        return getattr(self.holder, name)

    def __setitem__(self, name: str, value: Any) -> None:
        setattr(self.holder, name, value)


#: kept as long as a graph uses them
_modules: weakref.WeakValueDictionary[int, GlobalNames] = weakref.WeakValueDictionary()


def global_names(names: dict) -> GlobalNames:
    """The one object that stands for a module's global variables."""
    owner = _modules.get(id(names))
    if owner is None:
        owner = _modules[id(names)] = GlobalNames(names)
    return owner


#: what modules and classes keep that programs change; their functions and classes are taken as they are
_DATA = (bool, int, float, str, TensorBase, tuple, list, dict, set, frozenset, collections.deque, np.ndarray, type(None))
#: dictionaries whose items are what their keys say
_PLAIN_DICTS = (dict, collections.OrderedDict, collections.defaultdict)


def is_cell(value: object) -> bool:
    return hasattr(type(value), "run_around")


class AttributeRules(Rules):
    """Mixed into the interpreter."""

    attributes: dict[Key, tuple[Any, str, Any]]  # stores made so far: owner, name, value
    reads: dict[Key, Read]
    variable: frozenset[Key]
    attribute_inputs: dict[Key, Any]
    outside: Outside
    properties: int  # under way
    dictionaries: dict[int, list]  # dictionaries from outside, and how often they were used other than by a key

    def getattribute(self, owner: Any, name: str) -> Any:
        stored = self.attributes.get((id(owner), name))
        if stored is not None:
            if type(stored[2]) is Undefined:
                raise stored[2].error(AttributeError)
            return stored[2]
        if name == "has_key" and isinstance(owner, dict):  # part of the graph language, as in older Python
            return owner.__contains__
        static = getattr(type(owner), name, None)
        if isinstance(static, property) and static.fget is not None and self.should_interpret(static.fget):
            self.properties += 1
            try:
                return self.call(static.fget, (owner,), {})
            finally:
                self.properties -= 1
        value = getattr(owner, name)
        if isinstance(owner, _NOT_OBSERVED):
            return value
        if isinstance(owner, (types.ModuleType, type)):
            return self._observe_constant(owner, name, value)
        store = _store_of(owner, name)
        if store is not None:
            return self._observe(owner, store, name, value)
        if static is value and isinstance(value, _DATA) and not is_library(type(owner).__module__):
            self._observe_constant(type(owner), name, value)
            return self._observe(owner, Shadow(owner), name, value)
        return value

    def _observe_constant(self, owner: Any, name: str, value: Any) -> Any:
        """Data of a module or class of the user."""
        if not isinstance(value, _DATA):
            return value
        if isinstance(owner, types.ModuleType):
            return value if is_library(owner.__name__) else self.getattribute(global_names(owner.__dict__), name)
        definer = next((c for c in owner.__mro__ if name in c.__dict__), None)
        if definer is None or definer.__dict__[name] is not value or is_library(definer.__module__):
            return value
        return self._observe(definer, definer.__dict__, name, value)

    def _observe(self, owner: Any, store: Any, name: Any, value: Any) -> Any:
        key = (id(owner), name)
        raw = store[name]
        if key not in self.reads:
            self.reads[key] = Read(owner, store, name, raw)
            if isinstance(owner, GlobalNames) or self.outside.holds(owner):
                self.outside.meet(raw)
        if is_cell(raw):
            self.note_cell(raw)
        if isinstance(raw, dict):
            self.dictionaries.setdefault(id(raw), [raw, 0])[1] += 1
        is_buffer = is_cell(owner) and isinstance(raw, TensorBase) and store is owner.__dict__["_buffers"]
        if key not in self.variable and not is_buffer:
            return value
        if key not in self.attribute_inputs:
            abstract = (
                values.abstract_of(raw) if isinstance(raw, TensorBase) else AbstractScalar(values.scalar_dtype(raw))
            )
            node = ACTIVE.builder.root.graph.add_parameter(str(name), abstract, default=AttributeInput(store, name))
            self.attribute_inputs[key] = values.from_node(node)
        return self.attribute_inputs[key]

    def note_cell(self, cell: Cell) -> None:
        """Remember what the graph takes for granted about a cell besides its attributes."""
        if id(cell) not in self.cells:
            self.cells[id(cell)] = (cell, cell.compile_signature())
            definer = next(c for c in type(cell).__mro__ if "construct" in c.__dict__)
            if not is_library(definer.__module__):
                names = definer.__dict__
                self.reads.setdefault((id(definer), "construct"), Read(definer, names, "construct", names["construct"]))

    def note_defaults(self, function: types.FunctionType, arguments: dict[str, Any]) -> None:
        """Remember defaults that were taken and that may be changed in place."""
        defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
        changing = [d for d in defaults if isinstance(d, (list, dict, set, TensorBase))]
        for name, value in arguments.items() if changing else ():
            if any(value is d for d in changing):
                self._observe(function, {name: value}, name, value)

    def eval_Subscript(self, node: ast.Subscript) -> Any:
        container, index = self.eval(node.value), self.eval(node.slice)
        known = self.dictionaries.get(id(container))
        if known is None or type(container) not in _PLAIN_DICTS or self.is_variable(index) or index not in container:
            return self.getitem(container, index)
        if self.outside.wrote(container, index):
            return container[index]
        known[1] -= 1
        return self._observe(container, container, index, container[index])

    def setattribute(self, owner: Any, name: str, value: Any) -> None:
        """Parameters are written as graph state; other attributes are kept aside and set when the graph has run."""
        if name in getattr(owner, "__dict__", {}).get("_params", ()) or isinstance(owner, TensorBase):
            setattr(owner, name, value)
            return
        static = getattr(type(owner), name, None)
        if isinstance(static, property) and static.fset is not None:
            self.call(static.fset, (owner, value), {})
            return
        self.attributes[(id(owner), name)] = (owner, name, value)

    # -- variables of modules and of functions around ---------------------------------------------------------------
    def eval_Name(self, node: ast.Name) -> Any:
        frame, name = self.frame, node.id
        names = frame.globals
        if not frame.is_global(name):
            value, cell = frame.lookup(name), frame.cell_of(name)
            return value if cell is None or name == "__class__" else self.getattribute(cell, "cell_contents")
        if isinstance(names[name], types.ModuleType) or names.get("__name__", "").startswith("mindspore."):
            return names[name]
        return self.getattribute(global_names(names), name)

    def store_name(self, name: str, value: Any) -> None:
        frame = self.frame
        cell = frame.cell_of(name) if name in frame.nonlocals else None
        if cell is not None:
            self.setattribute(cell, "cell_contents", value)
        elif name in frame.nonlocals and frame.is_global(name):
            self.setattribute(global_names(frame.globals), name, value)
        else:
            frame.store(name, value)

    # -- branches and loops ------------------------------------------------------------------------------------------
    def attribute_or_undefined(self, stores: dict[Key, tuple], key: Key, owner: Any) -> Any:
        """The value of an attribute where only `stores` have been made."""
        if key in stores:
            return stores[key][2]
        if hasattr(owner, key[1]):
            saved, self.attributes = self.attributes, stores
            try:
                return self.getattribute(owner, key[1])
            finally:
                self.attributes = saved
        return Undefined(
            f"The attribute '{key[1]}' of {type(owner).__name__} is set on one way only through an 'if' or loop that depends on "
            "run-time values. Set it in '__init__' as well."
        )


def _store_of(owner: Any, name: str) -> Any:
    """What holds an instance attribute; None for what belongs to the class."""
    if type(owner) is types.CellType:
        return CellStore(owner)
    own = getattr(owner, "__dict__", None)
    if own is None:
        return None
    if name in own:
        return own
    if is_cell(owner):
        for kind in _CELL_STORES:
            if name in own.get(kind, ()):
                return own[kind]
    return None
