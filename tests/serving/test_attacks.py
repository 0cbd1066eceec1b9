"""Clients and models that mean harm or are careless: bodies without end, wrong certificates, deep nesting, shapes that promise too much,
texts of megabytes, templates that reach for Python, damaged files; workers that are stopped, servers that are told to end."""

import contextlib
import datetime
import json
import os
import resource
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
import requests
import tiny_models
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import ADD, write_tokenizer
from mindspore_serving import server
from mindspore_serving.client import Client
from mindspore_serving.engine.errors import ServingError
from mindspore_serving.llm.encoder import EncoderEngine
from mindspore_serving.llm.engine import Engine, Limits
from mindspore_serving.llm.text import Tokenizer
from mindspore_serving.server.starting import _Process


def certificate(folder, name, days, authority=None):
    """(certificate, key) files; valid until so many days from now; signed by `authority`, (certificate, key) objects, or by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    issuer, signer = (authority[0].subject, authority[1]) if authority else (subject, key)
    now = datetime.datetime.now(datetime.UTC)
    names = x509.SubjectAlternativeName([x509.DNSName("localhost")])
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key.public_key())
    builder = builder.serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(days=30))
    builder = builder.not_valid_after(now + datetime.timedelta(days=days)).add_extension(names, False)
    builder = builder.add_extension(x509.BasicConstraints(authority is None, None), True)
    made = builder.sign(signer, hashes.SHA256())
    paths = folder / f"{name}.crt", folder / f"{name}.key"
    paths[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    paths[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain))
    return (made, key), tuple(map(str, paths))


def test_certificates(servables, free_port, tmp_path):
    directory = servables("add", ADD, {1: {"add.mindir": {}}})
    authority, (trusted, _) = certificate(tmp_path, "authority", 30)
    _, own = certificate(tmp_path, "localhost", 30, authority)
    _, good = certificate(tmp_path, "client", 30, authority)
    _, expired = certificate(tmp_path, "expired", -1, authority)
    _, stranger = certificate(tmp_path, "stranger", 30)
    server.start_servables(server.ServableStartConfig(directory, "add"))
    address = f"localhost:{free_port()}"
    server.start_restful_server(address, ssl_config=server.SSLConfig(*own, trusted, True))
    assert requests.get(f"https://{address}/v2/health/ready", verify=trusted, cert=good, timeout=20).status_code == 200
    for wrong in (expired, stranger, None):
        with pytest.raises((requests.exceptions.SSLError, requests.exceptions.ConnectionError)):
            requests.get(f"https://{address}/v2/health/ready", verify=trusted, cert=wrong, timeout=20)
    with pytest.raises((requests.exceptions.ConnectionError, ssl.SSLError)):
        requests.get(f"http://{address}/v2/health/ready", timeout=20)
    assert requests.get(f"https://{address}/v2/health/ready", verify=trusted, cert=good, timeout=20).status_code == 200


def test_bodies(service):
    host, port = service.address.removeprefix("http://").split(":")
    heads = (b"Content-Length: 99999999999999", b"Transfer-Encoding: chunked")
    for head in heads:  # announced or not: refused before it is all here
        with socket.create_connection((host, int(port)), timeout=20) as connection:
            connection.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: a\r\n" + head + b"\r\n\r\n")
            try:
                for _ in range(40):
                    connection.sendall(b"40000\r\n" + b"a" * 0x40000 + b"\r\n")
            except OSError:
                continue  # closed by the server
            assert b"400" in connection.recv(4096).split(b"\r\n")[0]
    deep = b'{"model":' + b"[" * 100_000
    assert requests.post(f"{service.address}/v1/completions", data=deep, timeout=20).status_code == 400
    huge = {"inputs": [{"name": "x", "shape": [2**40, 2**40], "datatype": "FP32", "data": []}]}
    assert requests.post(f"{service.address}/v2/models/none/infer", json=huge, timeout=20).status_code in (400, 404)
    for path in ("/v2/models/../../etc/passwd", "/%00", "/v2/models/" + "a" * 60_000 + "/infer", "//"):
        assert requests.get(service.address + path, timeout=20).status_code < 500
    body = {"model": "tiny", "prompt": "Hello", "max_tokens": 3, "temperature": 0}
    assert requests.post(f"{service.address}/v1/completions", json=body, timeout=60).status_code == 200


def test_long_texts_are_refused_before_they_become_tokens(service, monkeypatch):
    def refusal(path, **body):
        answer = requests.post(f"{service.address}/v1/{path}", json={"model": "tiny", **body}, timeout=60)
        assert answer.status_code == 400
        return answer.json()["error"]["message"]

    text = "a" * (64 * 256 + 1)
    assert "a prompt of 16384 tokens" in refusal("completions", prompt=text[1:])  # made in a thread of its own
    model = service.language_models.find("tiny")
    monkeypatch.setattr(model.tokenizer, "_tokenizer", None)  # nothing is cut into tokens any more
    assert f"a text of {len(text)} characters is longer than the 256 tokens" in refusal("completions", prompt=text)
    assert "characters is longer" in refusal("chat/completions", messages=[{"role": "user", "content": text}])
    assert "more than 1024 characters" in refusal("completions", prompt=[1], stop=text)


@pytest.mark.parametrize(
    "template",
    [
        "{{ ().__class__.__mro__[1].__subclasses__() }}",
        "{{ cycler.__init__.__globals__.os.system('id') }}",
        "{{ messages.__class__ }}{{ messages[0].update({'role': 'system'}) }}",
        "{% include '/etc/passwd' %}",
        "{% import 'os' as os %}{{ os }}",
        "{{ ''.__class__.mro()[1] }}",
        "{{ '{0.__class__.__init__.__globals__}'.format(messages) }}",
        "{% for i in range(1000000000) %}{% endfor %}",
        "{{ 1 / 0 }}",
        "{{ raise_exception('no') }}",
    ],
)
def test_templates_cannot_reach_python(template, tmp_path):
    write_tokenizer(tmp_path)
    (tmp_path / "chat_template.jinja").write_text(template)
    messages = [{"role": "user", "content": "a"}]
    with pytest.raises(ServingError, match="the chat template refuses"):
        Tokenizer(str(tmp_path)).chat(messages)
    assert messages == [{"role": "user", "content": "a"}]


def test_what_templates_use_is_limited(serve_model, tmp_path):
    """Loops without end and memory without end: the request is refused, others are answered meanwhile and afterwards."""
    template = (
        "{% if messages[0].content == 'loop' %}{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"
        "{% elif messages[0].content == 'grow' %}{{ 'a' * 10 ** 11 }}{% else %}{{ messages[0].content }}{% endif %}"
    )
    host = serve_model("llama")
    model = host.language_models.find("tiny")
    (tmp_path / "tiny" / "chat_template.jinja").write_text(template)
    model.tokenizer = Tokenizer(str(tmp_path / "tiny"))

    def ask(text):
        body = {"model": "tiny", "messages": [{"role": "user", "content": text}], "max_tokens": 2}
        return requests.post(f"{host.address}/v1/chat/completions", json=body, timeout=100)

    def complete():
        body = {"model": "tiny", "prompt": "Hello", "max_tokens": 2}
        return requests.post(f"{host.address}/v1/completions", json=body, timeout=100).status_code

    found = []
    asking = threading.Thread(target=lambda: found.append(ask("loop")))
    assert complete() == 200  # everything is compiled
    asking.start()
    assert complete() == 200 and not found, "others wait for nobody's template"
    asking.join(100)
    assert found[0].status_code == 400 and "more time or memory" in found[0].json()["error"]["message"]
    assert "MemoryError" in ask("grow").json()["error"]["message"]
    pid = model.tokenizer._templates._process.pid
    os.kill(pid, signal.SIGKILL)
    assert ask("Hello").json()["usage"]["prompt_tokens"] == 5, "a process that is killed is replaced, and no request fails"


@pytest.mark.parametrize("depth", [200, 249, 300, 1020])
def test_nesting(depth, service):
    """What comes back in answers, or goes to templates, is refused where it cannot be written."""
    deep, user = "[" * depth + "]" * depth, '"messages": [{"role": "user", "content": "a"}]'
    function = '"type": "function", "name": "f", "parameters": {"type": "object", "properties": {}, "examples": [' + deep + "]}"
    bodies = {"responses": [f'"input": "a", "metadata": {deep}', f'"input": "a", "tools": [{{{function}}}]'],
              "chat/completions": [f'"messages": [{{"role": "user", "content": "a", "more": {deep}}}]', f'{user}, "metadata": {deep}',
                                   f'{user}, "chat_template_kwargs": {{"a": {deep}}}'],
              "completions": [f'"prompt": "a", "user": {deep}', f'"prompt": {deep}']}  # fmt: skip
    for path, body in ((path, body) for path, all_of_it in bodies.items() for body in all_of_it):
        most = "max_output_tokens" if path == "responses" else "max_tokens"
        for stream in ("true", "false"):
            text = f'{{"model": "tiny", "{most}": 2, "stream": {stream}, {body}}}'
            answer = requests.post(f"{service.address}/v1/{path}", data=text, timeout=60)
            assert answer.status_code in (200, 400), (path, body[:60], stream)
            assert answer.status_code == 400 or depth < 256


def test_a_tokenizer_that_tries_for_ever(tmp_path):
    write_tokenizer(tmp_path)
    described = json.loads((tmp_path / "tokenizer.json").read_text())
    greedy = {"type": "Split", "pattern": {"Regex": "(a+)+$"}, "behavior": "Isolated", "invert": False}
    described["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [greedy, described["pre_tokenizer"]]}
    (tmp_path / "tokenizer.json").write_text(json.dumps(described))
    tokenizer = Tokenizer(str(tmp_path))
    assert len(tokenizer.encode("Hello")) == 5
    with pytest.raises(ServingError, match="tokenizer cannot read this text"):
        tokenizer.encode("a" * 40 + "b")


WRONG = st.sampled_from([None, 0, -1, 1, 2**31, 2**63, 10**30, 1.5, float("inf"), "a", "", [], [1], {}, {"type": "yarn"}, True])
DAMAGE = st.lists(st.tuples(st.floats(0, 1), st.sampled_from(b'0123456789"{}[],:ax\xff\x00')), min_size=1, max_size=4)


@pytest.mark.parametrize("family", ["llama", "gpt2", "gpt_pangu", "bert"])
def test_damaged_models(family, tmp_path):
    """Whatever a model's files say, a server that cannot use them says so and ends: no other exception, no endless memory."""
    good, bad = tmp_path / "good", tmp_path / "bad"
    tiny_models.write(good, family)
    config = json.loads((good / "config.json").read_text())
    weights = (good / "model.safetensors").read_bytes()
    header = 8 + int.from_bytes(weights[:8], "little")

    def load():
        engine = EncoderEngine(str(bad)) if family == "bert" else Engine(str(bad), Limits(cache_megabytes=2))
        engine.stop()

    @settings(deadline=None, max_examples=40)
    @given(st.dictionaries(st.sampled_from(sorted(config)), WRONG, max_size=2), DAMAGE, st.booleans(), st.floats(0, 1) | st.just(1.0))
    def damaged(changes, bytes_changed, damage, end):
        shutil.rmtree(bad, ignore_errors=True)
        bad.mkdir()
        data = bytearray(weights[: max(int(len(weights) * end), 1)])
        for place, value in bytes_changed if damage else ():
            data[min(int(header * place), len(data) - 1)] = value
        (bad / "config.json").write_text(json.dumps({**config, **changes}))
        (bad / "model.safetensors").write_bytes(data)
        with contextlib.suppress(ValueError):
            load()

    damaged()
    shutil.rmtree(bad)
    shutil.copytree(good, bad)
    load()


def test_idle_connections_hold_up_nobody(service):
    host, port = service.address.removeprefix("http://").split(":")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1], before[1]))  # both ends of all are in this process
    idle = []
    try:
        idle += (socket.create_connection((host, int(port)), timeout=60) for _ in range(1000))
        body = {"model": "tiny", "prompt": "Hello", "max_tokens": 3}
        assert requests.post(f"{service.address}/v1/completions", json=body, timeout=60).status_code == 200
    finally:
        for connection in idle:
            connection.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


VECTORS = {"x1": np.ones(2, np.float32), "x2": np.ones(2, np.float32)}


def test_a_worker_that_is_stopped_does_not_keep_requests_for_ever(start):
    address, _ = start("add", ADD, {1: {"add.mindir": {}}})
    client = Client(address, "add", "add")
    assert "y" in client.infer(VECTORS)[0]
    dispatcher = _Process.host.dispatcher
    (worker,) = dispatcher.pools[0].pids
    os.kill(worker, signal.SIGSTOP)
    try:
        dispatcher.max_seconds = 0.5
        assert "deadline" in str(client.infer(VECTORS))
    finally:
        dispatcher.max_seconds = 0.0
        os.kill(worker, signal.SIGCONT)
    assert "y" in client.infer(VECTORS)[0]
    assert dispatcher.pools[0].pids == [worker]


SLOW = """
    import pathlib, time
    from mindspore_serving.server import register

    def wait(x):
        (pathlib.Path(__file__).parent / "begun").touch()
        time.sleep(1)
        return x

    @register.register_method(output_names=["y"])
    def run(x):
        return register.add_stage(wait, x, outputs_count=1)
"""


def test_a_server_that_is_told_to_end_answers_what_it_has_begun(tmp_path, free_port):
    folder = tmp_path / "slow"
    folder.mkdir()
    (folder / "servable_config.py").write_text(textwrap.dedent(SLOW))
    http, grpc = f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"
    command = [sys.executable, "-m", "mindspore_serving.cli", "serve", str(folder), "--http", http, "--grpc", grpc]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    answers = []
    body = {"inputs": [{"name": "x", "shape": [1], "datatype": "FP32", "data": [3]}]}
    try:
        assert "serving slow" in process.stdout.readline()
        asking = threading.Thread(
            target=lambda: answers.append(requests.post(f"http://{http}/v2/models/slow/infer", json=body, timeout=60))
        )
        asking.start()
        while not (folder / "begun").exists() and asking.is_alive():
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        asking.join(60)
        assert answers[0].json()["outputs"][0]["data"] == [3]
        assert process.wait(60) == 0
    finally:
        process.kill()
    with pytest.raises(requests.exceptions.ConnectionError):
        requests.post(f"http://{http}/v2/models/slow/infer", json=body, timeout=60)
