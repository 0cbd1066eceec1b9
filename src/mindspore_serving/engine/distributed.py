"""A model that is cut over several processes: the worker gives every request to its agents (`agent_group.py`), each of which has the
files of its rank. They run their graphs on the whole inputs; rank 0 answers. What was under way when an agent died is computed again.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

from mindspore_serving.engine.agent_group import AgentGroup, GroupPlace
from mindspore_serving.engine.declaration import ModelDeclaration
from mindspore_serving.engine.errors import Lost
from mindspore_serving.engine.models import Array, Subgraph, TensorInfo


def remote_subgraphs(declaration: ModelDeclaration, place: GroupPlace) -> tuple[Subgraph, ...]:
    """The graphs of a model, once all its agents are there. When they leave for good, so does this process."""
    if declaration.ranks != len(place.hosts):
        raise RuntimeError(f"the servable has {declaration.ranks} ranks, but the rank table has {len(place.hosts)}")
    settings = {"with_batch_dim": declaration.with_batch_dim, "without_batch_dim_inputs": declaration.without_batch_dim_inputs}
    group = AgentGroup(settings, place, lambda: os.kill(os.getpid(), signal.SIGTERM))
    group.wait()
    return tuple(
        RemoteSubgraph(declaration, graph, lambda arguments, n=number: _compute(group, n, arguments))  # type: ignore[misc]
        for number, graph in enumerate(group.said["graphs"])
    )


def _compute(group: AgentGroup, subgraph: int, arguments: list[Array]) -> tuple[Array, ...]:
    """The outputs of a graph; again if an agent dies meanwhile."""
    while True:
        try:
            answers = group.call({"kind": "run", "subgraph": subgraph}, arguments)
        except Lost:
            continue
        return tuple(value for value in answers[0][1] if not isinstance(value, (str, bytes)))


class RemoteSubgraph(Subgraph):
    """A graph that agents compute."""

    def __init__(
        self, declaration: ModelDeclaration, described: dict[str, Any], compute: Callable[[list[Array]], tuple[Array, ...]]
    ) -> None:
        self._declaration, self._compute = declaration, compute
        self.batch = described["batch"]
        self.inputs, self.outputs = (
            tuple(TensorInfo(name, dtype, tuple(shape)) for name, dtype, shape in described[what]) for what in ("inputs", "outputs")
        )

    def portion(self, count: int) -> int:
        return self.batch

    def _function(self, count: int) -> tuple[int, Callable[..., tuple[Array, ...]]]:
        return self.batch, lambda *arguments: self._compute(list(arguments))


__all__ = ["RemoteSubgraph", "remote_subgraphs"]
