"""Kills servers (and Redis) at random moments, many times, and compares the model with a run that nobody disturbed.

    python tests/federated/kills.py --kills 1000 [--seed 1] [--store local|redis] [--minutes 10] [--at-once 4]

Four clients answer the model m with (3 m + c) modulo 1021, in whole numbers, and count the rounds in the first weight: a round
has one possible result, which no other round has. All four are needed for a round. Servers are forked from a process that has
everything imported and live for up to three rounds, or less than their start takes; with Redis there are two of them,
and Redis itself, which keeps nothing on its disk, is killed as well, now and then together with both servers. A round that was
seen finished must stay: the model read later is the one of that round or of a later one, and every model ever read is one of an
undisturbed run. Ends with an error at the first difference. A kill costs mostly waiting: `--at-once` runs so many jobs of their
own servers beside each other and divides the kills among them.
"""
from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
from federated_processes import Redis, write_yaml

from mindspore_federated.client.connection import Connection, FederatedError, features

CLIENTS, MODULUS = 4, 1021
FIRST = np.arange(8, dtype=np.float32)
_NURSERY = """
import os, signal, sys
import numpy as np
import mindspore, uvicorn, redis, uvloop, httptools
from mindspore_federated import FLServerJob
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for line in sys.stdin:
    yaml, address, folder = line.split()
    child = os.fork()
    if not child:
        FLServerJob(yaml, address, checkpoint_dir=folder).run({"w": np.arange(8, dtype=np.float32)})
        os._exit(0)
    print(child, flush=True)
"""


def quiet_port():
    """A port that the system gives to nobody by itself: a client that looks for a dead server there would meet itself."""
    for port in random.sample(range(20000, 32000), 100):
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port
    raise RuntimeError("no free port")


def trained(model, client):
    """What a client makes of the model."""
    result = np.floor(3 * model + client) % MODULUS
    result[0] = model[0] + 1                                # counts the rounds
    return result.astype(np.float32)


def undisturbed(rounds):
    """The models after 0, 1, … rounds."""
    models = [FIRST]
    for _ in range(rounds):
        models.append(np.mean([trained(models[-1], client) for client in range(CLIENTS)], axis=0, dtype=np.float32))
    return models


class Nursery:
    """Forks servers from a process that has imported everything."""

    def __init__(self):
        self._process = subprocess.Popen([sys.executable, "-c", _NURSERY], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(
                                             map(os.path.abspath, sys.path))})

    def fork(self, *arguments):
        self._process.stdin.write(" ".join(map(str, arguments)) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self):
        self._process.kill()
        self._process.wait()


class ForkedServer:
    """A server that can be killed and started in a moment."""

    def __init__(self, nursery, settings, folder):
        self._nursery, self._settings, self._folder = nursery, settings, folder
        self.address = f"127.0.0.1:{quiet_port()}"
        self._process = None

    def start(self):
        self._process = self._nursery.fork(self._settings, self.address, self._folder)

    def kill(self):
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                while True:                                 # until it is gone, and its port with it
                    os.kill(self._process, signal.SIGKILL)
                    time.sleep(0.001)
            self._process = None


class Client(threading.Thread):
    """Takes part in every round it gets a place in."""

    def __init__(self, number, addresses, stop):
        super().__init__(daemon=True)
        self._number, self._stop_all = number, stop
        self._connection = Connection(addresses, timeout=5)

    def run(self):
        while not self._stop_all.is_set():
            try:
                answer = self._connection.start_job("job", f"client{self._number}", 1)
                update = {"w": trained(features(answer)["w"], self._number)}
                self._connection.update_model("job", f"client{self._number}", answer["iteration"], update, wait=0.3)
            except FederatedError:
                time.sleep(0.01)


class Watch(threading.Thread):
    """Reads the model again and again: finished rounds stay."""

    def __init__(self, addresses, stop, rounds):
        super().__init__(daemon=True)
        self._connections, self._stop_all = [Connection(address, timeout=5) for address in addresses], stop
        self._place = {model.tobytes(): place for place, model in enumerate(undisturbed(rounds))}
        assert len(self._place) == rounds + 1, "every round should be told from every other"
        self.newest, self.wrong = [0] * len(addresses), None

    def run(self):
        while not self._stop_all.is_set() and self.wrong is None:
            for server in range(len(self._connections)):
                self.look(server)
            time.sleep(0.01)

    def wait(self, rounds, seconds):
        """Until so many rounds are in the model, or some time has passed."""
        deadline = time.monotonic() + seconds
        while max(self.newest) < rounds and time.monotonic() < deadline and self.wrong is None:
            time.sleep(0.01)

    def look(self, server):
        try:
            model = self._connections[server].get_model("job", 0)["w"]
        except FederatedError:
            return
        place = self._place.get(model.tobytes())
        if place is None:
            self.wrong = f"{model} is the result of no round"
        elif place < self.newest[server]:                   # another server may be a moment ahead, itself never goes back
            self.wrong = f"server {server} fell back from round {self.newest[server]} to round {place}"
        else:
            self.newest[server] = place


def wait_for(servers):
    """Until all of them take connections."""
    for server in servers:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                socket.create_connection(server.address.split(":"), timeout=1).close()
                break
            time.sleep(0.01)


def _victims(chance, servers, redis, killed):
    """Mostly one server; Redis at every tenth kill or so, one time in three together with all servers."""
    if redis is None or killed % 10:
        return [chance.choice(servers)]
    return chance.choice([[redis], [redis], [redis, *servers]])


def kills(folder, wanted, seed, store, seconds):
    """Kill `wanted` times or until the time is over; what happened."""
    chance, stop = random.Random(seed), threading.Event()
    redis = Redis(quiet_port()) if store == "redis" else None
    cache = {"distributed_cache": {"type": "redis", "address": f"127.0.0.1:{redis.port}"}} if redis else {}
    settings = write_yaml(folder / "job.yaml", fl_iteration_num=1000000, round__start_fl_job_threshold=CLIENTS,
                          round__start_fl_job_time_window=10000, round__update_model_time_window=10000,
                          round__global_iteration_time_window=15000, **cache)
    nursery = Nursery()
    servers = [ForkedServer(nursery, settings, folder / f"server{number}") for number in range(2 if redis else 1)]
    addresses = [server.address for server in servers]
    watch = Watch(addresses, stop, 20000)
    killed, together = {"server": 0, "redis": 0}, 0
    try:
        if redis:
            redis.start()
        for server in servers:
            server.start()
        threads = [watch, *(Client(number, addresses, stop) for number in range(CLIENTS))]
        for thread in threads:
            thread.start()
        end = time.monotonic() + seconds
        while sum(killed.values()) < wanted and time.monotonic() < end and watch.wrong is None:
            if chance.random() < 0.9:                       # now and then in the middle of its start
                wait_for(servers)
                watch.wait(max(watch.newest) + chance.choice((0, 1, 1, 2)), 20.0)
                time.sleep(chance.uniform(0, 0.3))          # anywhere in the next round
            victims = _victims(chance, servers, redis, sum(killed.values()))
            for victim in victims:
                victim.kill()
                killed["redis" if victim is redis else "server"] += 1
            together += len(victims) > 1
            for victim in victims:
                victim.start()
        before = max(watch.newest)
        watch.wait(before + 3, 60.0)                        # undisturbed again: rounds go on
        stop.set()
        for thread in threads:
            thread.join(30)
    finally:
        stop.set()
        for server in servers:
            server.kill()
        if redis:
            redis.kill()
        nursery.close()
    assert watch.wrong is None, watch.wrong
    assert max(watch.newest) >= before + 3, "after the kills no round finished any more"
    lines = [json.loads(line) for line in (folder / "metrics.json").read_text().splitlines()]
    failed = [line["failureEvent"] for line in lines if line["iterationResult"] == "fail"]
    assert all(failed), "a round failed without a reason"
    return {"store": store, **killed, "all_together": together, "rounds_in_the_model": max(watch.newest),
            "rounds_told_finished": len(lines) - len(failed), "failed": len(failed)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--store", choices=("local", "redis"), default="redis" if shutil.which("redis-server") else "local")
    parser.add_argument("--at-once", type=int, default=1)
    given = parser.parse_args()
    if given.at_once > 1:
        return side_by_side(given)
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(kills(Path(folder), given.kills, given.seed, given.store, 60 * given.minutes)))
    return 0


def side_by_side(given):
    """Several runs with seeds of their own; the sum of what they did."""
    runs = [subprocess.Popen([sys.executable, __file__, "--kills", str(-(-given.kills // given.at_once)), "--seed",
                              str(given.seed + number), "--store", given.store, "--minutes", str(given.minutes)],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL if number else None, text=True)
            for number in range(given.at_once)]
    found = [json.loads(run.communicate()[0] or "{}") for run in runs]
    print(json.dumps({name: value if name == "store" else sum(one.get(name, 0) for one in found)
                      for one in found[:1] for name, value in one.items()}))
    return max(run.returncode for run in runs)


if __name__ == "__main__":
    raise SystemExit(main())
