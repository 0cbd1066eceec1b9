"""Checks of training tools on a GPU: kernels in profiles, dumps, sinking. Needs NumPy and JAX alone.

PYTHONPATH=src python tests/gpu/training.py [--target GPU|CPU]
"""

import argparse
import json
import os
import tempfile
import time

import numpy as np

import mindspore as ms
from mindspore import Tensor, nn
from mindspore import dataset as ds
from mindspore.profiler import profile
from mindspore.train import Model

X = np.random.default_rng(0).random((1024, 32)).astype(np.float32)


def model(seed=1):
    ms.set_seed(seed)
    start = Tensor(np.random.default_rng(seed).random((64, 32)).astype(np.float32) * 0.1)
    net = nn.SequentialCell([nn.Dense(32, 64, weight_init=start), nn.ReLU(), nn.Dense(64, 1, weight_init="ones")])
    return Model(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 1e-3))


def data():
    return ds.NumpySlicesDataset({"x": X, "y": X[:, :1]}, shuffle=False).batch(16)


def check_sinking():
    plain, sunk = model(), model()
    plain.train(2, data())
    sunk.train(2, data(), dataset_sink_mode=True)
    for a, b in zip(plain.train_network.get_parameters(), sunk.train_network.get_parameters()):
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=1e-4, atol=1e-5, err_msg=a.name)
    times = []
    for m, sink in ((plain, False), (sunk, True)):
        begin = time.perf_counter()
        m.train(3, data(), dataset_sink_mode=sink)
        times.append((time.perf_counter() - begin) / 192 * 1e6)
    print(f"  one step per call {times[0]:.0f} µs, sunk {times[1]:.0f} µs a step")


def check_profile():
    m = model()
    step, batch = m.train_network, (Tensor(X[:16]), Tensor(X[:16, :1]))
    step(*batch)
    with profile(profile_memory=True) as prof:
        for _ in range(5):
            step(*batch).asnumpy()
            prof.step()
    kernels = [s for s in prof.spans if s.kind == "kernel"]
    assert kernels, "no kernel was recorded"
    assert any("matmul" in s.name.lower() for s in kernels), sorted({s.name for s in kernels})
    print("\n".join("  " + line for line in prof.summary().splitlines()[:14]))


def check_dump():
    with tempfile.TemporaryDirectory() as folder:
        common = {
            "dump_mode": 0, "path": folder + "/out", "net_name": "Net", "iteration": "0", "saved_data": "full",
            "input_output": 0, "kernels": [], "support_device": [0], "op_debug_mode": 0,
        }  # fmt: skip
        with open(folder + "/dump.json", "w") as stream:
            json.dump({"common_dump_settings": common, "e2e_dump_settings": {"enable": True}}, stream)
        os.environ["MINDSPORE_DUMP_CONFIG"] = folder + "/dump.json"
        out = ms.jit(lambda x: ms.ops.exp(x) * 2)(Tensor(X[:2]))
        del os.environ["MINDSPORE_DUMP_CONFIG"]
        files = os.listdir(folder + "/out/rank_0/Net/0/0")
        [last] = [f for f in files if f.startswith("Mul.") and ".output." in f]
        np.testing.assert_array_equal(np.load(f"{folder}/out/rank_0/Net/0/0/{last}"), out.asnumpy())
        np.testing.assert_allclose(out.asnumpy(), np.exp(X[:2]) * 2, rtol=1e-5)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", default="GPU")
    ms.set_context(mode=ms.GRAPH_MODE, device_target=parser.parse_args().target)
    for check in (check_sinking, check_profile, check_dump):
        print(check.__name__, flush=True)
        check()
    print("all passed")


if __name__ == "__main__":
    main()
