"""All rows: importing the families fills the table."""

# ruff: noqa: F401 - the modules register their rows

import rows_attention
import rows_creation
import rows_elementwise
import rows_images
import rows_indexing
import rows_linalg
import rows_loss
import rows_mint
import rows_nn
import rows_reduction
import rows_shape
import rows_sparse
import rows_sparse_attention
import rows_special
import rows_versions
import rows_windows
from table import ROWS

__all__ = ["ROWS"]
