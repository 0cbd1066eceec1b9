"""A real server and five "phones" that train together over HTTP, under masks: the server never sees a single update.

    python examples/federated/phones.py [--rounds 5]

Each phone is a process with 1,000 digits of its own that no other one has. Prints the accuracy of the common model after each
round, and what one phone reaches alone with as many steps.
"""
import argparse
import multiprocessing
import socket
import tempfile
import time
from pathlib import Path

import numpy as np
from digits import images, network

import mindspore
from mindspore import Tensor, nn, ops
from mindspore_federated import FLServerJob
from mindspore_federated.client.client import FederatedClient, Plan
from mindspore_federated.client.connection import Connection
from mindspore_federated.client.training import NetworkTrainer

PHONES = 5
JOB = """
fl_name: digits
fl_iteration_num: {rounds}
server_mode: FEDERATED_LEARNING
enable_ssl: False
round: {{start_fl_job_threshold: {phones}, start_fl_job_time_window: 60000, update_model_ratio: 1.0,
         update_model_time_window: 60000, global_iteration_time_window: 120000}}
encrypt:
  encrypt_train_type: PW_ENCRYPT
  pw_encrypt: {{share_secrets_ratio: 1.0, cipher_time_window: 60000, reconstruct_secrets_threshold: 2}}
summary: {{metrics_file: {folder}/metrics.json, failure_event_file: {folder}/event.txt}}
client: {{client_epoch_num: 5, client_batch_size: 20, client_learning_rate: 0.1}}
"""


def accuracy(net, weights, x, y):
    for parameter in net.trainable_params():
        parameter.set_data(Tensor(weights[parameter.name].reshape(parameter.shape)))
    return float(np.mean(ops.argmax(net(Tensor(x)), 1).asnumpy() == y))


def serve(yaml_file, address, folder, first):
    FLServerJob(yaml_file, address, checkpoint_dir=folder).run(first)


def trainer(number):
    x, y = images("train")
    mine = slice(number * 1000, (number + 1) * 1000)
    return NetworkTrainer(nn.WithLossCell(network(), nn.CrossEntropyLoss()), x[mine], y[mine])


def phone(address, number):
    FederatedClient(Connection(address), "digits", trainer(number), 1000, fl_id=f"phone{number}", wait=120).run()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    mindspore.set_seed(1)
    test_x, test_y = images("t10k")
    net = network()
    with tempfile.TemporaryDirectory() as folder, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
        probe.close()
        yaml_file = Path(folder) / "digits.yaml"
        yaml_file.write_text(JOB.format(rounds=given.rounds, phones=PHONES, folder=folder))
        first = {parameter.name: parameter.asnumpy() for parameter in net.trainable_params()}
        start = multiprocessing.get_context("spawn").Process
        server = start(target=serve, args=(str(yaml_file), address, folder, first), daemon=True)
        phones = [start(target=phone, args=(address, number), daemon=True) for number in range(PHONES)]
        for process in (server, *phones):
            process.start()
        print(f"{PHONES} phones train together; the server sees the sums of their changes only\n\n"
              "round   seconds   test digits that are right", flush=True)
        watch, began = Connection(address), time.monotonic()
        for number in range(1, given.rounds + 1):
            weights = watch.get_model("digits", number, wait=180)
            right = accuracy(net, weights, test_x, test_y)
            print(f"{number:5d}   {time.monotonic() - began:7.1f}   {right:6.1%}  {'█' * round(40 * right)}", flush=True)
        for process in phones:
            process.join(20)
        server.terminate()
        server.join()
    alone, _ = trainer(0)({name: value.reshape(-1) for name, value in first.items()}, Plan(1, 5 * given.rounds, 20, 0.1))
    right = accuracy(net, alone, test_x, test_y)
    print(f"one phone alone   {right:6.1%}  {'█' * round(40 * right)}")


if __name__ == "__main__":
    main()
