"""Containers of cells: a sequence that computes, a list and a dictionary that only hold.

Parameters are named after the place of their cell: `0.weight`, `1.weight` …, with the container's own name before it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mindspore.nn.cell import Cell

__all__ = ["CellDict", "CellList", "SequentialCell"]


def _check_cell(owner: str, cell: Any) -> Cell:
    if not isinstance(cell, Cell):
        raise TypeError(f"For '{owner}', each cell must be subclass of Cell, but got {type(cell).__name__}.")
    return cell


def _outer_prefix(cells: Mapping[str, Cell]) -> str:
    """What stands before the cells' keys in their parameters' names: the name the container got from its owner."""
    for key, cell in cells.items():
        for param in cell.get_parameters():
            parts = param.name.split(".")
            if key in parts:
                return "".join(part + "." for part in parts[: parts.index(key)])
    return ""


class _Sequence(Cell):
    """What SequentialCell and CellList share: cells by position."""

    def _index(self, index: Any) -> int:
        if isinstance(index, bool) or not isinstance(index, int):
            raise TypeError(f"For '{self.cls_name}', the type of 'index' must be int, but got {type(index).__name__}.")
        length = len(self._cells)
        if not -length <= index < length:
            raise IndexError(
                f"For '{self.cls_name}', the value of 'index' must be a number in range [{-length}, {length}), "
                f"but got {index}."
            )
        return index % length

    def _refill(self, cells: list[Cell]) -> None:
        """Take `cells` as the new content, renamed by position."""
        prefix = _outer_prefix(self._cells)
        for old_key, cell in list(self._cells.items()):
            self._strip(cell, prefix + old_key + ".")
        self._cells.clear()
        for i, cell in enumerate(cells):
            self._add(str(i), cell, prefix)

    @staticmethod
    def _strip(cell: Cell, prefix: str) -> None:
        for param in cell.get_parameters():
            param.name = param.name.removeprefix(prefix)

    def _add(self, key: str, cell: Cell, prefix: str) -> None:
        if self._auto_prefix:
            cell.update_parameters_name(f"{prefix}{key}.")
        self._cells[key] = cell
        cell.__dict__["_cell_tag"] = key  # its part of names in graphs, dumps and profiles

    def __len__(self) -> int:
        return len(self._cells)

    def __bool__(self) -> bool:
        return len(self._cells) != 0

    def __iter__(self) -> Iterator[Cell]:
        return iter(self._cells.values())

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self._sliced(list(self._cells.items())[index])
        return list(self._cells.values())[self._index(index)]

    def _sliced(self, items: list[tuple[str, Cell]]) -> Any:
        raise TypeError(f"{self.cls_name} cannot be sliced")

    def __setitem__(self, index: int, cell: Cell) -> None:
        _check_cell(self.cls_name, cell)
        key = list(self._cells)[self._index(index)]
        if self._auto_prefix:
            cell.update_parameters_name(f"{_outer_prefix(self._cells)}{key}.")
        self._cells[key] = cell
        cell.__dict__["_cell_tag"] = key  # its part of names in graphs, dumps and profiles

    def __delitem__(self, index: Any) -> None:
        keys = list(self._cells)
        if isinstance(index, slice):
            gone = set(keys[index])
        else:
            gone = {keys[self._index(index)]}
        self._refill([cell for key, cell in self._cells.items() if key not in gone])

    def append(self, cell: Cell) -> Any:
        """Add a cell at the end.

        Examples:
            >>> from mindspore import nn
            >>> cells = nn.CellList([nn.ReLU()])
            >>> len(cells.append(nn.Tanh()))
            2
        """
        self._add(str(len(self)), _check_cell(self.cls_name, cell), _outer_prefix(self._cells))
        return self

    def insert(self, index: int, cell: Cell) -> Any:
        """Add a cell before a position."""
        length = len(self)
        if isinstance(index, bool) or not isinstance(index, int):
            raise TypeError(f"For '{self.cls_name}', the type of 'index' must be int, but got {type(index).__name__}.")
        if not -length <= index <= length:
            raise IndexError(
                f"For '{self.cls_name}', the value of 'index' must be a number in range [{-length}, {length}], "
                f"but got {index}."
            )
        cells = list(self._cells.values())
        cells.insert(index, _check_cell(self.cls_name, cell))
        self._refill(cells)
        return self

    def __iadd__(self, cells: Iterable[Cell]) -> Any:
        return self.extend(cells)

    def extend(self, cells: Iterable[Cell]) -> Any:
        """Add several cells at the end."""
        if not isinstance(cells, (list, tuple, _Sequence)):
            raise TypeError(f"For '{self.cls_name}', the new cells must be a list, but got {type(cells).__name__}.")
        for cell in list(cells):
            self.append(cell)
        return self


class SequentialCell(_Sequence):
    """Cells applied one after the other.

    Examples:
        >>> import mindspore as ms, numpy as np
        >>> from mindspore import nn
        >>> net = nn.SequentialCell(nn.Dense(3, 4), nn.ReLU(), nn.Dense(4, 2))
        >>> net(ms.Tensor(np.ones((5, 3), np.float32))).shape
        (5, 2)
    """

    def __init__(self, *args: Any):
        super().__init__()
        cells: Iterable[tuple[str, Any]]
        if len(args) == 1 and isinstance(args[0], (list, tuple, _Sequence)):
            cells = ((str(i), c) for i, c in enumerate(args[0]))
        elif len(args) == 1 and isinstance(args[0], (OrderedDict, dict)):
            cells = args[0].items()
        elif len(args) == 1 and not isinstance(args[0], Cell):
            raise TypeError(
                f"For '{self.cls_name}', the 'args[0]' must be Cell, list or orderedDict, but got "
                f"{type(args[0]).__name__}"
            )
        else:
            cells = ((str(i), c) for i, c in enumerate(args))
        for name, cell in cells:
            self._add(name, _check_cell(self.cls_name, cell), "")

    @property
    def cell_list(self) -> tuple[Cell, ...]:
        return tuple(self._cells.values())

    def _sliced(self, items: list[tuple[str, Cell]]) -> SequentialCell:
        part = type(self).__new__(type(self))
        Cell.__init__(part)
        part._cells.update(items)
        return part

    def set_grad(self, requires_grad: bool = True) -> Cell:
        super().set_grad(requires_grad)
        for cell in self._cells.values():
            cell.set_grad(requires_grad)
        return self

    def construct(self, input_data: Any) -> Any:
        for cell in self.cell_list:
            input_data = cell(input_data)
        return input_data


class CellList(_Sequence):
    """A list of cells whose parameters belong to the network; it does not compute.

    Examples:
        >>> from mindspore import nn
        >>> layers = nn.CellList([nn.Dense(2, 2) for _ in range(3)])
        >>> len(layers), [p.name for p in layers.get_parameters()][:2]
        (3, ['0.weight', '0.bias'])
    """

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(auto_prefix=kwargs.get("auto_prefix", True))
        if len(args) == 1 and isinstance(args[0], (list, tuple, _Sequence)):
            args = tuple(args[0])
        self.extend(args)

    def _sliced(self, items: list[tuple[str, Cell]]) -> CellList:
        part = CellList(auto_prefix=False)
        for i, (_, cell) in enumerate(items):
            part._cells[str(i)] = cell
        return part

    def set_grad(self, requires_grad: bool = True) -> Cell:
        super().set_grad(requires_grad)
        for cell in self._cells.values():
            cell.set_grad(requires_grad)
        return self

    def construct(self, *inputs: Any) -> Any:
        raise NotImplementedError("CellList only holds cells; call its elements in your own construct.")


class CellDict(Cell):
    """Cells by name whose parameters belong to the network.

    Examples:
        >>> from mindspore import nn
        >>> cells = nn.CellDict({"conv": nn.Conv2d(3, 4, 3), "act": nn.ReLU()})
        >>> list(cells.keys())
        ['conv', 'act']
    """

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(auto_prefix=kwargs.get("auto_prefix", True))
        if len(args) == 1:
            self.update(args[0])

    def __getitem__(self, key: str) -> Cell:
        return self._cells[key]

    def __setitem__(self, key: str, cell: Cell) -> None:
        self._check_key(key)
        if cell is None:
            raise TypeError(f"For '{self.cls_name}', the cell under '{key}' must not be None.")
        _check_cell(self.cls_name, cell)
        if isinstance(cell, (CellDict, CellList, SequentialCell)):
            raise TypeError(
                f"For '{self.cls_name}', the type of cell can not be CellDict, CellList or SequentialCell, but got {type(cell).__name__}."
            )
        if self._auto_prefix:
            cell.update_parameters_name(f"{_outer_prefix(self._cells)}{key}.")
        self._cells[key] = cell
        cell.__dict__["_cell_tag"] = key  # its part of names in graphs, dumps and profiles

    def _check_key(self, key: Any) -> None:
        if not isinstance(key, str):
            raise TypeError(f"For '{self.cls_name}', the key must be a string, but got {type(key).__name__}.")
        if key == "":
            raise KeyError("The key can not be empty string.")
        if "." in key:
            raise KeyError(f"The key can not contain '.', but got {key!r}.")
        if hasattr(self, key) and key not in self._cells:
            raise KeyError(f"For '{self.cls_name}', the key {key!r} is already the name of an attribute.")

    def __delitem__(self, key: str) -> None:
        del self._cells[key]

    def __len__(self) -> int:
        return len(self._cells)

    def __iter__(self) -> Iterator[str]:
        return iter(self._cells)

    def __contains__(self, key: str) -> bool:
        return key in self._cells

    def __bool__(self) -> bool:
        return len(self._cells) != 0

    def keys(self) -> Any:
        return self._cells.keys()

    def values(self) -> Any:
        return self._cells.values()

    def items(self) -> Any:
        return self._cells.items()

    def clear(self) -> None:
        """Remove all cells."""
        self._cells.clear()

    def pop(self, key: str) -> Cell:
        """Remove a cell and return it."""
        return self._cells.pop(key)

    def update(self, cells: Any) -> None:
        """Add or replace cells from a mapping or from (name, cell) pairs."""
        if isinstance(cells, (CellDict, Mapping)):
            for key, cell in cells.items():
                self[key] = cell
            return
        if not isinstance(cells, Iterable):
            raise TypeError(
                "CellDict.update() should be called with an iterable of key-value pairs, but got "
                f"{type(cells).__name__}"
            )
        for i, pair in enumerate(cells):
            if not isinstance(pair, Iterable) or isinstance(pair, str) or len(tuple(pair)) != 2:
                raise ValueError(f"Element {i} given to CellDict.update() must be a pair of a name and a cell.")
            key, cell = pair
            self[key] = cell

    def construct(self, *inputs: Any) -> Any:
        raise NotImplementedError("CellDict only holds cells; call its elements in your own construct.")
