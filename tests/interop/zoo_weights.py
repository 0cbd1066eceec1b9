"""Networks of the zoo with the weights that `zoo_originals.py` wrote: their results must be the originals'.

    python zoo_weights.py FOLDER
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

import mindspore as ms
from mindspore import model_zoo

TOLERANCE = 1e-4


def compare(file: Path) -> dict:
    name = file.stem
    stored = dict(np.load(file))
    options = json.loads(str(stored.pop("options"))) if "options" in stored else {"image_size": int(stored.pop("size"))}
    wanted = stored.pop("y")
    net = model_zoo.create(name, **options).set_train(False)
    (weights,) = (f for f in (file.with_suffix(".pth"), file.with_suffix(".safetensors")) if f.exists())
    model_zoo.load_weights(net, str(weights))
    outputs = net(*(ms.Tensor(stored[key]) for key in sorted(stored)))
    found = np.concatenate([o.asnumpy() for o in outputs], -1) if isinstance(outputs, tuple) else outputs.asnumpy()
    difference = float(np.abs(found - wanted).max() / np.abs(wanted).max())
    note = f"{difference:.1e} of the largest value, {weights.suffix}"
    return {"file": f"zoo {name}", "ok": found.shape == wanted.shape and difference < TOLERANCE, "note": note}


if __name__ == "__main__":
    for path in sorted(Path(sys.argv[1]).glob("*.npz")):
        try:
            report = compare(path)
        except (ValueError, TypeError) as error:
            report = {"file": f"zoo {path.stem}", "ok": False, "note": str(error)}
        print("EXCHANGE " + json.dumps(report), flush=True)
