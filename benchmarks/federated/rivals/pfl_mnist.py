"""Apple's pfl on LeNet over MNIST's writers. Run by an interpreter with `pfl` and torch."""
import argparse
import json
import os
import sys
import time

import torch
from pfl.aggregate.simulate import SimulatedBackend
from pfl.algorithm.base import NNAlgorithmParams
from pfl.algorithm.federated_averaging import FederatedAveraging
from pfl.callback.base import TrainingProcessCallback
from pfl.data.dataset import Dataset
from pfl.data.federated_dataset import FederatedDataset
from pfl.data.sampling import get_user_sampler
from pfl.hyperparam import NNEvalHyperParams, NNTrainHyperParams
from pfl.metrics import Metrics, Weighted
from pfl.model.pytorch import PyTorchModel

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from lenet_torch import BATCH, CLIENTS, EPOCHS, PER_ROUND, RATE, TARGET, accuracy, load, network

parser = argparse.ArgumentParser()
parser.add_argument("--rounds", type=int, default=60)
parser.add_argument("--seconds", type=float, default=1e9)
parser.add_argument("--began", type=float, default=time.time())
given = parser.parse_args()
torch.manual_seed(0)


class LeNet(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = network()

    def forward(self, x):
        return self.layers(x)

    def loss(self, x, y, is_eval=False):
        return torch.nn.functional.cross_entropy(self(x), y)

    def metrics(self, x, y, is_eval=True):
        return {"loss": Weighted(float(self.loss(x, y)) * len(y), len(y))}


class Watch(TrainingProcessCallback):
    def after_central_iteration(self, aggregate_metrics, model, *, central_iteration):
        right = accuracy(model.pytorch_model, test_x, test_y)
        print(central_iteration + 1, right, round(time.time() - given.began, 1), file=sys.stderr, flush=True)
        if right >= TARGET or central_iteration + 1 == given.rounds or time.time() - given.began > given.seconds:
            print(json.dumps({"pfl": {"rounds": central_iteration + 1, "accuracy": right,
                                      "wall_s": round(time.time() - given.began, 1)}}), flush=True)
            os._exit(0)
        return False, Metrics()


x, y, parts, test_x, test_y = load()
users = [(x[part], y[part]) for part in parts]
data = FederatedDataset(lambda user: Dataset(raw_data=list(users[user])), get_user_sampler("random", range(CLIENTS)))
net = LeNet()
model = PyTorchModel(net, torch.optim.SGD, torch.optim.SGD(net.parameters(), 1.0))
FederatedAveraging().run(
    NNAlgorithmParams(central_num_iterations=given.rounds, evaluation_frequency=1 << 30, train_cohort_size=PER_ROUND,
                      val_cohort_size=0),
    SimulatedBackend(training_data=data, val_data=data), model,
    NNTrainHyperParams(local_num_epochs=EPOCHS, local_learning_rate=RATE, local_batch_size=BATCH),
    NNEvalHyperParams(local_batch_size=None), callbacks=[Watch()])
