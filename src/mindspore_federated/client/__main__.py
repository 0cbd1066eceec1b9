"""`python -m mindspore_federated.client --server HOST:PORT --fl-name JOB --train module:function --data-size N`."""
from __future__ import annotations

import argparse
from importlib import import_module

from mindspore_federated.client.client import FederatedClient
from mindspore_federated.client.connection import Connection, FederatedError


def main(arguments: list[str] | None = None) -> int:
    """Run a client until the job is finished."""
    parser = argparse.ArgumentParser(prog="python -m mindspore_federated.client", description="Take part in a job.")
    parser.add_argument("--server", action="append", required=True, help="host:port; give it again for other servers")
    parser.add_argument("--fl-name", required=True, help="the job's name")
    parser.add_argument("--train", required=True, help="module:function(weights, plan) -> (weights, loss)")
    parser.add_argument("--data-size", type=int, required=True, help="this client's number of samples")
    parser.add_argument("--fl-id", help="this client's name (default: a random one)")
    parser.add_argument("--rounds", type=int, help="stop after so many updates")
    parser.add_argument("--wait", type=float, default=300.0, help="seconds to wait for a place or a result")
    given = parser.parse_args(arguments)
    module, colon, name = given.train.partition(":")
    if not colon:
        parser.error("--train should be module:function")
    train = getattr(import_module(module), name)
    client = FederatedClient(Connection(given.server), given.fl_name, train, given.data_size, fl_id=given.fl_id,
                             wait=given.wait)
    try:
        print(f"updates taken: {client.run(given.rounds)}")
    except FederatedError as error:
        print(f"error: {error}")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
