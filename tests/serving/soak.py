"""Mixed load while workers are killed and versions swapped: no request may fail or be wrong, memory and file handles stay flat.

    python tests/serving/soak.py [--seconds 600] [--clients 8]

A worker is killed every 5 s, the version swapped every 10 s. Prints a line per minute; exits with 1 if anything failed.
"""

import argparse
import contextlib
import os
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import requests

sys.path.insert(0, str(Path(__file__).parent))

from conftest import export
from mindspore_serving.client import Client
from mindspore_serving.engine.dispatcher import Deployment
from mindspore_serving.engine.location import Location
from mindspore_serving.server.config import Wanted
from mindspore_serving.server.host import Host, Options

CONFIGURATION = """
from mindspore_serving.server import register

model = register.declare_model(model_file="add.mindir", model_format="MindIR")


@register.register_method(output_names=["y"])
def add(x1, x2):
    return register.add_stage(model, x1, x2, outputs_count=1)
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def children():
    """Processes whose parent is this one."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                fields = Path(f"/proc/{entry}/stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[1]) == os.getpid() and fields[0] != "Z":
                found.append(int(entry))
    return found


def memory():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 // 2**20


class Soak:
    def __init__(self, folder, clients):
        self.folder, self.clients = folder, clients
        self.host = Host(Options(admin=True))
        self.host.deploy([Wanted(Deployment(Location(folder, "add", 1), 2), {0, 1})])
        self.grpc, self.http = f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"
        self.host.start_grpc(self.grpc, 4, None)
        self.host.start_http(self.http, 4, None)
        self.stopping = threading.Event()
        self.done, self.failures = [0] * clients, []

    def client(self, number):
        random = np.random.default_rng(number)
        grpc = Client(self.grpc, "add", "add")
        session = requests.Session()
        while not self.stopping.is_set():
            x1, x2 = random.random((2, 2), np.float32)
            try:
                if random.integers(2):
                    found = grpc.infer([{"x1": x1, "x2": x2}])[0]["y"]
                else:
                    tensors = [
                        {"name": n, "shape": [1, 2], "datatype": "FP32", "data": x.tolist()} for n, x in (("x1", x1), ("x2", x2))
                    ]
                    answer = session.post(f"http://{self.http}/v2/models/add/infer", json={"inputs": tensors}, timeout=60)
                    found = answer.json()["outputs"][0]["data"]
                if not np.allclose(np.asarray(found), x1 + x2, rtol=1e-6):
                    self.failures.append(f"wrong: {found} for {x1} + {x2}")
            except Exception as error:  # whatever a client meets is what is counted
                self.failures.append(repr(error)[:300])
            self.done[number] += 1

    def kill(self):
        workers = children()
        if workers:
            with contextlib.suppress(ProcessLookupError):  # it has left by itself meanwhile, with its version
                os.kill(workers[np.random.default_rng().integers(len(workers))], signal.SIGKILL)

    def swap(self, version):
        new = Path(self.folder, "add", str(version))
        shutil.copytree(Path(self.folder, "add", "1"), new)
        answer = requests.post(f"http://{self.http}/v2/repository/models/add/load", json={}, timeout=300)
        if answer.status_code != 200:
            self.failures.append(f"load: {answer.text[:200]}")
        if version > 3:
            shutil.rmtree(Path(self.folder, "add", str(version - 2)))

    def run(self, seconds):
        threads = [threading.Thread(target=self.client, args=(n,)) for n in range(self.clients)]
        for thread in threads:
            thread.start()
        begin, version = time.monotonic(), 1
        marks = []
        for tick in range(1, int(seconds) + 1):
            time.sleep(max(0.0, begin + tick - time.monotonic()))
            if tick % 5 == 0:
                self.kill()
            if tick % 10 == 0:
                version += 1
                self.swap(version)
            if tick % 60 == 0 or tick == int(seconds):
                marks.append((memory(), len(os.listdir("/proc/self/fd"))))
                print(f"{tick} s: {sum(self.done)} requests, {len(self.failures)} failed, {marks[-1][0]} MB, "
                      f"{marks[-1][1]} handles", flush=True)  # fmt: skip
        self.stopping.set()
        for thread in threads:
            thread.join()
        self.host.stop()
        return marks


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--clients", type=int, default=8)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "add", "1").mkdir(parents=True)
        Path(folder, "add", "servable_config.py").write_text(CONFIGURATION)
        export(Path(folder, "add", "1", "add.mindir"))
        soak = Soak(folder, options.clients)
        marks = soak.run(options.seconds)
        if len(marks) > 1:  # the first minute's is where flatness begins
            (memory_before, handles_before), (memory_after, handles_after) = marks[0], marks[-1]
            if memory_after > memory_before + 64 or handles_after > handles_before + 16:
                soak.failures.append(f"not flat: {marks[0]} MB and handles after a minute, {marks[-1]} at the end")
        for failure in soak.failures[:10]:
            print(failure)
        sys.exit(1 if soak.failures else 0)


if __name__ == "__main__":
    main()
