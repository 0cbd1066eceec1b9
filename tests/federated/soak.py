"""Many rounds under faults, with real processes: servers and Redis are killed, clients are slow, die, lie and repeat.

    python tests/federated/soak.py --minutes 5 [--seed 1] [--store local|redis]

50 clients, most of them honest: they send what they were given plus 1, so that a finished round moves every weight by
exactly 1. Others send NaN, wrong shapes, unknown weights, uploads twice, uploads of old rounds, damaged bytes, or
start and never upload. Every few moments a server (or Redis) is killed with SIGKILL and started again. After each finished
round its model is compared with the model before, read from any server: a round that was told finished moved the model by 1
and is never lost; a round that failed left it as it was and says why in metrics.json. Ends with an error at the first
difference.
"""
from __future__ import annotations

import argparse
import contextlib
import json
import random
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
from federated_processes import Redis, Server, free_port, write_yaml

from mindspore_federated.client.connection import Connection, FederatedError, JobFinished, features

CLIENTS, THRESHOLD = 50, 20
LAG = 1                                          # another server may answer with the model before for a moment
KINDS = ["honest"] * 6 + ["slow", "silent", "nan", "shape", "unknown", "twice", "old", "damaged"]


class Client(threading.Thread):
    """A client that behaves in its own way until it is told to stop."""

    def __init__(self, number, kind, addresses, stop):
        super().__init__(daemon=True)
        self.kind, self.stop = kind, stop
        self.fl_id = f"{kind}{number}"
        self.random = random.Random(number)
        self.connection = Connection(addresses, timeout=10)
        self.finished, self.broken = False, None

    def run(self):
        while not self.stop.is_set():
            try:
                self._round()
            except JobFinished:
                self.finished = True
                return
            except FederatedError:
                time.sleep(self.random.uniform(0.05, 0.3))
            except Exception as error:                      # the server must never answer what cannot be read
                self.broken = error
                return

    def _round(self):
        size = self.random.choice((1, 2, 4))                # powers of two: means are exact
        answer = self.connection.start_job("job", self.fl_id, size, wait=1.0)
        model, iteration = features(answer), answer["iteration"]
        update = {name: value + 1 for name, value in model.items()}
        if self.kind == "silent":
            time.sleep(self.random.uniform(0.2, 1.0))
            return
        if self.kind == "slow":
            time.sleep(self.random.uniform(0.5, 3.0))
        if self.kind == "nan":
            update = {name: np.full_like(value, np.nan) for name, value in update.items()}
        elif self.kind == "shape":
            update = {name: np.zeros(value.size + 1, np.float32) for name, value in update.items()}
        elif self.kind == "unknown":
            update = {"nobody": np.zeros(3, np.float32)}
        elif self.kind == "old":
            iteration -= 1
        elif self.kind == "damaged":
            with contextlib.suppress(OSError, FederatedError):
                self.connection._request("/updateModel", self.random.randbytes(self.random.randint(1, 4000)), {})
            return
        upload = {name: value * np.float32(size) for name, value in update.items()}
        for _ in range(2 if self.kind == "twice" else 1):
            self.connection.update_model("job", self.fl_id, iteration, upload)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--store", choices=("local", "redis"), default="redis" if shutil.which("redis-server") else "local")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return soak(Path(folder), given.minutes, given.seed, given.store)


def soak(folder, minutes, seed, store):
    chance = random.Random(seed)
    redis = Redis() if store == "redis" else None
    cache = {"distributed_cache__type": "redis", "distributed_cache__address": f"127.0.0.1:{redis.port}"} if redis else {}
    settings = write_yaml(folder / "job.yaml", fl_iteration_num=1000000, round__start_fl_job_threshold=THRESHOLD,
                          round__over_selection_ratio=2.0, round__update_model_ratio=0.5,
                          round__start_fl_job_time_window=8000, round__update_model_time_window=8000,
                          round__global_iteration_time_window=12000, **cache)
    servers = [Server(folder / f"server{number}", settings, free_port()) for number in range(2 if redis else 1)]
    for server in servers:
        server.folder.mkdir()
    stop = threading.Event()
    kills = 0
    try:
        if redis:
            redis.start()
        for server in servers:
            server.start()
        clients = [Client(number, KINDS[number % len(KINDS)], [server.address for server in servers], stop)
                   for number in range(CLIENTS)]
        for client in clients:
            client.start()
        watch = Watch([server.address for server in servers])
        end = time.monotonic() + 60 * minutes
        while time.monotonic() < end:
            pause_until = time.monotonic() + chance.uniform(0.5, 6.0)
            while time.monotonic() < pause_until:
                watch.look()
                time.sleep(0.2)
            victim = chance.choice([*servers, redis] if redis else servers)
            victim.kill()
            kills += 1
            time.sleep(chance.uniform(0, 2))
            victim.start()
            broken = [client.broken for client in clients if client.broken]
            if broken:
                raise AssertionError(f"a client saw something strange: {broken[0]!r}")
        for _ in range(100):
            watch.look()
            time.sleep(0.1)
    finally:
        stop.set()
        for server in servers:
            server.kill()
        if redis:
            redis.kill()
    lines = [json.loads(line) for line in (folder / "metrics.json").read_text().splitlines()]
    failed = [line for line in lines if line["iterationResult"] == "fail"]
    assert all(line["failureEvent"] for line in failed), "a round failed without a reason"
    assert watch.seen > 3, f"only {watch.seen} models were seen"
    print(json.dumps({"store": store, "kills": kills, "rounds": len(lines), "finished": len(lines) - len(failed),
                      "failed": len(failed), "models_seen": watch.seen}))
    return 0


class Watch:
    """Reads the model again and again: it only moves forward, by whole steps."""

    def __init__(self, addresses):
        self._connections = [Connection(address, timeout=5) for address in addresses]
        self._steps = 0.0
        self.seen = 0

    def look(self):
        for connection in self._connections:
            with contextlib.suppress(FederatedError):
                self._check(connection.get_model("job", 0))

    def _check(self, model):
        for name, first in (("bias", 1.0), ("scalar", 4.0)):
            steps = model[name] - first
            assert np.all(steps == np.rint(steps)) and np.all(steps == steps.reshape(-1)[0]), \
                f"{name} is {model[name]}: a round was taken half"
        steps = float(model["bias"][0]) - 1.0
        assert steps == float(model["scalar"][0]) - 4.0, "weights of different rounds"
        assert steps >= self._steps - LAG, f"a finished round was lost: {steps} steps after {self._steps}"
        if steps > self._steps:
            self._steps = steps
            self.seen += 1


if __name__ == "__main__":
    raise SystemExit(main())
