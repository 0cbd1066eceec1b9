"""Orderings of the papers on MNIST that is not evenly spread: each client has digits of two kinds."""
import numpy as np
import pytest

import mindspore
from mindspore import Tensor, nn, ops
from mindspore_federated import simulate
from mindspore_federated.algorithms import Ditto, FedAvg, FedProx, PerFedAvg, Scaffold
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


def _run(digits, parts, algorithm, rounds=12, epochs=5):
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
                       clients_per_round=CLIENTS, epochs=epochs, batch_size=30, learning_rate=0.1, algorithm=algorithm,
                       evaluate=evaluate)
    return np.array(losses), np.array(right), history


def test_fedavg_fedprox_scaffold(digits):
    uneven, even = _two_kinds(digits[1]), iid_partition(6000, CLIENTS)
    losses = {name: _run(digits, parts, algorithm)[0] for name, parts, algorithm in (
        ("even", even, FedAvg()), ("fedavg", uneven, FedAvg()), ("fedprox", uneven, FedProx(0.1)),
        ("scaffold", uneven, Scaffold()))}
    last = {name: float(values[-1]) for name, values in losses.items()}
    assert last["even"] < last["fedavg"], "uneven data cost FedAvg (McMahan et al.)"
    assert last["scaffold"] < last["fedavg"], "control variates remove the drift (Karimireddy et al.)"
    wobble = {name: float(np.abs(np.diff(values[2:])).mean()) for name, values in losses.items()}
    assert wobble["fedprox"] <= 1.05 * wobble["fedavg"], "the spring calms the course (Li et al.)"


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


def test_a_step_from_the_meta_model_leads_further(digits):
    x, y, _, _ = digits
    uneven = _two_kinds(y)

    def after_a_step(weights, mine, rate=0.3):
        hidden = np.maximum(x[mine] @ weights["0.weight"].T + weights["0.bias"], 0)
        scores = hidden @ weights["2.weight"].T + weights["2.bias"]
        odds = np.exp(scores - scores.max(1, keepdims=True))
        slope = odds / odds.sum(1, keepdims=True)
        slope[np.arange(len(mine)), y[mine]] -= 1
        slope /= len(mine)
        back = (slope @ weights["2.weight"]) * (hidden > 0)
        moved = {"0.weight": weights["0.weight"] - rate * back.T @ x[mine], "0.bias": weights["0.bias"] - rate * back.sum(0),
                 "2.weight": weights["2.weight"] - rate * slope.T @ hidden, "2.bias": weights["2.bias"] - rate * slope.sum(0)}
        hidden = np.maximum(x[mine] @ moved["0.weight"].T + moved["0.bias"], 0)
        scores = hidden @ moved["2.weight"].T + moved["2.bias"]
        logs = scores - scores.max(1, keepdims=True)
        return float(np.mean(np.log(np.exp(logs).sum(1)) - logs[np.arange(len(mine)), y[mine]]))

    meta, plain = (_run(digits, uneven, algorithm, rounds=6, epochs=2)[2].weights for algorithm in (PerFedAvg(0.3), FedAvg()))
    assert np.mean([after_a_step(meta, mine) for mine in uneven]) < np.mean([after_a_step(plain, mine) for mine in uneven])
