"""Clients that prove who they are: chains, revoked devices, signatures, recorded requests; and limits of the service."""
import http.client
import threading
import time

import numpy as np
import pytest
from federated_certificates import DAY, NOW, Factory, new_key
from federated_processes import Server, refused, write_yaml
from test_federated_masked import _settings

from mindspore_federated.client.client import FederatedClient
from mindspore_federated.client.connection import Connection
from mindspore_federated.client.masked import MaskedUpload
from mindspore_federated.common.pki import Authority, Identity
from mindspore_federated.server.limits import Rate
from mindspore_federated.wire.flat import decode, encode
from mindspore_federated.wire.schema import Code


@pytest.fixture(scope="module")
def factory(tmp_path_factory):
    return Factory(tmp_path_factory.mktemp("pki"))


@pytest.fixture(scope="module")
def devices(factory):
    return [factory.device(f"device{number}") for number in range(4)]


def _pki(factory, **more):
    return {"client_verify__pki_verify": True, "client_verify__root_first_ca_path": str(factory.root_file),
            "client_verify__replay_attack_time_diff": 60000,
            **{f"client_verify__{name}": value for name, value in more.items()}}


class _Recorded(Connection):
    """A connection on which somebody listens."""

    def _send(self, path, body):
        self.last = path, body
        return super()._send(path, body)


def test_who_may_take_a_place(tmp_path, factory, devices):
    stranger = Factory(tmp_path, "other").device("device")
    revoked = factory.device("revoked")
    expired = factory.device("expired", begins=NOW - 3 * DAY, ends=NOW - DAY)
    settings = write_yaml(tmp_path / "job.yaml", round__start_fl_job_threshold=2,
                          **_pki(factory, equip_crl_path=str(factory.revoke(revoked))))
    stolen = Identity(new_key(), devices[0].chain)                     # the certificates without the key
    with Server(tmp_path, settings) as server:
        def start(identity, fl_id=None):
            return Connection(server.address, identity=identity).start_job("job", fl_id or identity.fl_id, 5)

        for identity, words in ((stranger, "not issued by a trusted root"), (revoked, "is revoked"),
                                (expired, "is valid from"), (stolen, "not by the attested key")):
            error = refused(start, identity)
            assert words in str(error) and error.code == Code.REQUEST_ERROR
        assert "not the SHA-256 of the equipment" in str(refused(start, devices[0], devices[1].fl_id))
        assert "not the SHA-256 of the equipment" in str(refused(Connection(server.address).start_job, "job", "me", 5))
        assert start(devices[0])["iteration"] == 1


def test_uploads_are_signed_and_recorded_requests_are_worthless(tmp_path, factory, devices):
    settings = write_yaml(tmp_path / "job.yaml", fl_iteration_num=4, **_pki(factory))
    weights = {"bias": np.array([4.0, 4.0], np.float32)}
    with Server(tmp_path, settings) as server:
        mine = _Recorded(server.address, identity=devices[0])
        mine.start_job("job", devices[0].fl_id, 1)
        place = mine.last
        plain = Connection(server.address)
        assert "verify signature failed" in str(refused(plain.update_model, "job", devices[0].fl_id, 1, weights))
        assert "cannot find its key attestation" in str(refused(plain.update_model, "job", "nobody", 1, weights))
        mine.update_model("job", devices[0].fl_id, 1, weights)
        upload = mine.last
        np.testing.assert_array_equal(mine.get_model("job", 1, wait=20)["bias"], [4, 4])
        for (path, body), table, words in ((place, "ResponseFLJob", "taken a place before"),
                                           (upload, "ResponseUpdateModel", "devices_meta for")):
            answer = decode(table, plain._send(path, body))
            assert answer["retcode"] != Code.SUCCEED and words in answer["reason"]
        assert mine.start_job("job", devices[0].fl_id, 1)["iteration"] == 2, "the device itself comes again"


def test_a_wrong_clock(tmp_path, factory, devices, monkeypatch):
    settings = write_yaml(tmp_path / "job.yaml", **_pki(factory))
    with Server(tmp_path, settings) as server:
        connection = Connection(server.address, identity=devices[0])
        now = time.time()
        monkeypatch.setattr("mindspore_federated.client.connection._now", lambda: str(int((now - 120) * 1000)))
        assert "60000 ms are allowed" in str(refused(connection.start_job, "job", devices[0].fl_id, 1))
        monkeypatch.setattr("mindspore_federated.client.connection._now", lambda: "yesterday")
        assert "should be in milliseconds" in str(refused(connection.start_job, "job", devices[0].fl_id, 1))


def _together(server, factory, devices, authority):
    taken = {}

    def work(device):
        client = FederatedClient(Connection(server.address, identity=device), "job",
                                 lambda weights, plan: ({name: value + 1 for name, value in weights.items()}, 0.0), 5,
                                 wait=60, authority=authority)
        taken[device.fl_id] = client.one_round()

    threads = [threading.Thread(target=work, args=(device,)) for device in devices]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(90)
    return list(taken.values())


def test_masked_rounds_of_certified_clients(tmp_path, factory, devices):
    settings = _settings(tmp_path, 4, **_pki(factory))
    with Server(tmp_path, settings) as server:
        assert _together(server, factory, devices, Authority([str(factory.root_file)])) == [True] * 4
        np.testing.assert_allclose(Connection(server.address).get_model("job", 1, wait=30)["bias"], [2, 2], atol=1e-6)


def test_a_server_cannot_invent_clients(factory, devices):
    upload = MaskedUpload(Connection("127.0.0.1:1", identity=devices[0]), "job", devices[0].fl_id, 1,
                          {"t": 2, "clip": 8.0}, 1.0, Authority([str(factory.root_file)]))
    keys = {"c_pk": bytes(32), "s_pk": bytes(32), "timestamp": "1", "signature": b""}

    def check(change):
        item = {**keys, "fl_id": devices[1].fl_id, **change}
        upload._check_owner(decode("ClientPublicKeys", encode("ClientPublicKeys", item)))

    chain = devices[1].chain
    good = [chain.key_attestation, chain.equip_cert, chain.equip_ca_cert]
    signed = devices[1].sign(bytes(64) + b"11")
    for change, words in (({"certificate_chain": []}, "no certificates"),
                          ({"certificate_chain": good, "signature": devices[2].sign(bytes(64) + b"11")}, "not by"),
                          ({"certificate_chain": good, "signature": signed, "s_pk": b"\1" + bytes(31)}, "not of this"),
                          ({"certificate_chain": good, "signature": signed, "fl_id": "invented"}, "another client's")):
        assert words in str(refused(check, change))
    check({"certificate_chain": good, "signature": signed})


def test_wrong_files_are_named(tmp_path, factory):
    with pytest.raises(RuntimeError, match="needs client_verify"):
        Authority(["", ""])
    with pytest.raises(RuntimeError, match="cannot be read"):
        Authority([str(tmp_path / "none.pem")])
    (tmp_path / "empty.pem").write_text("nothing")
    with pytest.raises(RuntimeError, match="no list of revoked"):
        Authority([str(factory.root_file)], str(tmp_path / "empty.pem"))


def test_the_rate_of_requests_is_bounded():
    now = [0.0]
    rate = Rate(2.0, lambda: now[0])
    assert [rate.wait("a") for _ in range(3)] == [0.0, 0.0, 0.5]
    assert rate.wait("b") == 0.0, "each peer has its own"
    now[0] = 0.5
    assert rate.wait("a") == 0.0
    assert Rate(0.0).wait("a") == 0.0


def test_a_peer_that_asks_too_often_or_sends_too_much(tmp_path):
    settings = write_yaml(tmp_path / "job.yaml", client__requests_per_second=1.0)
    with Server(tmp_path, settings) as server:
        def post(headers=None, body=b"x"):
            connection = http.client.HTTPConnection(server.address, timeout=20)
            connection.request("POST", "/startFLJob", body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.getheader("Retry-After")

        answers = [post() for _ in range(8)]
        assert answers[0][0] == 200 and (429, "1") in answers
        time.sleep(1.1)
        assert post(body=bytes(8 << 20))[0] == 413
        assert Connection(server.address).start_job("job", "me", 1, wait=20)["iteration"] == 1
