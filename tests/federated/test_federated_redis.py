"""Two real servers that meet in a real Redis, which is killed in the middle of a round."""
import contextlib
import shutil
import threading
import time

import numpy as np
import pytest
from federated_processes import Redis, Server, free_port, refused, take_part, write_yaml

from mindspore_federated import FLServerJob
from mindspore_federated.client.connection import Connection

pytestmark = pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")
BIAS = np.array([3.0, 5.0])


def _servers(folder, redis):
    settings = write_yaml(folder / "job.yaml", fl_iteration_num=9, round__start_fl_job_threshold=2,
                          round__start_fl_job_time_window=120000, round__update_model_time_window=120000,
                          round__global_iteration_time_window=200000,
                          distributed_cache={"type": "redis", "address": f"127.0.0.1:{redis.port}"})
    places = [folder / name for name in ("one", "two")]
    for place in places:
        place.mkdir()
    return [Server(place, settings) for place in places]


def test_a_round_over_two_servers_and_a_redis_that_forgets(tmp_path):
    with Redis() as redis, contextlib.ExitStack() as stack:
        one, two = [stack.enter_context(server) for server in _servers(tmp_path, redis)]
        assert take_part(one.address, "a", 1, {"bias": BIAS}) == 1
        assert take_part(two.address, "b", 3, {"bias": BIAS + 4}) == 1
        for server in (one, two):
            np.testing.assert_allclose(Connection(server.address).get_model("job", 1, wait=60)["bias"], BIAS + 3, rtol=1e-6)
        take_part(one.address, "a", 1, {"bias": BIAS * 100}, wait=60)
        redis.kill()
        assert "safemode" in str(refused(Connection(two.address).start_job, "job", "b", 1))
        redis.start()
        assert take_part(two.address, "b", 1, {"bias": BIAS}, wait=60) == 3, "the round that was going on is lost"
        assert take_part(one.address, "a", 1, {"bias": BIAS + 2}, wait=60) == 3
        np.testing.assert_allclose(Connection(two.address).get_model("job", 3, wait=60)["bias"], BIAS + 1, rtol=1e-6)


def test_a_server_that_dies_with_updates_fails_its_round_only(tmp_path):
    with Redis() as redis, contextlib.ExitStack() as stack:
        one, two = [stack.enter_context(server) for server in _servers(tmp_path, redis)]
        assert take_part(one.address, "a", 1, {"bias": BIAS * 100}) == 1
        one.kill()
        assert take_part(two.address, "b", 1, {"bias": BIAS}, wait=60) == 1
        for name in "bc":                                   # once the dead server's heartbeat is over
            assert take_part(two.address, name, 1, {"bias": BIAS}, wait=90) == 2
        model = Connection(two.address).get_model("job", 2, wait=60)
        np.testing.assert_allclose(model["bias"], BIAS, rtol=1e-6)
        assert "died before its updates were added" in (tmp_path / "metrics.json").read_text()


def test_redis_and_a_server_die_together(tmp_path):
    """The server that stays brings its model back; one that comes back alone knows it from its own disk."""
    with Redis() as redis, contextlib.ExitStack() as stack:
        one, two = [stack.enter_context(server) for server in _servers(tmp_path, redis)]
        for address, name in ((one.address, "a"), (two.address, "b")):
            take_part(address, name, 1, {"bias": BIAS}, wait=60)
        for server in (one, two):
            np.testing.assert_array_equal(Connection(server.address).get_model("job", 1, wait=60)["bias"], BIAS)
        for survivors in ((two,), ()):
            for process in (redis, one, *(() if survivors else (two,))):
                process.kill()
            redis.start()
            one.start()
            np.testing.assert_array_equal(Connection(one.address).get_model("job", 0, wait=60)["bias"], BIAS)
            assert Connection(one.address).start_job("job", "c", 1, wait=60)["iteration"] > 1


def test_a_server_that_knows_nothing_does_not_undo_what_others_know(tmp_path):
    with Redis() as redis, contextlib.ExitStack() as stack:
        one, two = _servers(tmp_path, redis)
        stack.enter_context(one)
        for name in "ab":
            take_part(one.address, name, 1, {"bias": BIAS}, wait=60)
        np.testing.assert_array_equal(Connection(one.address).get_model("job", 1, wait=60)["bias"], BIAS)
        for process in (redis, one):
            process.kill()
        redis.start()
        stack.enter_context(two)                            # its first start, and the store is empty
        one.start()
        for server in (one, two):
            deadline = time.monotonic() + 60
            while not np.array_equal(found := Connection(server.address).get_model("job", 99, wait=60)["bias"], BIAS):
                assert time.monotonic() < deadline and server is two, f"{found} is older than the round that was finished"
                time.sleep(0.05)


def test_a_server_that_starts_before_redis_waits_for_it(tmp_path):
    redis = Redis()
    one, _ = _servers(tmp_path, redis)
    started = threading.Timer(1.0, redis.start)
    started.start()
    try:
        with one:
            assert take_part(one.address, "a", 1, {"bias": BIAS}, wait=30) == 1
    finally:
        started.join()
        redis.kill()


def test_without_redis_a_server_says_so_and_ends(tmp_path, monkeypatch):
    monkeypatch.setattr("mindspore_federated.server.job._STORE_SECONDS", 0.3)
    settings = write_yaml(tmp_path / "job.yaml", distributed_cache={"type": "redis", "address": f"127.0.0.1:{free_port()}"})
    with pytest.raises(RuntimeError, match="Sync instance info with distributed cache failed: Redis cannot be reached"):
        FLServerJob(settings, f"127.0.0.1:{free_port()}", checkpoint_dir=str(tmp_path)).run({"w": BIAS.astype(np.float32)})
