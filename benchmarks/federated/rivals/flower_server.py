"""Flower's gRPC server under many clients at once. Run by an interpreter with `flwr`, `grpcio` and `psutil`.

The server is `flwr.server.start_server` with FedAvg: updates go straight to the strategy. A SuperLink, which
puts a store for messages and a process for the ServerApp between, was not measured. The clients are streams of one asynchronous
process, each over a connection of its own; they send back what they get.
"""
import argparse
import asyncio
import json
import os
import socket
import subprocess
import sys
import time

import grpc
import numpy as np
import psutil
from flwr.proto.transport_pb2 import ClientMessage, ServerMessage, Status

OPTIONS = [("grpc.max_send_message_length", 1 << 29), ("grpc.max_receive_message_length", 1 << 29),
           ("grpc.use_local_subchannel_pool", 1)]


def serve(address, clients, rounds, parameters):
    from flwr.common import ndarrays_to_parameters
    from flwr.server import ServerConfig, start_server
    from flwr.server.strategy import FedAvg

    strategy = FedAvg(fraction_fit=1.0, fraction_evaluate=0.0, min_fit_clients=clients, min_available_clients=clients,
                      initial_parameters=ndarrays_to_parameters([np.zeros(parameters, np.float32)]))
    start_server(server_address=address, config=ServerConfig(num_rounds=rounds), strategy=strategy)


async def client(address, arrived):
    async with grpc.aio.insecure_channel(address, options=OPTIONS) as channel:
        join = channel.stream_stream("/flwr.proto.FlowerService/Join", request_serializer=ClientMessage.SerializeToString,
                                     response_deserializer=ServerMessage.FromString)()
        while True:
            message = await join.read()
            if message is grpc.aio.EOF or message.WhichOneof("msg") == "reconnect_ins":
                return
            arrived.append(time.perf_counter())
            await join.write(ClientMessage(fit_res=ClientMessage.FitRes(
                status=Status(code=0, message=""), parameters=message.fit_ins.parameters, num_examples=1)))


async def watch(clients, rounds, arrived, server, marks):
    """A round is over when the first client hears of the next; the last one when the server lets clients go."""
    for number in range(rounds + 1):
        while len(arrived) <= number * clients and not (number == rounds and server.poll() is not None):
            if number == rounds and marks["done"].is_set():
                break
            await asyncio.sleep(0.02)
        used = marks["process"].cpu_times()
        marks["at"].append((time.perf_counter(), used.user + used.system, marks["process"].memory_info().rss))


async def run(address, clients, rounds, server):
    arrived, marks = [], {"at": [], "process": psutil.Process(server.pid), "done": asyncio.Event()}
    looking = asyncio.create_task(watch(clients, rounds, arrived, server, marks))
    tasks = [asyncio.create_task(client(address, arrived)) for _ in range(clients)]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    marks["done"].set()
    await looking
    for task in tasks:
        task.cancel()
    return marks["at"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--clients", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--parameters", type=int, default=1 << 18)
    parser.add_argument("--serve")
    given = parser.parse_args()
    if given.serve:
        serve(given.serve, given.clients, given.rounds, given.parameters)
        return
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    server = subprocess.Popen([sys.executable, __file__, "--serve", address, "--clients", str(given.clients), "--rounds",
                               str(given.rounds), "--parameters", str(given.parameters)],
                              env={**os.environ, "FLWR_TELEMETRY_ENABLED": "0"}, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                socket.create_connection(address.split(":"), timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        marks = asyncio.run(run(address, given.clients, given.rounds, server))
    finally:
        server.kill()
        server.wait()
    wall, cpu = (marks[-1][place] - marks[0][place] for place in (0, 1))
    print(json.dumps({"flower": {
        "clients": given.clients, "updates_per_s": round(given.clients * given.rounds / wall, 1),
        "updates_per_server_cpu_s": round(given.clients * given.rounds / cpu, 1),
        "server_rss_mb": [mark[2] >> 20 for mark in marks]}}), flush=True)


if __name__ == "__main__":
    main()
