"""More servables than memory: they come when asked for, the oldest leave, and the memory is given back."""

import threading
import time

import numpy as np
import pytest
import requests
import tritonclient.grpc as triton

import mindspore as ms
from mindspore import nn
from mindspore_serving.engine.dispatcher import Deployment
from mindspore_serving.engine.location import Location
from mindspore_serving.engine.residency import measured
from mindspore_serving.server.config import Wanted
from mindspore_serving.server.host import Host, Options


class Large(nn.Cell):
    """Takes 64 MB."""

    def __init__(self, number):
        super().__init__()
        self.weight = ms.Parameter(ms.ops.full((4096, 4096), float(number), dtype=ms.float32))

    def construct(self, x):
        return x + self.weight.sum(0)[:2] / 4096


@pytest.fixture
def host(tmp_path, free_port):
    for number in range(3):
        x = ms.Tensor(np.ones((1, 2), np.float32))
        ms.export(Large(number), x, file_name=str(tmp_path / f"m{number}"), file_format="MINDIR")
    made = Host(Options(admin=True))
    places = [Location(str(tmp_path), f"m{number}", 0, f"m{number}.mindir") for number in range(3)]
    made.deploy_on_demand([Wanted(Deployment(place), {0}) for place in places], 4096)
    made.http, made.grpc = (f"127.0.0.1:{free_port()}" for _ in range(2))
    made.start_http(made.http, 4, None)
    made.start_grpc(made.grpc, 4, None)
    yield made
    made.stop()


def ask(host, number):
    tensor = {"name": "x", "shape": [1, 2], "datatype": "FP32", "data": [1.0, 2.0]}
    return requests.post(f"http://{host.http}/v2/models/m{number}/infer", json={"inputs": [tensor]}, timeout=120)


def pids(host):
    return [pid for pool in host.dispatcher.pools for pid in pool.pids]


def test_servables_come_and_go(host):
    assert host.dispatcher.names() == [] and requests.get(f"http://{host.http}/v2/health/ready", timeout=20).status_code == 200
    index = requests.get(f"http://{host.http}/v2/repository/index", timeout=20).json()
    assert [(entry["name"], entry["state"]) for entry in index] == [(f"m{n}", "UNAVAILABLE") for n in range(3)]
    for number in range(2):
        np.testing.assert_allclose(ask(host, number).json()["outputs"][0]["data"], [1.0 + number, 2.0 + number])
    residency = host.dispatcher.residency
    both, size = pids(host), residency.used
    assert sorted(host.dispatcher.names()) == ["m0", "m1"] and size >= 2 * 64 << 20
    residency.limit = size + (16 << 20)  # no room for a third
    results = {}
    threads = [threading.Thread(target=lambda n=n: results.update({n: ask(host, 2)})) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert [results[n].json()["outputs"][0]["data"] for n in range(4)] == [[3.0, 4.0]] * 4  # loaded once, for all who asked
    assert residency.loads == 3 and residency.evictions >= 1 and "m0" not in host.dispatcher.names()
    assert residency.used <= residency.limit
    assert measured(both) <= size / 2 + (16 << 20)  # the processes of the one that left are gone
    client = triton.InferenceServerClient(host.grpc)
    assert client.get_model_metadata("m0").name == "m0"  # comes back
    client.close()
    text = requests.get(f"http://{host.http}/metrics", timeout=20).text
    assert f"ms_serving_memory_limit_bytes {residency.limit}" in text and "ms_serving_loads_total 4" in text


def test_what_is_too_large_is_refused(host):
    host.dispatcher.residency.limit = 50 << 20
    answer = ask(host, 0)
    assert answer.status_code == 503 and "MB are allowed" in answer.json()["error"] and answer.headers["retry-after"]
    end = time.monotonic() + 20
    while pids(host) and time.monotonic() < end:
        time.sleep(0.05)
    assert host.dispatcher.names() == [] and not pids(host)


def test_unload_is_for_good(host):
    assert ask(host, 1).status_code == 200
    assert requests.post(f"http://{host.http}/v2/repository/models/m1/unload", json={}, timeout=60).status_code == 200
    assert ask(host, 1).status_code == 404
    assert requests.post(f"http://{host.http}/v2/repository/models/m1/load", json={}, timeout=60).status_code == 200
    assert ask(host, 1).status_code == 200
