"""One real server process over loopback: rounds, refusals, crashes."""
import json

import numpy as np
import pytest
from federated_processes import Server, refused, take_part, write_yaml

from mindspore_federated.client.connection import Connection, JobFinished
from mindspore_federated.wire.schema import Code

CONV, BIAS = np.full((2, 3), 2.0), np.array([3.0, 5.0])


def _metrics(folder):
    return [json.loads(line) for line in (folder / "metrics.json").read_text().splitlines()]


def test_rounds_average_by_sample_count_until_the_job_is_finished(tmp_path):
    settings = write_yaml(tmp_path / "job.yaml", round__start_fl_job_threshold=2, fl_iteration_num=2)
    with Server(tmp_path, settings) as server:
        connection = Connection(server.address)
        first = connection.start_job("job", "probe", 1)
        assert first["iteration"] == 1 and first["is_selected"]
        assert {item["weight_fullname"] for item in first["feature_map"]} == {"conv", "bias", "scalar", "fixed"}
        connection.update_model("job", "probe", 1, {"conv": np.full((2, 3), 1.0), "bias": np.zeros(2)})
        assert refused(connection.get_model, "job", 1).code == Code.NOT_READY
        take_part(server.address, "b", 3, {"conv": CONV, "bias": BIAS, "scalar": 8.0})
        model = connection.get_model("job", 1, wait=20)
        assert set(model) == {"conv", "bias", "scalar"}, "weights that are not aggregated stay on the server"
        np.testing.assert_allclose(model["conv"], (1 + 3 * 2) / 4)
        np.testing.assert_allclose(model["scalar"], 8, err_msg="only the client that sent it counts")
        np.testing.assert_allclose(model["bias"], 3 * BIAS / 4)
        for name in "ab":
            take_part(server.address, name, 5, {"conv": CONV, "bias": BIAS})
        np.testing.assert_allclose(connection.get_model("job", 2, wait=20)["bias"], BIAS, rtol=1e-6)
        with pytest.raises(JobFinished):
            connection.start_job("job", "late", 1)
        server.stop()
    assert [line["iterationResult"] for line in _metrics(tmp_path)] == ["success", "success"]


def test_wrong_requests_are_refused_and_the_round_goes_on(tmp_path):
    settings = write_yaml(tmp_path / "job.yaml", round__start_fl_job_threshold=2)
    with Server(tmp_path, settings) as server:
        connection = Connection(server.address)
        assert "not enough" in str(refused(connection.start_job, "job", "a", 0))
        assert "too large" in str(refused(connection.start_job, "job", "a", 1 << 16))
        connection.start_job("job", "a", 4)
        assert "Updating device metadata failed for fl id a" in str(refused(connection.start_job, "job", "a", 4))
        good = {"conv": CONV * 4, "bias": BIAS * 4}

        def upload(fl_id="a", iteration=1, **weights):
            return refused(connection.update_model, "job", fl_id, iteration, {**good, **weights})

        assert "devices_meta for ghost is not set" in str(upload(fl_id="ghost"))
        assert "UpdateModel iteration number is invalid:2, current iteration:1" in str(upload(iteration=2))
        wrong = upload(conv=np.ones(4))
        assert "feature conv has 4 values, the model has 6" in str(wrong) and wrong.code == Code.REQUEST_ERROR
        assert "not finite" in str(upload(conv=np.full((2, 3), np.nan)))
        assert "not finite" in str(upload(bias=np.array([np.inf, 0])))
        assert "no such feature" in str(upload(other=np.ones(2)))
        assert "Feature map is empty" in str(refused(connection.update_model, "job", "a", 1, {}))
        connection.update_model("job", "a", 1, good)
        assert "UpdateModelClientList failed for fl id a" in str(upload()), "a repeated upload does not count twice"
        connection.start_job("job", "b", 4)
        assert "has reached the threshold" in str(refused(connection.start_job, "job", "c", 4))
        connection.update_model("job", "b", 1, good)
        np.testing.assert_allclose(connection.get_model("job", 1, wait=20)["bias"], BIAS, rtol=1e-6)


def test_a_round_without_enough_clients_fails_and_says_why(tmp_path):
    settings = write_yaml(tmp_path / "job.yaml", round__start_fl_job_threshold=2, round__start_fl_job_time_window=300)
    with Server(tmp_path, settings) as server:
        connection = Connection(server.address)
        connection.start_job("job", "a", 1)
        assert connection.start_job("job", "a", 1, wait=20)["iteration"] == 2
        failed = _metrics(tmp_path)[0]
        assert failed["iterationResult"] == "fail" and "only 1 clients started" in failed["failureEvent"]


def test_kill_9_loses_the_round_that_was_going_on_and_no_other(tmp_path):
    settings = write_yaml(tmp_path / "job.yaml", round__start_fl_job_threshold=2)
    server = Server(tmp_path, settings)
    with server:
        connection = Connection(server.address)
        for name in "ab":
            take_part(server.address, name, 2, {"conv": CONV, "bias": BIAS})
        before = connection.get_model("job", 1, wait=20)
        take_part(server.address, "a", 2, {"conv": CONV + 100, "bias": BIAS})
        server.kill()
        server.start()
        connection.close()
        started = connection.start_job("job", "a", 2, wait=20)
        assert started["iteration"] == 3, "iteration 2 is lost"
        after = {item["weight_fullname"]: item["data"] for item in started["feature_map"]}
        np.testing.assert_array_equal(after["conv"], before["conv"])
        assert _metrics(tmp_path)[-1]["iterationResult"] == "fail"


def test_a_lost_state_file_leaves_the_recovery_checkpoint(tmp_path):
    settings = write_yaml(tmp_path / "job.yaml")
    server = Server(tmp_path, settings)
    with server:
        take_part(server.address, "a", 2, {"conv": CONV, "bias": BIAS})
        Connection(server.address).get_model("job", 1, wait=20)
        server.stop()
        for path in (tmp_path / "ckpt").glob("job.state*"):
            path.unlink()
        server.start()
        started = Connection(server.address).start_job("job", "a", 2, wait=20)
        assert started["iteration"] == 2
        after = {item["weight_fullname"]: item["data"] for item in started["feature_map"]}
        np.testing.assert_allclose(after["bias"], BIAS)
        np.testing.assert_allclose(after["fixed"], 7)


def test_poisoned_updates_do_not_move_the_median(tmp_path):
    settings = write_yaml(tmp_path / "job.yaml", round__start_fl_job_threshold=3,
                          aggregation__aggregation_type="FedMedian")
    with Server(tmp_path, settings) as server:
        for name, factor in (("a", 1.0), ("evil", 1e6), ("b", 1.0)):
            take_part(server.address, name, 2, {"conv": CONV * factor, "bias": BIAS * factor})
        model = Connection(server.address).get_model("job", 1, wait=20)
        np.testing.assert_allclose(model["bias"], BIAS, rtol=1e-6)


def test_late_updates_count_less_in_buffered_asynchronous_mode(tmp_path):
    settings = write_yaml(tmp_path / "job.yaml", fl_iteration_num=9, round__async_buffer_size=1,
                          round__max_staleness=3)
    with Server(tmp_path, settings) as server:
        slow = Connection(server.address)
        base = {item["weight_fullname"]: item["data"] for item in slow.start_job("job", "slow", 1)["feature_map"]}
        take_part(server.address, "fast", 1, {"bias": base["bias"] + 1})
        quick = slow.get_model("job", 1, wait=20)
        np.testing.assert_allclose(quick["bias"], base["bias"] + 1)
        slow.update_model("job", "slow", 1, {"bias": base["bias"] + 10})
        late = slow.get_model("job", 2, wait=20)
        np.testing.assert_allclose(late["bias"], quick["bias"] + 10 / np.sqrt(2), rtol=1e-6)


def _adam(weight, changes, rate=0.1):
    """Reddi et al., algorithm 2, as the paper writes it."""
    moment, square = np.zeros_like(weight), np.zeros_like(weight)
    for change in changes:
        moment = 0.9 * moment + 0.1 * change
        square = 0.99 * square + 0.01 * change ** 2
        weight = weight + rate * moment / (np.sqrt(square) + 1e-3)
    return weight


def test_a_killed_server_remembers_what_its_optimizer_knew(tmp_path):
    settings = write_yaml(tmp_path / "job.yaml", aggregation__aggregation_type="FedAdam", fl_iteration_num=9)
    changes = [np.array([1.0, -2.0]), np.array([0.5, 0.5]), np.array([-0.1, 3.0])]
    server, bias = Server(tmp_path, settings), np.ones(2)
    try:
        for iteration, change in enumerate(changes, 1):
            server.start()
            take_part(server.address, "a", 1, {"bias": bias + change})
            bias = Connection(server.address).get_model("job", iteration, wait=20)["bias"]
            server.kill()
            if iteration == 2:                              # the state file is lost as well: the checkpoint has it all
                for path in (tmp_path / "ckpt").glob("job.state*"):
                    path.unlink()
    finally:
        server.kill()
    np.testing.assert_allclose(bias, _adam(np.ones(2), changes), rtol=1e-5)


def test_a_killed_server_goes_on_with_its_control_variates(tmp_path):
    settings = write_yaml(tmp_path / "job.yaml", aggregation__aggregation_type="Scaffold", fl_iteration_num=9,
                          aggregation__total_client_num=2)
    server = Server(tmp_path, settings)
    try:
        for iteration in (1, 2):
            server.start()
            start = Connection(server.address).start_job("job", "a", 1)
            held = {item["weight_fullname"]: item["data"] for item in start["feature_map"]}
            np.testing.assert_allclose(held["control.bias"], (iteration - 1) * 0.5 * np.array([4.0, 6.0]))
            Connection(server.address).update_model("job", "a", iteration, {
                "bias": BIAS, "control.bias": np.array([4.0, 6.0], np.float32)})
            Connection(server.address).get_model("job", iteration, wait=20)
            server.kill()
    finally:
        server.kill()


def test_who_asked_and_how_much_travelled_is_told(tmp_path):
    settings = write_yaml(tmp_path / "job.yaml", round__start_fl_job_threshold=2, fl_iteration_num=1,
                          summary__data_rate_dir=str(tmp_path / "rates"))
    with Server(tmp_path, settings) as server:
        connection = Connection(server.address)
        connection.start_job("job", "a", 1)
        refused(connection.start_job, "job", "a", 1)
        connection.update_model("job", "a", 1, {"bias": BIAS})
        take_part(server.address, "b", 1, {"bias": BIAS})
        connection.get_model("job", 1, wait=20)
        server.stop()
    seen = _metrics(tmp_path)[0]["clientVisitedInfo"]
    assert (seen["startFLJobTotalClientNum"], seen["startFLJobAcceptClientNum"], seen["startFLJobRejectClientNum"]) == (3, 2, 1)
    assert (seen["updateModelAcceptClientNum"], seen["participationTimeLevel1"], seen["participationTimeLevel3"]) == (2, 2, 2)
    (rates,) = (tmp_path / "rates").glob("*_flow_server*.json")
    lines = [json.loads(line) for line in rates.read_text().splitlines()]
    assert sum(line["send"] for line in lines) > 500 and sum(line["receive"] for line in lines) > 200


def test_a_round_does_not_wait_for_the_slowest_once_their_times_are_known(tmp_path):
    settings = write_yaml(tmp_path / "job.yaml", fl_iteration_num=20, round__start_fl_job_threshold=2,
                          round__over_selection_ratio=1.5, round__deadline_quantile=0.9)
    with Server(tmp_path, settings) as server:
        for iteration in range(1, 7):                       # twelve durations
            for name in "ab":
                take_part(server.address, name, 1, {"bias": BIAS})
            Connection(server.address).get_model("job", iteration, wait=20)
        connection = Connection(server.address)
        for name in ("a", "slow", "slower"):                # one place more than the threshold
            connection.start_job("job", name, 1)
        assert "has reached the threshold" in str(refused(connection.start_job, "job", "late", 1))
        connection.update_model("job", "a", 7, {"bias": 2 * BIAS})
        np.testing.assert_allclose(connection.get_model("job", 7, wait=20)["bias"], 2 * BIAS)
        assert refused(connection.update_model, "job", "slow", 7, {"bias": BIAS}).code == Code.OUT_OF_TIME
    assert _metrics(tmp_path)[6]["iterationResult"] == "success"
