"""An agent of a language model that several processes share: `python -m mindspore_serving.llm.agent` (`engine/agent.py` has the rest).

It has a Network of its share, and does the steps that the engine orders.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore.communication import create_group
from mindspore_serving.engine.agent import Work, serve
from mindspore_serving.engine.values import Value
from mindspore_serving.llm.checkpoint import load
from mindspore_serving.llm.cut import Share
from mindspore_serving.llm.network import Network, Part


def _load(order: dict[str, Any]) -> tuple[Work, dict[str, Any]]:
    settings = order["settings"]
    parts, stages = settings["parts"], settings["stages"]
    share = Share.of(order["rank"], parts, stages)
    for stage in range(stages):
        create_group(_group(stage), [Share(part, parts, stage, stages).rank for part in range(parts)])
    shape, weights = load(settings["folder"])
    network = Network(shape, weights, settings["weights"], settings["pages"], settings["adapters"], share, _group(share.stage))

    def work(message: dict[str, Any], values: list[Value]) -> list[Value]:
        if message["kind"] == "warm":
            network.warm(message["rows"], message["prompt"])
            return []
        if message["kind"] == "prepare":
            network.prepare(message["first"], message["last"])
            return []
        scores = network.forward([Part(*fields) for fields in message["parts"]])
        if not share.is_last or share.part or not scores:
            return []
        return [np.array([one.best for one in scores]), np.array([one.total for one in scores]), *(one.logits for one in scores)]

    return work, {}


def _group(stage: int) -> str:
    return f"stage{stage}"


if __name__ == "__main__":
    serve(_load)
