"""Simulation: against closed forms, the same seed gives the same bits, the papers' orderings."""
import json

import numpy as np
import pytest

from mindspore import nn, ops
from mindspore_federated import simulate
from mindspore_federated.algorithms import (
    Clustered,
    Ditto,
    FedAdam,
    FedAvg,
    FedCM,
    FedMedian,
    FedNova,
    FedProx,
    FedYogi,
    Krum,
    MultiKrum,
    PerFedAvg,
    PFedMe,
    Scaffold,
    TrimmedMean,
)
from mindspore_federated.privacy.central_dp import CentralDP
from mindspore_federated.simulation.partition import by_writer, dirichlet_partition, iid_partition, read_leaf
from mindspore_federated.simulation.trace import read_trace
from mindspore_federated.simulation.training import BATCH, Trainer, generator

ALGORITHMS = [FedAvg(), FedProx(0.1), Scaffold(), FedNova(), FedAdam(0.1), FedYogi(0.1), FedMedian(), TrimmedMean(0.2),
              MultiKrum(1), Ditto(), PerFedAvg(), PFedMe(), FedCM(0.5), Clustered(2)]


def _quadratic(weights, x, y):
    """Half the squared distance to the mean of x: its gradient is w - mean(x)."""
    return 0.5 * ops.reduce_sum(ops.square(weights["w"] - ops.reduce_mean(x, 0)))


def _clients(centres, samples=8):
    return [(np.full((samples, len(centre)), centre, np.float32), np.zeros(samples, np.int32)) for centre in centres]


def test_one_step_of_fedavg_is_the_closed_form():
    clients = _clients([[1.0, 2.0], [3.0, -1.0]])
    clients[1] = (clients[1][0][:4], clients[1][1][:4])          # half the samples, half the weight
    history = simulate(_quadratic, {"w": np.zeros(2, np.float32)}, clients, rounds=1, clients_per_round=2, batch_size=8,
                       learning_rate=0.5)
    expected = 0.5 * (8 * np.array([1.0, 2.0]) + 4 * np.array([3.0, -1.0])) / 12
    np.testing.assert_allclose(history.weights["w"], expected, rtol=1e-6)


def test_fedprox_with_a_strong_spring_stays_near_the_start():
    clients = _clients([[4.0], [4.0]])
    ends = [simulate(_quadratic, {"w": np.zeros(1, np.float32)}, clients, rounds=1, clients_per_round=2, epochs=20,
                     algorithm=FedProx(mu), batch_size=8, learning_rate=0.1).weights["w"][0] for mu in (0.0, 1.0, 5.0)]
    np.testing.assert_allclose(ends[1], 4.0 / 2 * (1 - 0.8 ** 20), rtol=1e-4)
    assert ends[0] > ends[1] > ends[2] > 0


def test_scaffold_removes_the_drift_that_fedavg_keeps():
    """Curvatures differ: after many local steps FedAvg's fixed point is not the minimum of the sum, Scaffold's is."""
    def loss(weights, x, y):
        return 0.5 * ops.reduce_mean(x[:, 0]) * ops.reduce_sum(ops.square(weights["w"] - ops.reduce_mean(x[:, 1])))

    clients = [(np.tile(np.float32([[1.0, 0.0]]), (8, 1)), np.zeros(8, np.int32)),
               (np.tile(np.float32([[9.0, 1.0]]), (8, 1)), np.zeros(8, np.int32))]
    options = {"rounds": 60, "clients_per_round": 2, "epochs": 10, "batch_size": 8, "learning_rate": 0.1}
    start = {"w": np.zeros(1, np.float32)}
    plain = simulate(loss, start, clients, algorithm=FedAvg(), **options).weights["w"][0]
    controlled = simulate(loss, start, clients, algorithm=Scaffold(), **options).weights["w"][0]
    assert abs(controlled - 0.9) < 1e-3, "the minimum of the sum is 9/10"
    assert abs(plain - 0.9) > 0.1


def test_fednova_does_not_follow_the_client_with_more_steps():
    """A client with four times the steps but the same number of samples in its epoch pulls no harder per step."""
    clients = _clients([[1.0], [-1.0]], 32)
    clients[1] = (clients[1][0][:8], clients[1][1][:8])
    options = {"rounds": 100, "clients_per_round": 2, "epochs": 3, "batch_size": 8, "learning_rate": 0.01}
    start = {"w": np.zeros(1, np.float32)}
    nova = simulate(_quadratic, start, clients, algorithm=FedNova(), **options).weights["w"][0]
    average = simulate(_quadratic, start, clients, algorithm=FedAvg(), **options).weights["w"][0]
    wanted = (32 * 1.0 - 8) / 40                                  # the minimum of the sample-weighted objective
    assert abs(nova - wanted) < abs(average - wanted)


class _Network(nn.Cell):
    def __init__(self):
        super().__init__()
        self.body = nn.SequentialCell(nn.Dense(3, 4), nn.ReLU(), nn.Dense(4, 2))
        self.loss = nn.CrossEntropyLoss()

    def construct(self, x, y):
        return self.loss(self.body(x), y)


def test_a_network_is_trained_as_its_function():
    """The oracle: the same network written as a function of its weights. The network itself does not change."""
    def loss(weights, x, y):
        hidden = ops.relu(ops.matmul(x, weights["body.0.weight"].T) + weights["body.0.bias"])
        return ops.cross_entropy(ops.matmul(hidden, weights["body.2.weight"].T) + weights["body.2.bias"], y)

    random = np.random.default_rng(5)
    clients = [(random.normal(size=(n, 3)).astype(np.float32), random.integers(0, 2, n).astype(np.int32))
               for n in (5, 9, 17)]
    options = {"rounds": 3, "clients_per_round": 2, "epochs": 2, "batch_size": 4, "learning_rate": 0.3}
    network = _Network()
    start = {item.name: item.asnumpy().copy() for item in network.trainable_params()}
    for algorithm in (FedAvg, Scaffold):
        trained = simulate(network, None, clients, algorithm=algorithm(), **options)
        expected = simulate(loss, start, clients, algorithm=algorithm(), **options)
        assert list(trained.weights) == list(start)
        for name, value in expected.weights.items():
            assert not np.allclose(value, start[name])
            np.testing.assert_allclose(trained.weights[name], value, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(trained.losses, expected.losses, rtol=1e-4)
        for item in network.trainable_params():
            np.testing.assert_array_equal(item.asnumpy(), start[item.name])
    from_zero = {name: np.zeros_like(value) for name, value in reversed(start.items())}
    zero = simulate(network, from_zero, clients, **{**options, "rounds": 1})
    assert abs(zero.losses[0] - np.log(2)) < 1e-6, "the given start counts, in any order"
    with pytest.raises(ValueError, match="initial should have the network's trainable parameters"):
        simulate(network, {"w": np.zeros(3, np.float32)}, clients, **options)
    with pytest.raises(ValueError, match=r"can be left out only where loss is an nn\.Cell"):
        simulate(loss, None, clients, **options)


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda one: type(one).__name__)
def test_every_algorithm_finds_the_common_minimum(algorithm):
    clients = _clients([[1.0, -2.0]] * 6)
    history = simulate(_quadratic, {"w": np.zeros(2, np.float32)}, clients, rounds=60, clients_per_round=5,
                       algorithm=algorithm, epochs=4, batch_size=8, learning_rate=0.1)
    np.testing.assert_allclose(history.weights["w"], [1.0, -2.0], atol=0.15)


@pytest.mark.parametrize("algorithm, holds", [(FedAvg(), False), (FedMedian(), True), (TrimmedMean(0.25), True),
                                              (Krum(2), True), (MultiKrum(2), True)],
                         ids=lambda one: type(one).__name__)
def test_poisoned_clients(algorithm, holds):
    clients = _clients([[1.0]] * 6 + [[-500.0]] * 2)
    history = simulate(_quadratic, {"w": np.zeros(1, np.float32)}, clients, rounds=20, clients_per_round=8,
                       algorithm=algorithm, batch_size=8, learning_rate=0.3)
    assert (abs(history.weights["w"][0] - 1.0) < 0.05) == holds


def test_personal_weights_fit_their_client():
    clients = _clients([[5.0], [-5.0]])
    for algorithm in (Ditto(0.1), PFedMe(strength=1.0, inner_rate=0.3)):
        history = simulate(_quadratic, {"w": np.zeros(1, np.float32)}, clients, rounds=30, clients_per_round=2,
                           algorithm=algorithm, epochs=3, batch_size=8, learning_rate=0.1)
        assert abs(history.weights["w"][0]) < 0.5
        assert history.personal(0)["w"][0] > 2 and history.personal(1)["w"][0] < -2


def test_same_seed_same_bits_and_other_chunks_same_model():
    random = np.random.default_rng(3)
    clients = [(random.normal(size=(n, 3)).astype(np.float32), np.zeros(n, np.int32)) for n in (5, 9, 17, 8, 21)]
    options = {"rounds": 5, "clients_per_round": 3, "epochs": 2, "batch_size": 4, "learning_rate": 0.1, "dropout": 0.3, "seed": 11}
    start = {"w": np.zeros(3, np.float32)}
    first = simulate(_quadratic, start, clients, **options)
    again = simulate(_quadratic, start, clients, **options)
    assert first.weights["w"].tobytes() == again.weights["w"].tobytes() and first.clients == again.clients
    other = simulate(_quadratic, start, clients, chunk=1, **options)
    np.testing.assert_allclose(other.weights["w"], first.weights["w"], rtol=1e-5, atol=1e-6)
    assert simulate(_quadratic, start, clients, **{**options, "seed": 12}).clients != first.clients


def test_slow_clients_miss_the_deadline():
    history = simulate(None, {"w": np.zeros(4, np.float32)}, 10, rounds=3, clients_per_round=10,
                       client_update=lambda vectors, ids: vectors + 1, speeds=[1.0] * 5 + [0.1] * 5, deadline=2.0)
    assert all(max(ids) < 5 for ids in history.clients)
    np.testing.assert_array_equal(history.weights["w"], 3)


def test_partitions_cover_every_sample_once(tmp_path):
    labels = np.random.default_rng(0).integers(0, 10, 500)
    for parts in (iid_partition(500, 7), dirichlet_partition(labels, 20, 0.1), by_writer(labels)):
        assert np.array_equal(np.sort(np.concatenate(parts)), np.arange(500))
        assert min(map(len, parts)) >= 1
    skew = [len(np.unique(labels[part])) for part in dirichlet_partition(labels, 10, 0.05)]
    assert np.mean(skew) < np.mean([len(np.unique(labels[part])) for part in dirichlet_partition(labels, 10, 100.0)])
    (tmp_path / "a.json").write_text('{"users": ["u"], "user_data": {"u": {"x": [[1, 2], [3, 4]], "y": [0, 1]}}}')
    (x, y), = read_leaf(str(tmp_path))
    assert x.shape == (2, 2) and y.tolist() == [0, 1]


def test_leaf_files_of_text_and_wrong_ones(tmp_path):
    path = tmp_path / "plays.json"
    path.write_text(json.dumps({"users": ["romeo"], "num_samples": [2],
                                "user_data": {"romeo": {"x": ["but soft", "what ligh"], "y": ["w", "t"]}}}))
    (x, y), = read_leaf(str(tmp_path), encode=lambda lines: np.array([len(line) for line in lines]))
    assert x.tolist() == [8, 9] and y.tolist() == [1, 1]
    with pytest.raises(ValueError, match=r"plays\.json: the samples of user 'romeo' are no numbers"):
        read_leaf(str(tmp_path))
    for text, words in (('{"users": ["u"], "user_data": {}}', "user 'u' should have as many"), ("{}", "keys users and user_data"),
                        ("[", "is no JSON")):
        path.write_text(text)
        with pytest.raises(ValueError, match=words):
            read_leaf(str(tmp_path))


def test_clusters_are_found():
    """IFCA: two kinds of clients, whose own minima are far apart and whose common model suits nobody."""
    clients = _clients([[5.0], [-5.0], [5.0], [-5.0], [5.0], [-5.0]])
    algorithm = Clustered(2, spread=1.0)
    history = simulate(_quadratic, {"w": np.zeros(1, np.float32)}, clients, rounds=30, clients_per_round=4, algorithm=algorithm,
                       epochs=3, batch_size=8, learning_rate=0.1)
    assert algorithm.cluster(0) == algorithm.cluster(2) != algorithm.cluster(1) == algorithm.cluster(3)
    for number in range(6):
        np.testing.assert_allclose(history.personal(number)["w"], [5.0 if number % 2 == 0 else -5.0], atol=0.1)
    with pytest.raises(ValueError, match="looks at the clients' losses"):
        simulate(None, {"w": np.zeros(1, np.float32)}, 3, rounds=1, clients_per_round=1, client_update=lambda v, i: v,
                 algorithm=Clustered())


def test_a_trace_tells_who_is_there_and_how_fast(tmp_path):
    path = tmp_path / "devices.csv"
    path.write_text("client,speed,from,to\n0,1,,\n1,0.1,,\n2,1,0,2\n3,1,100,200\n2,1,50,60\n")

    def run(period=None, **more):
        return simulate(None, {"w": np.zeros(1, np.float32)}, 4, client_update=lambda vectors, ids: vectors + 1,
                        trace=read_trace(str(path), period), **{"rounds": 4, "clients_per_round": 4, **more})

    history = run(deadline=3.0)
    assert history.clients == [[0, 2], [0], [0], [0]], "1 is too slow, 2 leaves, 3 is not there yet"
    assert history.seconds == [3.0, 6.0, 9.0, 12.0], "rounds wait for 1 until the deadline"
    assert run().seconds == [10.0, 20.0, 30.0, 40.0] and run().clients[0] == [0, 1, 2], "without one they wait for it"
    path.write_text("client,speed,from,to\n0,1,5,8\n")
    alone = {"rounds": 3, "clients_per_round": 1}

    def only(period=None):
        return simulate(None, {"w": np.zeros(1, np.float32)}, 1, client_update=lambda vectors, ids: vectors + 1,
                        trace=read_trace(str(path), period), **alone)

    assert only().seconds == [6.0, 7.0, 8.0]
    alone["rounds"] = 4
    assert only(10.0).seconds == [6.0, 7.0, 8.0, 16.0], "the next day"
    with pytest.raises(ValueError, match="the trace ends: after 8 s"):
        only()
    for text, words in (("client,pace\n", "columns client, speed"), ("client,speed\n1,1\n", "without gaps"),
                        ("client,speed\n0,fast\n", "line 2"), ("client,speed\n0,0\n", "above 0"),
                        ("client,speed,from,to\n0,1,5,3\n", "should rise")):
        path.write_text(text)
        with pytest.raises(ValueError, match=words):
            read_trace(str(path))


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="clients_per_round should be in"):
        simulate(None, {"w": np.zeros(1, np.float32)}, 3, rounds=1, clients_per_round=4, client_update=lambda v, i: v)
    with pytest.raises(ValueError, match="either loss or client_update"):
        simulate(None, {"w": np.zeros(1, np.float32)}, 3, rounds=1, clients_per_round=1)


class _Normalised(nn.Cell):
    """A network with moving averages, and its loss."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(2, 3, weight_init="ones")
        self.norm = nn.BatchNorm1d(3, momentum=0.9)

    def construct(self, x, y):
        return ((self.norm(self.dense(x)).sum(1) - y) ** 2).mean()


def test_moving_averages_follow_each_client_and_are_averaged():
    rng = np.random.default_rng(0)
    clients = [(rng.normal(number, 1, (8 * (number + 1), 2)).astype(np.float32), np.zeros(8 * (number + 1), np.float32))
               for number in range(2)]
    network = _Normalised()
    network.set_train()
    start = {parameter.name: parameter.asnumpy().copy() for parameter in network.get_parameters()}
    history = simulate(network, None, clients, rounds=1, clients_per_round=2, batch_size=8, learning_rate=0.0)
    assert set(history.weights) == set(start)

    expected, samples = np.zeros(3), 0
    for number, (x, _) in enumerate(clients):
        mean, order = np.zeros(3), generator(0, BATCH, 0, number).permutation(len(x))
        for at in range(0, len(x), 8):
            hidden = x[order[at:at + 8]] @ start["dense.weight"].T + start["dense.bias"]
            mean = 0.9 * mean + 0.1 * hidden.mean(axis=0)
        expected, samples = expected + len(x) * mean, samples + len(x)
    np.testing.assert_allclose(history.weights["norm.moving_mean"], expected / samples, rtol=1e-5)
    for parameter in network.get_parameters():
        np.testing.assert_array_equal(parameter.asnumpy(), start[parameter.name], err_msg="the network is left as it was")


def test_curves_for_mindinsight(tmp_path):
    simulate(None, {"w": np.zeros(2, np.float32)}, 4, rounds=3, clients_per_round=2, summary_dir=str(tmp_path),
             client_update=lambda vectors, ids: vectors, evaluate=lambda weights: {"accuracy": 0.5})
    data = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert data.count(b"accuracy") == 3 and data.count(b"loss") >= 3


def _squared(weights, x, y):
    return ((x @ weights["w"] - y) ** 2).mean()


@pytest.mark.parametrize("algorithm", [FedAvg, Scaffold, FedNova, PFedMe, Clustered, CentralDP], ids=lambda one: one.__name__)
def test_lent_copies_bring_everything_back(algorithm):
    """What a runner in other processes does: the same bits as training in place."""
    class Elsewhere:
        def start(self, plan, clients):
            self.trainer = Trainer(plan, clients)

        def run(self, algorithm, vector, state, chunks, number):
            for ids in chunks:
                lent = algorithm.lend(ids)
                part = self.trainer.train(lent, vector, state, ids, number)
                algorithm.take_back(lent)
                yield part

    rng = np.random.default_rng(1)
    clients = [(rng.normal(size=(4 + number, 3)).astype(np.float32), rng.normal(size=4 + number).astype(np.float32))
               for number in range(6)]

    def run(**more):
        one = algorithm(clip=1.0, noise_multiplier=0.0) if algorithm is CentralDP else algorithm()
        history = simulate(_squared, {"w": np.zeros(3, np.float32)}, clients, rounds=4, clients_per_round=4, epochs=2,
                           batch_size=2, algorithm=one, chunk=2, **more)
        return history.weights["w"], [history.personal(number)["w"] for number in range(6)]

    for here, there in zip(run(), run(runner=Elsewhere())):
        np.testing.assert_array_equal(here, there)


CURVES, CENTRES = np.array([0.5, 1.0, 2.0]), np.array([-1.0, 0.0, 4.0])


def _curved(weights, x, y):
    """a/2 (w - c)^2 of a client whose samples are all (a, c)."""
    return 0.5 * x[0, 0] * (weights["w"][0] - x[0, 1]) ** 2


def _on_curves(algorithm, rounds=400):
    clients = [(np.tile(np.float32([a, c]), (4, 1)), np.zeros(4, np.int32)) for a, c in zip(CURVES, CENTRES)]
    history = simulate(_curved, {"w": np.zeros(1, np.float32)}, clients, rounds=rounds, clients_per_round=3, batch_size=4,
                       learning_rate=0.1, algorithm=algorithm)
    return float(history.weights["w"][0]), [float(history.personal(client)["w"][0]) for client in range(3)]


def _weighted(weights):
    return float(weights @ CENTRES / weights.sum())


def test_the_meta_model_is_where_adapted_gradients_cancel():
    rate = 0.3                                              # Fallah et al., first order: sum of f'(w - rate f'(w)) = 0
    assert _on_curves(PerFedAvg(rate))[0] == pytest.approx(_weighted(CURVES * (1 - rate * CURVES)), abs=1e-4)
    assert _on_curves(FedAvg())[0] == pytest.approx(_weighted(CURVES), abs=1e-4)


def test_moreau_envelopes_of_quadratics():
    strength = 2.0                                          # Dinh et al.: the envelope's gradient is strength (w - own)
    common, personal = _on_curves(PFedMe(strength, inner_steps=60, inner_rate=0.2))
    assert common == pytest.approx(_weighted(CURVES / (CURVES + strength)), abs=1e-3)
    own = (CURVES * CENTRES + strength * common) / (CURVES + strength)
    np.testing.assert_allclose(personal, own, atol=1e-3)


def test_ditto_ties_personal_weights_to_the_common_ones():
    strength = 1.0
    common, personal = _on_curves(Ditto(strength))
    assert common == pytest.approx(_weighted(CURVES), abs=1e-4)
    np.testing.assert_allclose(personal, (CURVES * CENTRES + strength * common) / (CURVES + strength), atol=1e-3)
