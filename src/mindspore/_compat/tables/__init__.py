"""The tables: official module paths, and what stands behind them.

`SAME` maps a path to the module that it is another path of. `HELD` maps a path to an `Entry`: the names it holds beyond
those of a file of that path (if there is one), and the modules that are searched for any other name. `MEMBERS` has
attributes of classes that subclasses in packages read.

    "mindspore.common.seed": Entry({"set_seed": "mindspore.common.random"})           # no such file: the entry is all
    "mindspore.train.serialization": Entry({"_exec_save": "mindspore._compat.files"})  # names beside those of the file
"""

from __future__ import annotations

from mindspore._compat.tables import data, framework, moved, operations
from mindspore._compat.tables.entry import Entry

SAME: dict[str, str] = {**moved.SAME, **operations.SAME, **framework.SAME, **data.SAME}
HELD: dict[str, Entry] = {**operations.HELD, **framework.HELD, **data.HELD}
MEMBERS = framework.MEMBERS

__all__ = ["HELD", "MEMBERS", "SAME", "Entry"]
