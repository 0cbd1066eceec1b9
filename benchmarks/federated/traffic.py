"""Bytes of an upload by kind, and the accuracy that training with it reaches: MNIST, two dense layers, 20 clients a round.

    python benchmarks/federated/traffic.py [--rounds 40]

Simulated with the code that clients and servers use: DIFF_SPARSE_QUANT and SignDS as on the wire, sizes as encoded.
"""
from __future__ import annotations

import argparse
import json

import numpy as np
from writers import images, writers

import mindspore
from mindspore import Tensor, nn, ops
from mindspore_federated import simulate
from mindspore_federated.algorithms import FedAvg
from mindspore_federated.compression import decode_diff_sparse_quant, encode_diff_sparse_quant
from mindspore_federated.privacy.signds import select
from mindspore_federated.wire.flat import encode

SIGNDS = {"sign_k": 0.2, "eps": 100.0, "threshold": 0.6, "dim_out": 50}
SIGNDS_RATE = 0.2


class _Wire(FedAvg):
    """FedAvg whose changes pass through an encoding; counts the bytes of the messages."""

    kind = "plain"

    def prepare(self, size, clients):
        self.bytes = self.uploads = self.round = 0
        self.random = np.random.default_rng(0)

    def local_end(self, weights, round):
        sent = []
        for row in weights:
            message = {"fl_name": "job", "fl_id": "0123456789abcdef", "iteration": 1, "timestamp": "1700000000000"}
            change, more = self.coded(round.start, row)
            sent.append(change)
            self.bytes += len(encode("RequestUpdateModel", {**message, **more}))
            self.uploads += 1
        return np.stack(sent), round.sizes

    def coded(self, start, row):
        return row - start, {"feature_map": [{"weight_fullname": "w", "data": row}]}


class _Sparse(_Wire):
    kind = "DIFF_SPARSE_QUANT 0.4"

    def coded(self, start, row):
        self.round += 1
        maps, names = encode_diff_sparse_quant({"w": row}, {"w": start}, 0.4, self.round)
        back = decode_diff_sparse_quant(maps, names, {"w": start}, 0.4, self.round, 1.0)["w"]
        return back - start, {"compress_feature_map": maps, "name_vec": names}


class _SignDS(_Wire):
    kind = "SIGNDS"

    def coded(self, start, row):
        sign, indices = select(row - start, SIGNDS["sign_k"], SIGNDS["eps"], SIGNDS["threshold"], SIGNDS["dim_out"], self.random)
        change = np.zeros_like(start)
        change[indices] = sign * SIGNDS_RATE
        return change, {"sign": sign, "index_array": indices}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--signds-rounds", type=int, default=400)
    given = parser.parse_args()
    x, y = images("train")
    test_x, test_y = images("t10k")
    x, test_x = x.reshape(len(y), 784), test_x.reshape(len(test_y), 784)
    clients = [(x[mine], y[mine]) for mine in writers()]
    for kind, rounds, each in ((_Wire, given.rounds, 20), (_Sparse, given.rounds, 20), (_SignDS, given.signds_rounds, 100)):
        mindspore.set_seed(0)
        net = nn.SequentialCell(nn.Dense(784, 32), nn.ReLU(), nn.Dense(32, 10))
        algorithm = kind()
        history = simulate(nn.WithLossCell(net, nn.CrossEntropyLoss()), None, clients, rounds=rounds, clients_per_round=each,
                           epochs=2, batch_size=20, learning_rate=0.1, algorithm=algorithm)
        for parameter in net.trainable_params():
            parameter.set_data(Tensor(history.weights[parameter.name]))
        right = float(np.mean(ops.argmax(net(Tensor(test_x)), 1).asnumpy() == test_y))
        print(json.dumps({"upload": kind.kind, "bytes": round(algorithm.bytes / algorithm.uploads), "rounds": rounds,
                          "clients": each, "accuracy": round(right, 4)}), flush=True)


if __name__ == "__main__":
    main()
