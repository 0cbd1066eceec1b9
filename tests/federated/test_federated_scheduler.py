"""The scheduler's interface: state, new instances, switching a job off and on."""
import contextlib
import itertools
import json
import threading
import time
import urllib.request

import numpy as np
from federated_processes import Server, free_port, take_part, write_yaml

from mindspore_federated import FlSchedulerJob
from mindspore_federated.client.connection import Connection, FederatedError, JobFinished

BIAS = np.array([3.0, 5.0])


@contextlib.contextmanager
def scheduler(settings):
    """Ask the scheduler of a job: `ask(route, values)`."""
    address = f"127.0.0.1:{free_port()}"
    job = FlSchedulerJob(settings, address)
    thread = threading.Thread(target=job.run, daemon=True)
    thread.start()

    def ask(route, values=None):
        request = urllib.request.Request(f"http://{address}/{route}", json.dumps(values or {}).encode())
        for _ in range(100):
            with contextlib.suppress(urllib.error.URLError), urllib.request.urlopen(request, timeout=10) as answer:
                return json.loads(answer.read())
            threading.Event().wait(0.05)
        raise AssertionError("the scheduler does not answer")

    try:
        yield ask
    finally:
        job.stop()
        thread.join(10)


def test_a_new_instance_begins_anew_with_the_model_so_far(tmp_path):
    settings = write_yaml(tmp_path / "job.yaml", checkpoint_dir=str(tmp_path / "ckpt"))
    with Server(tmp_path, settings) as server, scheduler(settings) as ask:
        for number in (1, 2):
            assert take_part(server.address, "a", 1, {"bias": BIAS + number}) == number
            Connection(server.address).get_model("job", number, wait=30)
        state = ask("state")
        assert (state["code"], state["cluster_state"], state["iteration"], len(state["nodes"])) == ("0", "CLUSTER_READY", 3, 1)
        assert ask("newInstance", {"fl_iteration_num": 7})["code"] == "0"
        assert ask("queryInstance")["result"]["fl_iteration_num"] == 7
        clients = (f"client{number}" for number in itertools.count())
        while (answer := Connection(server.address).start_job("job", next(clients), 1, wait=30))["iteration"] != 1:
            assert ask("state")["iteration"] in (1, 2)      # until the server has looked
        found = {item["weight_fullname"]: item["data"] for item in answer["feature_map"]}
        np.testing.assert_array_equal(found["bias"], BIAS + 2)
        server.kill()
        server.start()                                      # it knew more finished rounds, of an older generation
        assert ask("state")["iteration"] <= 2, "the new instance stays"
        wrong = ask("newInstance", {"fl_iterations": 7})
        assert wrong["code"] != "0" and "fl_iterations is unknown" in str(wrong)


def test_a_job_is_switched_off_and_on(tmp_path):
    settings = write_yaml(tmp_path / "job.yaml", checkpoint_dir=str(tmp_path / "ckpt"), fl_iteration_num=1000)
    with Server(tmp_path, settings) as server, scheduler(settings) as ask:
        for route, is_open in (("disableFLS", False), ("enableFLS", True)):
            assert ask(route)["code"] == "0"
            deadline = time.monotonic() + 30
            while takes_clients(server) != is_open:         # the server looks at the store now and then
                assert time.monotonic() < deadline, f"{route} had no effect"


def takes_clients(server):
    """Whether a client can take part in a round."""
    try:
        take_part(server.address, "a", 1, {"bias": BIAS})
    except JobFinished:
        return False
    except FederatedError:                                  # its round ended when the job was switched off
        pass
    return True
