"""The simulation on a local Ray gives the bits of the simulation in this process (`make test-ray`)."""
import numpy as np
import pytest

from mindspore import nn
from mindspore_federated import simulate
from mindspore_federated.algorithms import FedAvg, FedMedian, FedNova, Scaffold

ray = pytest.importorskip("ray", reason="Ray is not installed: make test-ray")


@pytest.fixture(scope="module", autouse=True)
def cluster():
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


def _clients():
    rng = np.random.default_rng(1)
    return [(rng.normal(size=(6 + number % 5, 3)).astype(np.float32), rng.integers(0, 2, 6 + number % 5).astype(np.int32))
            for number in range(20)]


@pytest.mark.parametrize("algorithm", [FedAvg, Scaffold, FedNova, FedMedian], ids=lambda one: one.__name__)
def test_the_same_bits(algorithm):
    from mindspore_federated.simulation.on_ray import RayRunner

    network = nn.WithLossCell(nn.SequentialCell(nn.Dense(3, 4), nn.BatchNorm1d(4), nn.Dense(4, 2)), nn.CrossEntropyLoss())
    network.set_train()

    def run(**more):
        return simulate(network, None, _clients(), rounds=3, clients_per_round=12, epochs=2, batch_size=4, chunk=4,
                        algorithm=algorithm(), dropout=0.2, **more)

    runner = RayRunner(workers=2)
    there, here = run(runner=runner), run()
    runner.close()
    assert there.clients == here.clients and there.losses == here.losses
    for name, value in here.weights.items():
        np.testing.assert_array_equal(there.weights[name], value)


def test_wrong_numbers_of_workers():
    from mindspore_federated.simulation.on_ray import RayRunner

    with pytest.raises(ValueError, match="at least 1"):
        RayRunner(workers=0)
