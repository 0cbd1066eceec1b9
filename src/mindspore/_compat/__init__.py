"""Compatibility: module paths and names that programs written for official MindSpore import, and the design does not have.

Nothing below this package knows of it. `tables/` says, as plain data, what an official path holds and where that
really is; `finder.py` builds the modules when they are imported; the other modules define the names that exist for
compatibility alone. To add a path or a name, add a line to a table.
"""

from mindspore._compat.finder import install

install()
