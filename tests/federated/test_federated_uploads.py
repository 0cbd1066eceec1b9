"""Large uploads: they go on after a break, what is kept of them is bounded, and the server's memory stays flat."""
import contextlib
import http.client
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import psutil
import pytest
from federated_processes import Server, free_port, take_part, write_yaml

from mindspore_federated.client.connection import Connection
from mindspore_federated.server.uploads import Buffers, Reply, Stated, Uploads

BIG = 1 << 20


class Breaking:
    """A network between clients and a server: it breaks connections after so many bytes, or before the answer."""

    def __init__(self, target, breaks):
        self._target, self._breaks = target, list(breaks)
        self.carried = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                after = self._breaks.pop(0) if self._breaks else None
                threading.Thread(target=self._carry, args=(near, after), daemon=True).start()

    def _carry(self, near, after):
        far = socket.create_connection(self._target.split(":"))
        if after != "answer":
            threading.Thread(target=self._back, args=(far, near), daemon=True).start()
        carried = 0
        with contextlib.suppress(OSError):
            near.settimeout(1.0 if after == "answer" else None)
            while (part := near.recv(1 << 16)):
                far.sendall(part)
                carried += len(part)
                self.carried += len(part)
                if isinstance(after, int) and carried >= after:
                    break
        if after == "answer":
            far.recv(1)                                     # the server has answered: the client shall not see it
        for one in (near, far):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    @staticmethod
    def _back(far, near):
        with contextlib.suppress(OSError):
            while (part := far.recv(1 << 16)):
                near.sendall(part)

    def close(self):
        self._listener.close()


@pytest.mark.parametrize("breaks", [[3 << 20, 1 << 20, None, 1 << 20], ["answer"]], ids=["on-the-way", "before-the-answer"])
def test_an_upload_goes_on_where_it_broke(tmp_path, breaks):
    settings = write_yaml(tmp_path / "job.yaml", fl_iteration_num=2)
    with Server(tmp_path, settings, big=BIG) as server:
        Connection(server.address).start_job("job", "a", 2)
        network = Breaking(server.address, [])
        network._breaks = breaks
        connection = Connection([network.address])
        upload = {"big": np.arange(BIG, dtype=np.float32) * 2, "bias": np.array([6, 8], np.float32)}
        connection.update_model("job", "a", 1, upload, wait=60)
        model = connection.get_model("job", 1, wait=60)
        np.testing.assert_array_equal(model["big"], np.arange(BIG))
        np.testing.assert_array_equal(model["bias"], [3, 4])
        assert network.carried < 4 * BIG * 1.3, "the bytes that had arrived are not sent again"
        network.close()


def test_an_upload_begins_anew_at_another_server(tmp_path):
    settings = write_yaml(tmp_path / "job.yaml", fl_iteration_num=2)
    with Server(tmp_path, settings, big=BIG) as server:
        Connection(server.address).start_job("job", "a", 1)
        connection = Connection([f"127.0.0.1:{free_port()}", server.address])
        connection._at = 0
        connection.update_model("job", "a", 1, {"big": np.ones(BIG, np.float32)}, wait=60)
        np.testing.assert_array_equal(connection.get_model("job", 1, wait=60)["big"], 1)


def _begun(uploads, name, part, length=1 << 20):
    upload = uploads.begin(Stated(length, name))
    upload.add(part)
    uploads.keep(name, upload, upload.turn)
    return upload


def test_what_is_kept_of_broken_uploads_is_bounded():
    now = [0.0]
    uploads = Uploads(number=3, size=1000, answers=2, seconds=60, clock=lambda: now[0])
    for number in range(5):
        _begun(uploads, f"name{number}", b"x" * 100)
    assert [uploads.ask(f"name{number}").offset for number in range(5)] == [0, 0, 100, 100, 100], "by number"
    _begun(uploads, "large", b"x" * 900)
    assert [uploads.ask(name).offset for name in ("name3", "name4", "large")] == [0, 100, 900], "by bytes"
    now[0] = 61.0
    assert uploads.ask("large").offset == 0, "by time"
    for number in range(3):
        upload = uploads.begin(Stated(10, f"name{number}"))
        uploads.done(f"name{number}", upload, Reply(b"taken"))
    assert [uploads.ask(f"name{number}").status for number in range(3)] == [202, 200, 200], "answers"
    for number in range(3):
        upload = uploads.begin(Stated(10, f"name{number}"))
        uploads.done(f"name{number}", upload, Reply(b"x" * 5000))
    assert [uploads.ask(f"name{number}").status for number in range(3)] == [202, 202, 202], "long answers are not kept"


def test_buffers_are_used_again_unless_somebody_looks_at_them():
    now = [0.0]
    buffers = Buffers(3 << 20, clock=lambda: now[0])
    first = buffers.take(1 << 20)
    seen = np.frombuffer(memoryview(first)[:100], np.uint8)
    buffers.give(first)
    assert buffers.take(1 << 20) is not first and seen.size == 100
    del seen
    buffers.give(first)
    assert buffers.take((1 << 20) - 5) is first
    for buffer in [buffers.take(1 << 20) for _ in range(9)]:
        buffers.give(buffer)
    assert buffers.spare_size == 3 << 20, "bounded by bytes"
    now[0] = 11.0
    buffers.give(bytearray())
    assert buffers.spare_size == 0, "and by time"


def test_who_comes_back_takes_over():
    uploads = Uploads()
    hanging = uploads.begin(Stated(10, "name"))
    turn = hanging.turn
    hanging.add(b"12345")
    assert uploads.ask("name").offset == 5
    assert hanging.turn != turn, "the old connection notices that it has nothing to say any more"
    again = uploads.begin(Stated(10, "name", 5))
    again.complete = True
    assert uploads.ask("name").status == 503, "its answer is on its way"
    assert again is hanging and again.add(b"67890") and bytes(again.body()) == b"1234567890"
    uploads.keep("name", hanging, turn)
    assert uploads.done("name", again, Reply(b"taken")).offset == 10
    assert uploads.ask("name").parts == (b"taken",)
    assert uploads.begin(Stated(10, "name", 3)).status == 409
    assert not uploads.begin(Stated(3, "other")).add(b"1234"), "more than was told"


@pytest.mark.parametrize("headers, status", [
    ({"Upload-Id": "short"}, 400), ({"Upload-Id": "x" * 20, "Upload-Offset": "-1", "Upload-Length": "9"}, 400),
    ({"Upload-Id": "x" * 20, "Upload-Offset": "0", "Upload-Length": str(1 << 50)}, 413),
    ({"Upload-Id": "x" * 20, "Upload-Offset": "7", "Upload-Length": "9"}, 409), ({"Upload-Id": "x" * 20}, 202)])
def test_wrong_headers_are_refused(service, headers, status):
    connection = http.client.HTTPConnection(service)
    connection.request("POST", "/size", b"", headers)
    assert connection.getresponse().status == status


@pytest.fixture(scope="module")
def service():
    from mindspore_federated.server.http import HttpService

    running = HttpService("127.0.0.1:0", "test", {"/size": lambda body: Reply(str(len(body)).encode())}, max_body=1 << 20)
    running.start()
    yield f"127.0.0.1:{running.port}"
    running.stop()


def test_slow_peers_do_not_keep_others_out(monkeypatch):
    from mindspore_federated.server import http as service_module

    monkeypatch.setattr(service_module, "_ROOM_BYTES", 1 << 20)
    monkeypatch.setattr(service_module, "_PRESSED_SECONDS", 0.5)
    running = service_module.HttpService("127.0.0.1:0", "test", {"/size": lambda body: Reply(str(len(body)).encode())},
                                         max_body=1 << 19)
    running.start()
    with contextlib.ExitStack() as stack:
        stack.callback(running.stop)
        for _ in range(8):                                  # four times the room that there is
            slow = stack.enter_context(socket.create_connection(("127.0.0.1", running.port)))
            slow.sendall(b"POST /size HTTP/1.1\r\nHost: x\r\nContent-Length: 500000\r\n\r\nbegin")
        connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=service_module._SILENT_SECONDS - 5)
        connection.request("POST", "/size", bytes(400000))
        assert connection.getresponse().read() == b"400000"


def test_memory_stays_flat_over_thousands_of_updates(tmp_path):
    """30 clients at once, half a megabyte up and down each: what a round needs is given back."""
    clients, rounds, values = 30, 70, 1 << 17
    settings = write_yaml(tmp_path / "job.yaml", fl_iteration_num=rounds, round__start_fl_job_threshold=clients)
    with Server(tmp_path, settings, big=values) as server:
        process = psutil.Process(server.process.pid)
        used = []
        with ThreadPoolExecutor(clients) as pool:
            for number in range(rounds):
                weights = {"big": np.full(values, number, np.float32)}
                list(pool.map(lambda name, weights=weights: take_part(server.address, f"c{name}", 1, weights, wait=60),
                              range(clients)))
                Connection(server.address).get_model("job", number + 1, wait=60)
                used.append(process.memory_info().rss)
    early, late = np.median(used[20:30]), np.median(used[-10:])  # a busy machine warms up late: more requests meet
    assert late - early < 24 << 20, [value >> 20 for value in used]  # of 600 MB that came in between
