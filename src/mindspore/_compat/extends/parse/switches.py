"""Official MindSpore's compile-time switches.

`CHECK_BPROP` and `GRAD_FOR_SCALAR` are the settings of the context of these names. The others steer passes of the official compiler
that there are none of here: they can be set and read, and change nothing.
"""

from __future__ import annotations

from typing import Any

from mindspore.context import get_context, set_context

_SETTINGS = {"CHECK_BPROP": "check_bprop", "GRAD_FOR_SCALAR": "grad_for_scalar"}


class CompileConfig:
    """Switches by name; '' stands for the default."""

    def __getattr__(self, name: str) -> Any:
        if not name.isupper():
            raise AttributeError(name)
        return ("1" if get_context(_SETTINGS[name]) else "") if name in _SETTINGS else ""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _SETTINGS:
            set_context(**{_SETTINGS[name]: str(value) == "1"})
        else:
            self.__dict__[name] = value


compile_config = CompileConfig()
