"""Files: bytes ↔ graphs and arrays. Nothing here knows Tensor or Cell; see README.md for each format's grammar."""
