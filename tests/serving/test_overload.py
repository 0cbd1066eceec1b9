"""More requests than there is room for, clients that never finish asking, and a model that fails."""

import socket
import threading
import time

import requests

from mindspore_serving.protocols import direct


def ask(address, results, number):
    body = {"model": "tiny", "prompt": "Hello", "max_tokens": 60, "temperature": 0, "ignore_eos": True}
    answer = requests.post(f"{address}/v1/completions", json=body, timeout=120)
    results[number] = (answer.status_code, answer.headers.get("retry-after"), answer.json())


def test_what_exceeds_the_queue_is_refused_at_once(service):
    engine = service.language_models.find("tiny").engine
    engine.limits.waiting, engine.limits.sequences = 3, 2
    results = {}
    threads = [threading.Thread(target=ask, args=(service.address, results, number)) for number in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert len(results) == 24
    answered = [body for status, _, body in results.values() if status == 200]
    refused = [retry for status, retry, _ in results.values() if status == 429]
    assert len(answered) + len(refused) == 24 and len(answered) >= 3 and refused
    assert all(refused)  # each says when to come again
    assert len({body["choices"][0]["text"] for body in answered}) == 1  # and load changes no answer
    assert engine.pages.used == 0 and engine.waiting == 0


def test_clients_that_never_finish_asking_hold_up_nobody(service):
    host, port = service.address.removeprefix("http://").split(":")
    slow = []
    try:
        for number in range(150):
            slow.append(socket.create_connection((host, int(port)), timeout=20))
            begun = b"POST /v1/completions HTTP/1.1\r\nHost: a\r\n"
            if number % 2:
                begun += b'Content-Length: 1000\r\n\r\n{"model": '
            slow[-1].sendall(begun)
        results = {}
        ask(service.address, results, 0)
        assert results[0][0] == 200
    finally:
        for connection in slow:
            connection.close()
    ask(service.address, results, 1)
    assert results[1][2]["choices"] == results[0][2]["choices"]


def test_requests_that_do_not_get_complete_are_ended(service, monkeypatch):
    monkeypatch.setattr(direct, "_PATIENCE", 0.5)
    host, port = service.address.removeprefix("http://").split(":")
    head = b"POST /v1/completions HTTP/1.1\r\nHost: a\r\n"
    infer = b"POST /v2/models/tiny/infer HTTP/1.1\r\nHost: a\r\n"
    for begun in (b"", head, head + b"Content-Length: 90\r\n\r\n{", infer + b"Content-Length: 90\r\n\r\n{"):
        with socket.create_connection((host, int(port)), timeout=20) as connection:
            connection.sendall(begun)
            assert connection.recv(100) == b"", begun  # the server has closed it
    body = b'{"model": "tiny", "prompt": "Hello", "max_tokens": 3}' + b" " * 8192  # these bytes buy two seconds
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(head + b"Content-Length: %d\r\n\r\n" % len(body) + body[:-1])
        time.sleep(1)
        connection.sendall(body[-1:])
        assert connection.recv(100).startswith(b"HTTP/1.1 200")


def test_a_model_that_fails_makes_the_server_unready(service, monkeypatch):
    engine = service.language_models.find("tiny").engine
    assert requests.get(f"{service.address}/v2/health/ready", timeout=20).status_code == 200
    monkeypatch.setattr(threading, "excepthook", lambda _: None)

    def fail(parts):
        raise ArithmeticError

    monkeypatch.setattr(engine._network, "forward", fail)
    results = {}
    ask(service.address, results, 0)
    assert results[0][0] == 500
    engine.stop()
    assert requests.get(f"{service.address}/v2/health/ready", timeout=20).status_code == 503
    ask(service.address, results, 1)
    assert results[1][0] == 503 and results[1][1]  # come again: somebody may start it anew
    assert requests.get(f"{service.address}/v2/health/live", timeout=20).status_code == 200
