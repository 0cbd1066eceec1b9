"""Orderings of the papers on MNIST that is not evenly spread: each client has digits of two kinds."""
import numpy as np
import pytest

import mindspore
from mindspore import Tensor, nn, ops
from mindspore_federated import simulate
from mindspore_federated.algorithms import Ditto, FedAvg, FedProx, Scaffold
from mindspore_federated.simulation.partition import iid_partition

pytestmark = pytest.mark.slow
CLIENTS = 20


@pytest.fixture(scope="module")
def digits():
    import gzip
    from pathlib import Path

    folder = Path(__file__).resolve().parents[2] / "examples" / "data" / "mnist"

    def read(name, offset):
        with gzip.open(folder / f"{name}.gz") as source:
            return np.frombuffer(source.read(), np.uint8, offset=offset)

    result = []
    for part in ("train", "t10k"):
        labels = read(f"{part}-labels-idx1-ubyte", 8).astype(np.int32)[:6000]
        result += [read(f"{part}-images-idx3-ubyte", 16).reshape(-1, 784)[:6000].astype(np.float32) / 255, labels]
    return result


def _two_kinds(labels):
    """The shards of McMahan et al.: digits sorted by kind, two shards for each client."""
    shards = np.array_split(np.argsort(labels, kind="stable"), 2 * CLIENTS)
    order = np.random.default_rng(0).permutation(2 * CLIENTS)
    return [np.concatenate([shards[order[2 * client]], shards[order[2 * client + 1]]]) for client in range(CLIENTS)]


def _run(digits, parts, algorithm, rounds=12, epochs=5, per_round=CLIENTS):
    x, y, test_x, test_y = digits
    mindspore.set_seed(2)
    net = nn.SequentialCell(nn.Dense(784, 32, weight_init="xavier_uniform"), nn.ReLU(), nn.Dense(32, 10))
    forward = mindspore.jit(net)
    losses, right = [], []

    def evaluate(weights):
        for parameter in net.trainable_params():
            parameter.set_data(Tensor(weights[parameter.name]))
        scores = forward(Tensor(test_x))
        losses.append(float(ops.cross_entropy(scores, Tensor(test_y)).asnumpy()))
        right.append(float(np.mean(ops.argmax(scores, 1).asnumpy() == test_y)))
        return {}

    start = {parameter.name: parameter.asnumpy().copy() for parameter in net.trainable_params()}
    history = simulate(nn.WithLossCell(net, nn.CrossEntropyLoss()), start, [(x[mine], y[mine]) for mine in parts], rounds=rounds,
                       clients_per_round=per_round, epochs=epochs, batch_size=30, learning_rate=0.1, algorithm=algorithm,
                       evaluate=evaluate)
    return np.array(losses), np.array(right), history


def test_scaffold_and_even_data_beat_fedavg(digits):
    uneven, even = _two_kinds(digits[1]), iid_partition(6000, CLIENTS)
    last = {name: float(_run(digits, parts, algorithm)[0][-1]) for name, parts, algorithm in (
        ("even", even, FedAvg()), ("fedavg", uneven, FedAvg()), ("scaffold", uneven, Scaffold()))}
    assert last["even"] < last["fedavg"], "uneven data cost FedAvg (McMahan et al.)"
    assert last["scaffold"] < last["fedavg"], "control variates remove the drift (Karimireddy et al.)"


def test_fedprox_is_calmer_where_few_clients_train_long(digits):
    uneven = _two_kinds(digits[1])
    wobble = {}
    for name, algorithm in (("fedavg", FedAvg()), ("fedprox", FedProx(1.0))):
        losses = _run(digits, uneven, algorithm, rounds=20, epochs=10, per_round=3)[0]
        wobble[name] = float(np.abs(np.diff(losses[4:])).mean())
    assert wobble["fedprox"] < 0.7 * wobble["fedavg"], "the spring calms the course (Li et al.)"


def test_personal_weights_fit_their_client_better(digits):
    x, y, _, _ = digits
    uneven = _two_kinds(y)
    _, _, history = _run(digits, uneven, Ditto(0.1), rounds=6, epochs=2)

    def wrong(weights, mine):
        hidden = np.maximum(x[mine] @ weights["0.weight"].T + weights["0.bias"], 0)
        return np.mean((hidden @ weights["2.weight"].T + weights["2.bias"]).argmax(1) != y[mine])

    own = np.mean([wrong(history.personal(client), mine) for client, mine in enumerate(uneven)])
    common = np.mean([wrong(history.weights, mine) for mine in uneven])
    assert own < common, "Ditto (Li et al., ICML 2021)"
