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
    for end in _both(tmp_path, settings, targets):
        np.testing.assert_allclose(end, _fedcm(targets, momentum), rtol=1e-4, atol=1e-5)


def _both(folder, settings, targets):
    ends = [None, None]
    with Server(folder, settings) as server:
        def work(number):
            ends[number] = _train(settings, server.address, targets[number])

        threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
    return ends


def test_stable_masks_between_companies(tmp_path):
    targets = np.array([[1.0, -2.0], [3.0, 4.0]])
    settings = write_yaml(tmp_path / "job.yaml", server_mode="CLOUD_TRAINING", fl_iteration_num=ROUNDS,
                          round__start_fl_job_threshold=2, encrypt__encrypt_train_type="STABLE_PW_ENCRYPT",
                          encrypt__pw_encrypt={"share_secrets_ratio": 1.0, "cipher_time_window": 20000,
                                               "reconstruct_secrets_threshold": 1})
    common = np.ones(2)                                     # the server's first model
    first = np.mean([target + (1 - RATE) ** STEPS * (0 - target) for target in targets], axis=0)
    for number in range(ROUNDS):
        local = first if number == 0 else common + (1 - (1 - RATE) ** STEPS) * (targets.mean(axis=0) - common)
        common = local
    for end in _both(tmp_path, settings, targets):          # an average of weights, as without masks
        np.testing.assert_allclose(end, common, atol=1e-5)
