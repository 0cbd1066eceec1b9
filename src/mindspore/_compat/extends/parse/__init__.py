"""What tests and packages import from official MindSpore's parser: its switches, and functions behind methods."""

from __future__ import annotations

from mindspore._compat.extends.parse.switches import compile_config

__all__ = ["compile_config"]
