"""Vertical training: tensors between parties, split training against training in one place, the data join."""
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from federated_processes import free_port

import mindspore as ms
from mindspore import Tensor, nn
from mindspore_federated import (
    CompressConfig,
    FLDataWorker,
    FLModel,
    FLYamlData,
    PlainIntersection,
    RunPSI,
    ServerConfig,
    VerticalFederatedCommunicator,
)
from mindspore_federated._mindspore_federated import _RunPSIDemo
from mindspore_federated.common.tensor_utils import pack_tensors, unpack_tensors
from mindspore_federated.data_join import load_mindrecord

_LEADER = """
role: leader
model:
  train_net: {name: head, inputs: [{name: embedding, source: remote}, {name: label, source: local}],
              outputs: [{name: loss, destination: local}]}
  eval_net: {name: head, inputs: [{name: embedding, source: remote}, {name: label, source: local}],
             outputs: [{name: loss, destination: local}], gt: label}
opts:
  - {type: SGD, grads: [{inputs: [{name: embedding}, {name: label}], output: {name: loss}}],
     hyper_parameters: {learning_rate: 0.1}}
grad_scalers: [{inputs: [{name: embedding}], output: {name: loss}}]
"""
_FOLLOWER = """
role: follower
model:
  train_net: {name: body, inputs: [{name: x, source: local}], outputs: [{name: embedding, destination: remote}]}
  eval_net: {name: body, inputs: [{name: x, source: local}], outputs: [{name: embedding, destination: remote}]}
opts:
  - {type: SGD, grads: [{inputs: [{name: x}], output: {name: embedding}, sens: loss}],
     hyper_parameters: {learning_rate: 0.1}}
"""


class _Head(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 1)

    def construct(self, embedding, label):
        return ((self.dense(embedding) - label) ** 2).mean()


class _Whole(nn.Cell):
    def __init__(self, body, head):
        super().__init__()
        self.body, self.head = body, head

    def construct(self, x, label):
        return self.head(self.body(x), label)


def _file(folder, name, text):
    path = folder / name
    path.write_text(text)
    return str(path)


def test_split_training_is_training_in_one_place(tmp_path):
    random = np.random.default_rng(0)
    x, label = Tensor(random.normal(size=(8, 4)).astype(np.float32)), Tensor(np.ones((8, 1), np.float32))
    body, head = nn.Dense(4, 3), _Head()
    whole = _Whole(nn.Dense(4, 3), _Head())
    for mine, other in ((body, whole.body), (head.dense, whole.head.dense)):
        for name in ("weight", "bias"):
            getattr(other, name).set_data(getattr(mine, name).value())
    leader = FLModel(FLYamlData(_file(tmp_path, "leader.yaml", _LEADER)), head)
    follower = FLModel(FLYamlData(_file(tmp_path, "follower.yaml", _FOLLOWER)), body)
    step = nn.TrainOneStepCell(whole, nn.SGD(whole.trainable_params(), 0.1))
    for _ in range(3):
        sent = follower.forward_one_step({"x": x})
        loss = leader.forward_one_step({"label": label}, sent)["loss"]
        scale = leader.backward_one_step({"label": label}, sent)
        follower.backward_one_step({"x": x}, sens=scale)
        np.testing.assert_allclose(loss.asnumpy(), step(x, label).asnumpy(), rtol=1e-5)
    np.testing.assert_allclose(body.weight.asnumpy(), whole.body.weight.asnumpy(), rtol=1e-5)
    np.testing.assert_allclose(head.dense.weight.asnumpy(), whole.head.dense.weight.asnumpy(), rtol=1e-5)
    follower.save_ckpt(str(tmp_path / "ckpt"))
    before = body.weight.asnumpy().copy()
    body.weight.set_data(Tensor(np.zeros_like(before)))
    follower.load_ckpt("train", str(tmp_path / "ckpt"))
    np.testing.assert_array_equal(body.weight.asnumpy(), before)
    assert follower.global_step == 3


@pytest.mark.parametrize("change, words", [
    (("role: leader", "role: boss"), "role should be"), (("opts:", "other:"), "'opts'"),
    (("inputs: [{name: embedding}, {name: label}]", "inputs: [{name: nobody}]"), "undefined inputs"),
    (("outputs: [{name: loss, destination: local}], gt", "outputs: [], gt"), "'outputs'"),
    (("role: leader", "role: leader\nhyper_params: {epochs: 3}"), "unknown field 'hyper_params' in the file, did you mean "
                                                                  "'hyper_parameters'"),
    (("outputs: [{name: loss, destination: local}], gt", "outputs: [{name: loss, dest: local}], gt"),
     "unknown field 'dest' in 'outputs' of 'eval_net'")])
def test_wrong_yaml_is_named(tmp_path, change, words):
    with pytest.raises(ValueError, match=words):
        FLYamlData(_file(tmp_path, "leader.yaml", _LEADER.replace(*change)))


def test_tensors_keep_their_values_and_types():
    random = np.random.default_rng(0)
    sent = {"a": Tensor(random.normal(size=(3, 4)).astype(np.float32)), "mask": Tensor(np.eye(5, dtype=np.float16)),
            "inner": {"ids": Tensor(np.arange(7, dtype=np.int32)), "scalar": Tensor(np.float32(2.5))}}
    data = pack_tensors(sent, {"a": CompressConfig("min_max", 8), "mask": CompressConfig("bit_pack", 1)})
    got = unpack_tensors(data)
    spread = float(np.ptp(sent["a"].asnumpy()))
    np.testing.assert_allclose(got["a"].asnumpy(), sent["a"].asnumpy(), atol=spread / 255 / 2 * 1.01)
    np.testing.assert_array_equal(got["mask"].asnumpy(), np.eye(5))
    assert got["mask"].dtype == ms.float16 and got["inner"]["ids"].dtype == ms.int32
    np.testing.assert_array_equal(got["inner"]["ids"].asnumpy(), np.arange(7))
    assert got["inner"]["scalar"].asnumpy() == np.float32(2.5)
    for cut in (0, 3, 10, len(data) - 1):
        with pytest.raises(ValueError):
            unpack_tensors(data[:cut])


def _pair():
    ports = free_port(), free_port()
    configs = [ServerConfig(name, f"127.0.0.1:{port}") for name, port in zip(("leader", "follower"), ports)]
    return [VerticalFederatedCommunicator(configs[0], configs[1]), VerticalFederatedCommunicator(configs[1], configs[0])]


def test_parties_exchange_in_order():
    leader, follower = _pair()
    leader.launch()
    follower.launch()
    try:
        for number in range(3):
            leader.send_tensors("follower", {"x": Tensor(np.full(2, number, np.float32))})
        for number in range(3):
            np.testing.assert_array_equal(follower.receive("leader")["x"].asnumpy(), number)
        with pytest.raises(RuntimeError, match="There is no party 'stranger'"):
            leader.send_tensors("stranger", {})
    finally:
        leader.stop()
        follower.stop()


def test_data_join_finds_the_common_keys_in_one_order(tmp_path):
    random = np.random.default_rng(0)
    keys = [f"id{number}" for number in random.permutation(60)]
    parties = {"leader": keys[:40], "follower": keys[20:]}
    ports = {"leader": free_port(), "follower": free_port()}
    errors = []

    def work(role, other):
        folder = tmp_path / role
        (folder / "out").mkdir(parents=True)
        rows = "\n".join(f"{key},{int(key[2:]) * 2},{role}" for key in random.permutation(parties[role]))
        config = {"role": role, "bucket_num": 3, "shard_num": 2, "store_type": "csv", "join_type": "psi",
                  "thread_num": 1, "primary_key": "key", "main_table_files": [_file(folder, "data.csv",
                                                                                    "key,twice,who\n" + rows)],
                  "data_schema_path": _file(folder, "schema.yaml", "key: {type: string}\ntwice: {type: int32}\n"
                                                                   "who: {type: string}\n"),
                  "output_dir": str(folder / "out"), "server_name": role, "remote_server_name": other,
                  "http_server_address": f"127.0.0.1:{ports[role]}", "enable_ssl": False,
                  "remote_server_address": f"127.0.0.1:{ports[other]}"}
        worker = FLDataWorker(config)
        try:
            worker.do_worker()
        except Exception as error:
            errors.append(error)
        finally:
            worker.communicator().stop()

    threads = [threading.Thread(target=work, args=pair) for pair in (("leader", "follower"), ("follower", "leader"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not errors
    found = {role: [(str(row["key"]), int(row["twice"][0])) for row in load_mindrecord(
        str(tmp_path / role / "out"), shuffle=True).create_dict_iterator(num_epochs=1, output_numpy=True)]
        for role in parties}
    assert found["leader"] == found["follower"]
    assert sorted(key for key, _ in found["leader"]) == sorted(keys[20:40])
    assert all(twice == 2 * int(key[2:]) for key, twice in found["leader"])


@pytest.mark.parametrize("function", [RunPSI, PlainIntersection])
def test_the_official_intersections(function):
    """Both parties get the same sorted keys; a key that is given twice counts once."""
    leader, follower = _pair()
    leader.launch()
    follower.launch()
    mine, theirs = ["b", "a", "x", "b", "größe"], ["größe", "c", "b"]
    try:
        for bucket in range(2):
            with ThreadPoolExecutor(1) as pool:
                other = pool.submit(function, theirs, "follower", "leader", bucket, 1)
                assert function(mine, "leader", "follower", bucket, 0) == ["b", "größe"] == other.result(60)
        with ThreadPoolExecutor(1) as pool:
            other = pool.submit(function, theirs, "follower", "leader", 7, 1)
            with pytest.raises(ValueError, match="joins bucket 7, but this party joins bucket 8"):
                function(mine, "leader", "follower", 8, 1)
            with pytest.raises(ValueError, match="joins bucket 8, but this party joins bucket 7"):
                other.result(60)
        with pytest.raises(RuntimeError, match="There is no party 'stranger'"):
            function(mine, "leader", "stranger", 0, 0)
    finally:
        leader.stop()
        follower.stop()
    with pytest.raises(RuntimeError, match="No communicator of 'leader' is launched"):
        function(mine, "leader", "follower", 0, 0)
    with pytest.raises(TypeError, match="list of str"):
        function([1, 2], "leader", "follower", 0, 0)
    with pytest.raises(ValueError, match="'thread_num' should be at least 0"):
        function(mine, "leader", "follower", 0, -1)


def test_an_intersection_within_one_process():
    keys = [[str(number) for number in range(start, 300, step)] for start, step in ((0, 2), (30, 3))]
    assert set(_RunPSIDemo(*keys, 0)) == set(keys[0]) & set(keys[1])
    assert _RunPSIDemo(["a"], ["b"], 1) == []
