"""TLS and mutual TLS from .p12 files: who is let in, who is not, and what wrong files say."""
import json
import threading
import urllib.request
from contextlib import contextmanager

import numpy as np
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, pkcs12
from federated_certificates import DAY, NOW, _name, certificate, new_key, pem
from federated_processes import free_port, refused, write_yaml

from mindspore_federated import FlSchedulerJob, FLServerJob, ServerConfig, SSLConfig, VerticalFederatedCommunicator
from mindspore_federated.client.connection import Connection
from mindspore_federated.common.tls import TlsFiles, client_context


class Authority:
    """A certificate authority and .p12 files of its members."""

    def __init__(self, folder, name="ca"):
        self._folder, self._name, self._key = folder, name, new_key()
        self.file = folder / f"{name}.crt"
        self.file.write_text(pem(certificate(name, self._key, name, self._key, authority=True)))
        self._serials = {}

    def member(self, name):
        key = new_key()
        made = certificate(name, key, self._name, self._key)
        self._serials[name] = made.serial_number
        path = self._folder / f"{self._name}-{name}.p12"
        path.write_bytes(pkcs12.serialize_key_and_certificates(name.encode(), key, made, None, BestAvailableEncryption(b"secret")))
        return str(path)

    def revoked(self, *names):
        builder = (x509.CertificateRevocationListBuilder().issuer_name(_name(self._name)).last_update(NOW - DAY)
                   .next_update(NOW + DAY))
        for name in names:
            builder = builder.add_revoked_certificate(x509.RevokedCertificateBuilder().serial_number(
                self._serials[name]).revocation_date(NOW - DAY).build())
        path = self._folder / f"{self._name}.crl"
        path.write_text(pem(builder.sign(self._key, hashes.SHA256())))
        return str(path)


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("ca"))


def _settings(folder, authority, **more):
    certificates = {"server_cert_path": authority.member("server"), "client_cert_path": authority.member("peer"),
                    "ca_cert_path": str(authority.file), **more}
    return write_yaml(folder / "job.yaml", enable_ssl=True, ssl=certificates, checkpoint_dir=str(folder / "ckpt"))


@contextmanager
def _served(job, *arguments):
    thread = threading.Thread(target=job.run, args=arguments, daemon=True)
    thread.start()
    try:
        yield
    finally:
        job.stop()
        thread.join(20)


def _tls(authority, **more):
    return client_context(TlsFiles(ca_cert=str(authority.file), client_password="secret", **more))


PASSWORDS = SSLConfig("secret", "secret")


def test_clients_know_the_server_by_its_authority(tmp_path, authority):
    address, scheduler = (f"127.0.0.1:{free_port()}" for _ in range(2))
    settings = _settings(tmp_path, authority)
    server = FLServerJob(settings, address, checkpoint_dir=str(tmp_path / "ckpt"), ssl_config=PASSWORDS)
    with _served(server, {"w": np.zeros(3, np.float32)}), _served(FlSchedulerJob(settings, scheduler, PASSWORDS)):
        connection = Connection(address, tls=_tls(authority))
        answer = connection.start_job("job", "a", 1, wait=30)
        connection.update_model("job", "a", answer["iteration"], {"w": np.ones(3)})
        np.testing.assert_array_equal(connection.get_model("job", 1, wait=20)["w"], 1)
        (tmp_path / "other").mkdir()
        assert "cannot be reached" in str(refused(Connection(address, tls=_tls(Authority(tmp_path / "other"))).start_job,
                                                  "job", "b", 1))
        assert "cannot be reached" in str(refused(Connection(address).start_job, "job", "b", 1))
        with urllib.request.urlopen(f"https://{scheduler}/state", context=_tls(authority)) as state:
            assert json.load(state)["cluster_state"] == "CLUSTER_READY"


def test_mutual_tls_asks_clients_for_certificates(tmp_path, authority):
    address, good, lost = f"127.0.0.1:{free_port()}", authority.member("good"), authority.member("lost")
    settings = _settings(tmp_path, authority, mutual=True, crl_path=authority.revoked("lost"))
    server = FLServerJob(settings, address, checkpoint_dir=str(tmp_path / "ckpt"), ssl_config=PASSWORDS)
    with _served(server, {"w": np.zeros(3, np.float32)}):
        assert Connection(address, tls=_tls(authority, client_cert=good)).start_job("job", "a", 1, wait=30)["is_selected"]
        for other in ({}, {"client_cert": lost}):
            assert "cannot be reached" in str(refused(Connection(address, tls=_tls(authority, **other)).start_job, "job", "b", 1))


def test_wrong_files_and_passwords_are_named(tmp_path, authority):
    settings = _settings(tmp_path, authority)
    for password, words in ((None, "password's value is empty"), ("guess", "is the password right")):
        config = password and SSLConfig(password, password)
        with pytest.raises(RuntimeError, match=words):
            FLServerJob(settings, f"127.0.0.1:{free_port()}", checkpoint_dir=str(tmp_path), ssl_config=config).run(
                {"w": np.zeros(3, np.float32)})
    with pytest.raises(RuntimeError, match=r"'nowhere\.p12' does not exist"):
        _tls(authority, client_cert="nowhere.p12")


def test_parties_of_vertical_training_show_certificates(tmp_path, authority):
    ports = {name: free_port() for name in ("leader", "follower")}
    ends = {name: ServerConfig(name, f"127.0.0.1:{port}") for name, port in ports.items()}
    config = SSLConfig("secret", "secret", authority.member("server"), authority.member("party"), str(authority.file))
    parties = {name: VerticalFederatedCommunicator(ends[name], ends[other], enable_ssl=True, ssl_config=config)
               for name, other in (("leader", "follower"), ("follower", "leader"))}
    try:
        for party in parties.values():
            party.launch()
        sent = np.arange(6, dtype=np.float32).reshape(2, 3)
        parties["leader"].send_tensors("follower", {"h": sent})
        np.testing.assert_array_equal(parties["follower"].receive("leader")["h"].asnumpy(), sent)
        with pytest.raises(OSError):
            urllib.request.urlopen(f"https://127.0.0.1:{ports['follower']}/tensors/leader", b"x",
                                   context=_tls(authority), timeout=5)
    finally:
        for party in parties.values():
            party.stop()
