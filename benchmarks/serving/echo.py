"""Requests per second of an empty model over protocol v2, beside the bare libraries on the same machine.

    python benchmarks/serving/echo.py [--protocols http grpc] [--connections 32] [--seconds 1] [--turns 15]

Ours and the rival take short turns, so that a machine whose speed changes changes both; the ratio is the median of the turns'. The
load is a process of its own. HTTP: an ASGI application that parses the body and answers
(uvicorn); gRPC: a handler that answers what it got (grpc.aio).
"""

import argparse
import asyncio
import multiprocessing
import socket
import statistics
import tempfile
import time
from pathlib import Path

import grpc
import numpy as np
import orjson
import tritonclient.grpc as triton
import uvicorn

import mindspore as ms
from mindspore import nn

BODY = orjson.dumps({"inputs": [{"name": "x", "shape": [1, 4], "datatype": "FP32", "data": [1.0, 2.0, 3.0, 4.0]}]})


class Same(nn.Cell):
    def construct(self, x):
        return x + 0


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


# -- servers, each in a process of its own


def ours(folder, http, rpc):
    from mindspore_serving import cli

    cli.main(["serve", str(Path(folder, "same.mindir")), "--http", f"127.0.0.1:{http}", "--grpc", f"127.0.0.1:{rpc}"])


async def _echo(scope, receive, send):
    if scope["type"] != "http":
        return
    message = await receive()
    answer = orjson.dumps(
        {"model_name": "same", "outputs": orjson.loads(message["body"])["inputs"]} if message["body"] else {}
    )
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(answer)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": answer})


def bare_http(folder, http, rpc):
    uvicorn.run(_echo, port=http, http="httptools", loop="uvloop", access_log=False, log_level="error", lifespan="off")


def bare_grpc(folder, http, rpc):
    async def serve():
        async def same(request, context):
            return request

        server = grpc.aio.server()
        handler = grpc.unary_unary_rpc_method_handler(same, lambda data: data, lambda data: data)
        methods = {"ModelInfer": handler, "ServerReady": handler}
        server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler("inference.GRPCInferenceService", methods),)
        )
        server.add_insecure_port(f"127.0.0.1:{rpc}")
        await server.start()
        await server.wait_for_termination()

    asyncio.run(serve())


# -- load


async def _http_client(port, end, counts, number):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    lines = (
        "POST /v2/models/same/infer HTTP/1.1",
        "Host: a",
        "Content-Type: application/json",
        f"Content-Length: {len(BODY)}",
    )
    head = "\r\n".join((*lines, "", "")).encode()
    while time.perf_counter() < end:
        writer.write(head + BODY)
        answer = await reader.readuntil(b"\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 200"), answer
        length = int(answer.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        await reader.readexactly(length)
        counts[number] += 1
    writer.close()


async def _grpc_client(channel, request, end, counts, number):
    call = channel.unary_unary("/inference.GRPCInferenceService/ModelInfer")
    while time.perf_counter() < end:
        await call(request)
        counts[number] += 1


async def _http_load(port, connections, seconds):
    counts = [0] * connections
    end = time.perf_counter() + seconds
    await asyncio.gather(*(_http_client(port, end, counts, n) for n in range(connections)))
    return sum(counts) / seconds


async def _grpc_load(channels, data, seconds):
    counts = [0] * len(channels)
    end = time.perf_counter() + seconds
    await asyncio.gather(*(_grpc_client(channel, data, end, counts, n) for n, channel in enumerate(channels)))
    return sum(counts) / seconds


def load(kind, port, connections, orders):
    """A process that makes load for so many seconds whenever it is told to."""

    async def run():
        if kind == "grpc":
            given = triton.InferInput("x", [1, 4], "FP32")
            given.set_data_from_numpy(np.array([[1, 2, 3, 4]], np.float32))
            message = triton.service_pb2.ModelInferRequest(
                model_name="same", inputs=[given._get_tensor()], raw_input_contents=[given._get_content()]
            )
            options = [("grpc.use_local_subchannel_pool", 1)]
            channels = [grpc.aio.insecure_channel(f"127.0.0.1:{port}", options) for _ in range(connections)]
            data = message.SerializeToString()
        while seconds := orders.recv():
            orders.send(
                await (_http_load(port, connections, seconds) if kind == "http" else _grpc_load(channels, data, seconds))
            )

    asyncio.run(run())


def wait_for(port):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("the server did not start")


class Measured:
    """A server and its load, each a process; both wait while another pair is measured."""

    def __init__(self, context, server, kind, folder, connections):
        http, rpc = free_port(), free_port()
        port = http if kind == "http" else rpc
        self.orders, theirs = context.Pipe()
        self.server = context.Process(target=server, args=(folder, http, rpc))
        self.client = context.Process(target=load, args=(kind, port, connections, theirs))
        self.server.start()
        wait_for(port)
        self.client.start()
        theirs.close()

    def rate(self, seconds):
        self.orders.send(seconds)
        return self.orders.recv()

    def stop(self):
        self.orders.send(0)
        self.client.join()
        self.server.terminate()
        self.server.join()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--protocols", nargs="+", choices=("http", "grpc"), default=["http", "grpc"])
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--turns", type=int, default=15)
    options = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        example = ms.Tensor(shape=[None, 4], dtype=ms.float32)
        ms.export(Same(), example, file_name=str(Path(folder, "same")), file_format="MINDIR")
        for kind in options.protocols:
            bare = bare_http if kind == "http" else bare_grpc
            measured = [Measured(context, server, kind, folder, options.connections) for server in (ours, bare)]
            for one in measured:
                one.rate(1.0)  # warms up
            pairs = [[one.rate(options.seconds) for one in measured] for _ in range(options.turns)]
            for one in measured:
                one.stop()
            mine, other = (statistics.median(column) for column in zip(*pairs))
            ratio = statistics.median(own / bare_rate for own, bare_rate in pairs)
            print(f"{kind}: {mine:.0f} requests/s, bare library {other:.0f}: {ratio:.0%}", flush=True)


if __name__ == "__main__":
    main()
