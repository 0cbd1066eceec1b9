"""`.ckpt` files: `read` and `write` named arrays. Façade: re-exports only."""

from mindspore.formats.checkpoint.file import read, write
from mindspore.formats.checkpoint.records import Entry

__all__ = ["Entry", "read", "write"]
