"""Imports of official paths: one finder, asked before Python's own, that knows the tables and nothing else.

There are three cases for `import mindspore.a.b`:

- `SAME` names the module that really is meant: it is imported, and stands in `sys.modules` under both paths.
- `HELD` has the path and there is no such file: a module is made that looks its names up where they live, when asked.
- `HELD` has the path, and there is a file: it is imported as ever; afterwards it answers for the further names as well.

A module is an attribute of its parent as soon as it is asked for, so that `ops.operations._inner_ops` needs no import.
Everything else is left to the finders that follow.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from mindspore._compat.tables import HELD, MEMBERS, SAME, Entry

#: paths without a file, by their parents
_CHILDREN: dict[str, set[str]] = {}
for _path in (*SAME, *HELD):
    _parent, _, _child = _path.rpartition(".")
    _CHILDREN.setdefault(_parent, set()).add(_child)

_NOTHING = Entry()


class OfficialPaths:
    """Finds the modules of the tables."""

    def find_spec(
        self, path: str, folders: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if path in SAME:
            return ModuleSpec(path, _SameModule(), is_package=True)  # type: ignore[arg-type]
        if path not in HELD and path not in _CHILDREN and path not in MEMBERS:
            return None
        spec = PathFinder.find_spec(path, folders)
        if spec is None:
            return ModuleSpec(path, _HeldElsewhere(), is_package=path in _CHILDREN)  # type: ignore[arg-type]
        _complete_after(spec.loader)
        return spec


class _SameModule:
    """Puts the module that is meant in the place of the one being imported."""

    def create_module(self, spec: ModuleSpec) -> None:
        """An empty module for now."""

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = importlib.import_module(SAME[module.__name__])


class _HeldElsewhere:
    """Fills a module that has no file."""

    def create_module(self, spec: ModuleSpec) -> None:
        """An ordinary module."""

    def exec_module(self, module: ModuleType) -> None:
        entry = HELD[module.__name__]
        sources = sorted({place.partition(":")[0] for place in (*entry.places.values(), *entry.search)})
        module.__doc__ = f"An official path. What it holds stands in {', '.join(sources)}."
        complete(module)


def _complete_after(loader: Any) -> None:
    """Give the module that `loader` loads the names of the tables when its own file has run."""
    execute = loader.exec_module

    def then_complete(module: ModuleType) -> None:
        execute(module)
        complete(module)

    loader.exec_module = then_complete


def complete(module: ModuleType) -> None:
    """Make a module answer for the names that the tables give it."""
    path, names = module.__name__, vars(module)
    entry, children = HELD.get(path, _NOTHING), _CHILDREN.get(path, set())
    places = entry.places
    own: Callable[[str], Any] | None = names.get("__getattr__")
    own_names: Callable[[], list[str]] = names.get("__dir__", lambda: list(names))

    def find(name: str) -> Any:
        if name in places:
            value = _held(places[name], name)
            names.setdefault(name, value)
            return value
        if name == "__all__" and "__file__" not in names:
            return [shown for shown in known() if not shown.startswith("__")]
        if not name.startswith("__"):
            for source in entry.search:
                found = getattr(importlib.import_module(source), name, _NOTHING)
                if found is not _NOTHING:
                    return found
        if name in children:
            return importlib.import_module(f"{path}.{name}")
        if own is not None:
            return own(name)
        raise AttributeError(f"module {path!r} has no attribute {name!r}")

    def known() -> list[str]:
        return sorted({*own_names(), *places, *children, *(n for s in entry.search for n in public_names(s))})

    for child in children & names.keys():  # a function of the same name must not be replaced when the path is imported
        target = SAME.get(f"{path}.{child}")
        if target in sys.modules:
            sys.modules[f"{path}.{child}"] = sys.modules[target]
    module.__getattr__ = find  # type: ignore[method-assign]
    module.__dir__ = known  # type: ignore[method-assign]
    for owner, members in MEMBERS.get(path, {}).items():
        for name, place in members.items():
            setattr(names[owner], name, Member(place, name))
    if "__all__" in names:
        names["__all__"] = [*names["__all__"], *(n for n in entry.names if n not in names["__all__"])]


class Member:
    """An attribute of a class that is defined elsewhere: a function becomes a method, a property is asked, a value is itself."""

    def __init__(self, place: str, name: str):
        self._place, self._name = place, name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        value = _held(self._place, self._name)
        bind = getattr(type(value), "__get__", None)
        return value if bind is None else bind(value, instance, owner)


def _held(place: str, name: str) -> Any:
    path, _, there = place.partition(":")
    module = importlib.import_module(path)
    return (
        module
        if there == "" and path.endswith(f".{name}") and not hasattr(module, name)
        else getattr(module, there or name)
    )


def public_names(path: str) -> list[str]:
    """What `from path import *` brings."""
    module = importlib.import_module(path)
    return list(getattr(module, "__all__", None) or (name for name in dir(module) if not name.startswith("_")))


def install() -> None:
    """Ask the tables before Python's own finders. Again does nothing."""
    if not any(isinstance(finder, OfficialPaths) for finder in sys.meta_path):
        sys.meta_path.insert(0, OfficialPaths())
