"""Clients a simulation handles in a second when the clients do nothing: what the machinery itself costs.

    python benchmarks/federated/noop.py [--flower PYTHON]

500 clients a round, 100,000 float32 parameters. The start is the time from the start of the process to the end of round 1.
`--flower` names the interpreter of an environment with `flwr[simulation]`.
"""
from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def ours(began, clients, parameters, rounds):
    import numpy as np

    from mindspore_federated import simulate

    marks = []

    def evaluate(weights):
        marks.append((time.time(), time.process_time()))
        return {}

    simulate(None, {"w": np.zeros(parameters, np.float32)}, clients, rounds=rounds + 1, clients_per_round=clients,
             client_update=lambda vectors, ids: vectors, evaluate=evaluate)
    wall, cpu = (marks[-1][place] - marks[0][place] for place in (0, 1))
    return {"start_s": round(marks[0][0] - began, 2), "clients_per_s": round(rounds * clients / wall),
            "clients_per_cpu_s": round(rounds * clients / cpu)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", type=int, default=500)
    parser.add_argument("--parameters", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--flower", help="python of an environment with flwr[simulation]")
    parser.add_argument("--began", type=float, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.began is not None:
        print(json.dumps({"ours": ours(given.began, given.clients, given.parameters, given.rounds)}))
        return
    size = ["--clients", str(given.clients), "--parameters", str(given.parameters)]
    subprocess.run([sys.executable, __file__, *size, "--rounds", str(given.rounds), "--began", str(time.time())], check=True)
    if given.flower:
        subprocess.run([given.flower, os.path.join(HERE, "rivals", "flower_noop.py"), *size, "--began", str(time.time())],
                       check=True)


if __name__ == "__main__":
    main()
