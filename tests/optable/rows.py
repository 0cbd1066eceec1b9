"""All rows: importing the families fills the table."""

# ruff: noqa: F401 - the modules register their rows

import rows_elementwise
from table import ROWS

__all__ = ["ROWS"]
