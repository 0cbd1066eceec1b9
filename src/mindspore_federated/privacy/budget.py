"""The check of a privacy budget."""
from __future__ import annotations

from mindspore_federated import log

_LARGEST = 100.0


def check_eps(eps: object) -> float:
    """`eps` as a float, at most 100: beyond that nothing is protected and exp overflows."""
    if isinstance(eps, bool) or not isinstance(eps, (int, float)):
        raise TypeError(f"Parameter eps must be a float or an int, but got {type(eps)}.")
    if not eps >= 0:
        raise ValueError(f"Parameter eps cannot be negative, but got {eps}.")
    if eps > _LARGEST:
        log.warning("eps %f protects nothing; it is taken as %g", eps, _LARGEST)
    return float(min(eps, _LARGEST))
