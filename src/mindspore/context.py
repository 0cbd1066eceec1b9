"""What users set: graph or PyNative mode, device, dumps and limits, parallel training.

These functions edit the current context (runtime/context.py), which is the default one unless the code runs within
`local_context`. runtime/settings.py is the table of the settings: values, and what acts on each.
"""

from __future__ import annotations

import os
import warnings
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from mindspore._base import flags
from mindspore.prims.active import ACTIVE
from mindspore.runtime import context as _contexts
from mindspore.runtime import parallel_settings
from mindspore.runtime.settings import COMPATIBLE, GRAPH_MODE, LAX, PYNATIVE_MODE, STRICT

RELEASE, DEBUG = 0, 1  # of the setting `debug_level`

__ms_treatment__ = "refused"  # by the compiler: see compiler/parse/source.py

__all__ = [
    "COMPATIBLE", "GRAPH_MODE", "LAX", "PYNATIVE_MODE", "STRICT", "ParallelMode", "dump_options", "get_auto_parallel_context",
    "get_context", "get_current_device", "get_offload_context", "get_ps_context", "graph_mode", "local_context",
    "reset_auto_parallel_context", "reset_context", "reset_ps_context", "set_auto_parallel_context", "set_context",
    "set_deterministic", "set_device", "set_offload_context", "set_ps_context",
]  # fmt: skip


def set_context(**kwargs: Any) -> None:
    """Change settings, for example `set_context(mode=ms.GRAPH_MODE, device_target="GPU")`.

    A setting that has no effect on this machine is accepted and says so once, as a warning.

    Examples:
        >>> import mindspore as ms
        >>> ms.set_context(mode=ms.PYNATIVE_MODE)
        >>> ms.get_context('mode') == ms.PYNATIVE_MODE
        True
    """
    _contexts.current().edit(kwargs)


def get_context(attr_key: str) -> Any:
    """The current value of a setting.

    Examples:
        >>> import mindspore as ms
        >>> ms.get_context('device_target')
        'CPU'
    """
    settings = _contexts.current().settings
    if attr_key not in settings:
        raise ValueError(f"For 'context.get_context', the argument {attr_key} is not recognized.")
    return settings[attr_key]


def reset_context() -> None:
    """Restore the defaults."""
    _contexts.current().reset()


def local_context(**settings: Any) -> AbstractContextManager[Any]:
    """Settings for a `with` block of this thread or asyncio task alone; whatever others set meanwhile does not matter to it.

    Within the block `set_context`, `set_seed` and the like change this context only. Threads that are started there begin with the
    default context: give them one of their own.

    Examples:
        >>> with ms.context.local_context(mode=ms.GRAPH_MODE, backend="interp"):
        ...     print(ms.get_context("backend"))
        interp
        >>> ms.get_context("mode") == ms.PYNATIVE_MODE
        True
    """
    return _contexts.scope(**settings)


def graph_mode() -> bool:
    return _contexts.current().mode == GRAPH_MODE and not ACTIVE.eagerly


def cuts_graphs() -> bool:
    """Whether graphs are cut over devices."""
    return _contexts.current().sharding is not None


def set_device(device_target: str, device_id: int | None = None) -> None:
    """Choose the device: "CPU", "GPU" or "Ascend".

    Examples:
        >>> import mindspore as ms
        >>> ms.set_device('CPU')
        >>> ms.get_context('device_target')
        'CPU'
    """
    set_context(device_target=device_target, **({} if device_id is None else {"device_id": device_id}))


class CurrentDevice(NamedTuple):
    """A kind of device and its number."""

    device_target: str
    device_id: int

    def __repr__(self) -> str:
        return repr(tuple(self))


def get_current_device() -> CurrentDevice:
    """The kind of device operations run on and its number.

    Examples:
        >>> ms.get_current_device(), ms.get_current_device().device_target
        (('CPU', 0), 'CPU')
    """
    settings = _contexts.current().settings
    return CurrentDevice(settings["device_target"], settings["device_id"])


def set_deterministic(deterministic: bool) -> None:
    """Ask for run-to-run identical results.

    Examples:
        >>> ms.set_deterministic(True)
        >>> ms.set_deterministic(False) is None
        True
    """
    if not isinstance(deterministic, bool):
        raise TypeError(f"'deterministic' must be a bool, but got {deterministic!r}.")
    set_context(deterministic="ON" if deterministic else "OFF")


def dump_options() -> tuple[int, str]:
    """Level (0 none, 1 the main stages, 2 and more all) and folder of IR dumps."""
    settings = _contexts.current().settings
    level = int(settings["save_graphs"]) or flags.integer("MS_DEV_SAVE_GRAPHS")
    path = settings["save_graphs_path"]
    if path == "." and flags.text("MS_DEV_SAVE_GRAPHS_PATH"):
        path = flags.text("MS_DEV_SAVE_GRAPHS_PATH")
    return level, os.path.abspath(path)


# -- parallel settings: interpreted by mindspore.parallel ------------------------------------------------
class ParallelMode:
    """Names of the parallel modes.

    Examples:
        >>> import mindspore as ms
        >>> ms.ParallelMode.DATA_PARALLEL
        'data_parallel'
    """

    STAND_ALONE = "stand_alone"
    DATA_PARALLEL = "data_parallel"
    HYBRID_PARALLEL = "hybrid_parallel"
    SEMI_AUTO_PARALLEL = "semi_auto_parallel"
    AUTO_PARALLEL = "auto_parallel"
    MODE_LIST = parallel_settings.MODES


def _parallel() -> dict[str, Any]:
    return _contexts.current().section("parallel", parallel_settings.DEFAULTS)


def set_auto_parallel_context(**kwargs: Any) -> None:
    """Change settings of parallel training.

    Examples:
        >>> import mindspore as ms
        >>> ms.set_auto_parallel_context(parallel_mode='stand_alone')
        >>> ms.get_auto_parallel_context('parallel_mode')
        'stand_alone'
    """
    kept = parallel_settings.checked(kwargs)
    for name, value in kept.items():
        if name in parallel_settings.WITHOUT_EFFECT and value != parallel_settings.DEFAULTS[name]:
            why = parallel_settings.WITHOUT_EFFECT[name]
            warnings.warn(f"set_auto_parallel_context: '{name}' has no effect here: {why}.", stacklevel=2)
    _parallel().update(kept)
    _contexts.current().settle()


def get_auto_parallel_context(attr_key: str) -> Any:
    """The current value of a parallel setting.

    Examples:
        >>> import mindspore as ms
        >>> ms.get_auto_parallel_context('parallel_mode')
        'stand_alone'
    """
    found = _parallel()
    if attr_key not in found:
        raise ValueError(f"For 'context.get_auto_parallel_context', the argument '{attr_key}' is not recognized.")
    return found[attr_key]


def reset_auto_parallel_context() -> None:
    """Restore the defaults of parallel training.

    Examples:
        >>> import mindspore as ms
        >>> ms.reset_auto_parallel_context()
        >>> ms.get_auto_parallel_context('parallel_mode')
        'stand_alone'
    """
    _contexts.current().sections.pop("parallel", None)
    _contexts.current().settle()


_PS_DEFAULTS: dict[str, Any] = {
    "enable_ps": False, "config_file_path": "", "enable_ssl": False, "client_password": "", "server_password": "",
}  # fmt: skip


def set_ps_context(**kwargs: Any) -> None:
    """Parameter-server settings; stored for scripts that set them. Nothing acts on `enable_ps`, and setting it says so.

    Examples:
        >>> ms.set_ps_context(enable_ps=False)
        >>> ms.get_ps_context("enable_ps")
        False
    """
    for name, value in kwargs.items():
        if name not in _PS_DEFAULTS:
            raise ValueError(f"For 'set_ps_context', the keyword argument '{name}' is not recognized; known are {sorted(_PS_DEFAULTS)}.")
        kind = type(_PS_DEFAULTS[name])
        if not isinstance(value, kind):
            raise TypeError(f"For 'set_ps_context', '{name}' must be {kind.__name__}, but got {value!r} of type {type(value).__name__}.")
    if kwargs.get("enable_ps"):
        _say_that_nothing_is_served()
    _contexts.current().section("parameter_server", {}).update(kwargs)


def _say_that_nothing_is_served() -> None:
    """Workers train whole networks themselves, with the same result if they share gradients; a server would train one alone."""
    instead = (
        "weights are trained by every process; several of them need parallel_mode='data_parallel'. For tables on servers use "
        "mindspore.parallel.ServedTable."
    )
    if flags.text("MS_ROLE") == "MS_PSERVER":
        raise RuntimeError(
            f"This process was started as a parameter server (MS_ROLE=MS_PSERVER), but here {instead} Start workers only: "
            "msrun --worker_num=N script.py."
        )
    warnings.warn(f"set_ps_context: 'enable_ps' has no effect here: {instead}", stacklevel=3)


def get_ps_context(attr_key: str) -> Any:
    """A setting of the parameter server.

    Examples:
        >>> ms.get_ps_context("enable_ps")
        False
    """
    settings = {**_PS_DEFAULTS, **_contexts.current().section("parameter_server", {})}
    if attr_key not in settings:
        raise ValueError(f"For 'get_ps_context', 'attr_key' must be one of {sorted(settings)}, but got {attr_key!r}.")
    return settings[attr_key]


def reset_ps_context() -> None:
    """Give every setting of the parameter server its default.

    Examples:
        >>> ms.reset_ps_context()
        >>> ms.get_ps_context("enable_ps")
        False
    """
    _contexts.current().sections.pop("parameter_server", None)


def set_offload_context(offload_config: dict) -> None:
    """Settings of heterogeneous memory; stored for scripts that set them.

    Examples:
        >>> ms.set_offload_context({"offload_param": "cpu"})
        >>> ms.get_offload_context()["offload_param"]
        'cpu'
    """
    if not isinstance(offload_config, dict):
        raise TypeError(f"'offload_config' must be a dict, but got {type(offload_config).__name__}.")
    _contexts.current().sections["offload"] = dict(offload_config)


def get_offload_context() -> dict:
    """The settings of `set_offload_context`.

    Examples:
        >>> isinstance(ms.get_offload_context(), dict)
        True
    """
    return _contexts.current().section("offload", {})
