"""Masked rounds over HTTP: real servers, clients in threads, vanishing at every stage. The sum is exact to the bit."""
import contextlib
import shutil
import threading

import numpy as np
import pytest
from federated_processes import Redis, Server, refused, write_yaml

from mindspore_federated.client.client import FederatedClient
from mindspore_federated.client.connection import Connection, FederatedError
from mindspore_federated.secagg import from_ring, to_ring
from mindspore_federated.wire.schema import Code

CLIP, THRESHOLD = 8.0, 2
NAMES = ("conv", "bias", "scalar", "fixed")
START = {"conv": np.arange(6, dtype=np.float32), "bias": np.ones(2, np.float32), "scalar": np.array([4], np.float32),
         "fixed": np.full(3, 7, np.float32)}


def _settings(folder, clients, ratio=1.0, window=20000, neighbours=0, masks=None, **more):
    changes = {"round__update_model_time_window": 60000, "encrypt__encrypt_train_type": "PW_ENCRYPT", **more}
    return write_yaml(folder / "job.yaml", round__start_fl_job_threshold=clients, round__update_model_ratio=ratio,
                      round__start_fl_job_time_window=60000, round__global_iteration_time_window=90000, **changes,
                      encrypt__pw_encrypt={"share_secrets_ratio": 1.0, "cipher_time_window": window,
                                           "reconstruct_secrets_threshold": THRESHOLD, "update_clip": CLIP,
                                           "neighbours": neighbours, **(masks or {})})


def _size(number):
    return 10 * number + 3


def _change(number):
    random = np.random.default_rng(number)
    return {name: random.normal(size=START[name].size).astype(np.float32) for name in NAMES}


class _Vanished(Exception):
    pass


class _Leaves(Connection):
    """The connection of a client that is gone before one of the rounds, and keeps what it uploaded."""

    def __init__(self, address, stage):
        super().__init__(address)
        self._stage = stage
        self.sent = {}

    def ask(self, round_name, asked, answered, values, **more):
        if round_name == self._stage:
            raise _Vanished
        self.sent[round_name] = values
        return super().ask(round_name, asked, answered, values, **more)


def _run(addresses, stages):
    """A client for each stage (None: it stays); what each of them sent, and the errors."""
    connections = [_Leaves(addresses[number % len(addresses)], stage) for number, stage in enumerate(stages)]
    errors = []

    def work(number):
        def train(weights, plan):
            change = _change(number)
            return {name: value + change[name] for name, value in weights.items()}, 0.0

        try:
            client = FederatedClient(connections[number], "job", train, _size(number), fl_id=f"client{number}", wait=60)
            assert client.one_round()
        except _Vanished:
            pass
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(stages))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(100)
    return [connection.sent for connection in connections], errors


def _ring(number, whole):
    """What a client's vector is before its masks."""
    return np.concatenate([to_ring((START[name] + _change(number)[name]) - START[name], CLIP, whole, _size(number))
                           for name in NAMES])


def _expected(numbers, keyed):
    """The model after the round, from the plain sum in the ring."""
    whole = sum(map(_size, keyed))
    total = np.sum([_ring(number, whole) for number in numbers], axis=0, dtype=np.uint32)
    mean = from_ring(total, CLIP, whole) / sum(map(_size, numbers))
    flat = (np.concatenate(list(START.values())).astype(np.float64) + mean).astype(np.float32)
    return dict(zip(NAMES, np.split(flat, np.cumsum([START[name].size for name in NAMES])[:-1])))


def _check(address, numbers, keyed):
    model = Connection(address).get_model("job", 1, wait=60)
    expected = _expected(numbers, keyed)
    assert set(model) == {"conv", "bias", "scalar"}
    for name, value in model.items():
        np.testing.assert_array_equal(value, expected[name])
    weights = np.array([_size(number) for number in numbers], np.float64)
    plain = sum(weight * _change(number)["conv"] for weight, number in zip(weights, numbers)) / weights.sum()
    np.testing.assert_allclose(model["conv"], START["conv"] + plain, atol=1e-6)


@pytest.mark.parametrize("stage", [None, "exchangeKeys", "shareSecrets", "updateModel", "getClientList"])
def test_the_sum_is_exact_whoever_vanishes(tmp_path, stage):
    loses = stage not in (None, "getClientList")            # what was uploaded before counts
    settings = _settings(tmp_path, 5, ratio=0.8 if loses else 1.0, window=6000)
    with Server(tmp_path, settings) as server:
        sent, errors = _run([server.address], [None, None, stage, None, None])
        assert not errors
        everybody, rest = range(5), [0, 1, 3, 4]
        _check(server.address, rest if loses else everybody, rest if stage == "exchangeKeys" else everybody)
        upload = np.concatenate([item["data"].view(np.uint32) for item in sent[0]["updateModel"]["feature_map"]])
        assert not np.any(upload == _ring(0, sum(map(_size, everybody)))), "what leaves the client is masked"
        assert sent[0]["updateModel"].get("upload_loss", 0.0) == 0.0


def test_neighbours_alone_share_secrets(tmp_path):
    """SecAgg+: twelve clients with four neighbours each; some vanish at each stage, the sum is exact all the same."""
    stages = [None] * 12
    stages[2], stages[7] = "updateModel", "getClientList"
    settings = _settings(tmp_path, 12, ratio=11 / 12, window=6000, neighbours=4)
    with Server(tmp_path, settings) as server:
        sent, errors = _run([server.address], stages)
        assert not errors
        _check(server.address, [number for number in range(12) if number != 2], range(12))
    receivers = {number: {item["fl_id"] for item in one["shareSecrets"]["encrypted_shares"]} for number, one in enumerate(sent)}
    assert {len(some) for some in receivers.values()} == {4}
    assert all((f"client{one}" in receivers[other]) == (f"client{other}" in receivers[one])
               for one in receivers for other in receivers), "neighbours are mutual"
    given = {item["fl_id"] for item in sent[0]["reconstructSecrets"]["reconstruct_secret_shares"]}
    assert given == receivers[0], "a client gives shares of its neighbours' secrets only"


def test_neighbours_that_vanish_together_fail_the_round(tmp_path):
    settings = _settings(tmp_path, 8, window=2000, neighbours=2)
    with Server(tmp_path, settings) as server:
        _run([server.address], [None] * 5 + ["getClientList"] * 3)
        assert Connection(server.address).start_job("job", "late", 1, wait=60)["iteration"] == 2
        assert "the masks cannot be taken off" in (tmp_path / "metrics.json").read_text()


@pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")
def test_two_servers_share_a_masked_round(tmp_path):
    with Redis() as redis, contextlib.ExitStack() as stack:
        settings = _settings(tmp_path, 5, distributed_cache={"type": "redis", "address": f"127.0.0.1:{redis.port}"})
        places = [tmp_path / name for name in ("one", "two")]
        for place in places:
            place.mkdir()
        addresses = [stack.enter_context(Server(place, settings)).address for place in places]
        _, errors = _run(addresses, [None] * 5)
        assert not errors
        for address in addresses:
            _check(address, range(5), range(5))


def test_too_many_vanish_the_round_fails_and_says_why(tmp_path):
    settings = _settings(tmp_path, 4, ratio=0.75, window=700)
    with Server(tmp_path, settings) as server:
        _run([server.address], [None, None, "getClientList", "updateModel"])
        assert Connection(server.address).start_job("job", "late", 1, wait=60)["iteration"] == 2
        assert "only 2 clients gave their shares, 3 are needed" in (tmp_path / "metrics.json").read_text()


def test_wrong_requests_are_refused(tmp_path):
    settings = _settings(tmp_path, 3)
    with Server(tmp_path, settings) as server:
        connection = Connection(server.address)

        def ask(round_name, asked, answered, **values):
            return refused(connection.ask, round_name, asked, answered, {"fl_id": "a", "iteration": 1, **values})

        key = bytes(range(32))
        names = "RequestExchangeKeys", "ResponseExchangeKeys"
        assert "has no place in the round" in str(ask("exchangeKeys", *names, s_pk=key, c_pk=key))
        connection.start_job("job", "a", 4)
        assert "should have 32 bytes" in str(ask("exchangeKeys", *names, s_pk=key[:5], c_pk=key))
        assert "iteration number is invalid:7" in str(ask("exchangeKeys", *names, s_pk=key, c_pk=key, iteration=7))
        for _ in range(2):                                  # the same again is a repeated request
            connection.ask("exchangeKeys", *names, {"fl_id": "a", "iteration": 1, "s_pk": key, "c_pk": key})
        assert "has sent other keys already" in str(ask("exchangeKeys", *names, s_pk=key[::-1], c_pk=key))
        assert ask("getKeys", "GetExchangeKeys", "ReturnExchangeKeys").code == Code.NOT_READY
        assert "is none of the 0 clients" in str(ask("shareSecrets", "RequestShareSecrets", "ResponseShareSecrets"))
        assert "is none of the 0 clients" in str(ask("getSecrets", "GetShareSecrets", "ReturnShareSecrets"))
        assert ask("getClientList", "GetClientList", "ReturnClientList").code == Code.NOT_READY
        assert "is none of the 0 clients" in str(ask("reconstructSecrets", "SendReconstructSecret", "ReconstructSecret"))
        clear = refused(connection.update_model, "job", "a", 1, {name: value * 4 for name, value in START.items()})
        assert "is none of the 0 clients" in str(clear), "an update in the clear is never taken"


def test_a_client_does_not_trust_the_lists(tmp_path):
    """A server that swaps keys or shortens the list of uploads learns nothing."""
    class Liar(Connection):
        def __init__(self, lie):
            super().__init__("127.0.0.1:1")
            self.lie, self.asked = lie, []

        def ask(self, round_name, asked, answered, values, **more):
            self.asked.append(round_name)
            if round_name == "getKeys":
                return {"remote_publickeys": self.lie}
            return {}

    from mindspore_federated.client.masked import MaskedUpload

    other = np.arange(32, dtype=np.int8)
    lies = [[{"fl_id": name, "s_pk": other + place, "c_pk": other, "data_size": 1} for place, name in enumerate("abcd")], []]
    for lie in lies:
        connection = Liar(lie)
        with pytest.raises(FederatedError, match="not this client's keys"):
            MaskedUpload(connection, "job", "a", 1, {"t": 2, "clip": 1.0}, 1.0).run(START, START, 1)
        assert connection.asked == ["exchangeKeys", "getKeys"]


def test_noise_under_masks(tmp_path):
    """Five clients, one of which vanishes: the rest has the noise of four, and everybody counts the same."""
    settings = _settings(tmp_path, 5, ratio=0.8, window=6000, masks={"noise_multiplier": 1e-3, "norm_clip": 0.5})
    with Server(tmp_path, settings) as server:
        _, errors = _run([server.address], [None, None, "updateModel", None, None])
        assert not errors
        model = Connection(server.address).get_model("job", 1, wait=60)
    mean = 0
    for number in (0, 1, 3, 4):
        change = np.concatenate([_change(number)[name].ravel() for name in NAMES])
        mean = mean + change * min(1.0, 0.5 / np.linalg.norm(change)) / 4
    places = np.cumsum([START[name].size for name in NAMES])[:-1]
    for name, part in zip(NAMES, np.split(mean, places)):
        if name in model:
            away = model[name] - START[name] - part
            assert 0 < np.abs(away).max() < 6 * 1e-3 * 0.5 / 4, "noise, and no more than was promised"
