"""Settings of the search for sharding strategies."""

from __future__ import annotations

from typing import Any

from mindspore.runtime import context

_DEFAULTS: dict[str, Any] = {
    "fully_use_devices": False,
    "elementwise_op_strategy_follow": False,
    "enable_algo_approxi": False,
    "algo_approxi_epsilon": 0.1,
    "tensor_slice_align_enable": False,
    "tensor_slice_align_size": 16,
}


def _parameters() -> dict[str, Any]:
    return context.current().section("strategy_search", _DEFAULTS)


def set_algo_parameters(**kwargs: Any) -> None:
    """Change settings of the search, for example `set_algo_parameters(fully_use_devices=True)`.

    Examples:
        >>> import mindspore as ms
        >>> ms.set_algo_parameters(fully_use_devices=False)
        >>> ms.get_algo_parameters('fully_use_devices')
        False
    """
    for name, value in kwargs.items():
        if name not in _DEFAULTS:
            raise ValueError(f"Set context keyword {name} is not recognized!")
        kind = type(_DEFAULTS[name])
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise TypeError(f"The parameter '{name}' must be {kind}, but got {type(value)}")
        if name == "algo_approxi_epsilon" and not 0 < value <= 1:
            raise ValueError(f"'algo_approxi_epsilon' must be in (0, 1], but got {value}")
        if name == "tensor_slice_align_size" and not 1 <= value <= 1024:
            raise ValueError(f"Align_size must be in [1, 1024], but got {value}")
    _parameters().update(kwargs)


def get_algo_parameters(attr_key: str) -> Any:
    """The current value of a setting.

    Examples:
        >>> ms.get_algo_parameters("fully_use_devices")
        False
    """
    if attr_key not in _parameters():
        raise ValueError(f"Get context keyword {attr_key} is not recognized!")
    return _parameters()[attr_key]


def reset_algo_parameters() -> None:
    """Restore the defaults.

    Examples:
        >>> ms.set_algo_parameters(fully_use_devices=True)
        >>> ms.reset_algo_parameters()
        >>> ms.get_algo_parameters("fully_use_devices")
        False
    """
    context.current().sections.pop("strategy_search", None)
