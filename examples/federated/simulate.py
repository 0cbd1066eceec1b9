"""Federated averaging over 100 clients with few digits each, simulated in this process.

    python examples/federated/simulate.py [--algorithm FedAvg|FedProx|Scaffold|...] [--rounds 15] [--alpha 0.3]

Every client holds 100 digits of MNIST, most of them of few kinds (Dirichlet shares, `--alpha`); 20 clients take part in a
round. Prints the accuracy on the test digits after each round.
"""
import argparse

import numpy as np
from digits import images, network

import mindspore
from mindspore import Tensor, nn, ops
from mindspore_federated import algorithms, simulate
from mindspore_federated.simulation.partition import dirichlet_partition

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--algorithm", default="FedAvg", choices=sorted(algorithms.__all__))
parser.add_argument("--rounds", type=int, default=15)
parser.add_argument("--alpha", type=float, default=0.3)
given = parser.parse_args()

mindspore.set_seed(1)
x, y = images("train")
test_x, test_y = images("t10k")
clients = [(x[mine], y[mine]) for mine in dirichlet_partition(y[:10000], 100, given.alpha)]
net = network()
forward = mindspore.jit(net)
reached = []


def accuracy(weights):
    for parameter in net.trainable_params():
        parameter.set_data(Tensor(weights[parameter.name]))
    right = ops.argmax(forward(Tensor(test_x)), 1).asnumpy() == test_y
    reached.append(float(np.mean(right)))
    print(f"{len(reached):5d}   {reached[-1]:6.1%}  {'█' * round(40 * reached[-1])}", flush=True)
    return {"accuracy": reached[-1]}


print(f"{given.algorithm}: 20 of 100 clients a round\n\nround   test digits that are right")
history = simulate(nn.WithLossCell(net, nn.CrossEntropyLoss()), None, clients, rounds=given.rounds, clients_per_round=20,
                   epochs=2, batch_size=20, learning_rate=0.1, algorithm=getattr(algorithms, given.algorithm)(),
                   evaluate=accuracy, summary_dir="federated_summary")
print(f"{given.algorithm}: {history.metrics[-1]['accuracy']:.1%} after {given.rounds} rounds; "
      "curves: mindinsight start --summary-base-dir federated_summary")
