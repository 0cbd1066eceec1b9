"""ResNet-50 over HTTP, a request per image: images per second and latencies with 32 clients, beside FastAPI and Ray Serve.

    python benchmarks/serving/resnet50.py [--clients 32] [--seconds 10] [--turns 3] [--rivals fastapi ray --python RIVALS/bin/python]

All serve the same ONNX file (weights are random) on the same machine as the clients, in turns (`resnet50_rivals.py` has the others). We
are asked by protocol v2 with binary tensors. Answers are compared with each other once before they are measured.
"""

import argparse
import asyncio
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import orjson
import requests
from echo import free_port

import mindspore as ms
from mindspore import model_zoo

SHAPE = (1, 3, 224, 224)
LENGTH = "Inference-Header-Content-Length"


def ours(path, port):
    return [
        sys.executable,
        "-m",
        "mindspore_serving.cli",
        "serve",
        path,
        "--http",
        f"127.0.0.1:{port}",
        "--grpc",
        f"127.0.0.1:{free_port()}",
    ]


def request_of(server, image):
    """(path, headers, body) of a request."""
    data = image.tobytes()
    if server != "ours":
        return "/", {}, data
    tensor = {"name": "x", "shape": list(SHAPE), "datatype": "FP32", "parameters": {"binary_data_size": len(data)}}
    head = orjson.dumps({"inputs": [tensor], "parameters": {"binary_data_output": True}})
    return "/v2/models/resnet50/infer", {LENGTH: str(len(head))}, head + data


def first_answer(port, request):
    """The scores, once the server answers."""
    path, headers, body = request
    end = time.monotonic() + 120
    while True:
        try:
            answer = requests.post(f"http://127.0.0.1:{port}{path}", body, headers=headers, timeout=60)
            if answer.status_code == 200:
                return np.frombuffer(answer.content[-4000:], np.float32)
        except requests.ConnectionError:
            pass
        if time.monotonic() > end:
            raise RuntimeError("the server does not answer")
        time.sleep(0.3)


async def client(port, request, end, latencies):
    path, headers, body = request
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    lines = [
        f"POST {path} HTTP/1.1",
        "Host: a",
        f"Content-Length: {len(body)}",
        *(f"{k}: {v}" for k, v in headers.items()),
        "",
        "",
    ]
    head = "\r\n".join(lines).encode()
    while time.perf_counter() < end:
        begin = time.perf_counter()
        writer.write(head + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 200"), answer
        await reader.readexactly(int(answer.lower().split(b"content-length:")[1].split(b"\r\n")[0]))
        latencies.append(time.perf_counter() - begin)
    writer.close()


def measured(port, request, clients, seconds):
    """(images per second, latency that 99 of 100 stay below)."""

    async def run():
        latencies, begin = [], time.perf_counter()
        await asyncio.gather(*(client(port, request, begin + seconds, latencies) for _ in range(clients)))
        return len(latencies) / (time.perf_counter() - begin), float(np.quantile(latencies, 0.99))

    return asyncio.run(run())


def turn(server, path, image, options):
    port = free_port()
    rival = [options.python, str(Path(__file__).with_name("resnet50_rivals.py")), server, path, str(port)]
    process = subprocess.Popen(ours(path, port) if server == "ours" else rival, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               start_new_session=True)  # fmt: skip
    try:
        request = request_of(server, image)
        scores = first_answer(port, request)
        measured(port, request, options.clients, 2)  # compile for batches
        return scores, *measured(port, request, options.clients, options.seconds)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--rivals", nargs="*", default=[], choices=["fastapi", "ray"])
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has the rivals")
    options = parser.parse_args()
    image = np.random.default_rng(0).standard_normal(SHAPE, np.float32)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "resnet50.onnx"))
        network = model_zoo.create("resnet50").set_train(False)
        ms.export(network, ms.Tensor(shape=[None, *SHAPE[1:]], dtype=ms.float32), file_name=path, file_format="ONNX")
        names = ["ours", *options.rivals]
        turns = [[turn(name, path, image, options) for name in names] for _ in range(options.turns)]
        for name, found in zip(names, zip(*turns)):
            np.testing.assert_allclose(found[0][0], turns[0][0][0], rtol=1e-3, atol=1e-3)
            rate, late = (statistics.median(values) for values in list(zip(*found))[1:])
            print(f"{name}: {rate:.1f} images/s, 99 % within {late * 1e3:.0f} ms", flush=True)


if __name__ == "__main__":
    main()
