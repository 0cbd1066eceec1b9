"""Tables of parameters by key, which official MindSpore keeps on Ascend and GPU devices."""

from __future__ import annotations

from typing import Any


class MapParameter:
    """Refused: there is no table here whose keys are not known before."""

    def __init__(self, *args: Any, **kwargs: Any):
        raise NotImplementedError(
            "'MapParameter' needs the hash tables of official MindSpore's accelerators. Number the keys in a dict and keep their "
            "values in the rows of an nn.Embedding instead."
        )
