"""Stable masks over HTTP: exact while everybody stays, no model and no single update where somebody vanishes."""
import json

import numpy as np
from federated_processes import Server, refused
from test_federated_masked import _check, _ring, _run, _settings, _size

from mindspore_federated.client.connection import Connection


def _stable(folder, clients, **more):
    return _settings(folder, clients, **more, encrypt__encrypt_train_type="STABLE_PW_ENCRYPT")


def test_the_sum_is_exact(tmp_path):
    with Server(tmp_path, _stable(tmp_path, 4)) as server:
        sent, errors = _run([server.address], [None] * 4)
        assert not errors
        _check(server.address, range(4), range(4))
        assert "shareSecrets" not in sent[0] and "reconstructSecrets" not in sent[0]
        upload = np.concatenate([item["data"].view(np.uint32) for item in sent[0]["updateModel"]["feature_map"]])
        assert not np.any(upload == _ring(0, sum(map(_size, range(4))))), "what leaves the client is masked"


def test_a_client_that_vanishes_fails_the_round(tmp_path):
    settings = _stable(tmp_path, 4, round__update_model_time_window=3000)
    with Server(tmp_path, settings) as server:
        _run([server.address], [None, None, "updateModel", None])
        line = json.loads((tmp_path / "metrics.json").read_text().splitlines()[0])
        assert line["iterationResult"] == "fail" and "only 3 of 4 updates" in line["failureEvent"]
        model = Connection(server.address).get_model("job", 1)
        np.testing.assert_array_equal(model["bias"], [1, 1])


def test_nothing_is_taken_in_the_clear(tmp_path):
    with Server(tmp_path, _stable(tmp_path, 4)) as server:
        connection = Connection(server.address)
        connection.start_job("job", "me", 3)
        error = refused(connection.update_model, "job", "me", 1, {"bias": np.zeros(2)})
        assert "none of the 0 clients" in str(error)
