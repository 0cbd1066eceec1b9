"""Starts real server processes for the tests."""
from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time

import numpy as np

from mindspore_federated.client.connection import Connection, FederatedError

_PROGRAM = """
import sys, numpy as np
from mindspore_federated import FLServerJob, FeatureMap
features = FeatureMap()
features.add_feature("conv", np.arange(6, dtype=np.float32).reshape(2, 3))
features.add_feature("bias", np.ones(2, np.float32))
features.add_feature("scalar", np.array(4, np.float32))
features.add_feature("fixed", np.full(3, 7, np.float32), require_aggr=False)
if int(sys.argv[4]):
    features.add_feature("big", np.zeros(int(sys.argv[4]), np.float32))
FLServerJob(sys.argv[1], sys.argv[2], checkpoint_dir=sys.argv[3]).run(features)
"""


def write_yaml(path, **changes):
    """The settings of a small job; dotted keys, `__` for the dot."""
    import yaml

    values = {"fl_name": "job", "fl_iteration_num": 3, "server_mode": "FEDERATED_LEARNING", "enable_ssl": False,
              "round": {"start_fl_job_threshold": 1, "start_fl_job_time_window": 20000, "update_model_ratio": 1.0,
                        "update_model_time_window": 20000, "global_iteration_time_window": 30000},
              "summary": {"metrics_file": str(path.parent / "metrics.json"),
                          "failure_event_file": str(path.parent / "event.txt")}}
    for key, value in changes.items():
        place = values
        *folders, last = key.split("__")
        for folder in folders:
            place = place.setdefault(folder, {})
        place[last] = value
    path.write_text(yaml.safe_dump(values))
    return str(path)


def free_port():
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A server process with an embedded store; `kill` and start again as you like."""

    def __init__(self, folder, yaml_file, port=None, big=0):
        self.folder, self.yaml_file, self.big = folder, yaml_file, big
        self.address = f"127.0.0.1:{port or free_port()}"
        self.process = None

    def start(self):
        self.process = subprocess.Popen([sys.executable, "-c", _PROGRAM, self.yaml_file, self.address,
                                         str(self.folder / "ckpt"), str(self.big)], cwd=self.folder,
                                        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))})
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            assert self.process.poll() is None, "the server ended"
            with contextlib.suppress(OSError):
                socket.create_connection(self.address.split(":"), timeout=1).close()
                return self
            time.sleep(0.02)
        raise AssertionError("the server did not start")

    def kill(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait(30)
            self.process = None

    def stop(self):
        if self.process is not None:
            self.process.terminate()
            self.process.wait(30)
            self.process = None

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.kill()


class Redis:
    """A Redis that keeps nothing on the disk."""

    def __init__(self, port=None):
        self.port = port or free_port()
        self.process = None

    def start(self):
        self.process = subprocess.Popen(["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "",
                                         "--appendonly", "no"], stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            time.sleep(0.02)
        raise AssertionError("Redis did not start")

    def kill(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait(30)
            self.process = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.kill()


def take_part(address, fl_id, size, weights, wait=20.0):
    """One client's round: start, upload `weights` (not yet multiplied), return the iteration."""
    connection = Connection(address)
    answer = connection.start_job("job", fl_id, size, wait=wait)
    upload = {name: np.asarray(value, np.float32) * size for name, value in weights.items()}
    connection.update_model("job", fl_id, answer["iteration"], upload)
    connection.close()
    return answer["iteration"]


def refused(function, *arguments, **more):
    """The FederatedError that the call raises."""
    try:
        function(*arguments, **more)
    except FederatedError as error:
        return error
    raise AssertionError("nothing was refused")
