"""MindSpore Serving: one server for every model. See README.md beside this file."""

__all__: list[str] = []
