"""`python -m mindspore_federated.client --server HOST:PORT --fl-name JOB` and what to train:

    --train module:function --data-size N           a function of your own, (weights, plan) -> (weights, loss)
    --model net.mindir --loss MSELoss --data d.npz   an exported network, trained on the arrays x and y of a file
    --model net.ms --data d.npz                      a model converted for training, by the small runtime

`--ca` and `--p12` speak HTTPS and show a certificate, `--key` and its certificates prove which device this is.
"""
from __future__ import annotations

import argparse
import os
import ssl
from importlib import import_module

import numpy as np

from mindspore_federated.client.client import FederatedClient, Train
from mindspore_federated.client.connection import Connection, FederatedError
from mindspore_federated.common.pki import Authority, Identity
from mindspore_federated.common.tls import TlsFiles, client_context

_CHAIN = ("key_attestation", "equip_cert", "equip_ca_cert")


def main(arguments: list[str] | None = None) -> int:
    """Run a client until the job is finished."""
    parser = _parser()
    given = parser.parse_args(arguments)
    try:
        train, size = _training(parser, given)
        client = FederatedClient(
            Connection(given.server, tls=_tls(given), prefix=given.prefix, identity=_identity(parser, given)), given.fl_name,
            train, size, fl_id=given.fl_id, wait=given.wait, authority=Authority(given.root) if given.root else None)
        print(f"updates taken: {client.run(given.rounds)}")
    except (FederatedError, RuntimeError, OSError, ValueError) as error:
        print(f"error: {error}")
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m mindspore_federated.client", description="Take part in a job.")
    parser.add_argument("--server", action="append", required=True, help="host:port; give it again for other servers")
    parser.add_argument("--fl-name", required=True, help="the job's name")
    parser.add_argument("--train", help="module:function(weights, plan) -> (weights, loss)")
    parser.add_argument("--data-size", type=int, help="this client's number of samples, with --train")
    parser.add_argument("--model", help="a .mindir or .ms file to train instead")
    parser.add_argument("--loss", default="CrossEntropyLoss", help="the loss of mindspore.nn for a .mindir file")
    parser.add_argument("--data", help="a .npz file with the arrays x and y, with --model")
    parser.add_argument("--fl-id", help="this client's name (default: a random one)")
    parser.add_argument("--rounds", type=int, help="stop after so many updates")
    parser.add_argument("--wait", type=float, default=300.0, help="seconds to wait for a place or a result")
    parser.add_argument("--prefix", default="", help="the job's client.http_url_prefix")
    parser.add_argument("--ca", default="", help="the authority's certificate: speak HTTPS")
    parser.add_argument("--crl", default="", help="its list of revoked certificates")
    parser.add_argument("--p12", default="", help="this client's certificate and key, with --ca")
    parser.add_argument("--key", help="PEM file with the device's attested key (pki_verify)")
    for name in _CHAIN:
        parser.add_argument(f"--{name.replace('_', '-')}", help="PEM file, with --key")
    parser.add_argument("--root", action="append", help="root certificate by which other clients are checked; may be repeated")
    parser.epilog = "Passwords come from the environment: FL_P12_PASSWORD, FL_KEY_PASSWORD."
    return parser


def _training(parser: argparse.ArgumentParser, given: argparse.Namespace) -> tuple[Train, int]:
    if bool(given.train) == bool(given.model):
        parser.error("give either --train or --model")
    if given.train:
        module, colon, name = given.train.partition(":")
        if not colon or given.data_size is None:
            parser.error("--train should be module:function, with --data-size")
        function: Train = getattr(import_module(module), name)
        return function, given.data_size
    if not given.data or not given.model.endswith((".mindir", ".ms")):
        parser.error("--model should be a .mindir or .ms file, with --data")
    from mindspore_federated.client.training import file_trainer

    with np.load(given.data, allow_pickle=False) as arrays:
        missing = {"x", "y"} - set(arrays.files)
        if missing:
            raise ValueError(f"{given.data} should have the arrays x and y, but has {arrays.files}")
        x, y = arrays["x"], arrays["y"]
    trainer: Train = file_trainer(given.model, given.loss, x, y)
    return trainer, len(y)


def _tls(given: argparse.Namespace) -> ssl.SSLContext | None:
    if not given.ca:
        return None
    return client_context(TlsFiles(client_cert=given.p12, ca_cert=given.ca, crl=given.crl,
                                   client_password=os.environ.get("FL_P12_PASSWORD", "")))


def _identity(parser: argparse.ArgumentParser, given: argparse.Namespace) -> Identity | None:
    if not given.key:
        return None
    if not all(getattr(given, name) for name in _CHAIN):
        parser.error("--key needs --key-attestation, --equip-cert and --equip-ca-cert")
    return Identity.load(given.key, given.key_attestation, given.equip_cert, given.equip_ca_cert,
                         os.environ.get("FL_KEY_PASSWORD", "").encode() or None)


if __name__ == "__main__":
    raise SystemExit(main())
