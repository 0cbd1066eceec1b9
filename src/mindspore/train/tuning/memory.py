"""Memory of a training step: what it needs, and which cells to compute again so that it needs less.

Computing again (Chen et al. 2016, "Training deep nets with sublinear memory cost"): of a marked block only the input is kept for the
backward pass. Blocks are the members of sequences that have layers of their own: the outermost ones leave least to keep, the
innermost ones need least while a block is computed again.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.nn.containers import CellList, SequentialCell

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_AMOUNT = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([KMGT]?)i?B?\s*", re.IGNORECASE)


def limit_of(memory: int | str | None) -> int:
    """Bytes from 2000000000, "512MB" or "2GB"; 0 for no limit."""
    if memory is None:
        return 0
    if isinstance(memory, int) and not isinstance(memory, bool) and memory > 0:
        return memory
    found = _AMOUNT.fullmatch(memory) if isinstance(memory, str) else None
    amount = int(float(found[1]) * _UNITS[found[2].upper()]) if found else 0
    if not amount:
        raise ValueError(f"For 'auto_tune', 'memory' must be a number of bytes or a text such as '2GB', but got {memory!r}.")
    return amount


def needed(step: Cell, batch: tuple[Tensor, ...]) -> int:
    """The bytes of a step: parameters and states of the optimizer, the batch, and what the compiled graph works in.

    The graph must have been compiled last for the settings in force.
    """
    kept = sum(p.nbytes for p in step.get_parameters()) + sum(t.nbytes for t in batch)
    return kept + int(step.memory_report()["peak_bytes"])


def blocks(step: Cell, which: str) -> list[Cell]:
    """The cells that `recompute` of "blocks" (the outermost) or "layers" (the innermost) means."""
    found = {
        path: cell
        for parent_path, parent in step.cells_and_names()
        if isinstance(parent, (SequentialCell, CellList))
        for path, cell in ((f"{parent_path}.{name}", cell) for name, cell in parent.name_cells().items())
        if sum(1 for _, part in cell.cells_and_names() if part.trainable_params() and not part.cells()) > 1
    }
    if which == "blocks":
        return [cell for path, cell in found.items() if not any(path.startswith(f"{other}.") for other in found)]
    return [cell for path, cell in found.items() if not any(other.startswith(f"{path}.") for other in found)]


@contextlib.contextmanager
def recomputed(step: Cell, which: str) -> Iterator[None]:
    """While it lasts, the cells are computed again."""
    marked = [cell for cell in blocks(step, which) if not cell.get_flags().get("recompute")] if which else []
    for cell in marked:
        cell.recompute()
    try:
        yield
    finally:
        for cell in marked:
            cell._forget_recompute()
