"""Requests per second of an empty model over protocol v2, beside the bare libraries on the same machine.

    python benchmarks/serving/echo.py [--connections 32] [--seconds 5] [--turns 3]

Server, load and rivals run in turns; the load is a process of its own. HTTP: an ASGI application that parses the body and answers
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


def load(kind, port, connections, seconds, result):
    async def run():
        counts = [0] * connections
        end = time.perf_counter() + seconds
        if kind == "http":
            await asyncio.gather(*(_http_client(port, end, counts, n) for n in range(connections)))
        else:
            given = triton.InferInput("x", [1, 4], "FP32")
            given.set_data_from_numpy(np.array([[1, 2, 3, 4]], np.float32))
            message = triton.service_pb2.ModelInferRequest(
                model_name="same", inputs=[given._get_tensor()], raw_input_contents=[given._get_content()]
            )
            options = [("grpc.use_local_subchannel_pool", 1)]
            channels = [grpc.aio.insecure_channel(f"127.0.0.1:{port}", options) for _ in range(connections)]
            data = message.SerializeToString()
            await asyncio.gather(*(_grpc_client(c, data, end, counts, n) for n, c in enumerate(channels)))
        result.value = sum(counts) / seconds

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


def rate(context, server, kind, folder, options):
    http, rpc = free_port(), free_port()
    process = context.Process(target=server, args=(folder, http, rpc))
    process.start()
    try:
        port = http if kind == "http" else rpc
        wait_for(port)
        result = context.Value("d", 0.0)
        for seconds in (1.0, options.seconds):  # the first warms up
            client = context.Process(target=load, args=(kind, port, options.connections, seconds, result))
            client.start()
            client.join()
            assert client.exitcode == 0
        return result.value
    finally:
        process.terminate()
        process.join()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        example = ms.Tensor(shape=[None, 4], dtype=ms.float32)
        ms.export(Same(), example, file_name=str(Path(folder, "same")), file_format="MINDIR")
        for kind, bare in (("http", bare_http), ("grpc", bare_grpc)):
            pairs = [
                [rate(context, server, kind, folder, options) for server in (ours, bare)] for _ in range(options.turns)
            ]
            mine, other = (statistics.median(column) for column in zip(*pairs))
            print(f"{kind}: {mine:.0f} requests/s, bare library {other:.0f}: {mine / other:.0%}", flush=True)


if __name__ == "__main__":
    main()
