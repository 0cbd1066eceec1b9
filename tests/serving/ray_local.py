"""The Ray Serve application on a local Ray: python tests/serving/ray_local.py (`make test-serving-ray` brings Ray).

A model of protocol v2 and a streamed language model are asked over Ray's proxy; a killed replica is replaced.
"""

import os
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import orjson
import ray
import requests
from ray import serve

sys.path.insert(0, str(Path(__file__).parent))

import tiny_models

from conftest import export, write_tokenizer
from mindspore_serving.ray_app import application

PORT = 18473
ADDRESS = f"http://127.0.0.1:{PORT}"


def ask():
    tensors = [{"name": name, "shape": [2, 2], "datatype": "FP32", "data": [1.0, 2.0, 3.0, 4.0]} for name in ("x1", "x2")]
    return requests.post(f"{ADDRESS}/models/v2/models/add/infer", json={"inputs": tensors}, timeout=60)


def replicas():
    """Processes that answer for the model, found by the workers they started."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if b"mindspore_serving.engine.worker" in (entry / "cmdline").read_bytes():
                    found.append(int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1]))
            except OSError:
                continue
    return found


def main():
    folder = Path(tempfile.mkdtemp())
    export(folder / "add.mindir")
    tiny_models.write(folder / "tiny", "llama")
    write_tokenizer(folder / "tiny")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    serve.start(http_options={"port": PORT, "host": "127.0.0.1"})
    try:
        serve.run(application(path=str(folder / "add.mindir")), name="models", route_prefix="/models")
        first = ask()
        assert first.status_code == 200, first.text
        np.testing.assert_array_equal(first.json()["outputs"][0]["data"], [2.0, 4.0, 6.0, 8.0])
        os.kill(replicas()[0], signal.SIGKILL)
        end = time.monotonic() + 120
        while (answer := ask()).status_code != 200 and time.monotonic() < end:
            time.sleep(0.5)
        np.testing.assert_array_equal(answer.json()["outputs"][0]["data"], [2.0, 4.0, 6.0, 8.0])
        serve.delete("models")
        serve.run(application({"path": str(folder / "tiny"), "options": "--cache-mb 8"}), name="text", route_prefix="/text")
        body = {"model": "tiny", "prompt": "Hello", "max_tokens": 20, "temperature": 0, "ignore_eos": True}
        whole = requests.post(f"{ADDRESS}/text/v1/completions", json=body, timeout=120).json()["choices"][0]["text"]
        with requests.post(f"{ADDRESS}/text/v1/completions", json={**body, "stream": True}, stream=True, timeout=120) as streamed:
            lines = [line[6:] for line in streamed.iter_lines() if line.startswith(b"data: {")]
        assert "".join(orjson.loads(line)["choices"][0]["text"] for line in lines) == whole and len(lines) > 5
        print("Ray Serve: answers are right, a killed replica was replaced, texts are streamed")
    finally:
        serve.shutdown()
        ray.shutdown()


if __name__ == "__main__":
    main()
