"""A real server under many clients at once: each takes a place, gets the model (1 MB) and uploads as much.

    python benchmarks/federated/http_server.py --clients 1000 [--flower PYTHON]

`--flower` names the interpreter of an environment with `flwr` and `psutil`: its gRPC server gets the same load. The
clients are connections of one asynchronous process; all of them are open at once. Prints updates per second, the server's
CPU time and how much its memory grew over the rounds.
"""
from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time

import numpy as np
import psutil
import uvloop

from mindspore_federated.wire.flat import decode, encode
from mindspore_federated.wire.schema import Code

HERE = os.path.dirname(os.path.abspath(__file__))
_SERVER = """
import sys, numpy as np
from mindspore_federated import FLServerJob
FLServerJob(sys.argv[1], sys.argv[2], checkpoint_dir=sys.argv[3]).run({"w": np.zeros(int(sys.argv[4]), np.float32)})
"""
_YAML = """
fl_name: bench
fl_iteration_num: {rounds}
server_mode: FEDERATED_LEARNING
enable_ssl: False
round: {{start_fl_job_threshold: {clients}, start_fl_job_time_window: 600000, update_model_ratio: 1.0,
         update_model_time_window: 600000, global_iteration_time_window: 1200000}}
summary: {{metrics_file: {folder}/metrics.json, failure_event_file: {folder}/event.txt}}
"""


async def _post(reader, writer, path, body):
    writer.write(f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode())
    writer.write(body)
    await writer.drain()
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")).split(b":")[1])
    return await reader.readexactly(length)


async def _until(reader, writer, path, body, table):
    """Ask until the answer is no longer that it is too early or too late, less and less often, as clients do."""
    pause = 0.1
    while True:
        answer = decode(table, await _post(reader, writer, path, body))
        if answer["retcode"] == Code.SUCCEED:
            return answer
        if answer["retcode"] not in (Code.NOT_READY, Code.OUT_OF_TIME):
            raise RuntimeError(answer["reason"])
        await asyncio.sleep(pause)
        pause = min(2 * pause, 0.3)


async def _client(address, number, rounds, parameters, barrier):
    host, port = address.split(":")
    reader, writer = await asyncio.open_connection(host, int(port), limit=1 << 24)
    name = f"client{number}"
    weights = np.full(parameters, float(number % 7), np.float32)
    await barrier.wait()
    for _ in range(rounds):
        start = encode("RequestFLJob", {"fl_name": "bench", "fl_id": name, "data_size": 1, "timestamp": "1"})
        iteration = (await _until(reader, writer, "/startFLJob", start, "ResponseFLJob"))["iteration"]
        upload = encode("RequestUpdateModel", {"fl_name": "bench", "fl_id": name, "iteration": iteration, "timestamp": "1",
                                               "feature_map": [{"weight_fullname": "w", "data": weights}]})
        await _until(reader, writer, "/updateModel", upload, "ResponseUpdateModel")
        await _until(reader, writer, "/getResult", encode("RequestGetResult", {"fl_name": "bench", "iteration": iteration}),
                     "ResponseGetResult")
        await barrier.wait()
    writer.close()


async def _all(address, clients, rounds, parameters, server):
    barrier = asyncio.Barrier(clients + 1)
    tasks = [asyncio.create_task(_client(address, number, rounds, parameters, barrier)) for number in range(clients)]
    await barrier.wait()                                    # all are connected
    marks = [(time.perf_counter(), _cpu(server), server.memory_info().rss)]
    for _ in range(rounds):
        await barrier.wait()
        marks.append((time.perf_counter(), _cpu(server), server.memory_info().rss))
        print(f"round {len(marks) - 1}: {marks[-1][0] - marks[-2][0]:.1f} s, rss {marks[-1][2] >> 20} MB", file=sys.stderr)
    await asyncio.gather(*tasks)
    return marks


def _cpu(process):
    times = process.cpu_times()
    return times.user + times.system


def ours(clients, rounds, parameters):
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(65536, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
    with tempfile.TemporaryDirectory() as folder, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
        probe.close()
        yaml = os.path.join(folder, "job.yaml")
        with open(yaml, "w") as out:
            out.write(_YAML.format(rounds=rounds, clients=clients, folder=folder))
        process = subprocess.Popen([sys.executable, "-c", _SERVER, yaml, address, folder, str(parameters)])
        try:
            _wait_for(address)
            marks = uvloop.run(_all(address, clients, rounds, parameters, psutil.Process(process.pid)))
        finally:
            process.terminate()
            process.wait(30)
    wall, cpu = (marks[-1][place] - marks[0][place] for place in (0, 1))
    return {"clients": clients, "updates_per_s": round(clients * rounds / wall, 1),
            "updates_per_server_cpu_s": round(clients * rounds / cpu, 1),
            "server_rss_mb": [mark[2] >> 20 for mark in marks]}


def _wait_for(address):
    host, port = address.split(":")
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        try:
            socket.create_connection((host, int(port)), timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("the server did not start")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--parameters", type=int, default=1 << 18)
    parser.add_argument("--flower", help="python of an environment with flwr and psutil")
    given = parser.parse_args()
    print(json.dumps({"ours": ours(given.clients, given.rounds, given.parameters)}), flush=True)
    if given.flower:
        subprocess.run([given.flower, os.path.join(HERE, "rivals", "flower_server.py"), "--clients", str(given.clients),
                        "--rounds", str(given.rounds), "--parameters", str(given.parameters)], check=True)


if __name__ == "__main__":
    main()
