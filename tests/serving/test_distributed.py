"""A network cut over two agents, by strategies or into stages: right answers, also when an agent is killed; official ends of server and
agents."""

import hmac
import json
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import mindspore as ms
from mindspore import nn, ops
from mindspore_serving import server
from mindspore_serving.client import Client
from mindspore_serving.engine import introduction
from mindspore_serving.server import distributed

CONFIGURATION = """
from mindspore_serving.server import distributed, register
model = distributed.declare_servable(rank_size=2, stage_size=STAGES, with_batch_dim=False)
@register.register_method(output_names=["y"])
def predict(x):
    return register.add_stage(model, x, outputs_count=1)
"""
SERVER = """
import sys
from mindspore_serving import server
from mindspore_serving.server import distributed
distributed.start_servable(sys.argv[1], "net", rank_table_json_file=sys.argv[1] + "/table.json", distributed_address=sys.argv[2],
                           wait_agents_time_in_seconds=100)
server.start_grpc_server(sys.argv[3])
print("serving", flush=True)
"""
AGENTS = """
import sys
from mindspore_serving.server import distributed
distributed.startup_agents(sys.argv[2], [f"{sys.argv[1]}/rank{r}.mindir" for r in range(2)], max_restarts=int(sys.argv[3]))
print("ready", flush=True)
"""


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.weight = ms.Parameter(np.arange(96 * 16, dtype=np.float32).reshape(96, 16) / 1000, name="weight")
        self.matmul, self.neg = ops.MatMul().shard(((1, 2), (2, 1))), ops.Neg().shard(((2, 1),))

    def construct(self, x):
        return self.neg(self.matmul(x, self.weight))


class Half(nn.Cell):
    def __init__(self, stage, operation):
        super().__init__()
        self.pipeline_stage = stage
        self.operation = operation

    def construct(self, x):
        return self.operation(x)


class Staged(Net):
    """The same function, a part of it on each agent."""

    def __init__(self):
        super().__init__()
        self.first, self.second = Half(0, lambda x: ops.matmul(x, self.weight)), Half(1, ops.neg)

    def construct(self, x):
        return self.second(self.first(x))


def export(folder, stages):
    for rank in range(2):
        ms.set_auto_parallel_context(
            parallel_mode="semi_auto_parallel", device_num=2, global_rank=rank, full_batch=True, pipeline_stages=stages
        )
        net, x = Staged() if stages > 1 else Net(), ms.Tensor(np.ones((8, 96), np.float32))
        ms.export(net, x, file_name=f"{folder}/rank{rank}", file_format="MINDIR")


@pytest.fixture
def group(tmp_path, free_port, request):
    """start(restarts) → (server process, process that starts the agents, gRPC address). Its parameter: stages."""
    stages = getattr(request, "param", 1)
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "servable_config.py").write_text(textwrap.dedent(CONFIGURATION.replace("STAGES", str(stages))))
    devices = [{"device_id": str(n), "device_ip": "192.1.27.6", "rank_id": str(n)} for n in range(2)]
    table = {"version": "1.0", "server_count": "1", "server_list": [{"server_id": "127.0.0.1", "device": devices}]}
    (tmp_path / "table.json").write_text(json.dumps(table))
    worker = multiprocessing.get_context("spawn").Process(target=export, args=(str(tmp_path), stages))
    worker.start()
    worker.join(100)
    assert worker.exitcode == 0
    processes = []

    def run(script, *arguments):
        process = subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path), *map(str, arguments)], stdout=subprocess.PIPE, cwd=tmp_path,
            env={**os.environ, "MS_SERVING_SECRET": "of this group"},
        )  # fmt: skip
        processes.append(process)
        return process

    def start(restarts):
        place, grpc = f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"
        server = run(SERVER, place, grpc)
        end = time.monotonic() + 60
        while True:  # until the worker listens
            agents = run(AGENTS, place, restarts)
            if agents.stdout.readline() == b"ready\n":
                break
            assert time.monotonic() < end
        assert server.stdout.readline() == b"serving\n"
        start.place = place
        return server, agents, grpc

    yield start
    for process in processes:
        process.kill()
        process.wait()


def children(pid):
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[1]) == pid and fields[0] != "Z":
                found.append(int(entry.name))
    return found


def check(client, seed):
    x = np.random.default_rng(seed).random((8, 96), np.float32)
    answer = client.infer([{"x": x}])
    weight = np.arange(96 * 16, dtype=np.float64).reshape(96, 16) / 1000
    np.testing.assert_allclose(answer[0]["y"], -(x @ weight), rtol=1e-5)


@pytest.mark.parametrize("group", (1, 2), indirect=True)
def test_a_cut_model_survives_its_agents(group):
    server, agents, grpc = group(restarts=1)
    client = Client(grpc, "net", "predict")
    check(client, 1)
    first = children(agents.pid)
    assert len(first) == 2
    os.kill(first[1], signal.SIGKILL)
    check(client, 2)  # waits for the new group
    second = children(agents.pid)
    assert len(second) == 2 and not set(first) & set(second)
    os.kill(second[0], signal.SIGKILL)  # no restart is left: all end
    assert agents.wait(30) == 0 and server.wait(30) == 0


def test_agents_end_with_their_server(group, tmp_path):
    server, agents, grpc = group(restarts=0)
    check(Client(grpc, "net", "predict"), 3)
    files = [str(tmp_path / f"rank{rank}.mindir") for rank in range(2)]
    for secret in (None, "of another group"):
        with pytest.raises(RuntimeError, match="secret is another one"):
            distributed.startup_agents(group.place, files, secret=secret)
    with socket.create_connection(group.place.rsplit(":", 1)) as stranger:  # one that speaks something else
        stranger.sendall(b"\xff" * 64)
        assert len(stranger.recv(100)) == 32 and not stranger.recv(100)
    check(Client(grpc, "net", "predict"), 4)
    started = children(agents.pid)
    server.send_signal(signal.SIGINT)
    assert server.wait(30) == 0 and agents.wait(30) == 0
    assert not any(Path(f"/proc/{pid}").exists() for pid in started)


@pytest.mark.parametrize(
    ("worker", "agent", "admitted"), [("a", "a", True), ("", "", True), ("a", "b", False), ("a", "", False), ("", "a", False)]
)
def test_both_sides_know_the_secret(worker, agent, admitted):
    mine, theirs = socket.socketpair()
    failures = []

    def admit():
        try:
            introduction.admit(mine, worker)
        except introduction.Stranger as error:
            failures.append(error)
            mine.close()

    thread = threading.Thread(target=admit)
    thread.start()
    try:
        introduction.introduce(theirs, agent)
    except introduction.Stranger as error:
        failures.append(error)
    thread.join()
    assert len(failures) == (0 if admitted else 2)
    mine.close()
    theirs.close()


def test_a_proof_is_of_no_use_for_another_connection():
    mine, theirs = socket.socketpair()
    thread = threading.Thread(target=introduction.introduce, args=(theirs, "a"))
    thread.start()
    nonce = b"n" * 32
    mine.sendall(nonce)
    said = b"".join(mine.recv(1) for _ in range(64))
    mine.sendall(hmac.digest(b"a", b"worker" + nonce + said[:32], "sha256"))
    thread.join()
    other, replayed = socket.socketpair()
    replayed.sendall(said)
    with pytest.raises(introduction.Stranger, match="without the group's secret"):
        introduction.admit(other, "a")
    for end in (mine, theirs, other, replayed):
        end.close()


def test_a_cut_input_cannot_be_exported(tmp_path):
    ms.set_auto_parallel_context(parallel_mode="semi_auto_parallel", device_num=2, global_rank=0, dataset_strategy="data_parallel")
    try:
        with pytest.raises(ValueError, match="full_batch"):
            ms.export(Net(), ms.Tensor(np.ones((8, 96), np.float32)), file_name=str(tmp_path / "net"), file_format="MINDIR")
    finally:
        ms.reset_auto_parallel_context()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rank_table_json_file": "none.json"}, "illegal"),
        ({"rank_table_json_file": 1}, "should be str"),
        ({"distributed_address": "here"}, "illegal"),
        ({"wait_agents_time_in_seconds": -1}, ">= 0"),
        ({"servable_name": "other"}, "not exist"),
    ],
)
def test_wrong_arguments(change, words, tmp_path):
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "servable_config.py").write_text(CONFIGURATION.replace("STAGES", "1"))
    given = {"servable_directory": str(tmp_path), "servable_name": "net", "rank_table_json_file": "table.json", **change}
    with pytest.raises(RuntimeError, match=words):
        distributed.start_servable(**given)


def test_stages_share_the_ranks(servables):
    directory = servables("net", CONFIGURATION.replace("STAGES", "3"))
    with pytest.raises(RuntimeError, match="'rank_size' 2 should be a multiple of parameter 'stage_size' 3"):
        server.start_servables(server.ServableStartConfig(directory, "net"))


def test_agents_need_their_files(tmp_path):
    with pytest.raises(RuntimeError, match="Cannot access model file"):
        distributed.startup_agents("127.0.0.1:6200", [str(tmp_path / "none.mindir")])
    (tmp_path / "a.mindir").write_bytes(b"")
    with pytest.raises(RuntimeError, match="at the same time"):
        distributed.startup_agents("127.0.0.1:6200", [str(tmp_path / "a.mindir")], agent_ip="127.0.0.1")
    with pytest.raises(RuntimeError, match="Failed to get agents config"):
        distributed.startup_agents("127.0.0.1:1", [str(tmp_path / "a.mindir")])
