"""The ten most used networks of the zoo beside the same ones in PyTorch: time per step and loss curve.

    python benchmarks/zoo/beside.py [--originals PYTHON] [--minutes 4] [NAME …]

`--originals` names an interpreter with torch, torchvision and transformers (`make interop` installs one). It makes each network with random
weights, stores them, and trains some steps on stored batches; here the same weights and batches are trained by the same rule (SGD,
momentum 0.9, statistics of batches). Printed are the milliseconds of a step (the median, after two to warm up; both on as many threads as
there are cores) and how far apart the losses are, relative to the first.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

STEPS, RATE = 8, 1e-3
#: the library's name and options there; the options here; the batch
IMAGES = dict.fromkeys(("resnet18", "resnet50", "vgg11", "mobilenet_v2", "densenet121", "efficientnet_b0", "convnext_tiny"), 8)
SIZE = 64
TEXT: dict[str, tuple[dict[str, int], str, dict[str, int]]] = {
    "bert_base": (
        {"depth": 4, "width": 256, "heads": 4, "vocabulary": 1000, "length": 128}, "BertForMaskedLM",
        {"num_hidden_layers": 4, "hidden_size": 256, "num_attention_heads": 4, "intermediate_size": 1024, "vocab_size": 1000,
         "max_position_embeddings": 128, "hidden_dropout_prob": 0, "attention_probs_dropout_prob": 0},
    ),
    "gpt2": (
        {"depth": 4, "width": 256, "heads": 4, "vocabulary": 1000, "length": 128}, "GPT2LMHeadModel",
        {"n_layer": 4, "n_embd": 256, "n_head": 4, "vocab_size": 1000, "n_positions": 128, "resid_pdrop": 0, "embd_pdrop": 0,
         "attn_pdrop": 0},
    ),
    "llama_7b": (
        {"depth": 4, "width": 256, "heads": 4, "groups": 2, "hidden": 512, "vocabulary": 1000, "length": 128}, "LlamaForCausalLM",
        {"num_hidden_layers": 4, "hidden_size": 256, "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 512,
         "vocab_size": 1000, "max_position_embeddings": 128, "rms_norm_eps": 1e-6},
    ),
}  # fmt: skip
NAMES = [*IMAGES, *TEXT]


def batches(name: str) -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(0)
    if name in IMAGES:
        x, y = rng.standard_normal((2, IMAGES[name], 3, SIZE, SIZE)), rng.integers(0, 1000, (2, IMAGES[name]))
        return [(a.astype(np.float32), b.astype(np.int32)) for a, b in zip(x, y)]
    tokens = rng.integers(0, 1000, (2, 4, 129)).astype(np.int32)
    return [(t[:, :-1].copy(), t[:, 1:].copy()) for t in tokens]


def originals(folder: Path, name: str) -> dict[str, Any]:
    """In the other interpreter: make, store, train."""
    import torch

    torch.manual_seed(1)
    torch.set_num_threads(os.cpu_count() or 1)
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "interop"))
    from zoo_originals import import_torchvision

    kept = import_torchvision()  # noqa: F841 - as long as the library is used
    if name in IMAGES:
        import torchvision

        options = {"dropout": 0.0} if name in ("vgg11", "mobilenet_v2", "efficientnet_b0") else {}
        if name in ("efficientnet_b0", "convnext_tiny"):
            options["stochastic_depth_prob"] = 0.0
        net = getattr(torchvision.models, name)(weights=None, **options)
    else:
        import transformers

        kind = getattr(transformers, TEXT[name][1])
        net = kind(kind.config_class(**TEXT[name][2]))
    torch.save(net.state_dict(), folder / f"{name}.pth")
    optimizer = torch.optim.SGD(net.train().parameters(), RATE, momentum=0.9)
    found = [(torch.from_numpy(x).long() if name in TEXT else torch.from_numpy(x), torch.from_numpy(y).long()) for x, y in batches(name)]

    def step(i: int) -> float:
        x, y = found[i % 2]
        optimizer.zero_grad()
        out = net(x) if name in IMAGES else net(input_ids=x).logits
        loss = torch.nn.functional.cross_entropy(out.reshape(-1, out.shape[-1]), y.reshape(-1))
        loss.backward()
        optimizer.step()
        return loss.item()

    return timed(step)


def ours(folder: Path, name: str) -> dict[str, Any]:
    import mindspore as ms
    from mindspore import model_zoo, nn

    ms.set_context(mode=ms.GRAPH_MODE)
    entry = model_zoo.entry(name)
    if name in IMAGES:
        wanted = {"image_size": SIZE, "dropout": 0.0, "drop_path": 0.0}
    else:
        wanted = {**TEXT[name][0], "dropout": 0.0}
    net = model_zoo.create(name, **{k: v for k, v in wanted.items() if k in entry.options()})
    model_zoo.load_weights(net, str(folder / f"{name}.pth"))
    for _, cell in net.cells_and_names():
        if isinstance(cell, nn.Dropout):
            cell.p = 0.0

    def loss_fn(out: Any, label: Any) -> Any:
        return ms.ops.cross_entropy(out.reshape(-1, out.shape[-1]), label.reshape(-1))

    optimizer = nn.Momentum(net.trainable_params(), RATE, 0.9)
    train = nn.TrainOneStepCell(nn.WithLossCell(net, loss_fn), optimizer).set_train(True)
    found = [(ms.Tensor(x), ms.Tensor(y)) for x, y in batches(name)]
    return timed(lambda i: float(train(*found[i % 2]).asnumpy()))


def timed(step: Any) -> dict[str, Any]:
    losses, times = [], []
    for i in range(STEPS):
        begun = time.perf_counter()
        losses.append(step(i))
        times.append(1e3 * (time.perf_counter() - begun))
    return {"losses": losses, "ms": statistics.median(times[2:])}


def side(python: str, which: str, folder: str, name: str) -> dict[str, Any]:
    done = subprocess.run([python, __file__, "--side", which, folder, name], text=True, capture_output=True)
    if done.returncode:
        raise SystemExit(f"{name} with {python} failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--originals", default=os.environ.get("MS_ORIGINALS_PYTHON"), help="an interpreter with torchvision …")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no network after so many")
    parser.add_argument("--side", help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    if given.side:
        folder, name = given.names
        print(json.dumps((originals if given.side == "originals" else ours)(Path(folder), name)))
        return
    if not given.originals:
        raise SystemExit("PyTorch's side needs --originals PYTHON or MS_ORIGINALS_PYTHON; `make interop` installs one.")
    print(f"{'network':18} {'PyTorch ms':>11} {'ours ms':>9} {'faster':>7}  {'losses apart':>12}   last loss", flush=True)
    end = time.monotonic() + 60 * given.minutes
    with tempfile.TemporaryDirectory() as folder:
        for name in given.names or NAMES:
            if time.monotonic() > end:
                print(f"the time was up before {name}")
                continue
            theirs, mine = side(given.originals, "originals", folder, name), side(sys.executable, "ours", folder, name)
            apart = max(abs(a - b) for a, b in zip(theirs["losses"], mine["losses"])) / abs(theirs["losses"][0])
            row = f"{name:18} {theirs['ms']:11.1f} {mine['ms']:9.1f} {theirs['ms'] / mine['ms']:6.2f}x {apart:13.1e}"
            print(f"{row}   {theirs['losses'][-1]:.4f} {mine['losses'][-1]:.4f}", flush=True)


if __name__ == "__main__":
    main()
