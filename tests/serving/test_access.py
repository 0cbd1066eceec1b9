"""Keys over HTTP and gRPC, operators' own keys and port; whose turn it is, and for how long."""

import threading
import time

import numpy as np
import pytest
import requests
import tiny_models
import tritonclient.grpc
import tritonclient.http
from test_serving_llm import GREEDY
from tritonclient.utils import InferenceServerException

from conftest import ADD
from mindspore_serving.engine.dispatcher import Deployment
from mindspore_serving.engine.errors import Kind
from mindspore_serving.engine.location import Location
from mindspore_serving.llm.engine import Engine, Limits
from mindspore_serving.server.config import Wanted
from mindspore_serving.server.host import Host, Options

KEY, OPERATOR, WRONG = ({"authorization": f"Bearer {key}"} for key in ("client", "operator", "clien"))


@pytest.fixture
def serve(servables, free_port):
    """serve(options, name, configuration, versions): a server; `grpc` and `http` are its addresses, `admin` that of operators."""
    hosts = []

    def start(options, name, configuration, versions=None):
        directory = servables(name, configuration, versions)
        host = Host(options)
        hosts.append(host)
        host.deploy([Wanted(Deployment(Location(directory, name, 1)), {0})])
        host.grpc, host.http, host.admin = (f"127.0.0.1:{free_port()}" for _ in range(3))
        host.start_grpc(host.grpc, 4, None)
        host.start_http(host.http, 4, None)
        host.start_admin(host.admin, 4, None)
        return host

    yield start
    for host in hosts:
        host.stop()


def tensors(library, **arrays):
    made = []
    for name, array in arrays.items():
        made.append(library.InferInput(name, array.shape, "FP32"))
        made[-1].set_data_from_numpy(array)
    return made


def test_keys(serve):
    host = serve(Options(keys=frozenset({"client"}), admin_keys=frozenset({"operator"})), "add", ADD, {1: {"add.mindir": {}}})
    x = np.ones((1, 2), np.float32)
    for library, address in ((tritonclient.grpc, host.grpc), (tritonclient.http, host.http)):
        with library.InferenceServerClient(address) as client:
            given = tensors(library, x1=x, x2=x)
            assert client.is_server_live() and client.is_server_ready()  # probes have no key
            for headers in (None, dict(WRONG)):
                with pytest.raises(InferenceServerException, match="a key is needed"):
                    client.infer("add", given, headers=headers)
            np.testing.assert_array_equal(client.infer("add", given, headers=dict(KEY)).as_numpy("y"), x + x)
            with pytest.raises(InferenceServerException, match="needs a key"):
                client.load_model("add", headers=dict(KEY))
            client.load_model("add", headers=dict(OPERATOR))
    for headers, status in ((None, 401), (KEY, 401), (OPERATOR, 200)):  # on their own port operators are alone
        assert requests.post(f"http://{host.admin}/v2/repository/models/add/load", headers=headers, timeout=60).status_code == status


def test_operators_have_a_port(serve):
    host = serve(Options(), "add", ADD, {1: {"add.mindir": {}}})
    refused = requests.post(f"http://{host.http}/v2/repository/models/add/unload", timeout=60)
    assert refused.status_code == 400 and "not allowed on this port" in refused.json()["error"]
    with tritonclient.grpc.InferenceServerClient(host.grpc) as client, pytest.raises(InferenceServerException, match="not allowed"):
        client.unload_model("add")
    assert requests.post(f"http://{host.admin}/v2/repository/models/add/unload", timeout=60).status_code == 200
    assert requests.get(f"http://{host.http}/v2/models/add", timeout=60).status_code == 404


NOTES = """
    import pathlib, time

    def note(x):
        with open(pathlib.Path(__file__).parent / "notes", "a") as file:
            file.write(f"{int(x.flat[0])} ")
        time.sleep(1.0 if x.flat[0] < 0 else 0.0)
        return x

    @register.register_method(output_names=["y"])
    def patient(x):
        return register.add_stage(note, x, outputs_count=1)

    @register.register_method(output_names=["y"])
    def urgent(x):
        return register.add_stage(note, x, outputs_count=1)
"""


@pytest.mark.parametrize("library", (tritonclient.grpc, tritonclient.http))
def test_urgent_requests_come_first(library, serve, tmp_path):
    host = serve(Options(), "notes", NOTES)
    queue = host.dispatcher.pools[0].queue

    def ask(method, number, **settings):
        with library.InferenceServerClient(host.grpc if library is tritonclient.grpc else host.http) as client:
            client.infer(f"notes.{method}", tensors(library, x=np.array([number], np.float32)), **settings)

    threads = []
    for method, number, settings in (("patient", -1, {}), ("patient", 1, {}), ("urgent", 2, {"priority": 7})):
        threads.append(threading.Thread(target=ask, args=(method, number), kwargs=settings))
        threads[-1].start()
        while queue.unfinished < len(threads):  # one after the other
            time.sleep(0.001)
    for thread in threads:
        thread.join(60)
    assert (tmp_path / "notes" / "notes").read_text() == "-1 2 1 "


def test_urgent_texts_come_first(tmp_path):
    tiny_models.write(tmp_path, "llama")
    engine = Engine(str(tmp_path), Limits(cache_megabytes=2, sequences=1))
    order, ends = [], [threading.Event() for _ in range(4)]

    def emit(number, event):
        if event.reason is not None:
            order.append(number)
            ends[number].set()

    for number, priority in enumerate((0, 5, 0, -1)):
        engine.submit(tiny_models.prompt(5), GREEDY, lambda event, number=number: emit(number, event), priority=priority)
    assert all(end.wait(60) for end in ends)
    assert order in ([0, 3, 2, 1], [3, 0, 2, 1])  # the first may have begun before the others came
    engine.stop()


def test_time_is_limited(serve, tmp_path):
    host = serve(Options(), "notes", NOTES)
    host.dispatcher.max_seconds = 0.2
    body = {"inputs": [{"name": "x", "shape": [1], "datatype": "FP32", "data": [-1]}]}
    answer = requests.post(f"http://{host.http}/v2/models/notes/infer", json=body, timeout=60)
    assert answer.status_code == 504 and "deadline" in answer.json()["error"]
    tiny_models.write(tmp_path, "llama")
    engine = Engine(str(tmp_path), Limits(cache_megabytes=2, seconds=1e-6))
    events, ended = [], threading.Event()
    engine.submit(tiny_models.prompt(5), GREEDY, lambda event: (events.append(event), ended.set()))
    assert ended.wait(60) and events[0].error.kind is Kind.DEADLINE and engine.pages.used == 0
    engine.stop()
