"""Clients that mean harm or are careless: bodies without end, wrong certificates, deep nesting, shapes that promise too much."""

import datetime
import socket
import ssl

import pytest
import requests
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from conftest import ADD
from mindspore_serving import server


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
