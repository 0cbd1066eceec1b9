"""One model everywhere: trained once, exported once, run at every station, fine-tuned on devices, swapped into a running server.

    python examples/everywhere/run.py [--out everywhere_output]

Prints the largest difference of each station's answers from the training framework's, and the accuracy before and after a
federation of devices that fine-tune the model on digits which the training never saw turned upside down.
"""

import argparse
import ctypes
import json
import shutil
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import numpy as np

import mindspore as ms
import mindspore.dataset as ds
import mindspore_lite as mslite
from mindspore import nn, train
from mindspore_federated import simulate

DATA = Path(__file__).resolve().parent.parent / "data" / "mnist"


class Network(nn.Cell):
    """A small reader of digits."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 5, stride=2, pad_mode="valid", has_bias=True)
        self.conv2 = nn.Conv2d(8, 16, 5, stride=2, pad_mode="valid", has_bias=True)
        self.relu = nn.ReLU()
        self.flatten = nn.Flatten()
        self.head = nn.Dense(256, 10)

    def construct(self, x):
        x = self.relu(self.conv2(self.relu(self.conv1(x))))
        return self.head(self.flatten(x))


def digits(usage, count, turned=False):
    rows = ds.MnistDataset(str(DATA), usage=usage, num_samples=count, shuffle=False)
    images, labels = zip(*rows.create_tuple_iterator(output_numpy=True, num_epochs=1))
    images = (np.stack(images).transpose(0, 3, 1, 2).astype(np.float32) / 255 - 0.13) / 0.31
    return np.ascontiguousarray(images[:, :, ::-1, ::-1] if turned else images), np.array(labels, np.int32)


def trained(samples):
    """`Model.train`, as everywhere."""
    ms.set_seed(0)
    images, labels = digits("train", samples)
    data = ds.NumpySlicesDataset((images, labels), ["image", "label"], shuffle=True).batch(50)
    net = Network()
    train.Model(net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 2e-3)).train(2, data)
    return net.set_train(False)


# -- stations: each gives the answers of the exported model for a batch ------------------------------------------------------
def framework(out, x, mode):
    with ms.context.local_context(mode=mode):
        return nn.GraphCell(ms.load(str(out / "net.mindir")))(ms.Tensor(x)).asnumpy()


def onnx_runtime(out, x):
    import onnxruntime

    session = onnxruntime.InferenceSession(str(out / "net.onnx"), providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: x})[0]


def lite(out, x):
    mslite.Converter().convert(mslite.FmkType.MINDIR, str(out / "net.mindir"), str(out / "net"))
    model = mslite.Model()
    model.build_from_file(str(out / "net.ms"), mslite.ModelType.MINDIR_LITE)
    return model.predict([x])[0].get_data_to_numpy()


class Handles(ctypes.Structure):
    _fields_ = [("count", ctypes.c_size_t), ("items", ctypes.POINTER(ctypes.c_void_p))]


def c_library(out, x):
    """A shared library without any dependency, through the official C interface."""
    converter = mslite.Converter()
    converter.set_config_info(
        "micro_param", {"enable_micro": "true", "project_name": "net", "save_path": str(out / "c"), "library": "native"}
    )
    converter.convert(mslite.FmkType.MINDIR, str(out / "net.mindir"), str(out / "net_c"))
    c = ctypes.CDLL(str(out / "c" / "net" / "libnet-native.so"))
    c.MSModelCreate.restype = c.MSTensorGetMutableData.restype = ctypes.c_void_p
    c.MSModelGetInputs.restype = Handles
    model = ctypes.c_void_p(c.MSModelCreate())
    c.MSModelBuild(model, None, ctypes.c_size_t(0), 0, None)
    inputs, outputs = c.MSModelGetInputs(model), Handles()
    ctypes.memmove(c.MSTensorGetMutableData(ctypes.c_void_p(inputs.items[0])), x.ctypes.data, x.nbytes)
    c.MSModelPredict(model, inputs, ctypes.byref(outputs), None, None)
    content = ctypes.string_at(c.MSTensorGetMutableData(ctypes.c_void_p(outputs.items[0])), len(x) * 40)
    return np.frombuffer(content, np.float32).reshape(len(x), 10)


class Server:
    """`mindspore-serving serve`, in a process of its own; versions are folders."""

    CONFIG = (
        "from mindspore_serving.server import register\n"
        "model = register.declare_model(model_file='net.mindir', model_format='MindIR', with_batch_dim=True)\n"
        "@register.register_method(output_names=['y'])\n"
        "def read(x):\n"
        "    return register.add_stage(model, x, outputs_count=1)\n"
    )

    def __init__(self, out, port):
        self.folder, self.port = out / "servables" / "digits", port
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "servable_config.py").write_text(self.CONFIG)
        self.add(out / "net.mindir", 1)
        command = [sys.executable, "-m", "mindspore_serving.cli", "serve", str(self.folder.parent), "--admin"]
        self.process = subprocess.Popen([*command, "--http", f"127.0.0.1:{port}", "--grpc", f"127.0.0.1:{port + 1}"])
        self._wait()

    def add(self, model, version):
        (self.folder / str(version)).mkdir(exist_ok=True)
        shutil.copy(model, self.folder / str(version) / "net.mindir")

    def _wait(self):
        for _ in range(600):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/v2/health/ready", timeout=5):
                    return
            except OSError:
                if self.process.poll() is not None:
                    raise SystemExit("the server did not start") from None
                time.sleep(0.1)
        raise SystemExit("the server is not ready after a minute")

    def post(self, path, body):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=60) as reply:
            return json.loads(reply.read() or b"{}")

    def __call__(self, x):
        given = {"name": "x", "datatype": "FP32", "shape": list(x.shape), "data": x.ravel().tolist()}
        found = self.post("/v2/models/digits/infer", {"inputs": [given]})["outputs"][0]
        return np.array(found["data"], np.float32).reshape(len(x), 10)

    def swap(self, model, version):
        """Requests go on while the new version gets ready."""
        self.add(model, version)
        self.post("/v2/repository/models/digits/load", {})

    def stop(self):
        self.process.terminate()
        self.process.wait(30)


def federation(net, rounds):
    """Ten devices fine-tune on digits that are upside down; what they learned is averaged, round by round."""
    images, labels = digits("train", 2000, turned=True)
    devices = [(images[n::10], labels[n::10]) for n in range(10)]
    with_loss = nn.WithLossCell(net, nn.CrossEntropyLoss())
    history = simulate(with_loss, None, devices, rounds=rounds, clients_per_round=5, epochs=2, learning_rate=0.1, seed=0)
    for parameter in with_loss.trainable_params():
        parameter.set_data(ms.Tensor(history.weights[parameter.name]))


def accuracy(answer, images, labels):
    parts = [answer(images[i : i + 50]) for i in range(0, len(images), 50)]
    return float((np.concatenate(parts).argmax(1) == labels).mean())


def main(out, samples=6000, rounds=20, port=18400):
    out.mkdir(parents=True, exist_ok=True)
    net = trained(samples)
    x = digits("test", 50)[0]
    want = net(ms.Tensor(x)).asnumpy()
    for kind in ("MINDIR", "ONNX"):
        ms.export(net, ms.Tensor(x), file_name=str(out / "net"), file_format=kind)
    server = Server(out, port)
    try:
        stations = {
            "framework, graph mode": lambda: framework(out, x, ms.GRAPH_MODE),
            "framework, PyNative mode": lambda: framework(out, x, ms.PYNATIVE_MODE),
            "ONNX Runtime": lambda: onnx_runtime(out, x),
            "mindspore_lite": lambda: lite(out, x),
            "generated C library": lambda: c_library(out, x),
            "server, over HTTP": lambda: server(x),
        }
        differences = {name: float(np.abs(run() - want).max()) for name, run in stations.items()}
        for name, off in differences.items():
            print(f"{name:26s} differs by {off:.1e}")
        turned = digits("test", 500, turned=True)
        before = accuracy(server, *turned)
        federation(net, rounds)
        ms.export(net, ms.Tensor(x), file_name=str(out / "net_2"), file_format="MINDIR")
        server.swap(out / "net_2.mindir", 2)
        after = accuracy(server, *turned)
        print(f"digits upside down, read by the server: {before:.0%}, after the devices' lessons {after:.0%}")
    finally:
        server.stop()
    return differences, before, after


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--out", type=Path, default=Path("everywhere_output"))
    main(arguments.parse_args().out)
