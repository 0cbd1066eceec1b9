"""Flower's simulation with clients that do nothing. Run by an interpreter with `flwr[simulation]`."""
import argparse
import json
import time

import numpy as np
from flwr.client import ClientApp, NumPyClient
from flwr.common import Context, ndarrays_to_parameters
from flwr.server import ServerApp, ServerAppComponents, ServerConfig
from flwr.server.strategy import FedAvg
from flwr.simulation import run_simulation

parser = argparse.ArgumentParser()
parser.add_argument("--clients", type=int, default=500)
parser.add_argument("--parameters", type=int, default=100_000)
parser.add_argument("--rounds", type=int, default=2)
parser.add_argument("--began", type=float, default=time.time())
given = parser.parse_args()
marks = []


class Nothing(NumPyClient):
    def fit(self, parameters, config):
        return parameters, 1, {}


def client_fn(context: Context):
    return Nothing().to_client()


def evaluate(server_round, parameters, config):
    marks.append(time.time())
    return 0.0, {}


def server_fn(context: Context):
    strategy = FedAvg(fraction_fit=1.0, fraction_evaluate=0.0, min_fit_clients=given.clients,
                      min_available_clients=given.clients, evaluate_fn=evaluate,
                      initial_parameters=ndarrays_to_parameters([np.zeros(given.parameters, np.float32)]))
    return ServerAppComponents(strategy=strategy, config=ServerConfig(num_rounds=given.rounds + 1))


run_simulation(ServerApp(server_fn=server_fn), ClientApp(client_fn=client_fn), given.clients,
               backend_config={"client_resources": {"num_cpus": 1}, "init_args": {"num_cpus": 2, "log_to_driver": False}})
rounds = np.diff(marks[1:])
print(json.dumps({"flower": {"start_s": round(marks[1] - given.began, 1),
                             "clients_per_s": round(given.clients / float(np.median(rounds)), 1)}}))
