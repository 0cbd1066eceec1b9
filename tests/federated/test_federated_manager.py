"""FederatedLearningManager in `Model.train` against a real server; the oracle is the algorithm in NumPy."""
import threading

import numpy as np
import pytest
from federated_processes import Server, write_yaml

from mindspore import Parameter, Tensor, dataset, nn
from mindspore.train import Model
from mindspore_federated import FederatedLearningManager

RATE, STEPS, ROUNDS = 0.1, 2, 3


class _Distance(nn.Cell):
    """Half the squared distance of `bias` to the client's target: the gradient is bias - target."""

    def __init__(self, target):
        super().__init__()
        self.bias = Parameter(Tensor(np.zeros(2, np.float32)), name="bias")
        self.target = Tensor(np.float32(target))

    def construct(self, x):
        return 0.5 * ((self.bias - self.target) ** 2).sum() + 0.0 * x.sum()


def _train(settings, address, target):
    net = _Distance(target)
    manager = FederatedLearningManager(settings, net, STEPS, http_server_address=address, data_size=1)
    rows = dataset.NumpySlicesDataset({"x": np.zeros((STEPS * ROUNDS, 1), np.float32)}, shuffle=False)
    Model(net, optimizer=nn.SGD(net.trainable_params(), RATE)).train(1, rows, callbacks=[manager], dataset_sink_mode=False)
    return net.bias.asnumpy()


def _fedcm(targets, momentum):
    common, direction = np.zeros(2), np.zeros(2)
    for _ in range(ROUNDS):
        ends = []
        for target in targets:
            local = common.copy()
            for _ in range(STEPS):
                local -= RATE * ((1 - momentum) * (local - target) + momentum * direction)
            ends.append(local)
        mean = np.mean(ends, axis=0)
        common, direction = mean, (common - mean) / (RATE * STEPS)
    return common


@pytest.mark.parametrize("momentum", [0.0, 0.5, 0.9])
def test_fedcm_follows_the_paper(tmp_path, momentum):
    targets = np.array([[1.0, -2.0], [3.0, 4.0]])
    settings = write_yaml(tmp_path / "job.yaml", server_mode="CLOUD_TRAINING", fl_iteration_num=ROUNDS,
                          round__start_fl_job_threshold=2, aggregation__aggregation_type="FedCM",
                          aggregation__client_momentum=momentum)
    ends = [None, None]
    with Server(tmp_path, settings) as server:
        def work(number):
            ends[number] = _train(settings, server.address, targets[number])

        threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
    for end in ends:
        np.testing.assert_allclose(end, _fedcm(targets, momentum), rtol=1e-4, atol=1e-5)
