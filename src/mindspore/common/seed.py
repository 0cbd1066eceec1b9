"""Seeds. Façade: re-exports only."""

from mindspore.common.random import get_seed, set_seed

__all__ = ["get_seed", "set_seed"]
