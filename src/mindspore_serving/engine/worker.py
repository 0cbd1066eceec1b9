"""The worker process: `python -m mindspore_serving.engine.worker DESCRIPTOR`.

It receives where its servable is, loads it, says what it can do, and answers batches until the connection ends. SIGINT and
SIGTERM end it in good order after the batch at hand.
"""

from __future__ import annotations

import signal
import socket
import sys
import time
import traceback
from typing import Any

from mindspore_serving import log
from mindspore_serving.engine.agent_group import GroupPlace
from mindspore_serving.engine.answers import split
from mindspore_serving.engine.channel import Channel, Closed
from mindspore_serving.engine.errors import ServingError
from mindspore_serving.engine.location import Location
from mindspore_serving.engine.servable import RunningServable
from mindspore_serving.engine.values import Instance, Value


class _Leave(BaseException):
    """Raised by a signal while waiting."""


class Worker:
    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._leaving = False
        self._waiting = False

    def run(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)
        try:
            self._serve(self._load())
        except Closed:
            return
        except _Leave:
            self._channel.send({"kind": "leaving"})

    def _on_signal(self, number: int, frame: object) -> None:
        self._leaving = True
        if self._waiting:
            raise _Leave

    def _load(self) -> RunningServable:
        order, values = self._channel.receive()
        key = values[0] if values else None
        try:
            servable = RunningServable(
                Location(order["directory"], order["name"], order["version"], order["file"]),
                bytes(key) if isinstance(key, bytes) else None,
                order["mode"],
                GroupPlace(*order["group"]) if order["group"] else None,
            )
        except Exception as error:  # whatever the operator's configuration raises is the reason why there is no servable
            log.error(traceback.format_exc())
            self._channel.send({"kind": "failed", "reason": f"{error}"})
            sys.exit(1)
        self._channel.send({"kind": "ready", **_description(servable)})
        return servable

    def _serve(self, servable: RunningServable) -> None:
        while True:
            self._waiting = True
            if self._leaving:
                raise _Leave
            batch, values = self._channel.receive()
            self._waiting = False
            begin = time.perf_counter()
            pipeline = servable.pipelines[batch["method"]]
            answers = pipeline.run(split(values, len(pipeline.method.inputs)))
            # before the answer: who has one finds the line
            log.info(f"WorkerRequestHandle Time Cost # {1e3 * (time.perf_counter() - begin):.3f} ms, {len(answers)} instances")
            self._answer(answers)

    def _answer(self, answers: list[Instance | ServingError]) -> None:
        errors: dict[str, Any] = {}
        values: list[Value] = []
        for number, answer in enumerate(answers):
            if isinstance(answer, ServingError):
                errors[str(number)] = [answer.kind.name, answer.message]
            else:
                values.extend(answer)
        self._channel.send({"kind": "answers", "errors": errors}, values)


def _description(servable: RunningServable) -> dict[str, Any]:
    """What the protocols tell clients about a servable."""
    methods = {}
    for name, pipeline in servable.pipelines.items():
        method = pipeline.method
        methods[name] = {
            "inputs": list(method.inputs),
            "outputs": list(method.outputs),
            "batch": pipeline.batch,
            "only_models": method.only_models,
            "tensors": _tensors(servable, name),
        }
    return {"methods": methods}


def _tensors(servable: RunningServable, name: str) -> dict[str, Any]:
    """name -> [type, shape of an instance] of those inputs and outputs that are a model's own."""
    method = servable.declaration.methods[name]
    known: dict[str, Any] = {}
    for number, stage in enumerate(method.stages, 1):
        if stage.model is None:
            continue
        graph = servable.models[stage.model].subgraphs[0]
        for place, source in enumerate(stage.inputs):
            if source.stage == 0:
                info = graph.inputs[place]
                known[method.inputs[source.number]] = [info.dtype, list(info.shape[1:] if graph.batched(place) else info.shape)]
        for output, source in zip(method.outputs, method.results):
            if source.stage == number:
                info = graph.outputs[source.number]
                batched = graph.batched(-1)
                known[output] = [info.dtype, list(info.shape[1:] if batched else info.shape)]
    return known


def main() -> None:
    Worker(Channel(socket.socket(fileno=int(sys.argv[1])))).run()


if __name__ == "__main__":
    main()
