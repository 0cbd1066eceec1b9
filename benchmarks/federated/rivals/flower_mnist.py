"""Flower's simulation of LeNet over MNIST's writers. Run by an interpreter with `flwr[simulation]` and torch."""
import argparse
import json
import os
import sys
import time

import numpy as np
import torch
from flwr.client import ClientApp, NumPyClient
from flwr.common import Context, ndarrays_to_parameters
from flwr.server import ServerApp, ServerAppComponents, ServerConfig
from flwr.server.strategy import FedAvg
from flwr.simulation import run_simulation

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
from lenet_torch import BATCH, CLIENTS, EPOCHS, PER_ROUND, RATE, TARGET, accuracy, load, network, train_one, values  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("--rounds", type=int, default=60)
parser.add_argument("--seconds", type=float, default=1e9)
parser.add_argument("--began", type=float, default=time.time())
given = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(0)
curve = []
state = {}


class Writer(NumPyClient):
    def __init__(self, number):
        self.number = number

    def fit(self, parameters, config):
        if not state:                                       # once in each of Ray's workers
            torch.set_num_threads(1)
            state["data"], state["net"] = load(), network()
        net = state["net"]
        for weight, value in zip(net.parameters(), parameters):
            weight.data = torch.from_numpy(np.array(value))
        x, y, parts, _, _ = state["data"]
        mine = parts[self.number]
        train_one(net, x[mine], y[mine], EPOCHS, BATCH, RATE)
        return values(net), len(mine), {}


def client_fn(context: Context):
    return Writer(int(context.node_config["partition-id"])).to_client()


def evaluate(server_round, parameters, config):
    if not state:
        state["data"], state["net"] = load(), network()
    net = state["net"]
    for weight, value in zip(net.parameters(), parameters):
        weight.data = torch.from_numpy(np.array(value))
    right = accuracy(net, *state["data"][3:])
    curve.append((server_round, right, round(time.time() - given.began, 1)))
    print(curve[-1], file=sys.stderr, flush=True)
    if right >= TARGET or server_round == given.rounds or time.time() - given.began > given.seconds:
        print(json.dumps({"flower": {"rounds": server_round, "accuracy": right, "wall_s": curve[-1][2]}}), flush=True)
        os._exit(0)
    return 0.0, {}


def server_fn(context: Context):
    strategy = FedAvg(fraction_fit=PER_ROUND / CLIENTS, fraction_evaluate=0.0, min_fit_clients=PER_ROUND,
                      min_available_clients=CLIENTS, evaluate_fn=evaluate,
                      initial_parameters=ndarrays_to_parameters(values(network())))
    return ServerAppComponents(strategy=strategy, config=ServerConfig(num_rounds=given.rounds))


run_simulation(ServerApp(server_fn=server_fn), ClientApp(client_fn=client_fn), CLIENTS,
               backend_config={"client_resources": {"num_cpus": 1}, "init_args": {"num_cpus": 2, "log_to_driver": False}})
