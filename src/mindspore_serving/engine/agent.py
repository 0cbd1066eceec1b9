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
from typing import Any

from mindspore_serving.engine.channel import Channel, Closed
from mindspore_serving.engine.declaration import ModelDeclaration
from mindspore_serving.engine.introduction import introduce
from mindspore_serving.engine.models import Subgraph, decryption, load_subgraphs


def _described(graph: Subgraph) -> dict[str, Any]:
    inputs, outputs = ([[info.name, info.dtype, info.shape] for info in infos] for infos in (graph.inputs, graph.outputs))
    return {"inputs": inputs, "outputs": outputs, "batch": graph.batch}


def _answer(channel: Channel, graphs: tuple[Subgraph, ...], answers: bool) -> None:
    message, values = channel.receive()
    try:
        outputs = graphs[message["subgraph"]].compute(values)
    except Exception as error:  # whatever a graph reports is the answer to this request
        channel.send({"kind": "failed", "reason": f"{error}"})
        return
    channel.send({"kind": "done"}, list(outputs) if answers else [])


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the terminal: the starter ends its agents
    order = json.loads(sys.stdin.read())
    rank, host = order["rank"], order["host"]
    os.environ.update(MS_WORKER_NUM=str(order["size"]), MS_NODE_ID=str(rank), RANK_ID=str(rank), MS_SCHED_HOST=host,
                      MS_SCHED_PORT=str(order["meeting"]))  # fmt: skip
    if order["size"] > 1:
        from mindspore.communication import init

        init()
    key = base64.b64decode(order["key"]) if order["key"] else None
    files = tuple(order["files"])
    settings = order["settings"]
    declaration = ModelDeclaration(";".join(files), files, "mindir", settings["with_batch_dim"],
                                   tuple(settings["without_batch_dim_inputs"]))  # fmt: skip
    graphs = load_subgraphs(declaration, "", decryption(key, order["mode"]))
    connection = socket.create_connection((host, order["port"]))
    introduce(connection, order["secret"])
    channel = Channel(connection, shares=False)
    described = [_described(graph) for graph in graphs]
    channel.send({"kind": "agent", "rank": rank, "attempt": order["attempt"], "graphs": described})
    try:
        while True:
            _answer(channel, graphs, rank == 0)
    except Closed:
        os._exit(0)  # the others may be gone: nobody is waited for


if __name__ == "__main__":
    main()
