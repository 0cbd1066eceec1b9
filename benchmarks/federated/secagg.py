"""A whole round of SecAgg+: real keys, shares, masks, dropouts; clients in other processes, the server in this one.

    python benchmarks/federated/secagg.py --clients 1000 --values 1048576 --drop 0.3

Clients vanish after they shared their secrets, where it costs the server most: the masks they had with everybody who stayed
must be made again. The sum is compared with the plain sum in the ring. Prints the server's CPU time and the round's wall
time.
"""
from __future__ import annotations

import argparse
import json
import multiprocessing
import time
from multiprocessing.shared_memory import SharedMemory

import numpy as np

from mindspore_federated.secagg import SecureAggregation, SecureClient, SecureSum, recommended


def _vector(client, values):
    return np.random.default_rng(client).integers(0, 1 << 32, values, np.uint32)


def _clients(pipe, numbers, plan, values, memory_name):
    """A process that plays some of the clients, stage by stage as the server asks."""
    clients = {one: SecureClient(one, plan) for one in numbers}
    pipe.send({one: client.advertise() for one, client in clients.items()})
    keys = pipe.recv()
    pipe.send({one: client.share(keys) for one, client in clients.items()})
    boxes = pipe.recv()                                     # of those who stay
    memory = SharedMemory(memory_name)
    out = np.frombuffer(memory.buf, np.uint32, values)
    spent = 0.0
    for one, mine in boxes.items():
        vector = _vector(one, values)
        began = time.process_time()
        masked = clients[one].mask(vector, mine)
        spent += time.process_time() - began
        out[:] = masked
        pipe.send(one)
        pipe.recv()                                         # the server has added it
    uploaded = pipe.recv()
    pipe.send(({one: clients[one].unmask(uploaded) for one in boxes}, spent))
    del out
    memory.close()


class _Server:
    """The server's work, with the CPU time it takes (messages between processes not counted)."""

    def __init__(self, plan, values):
        self.sum = SecureSum(plan, values)
        self.cpu = 0.0

    def __call__(self, function, *arguments):
        began = time.process_time()
        result = function(*arguments)
        self.cpu += time.process_time() - began
        return result


def run(clients, values, drop, processes, neighbours, threshold):
    plan = SecureAggregation(range(1, clients + 1), neighbours=neighbours, threshold=threshold, seed=1)
    server = _Server(plan, values)
    gone = set(np.random.default_rng(2).choice(plan.clients, int(drop * clients), replace=False).tolist())
    context = multiprocessing.get_context("spawn")
    parts, memories, workers = np.array_split(plan.clients, processes), [], []
    for part in parts:
        memories.append(SharedMemory(create=True, size=4 * values))
        mine, theirs = context.Pipe()
        process = context.Process(target=_clients, args=(theirs, part.tolist(), plan, values, memories[-1].name))
        process.start()
        workers.append((mine, process))
    pipes = [pipe for pipe, _ in workers]
    try:
        return _round(server, plan, pipes, parts, memories, gone, values)
    finally:
        for memory in memories:
            memory.close()
            memory.unlink()
        for _, process in workers:
            process.join(10)
            process.kill()


def _round(server, plan, pipes, parts, memories, gone, values):
    for pipe in pipes:
        server.sum.keys.update(pipe.recv())
    began = time.perf_counter()                             # everybody is there with its keys
    for pipe in pipes:
        pipe.send(server.sum.keys)
    boxes = {}
    for pipe in pipes:
        boxes.update(pipe.recv())
    server.sum.sharers = set(boxes)
    left = [[one for one in part.tolist() if one not in gone] for part in parts]
    for pipe, some in zip(pipes, left):
        pipe.send({one: {other: boxes[other][one] for other in plan.neighbours(one)} for one in some})
    for number in range(max(map(len, left))):
        for pipe, memory, some in zip(pipes, memories, left):
            if number < len(some):
                one = pipe.recv()
                server(server.sum.add, one, np.frombuffer(memory.buf, np.uint32, values))
                pipe.send(None)
    shared = time.perf_counter()
    for pipe in pipes:
        pipe.send(sorted(server.sum.uploaded))
    client_cpu = 0.0
    for pipe in pipes:
        given, spent = pipe.recv()
        client_cpu += spent
        for one, (seeds, masks) in given.items():
            server(server.sum.add_shares, one, seeds, masks)
    total = server(server.sum.result)
    ended = time.perf_counter()
    expected = np.zeros(values, np.uint32)
    for one in server.sum.uploaded:
        expected += _vector(one, values)
    return {"exact": bool(np.array_equal(total, expected)), "uploaded": len(server.sum.uploaded),
            "server_cpu_s": round(server.cpu, 2), "mask_ms_per_client": round(1000 * client_cpu / len(server.sum.uploaded), 1),
            "round_s": round(ended - began, 1), "unmask_s": round(ended - shared, 1)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", type=int, default=1000)
    parser.add_argument("--values", type=int, default=1 << 20)
    parser.add_argument("--drop", type=float, default=0.3)
    parser.add_argument("--corrupt", type=float, default=0.1, help="clients that may collude with the server")
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    neighbours, threshold = recommended(given.clients, dropout=given.drop, corrupt=given.corrupt)
    result = run(given.clients, given.values, given.drop, given.processes, neighbours, threshold)
    print(json.dumps({"clients": given.clients, "values": given.values, "drop": given.drop, "neighbours": neighbours,
                      "threshold": threshold, **result}))
    return 0 if result["exact"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
