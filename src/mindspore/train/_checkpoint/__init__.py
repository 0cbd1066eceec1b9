"""Checkpoint files: formats (`records`, `tensorfile`), saving, loading and conversion."""
