"""An agent process: `python -m mindspore_serving.engine.agent`, with its order as JSON on standard input.

It joins the run of its group, loads the files of its rank, and computes what the worker sends until the connection ends.
"""

from __future__ import annotations

import base64
import json
import os
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any

from mindspore_serving.engine.channel import Channel, Closed
from mindspore_serving.engine.declaration import ModelDeclaration
from mindspore_serving.engine.introduction import introduce
from mindspore_serving.engine.models import Subgraph, decryption, load_subgraphs
from mindspore_serving.engine.values import Value

#: from a message of the worker and its values to those of the answer
Work = Callable[[dict[str, Any], list[Value]], list[Value]]


def serve(load: Callable[[dict[str, Any]], tuple[Work, dict[str, Any]]]) -> None:
    """Be an agent. `load`: from the order to what is done with messages, and what the worker is told at the beginning."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the terminal: the starter ends its agents
    order = json.loads(sys.stdin.read())
    rank, host = order["rank"], order["host"]
    os.environ.update(MS_WORKER_NUM=str(order["size"]), MS_NODE_ID=str(rank), RANK_ID=str(rank), MS_SCHED_HOST=host,
                      MS_SCHED_PORT=str(order["meeting"]))  # fmt: skip
    if order["size"] > 1:
        from mindspore.communication import init

        init()
    work, told = load(order)
    connection = socket.create_connection((host, order["port"]))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    introduce(connection, order["secret"])
    channel = Channel(connection, shares=False)
    channel.send({"kind": "agent", "rank": rank, "attempt": order["attempt"], **told})
    try:
        while True:
            _answer(channel, work)
    except Closed:
        os._exit(0)  # the others may be gone: nobody is waited for


def _answer(channel: Channel, work: Work) -> None:
    message, values = channel.receive()
    try:
        outputs = work(message, values)
    except Exception as error:  # whatever a graph reports is the answer to this request
        channel.send({"kind": "failed", "reason": f"{error}"})
        return
    channel.send({"kind": "done"}, outputs)


def _load(order: dict[str, Any]) -> tuple[Work, dict[str, Any]]:
    """The model files of this rank."""
    key = base64.b64decode(order["key"]) if order["key"] else None
    files, settings = tuple(order["files"]), order["settings"]
    declaration = ModelDeclaration(";".join(files), files, "mindir", settings["with_batch_dim"],
                                   tuple(settings["without_batch_dim_inputs"]))  # fmt: skip
    graphs = load_subgraphs(declaration, "", decryption(key, order["mode"]))

    def work(message: dict[str, Any], values: list[Value]) -> list[Value]:
        outputs = graphs[message["subgraph"]].compute(values)
        return list(outputs) if order["rank"] == 0 else []

    return work, {"graphs": [_described(graph) for graph in graphs]}


def _described(graph: Subgraph) -> dict[str, Any]:
    inputs, outputs = ([[info.name, info.dtype, info.shape] for info in infos] for infos in (graph.inputs, graph.outputs))
    return {"inputs": inputs, "outputs": outputs, "batch": graph.batch}


if __name__ == "__main__":
    serve(_load)
