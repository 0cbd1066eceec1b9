"""A model that official MindSpore exported, with operations that only the framework composes: the worker loads it for them."""

import json
import subprocess
import sys
from pathlib import Path

OFFICIAL = Path(__file__).parent.parent / "data" / "official" / "train"
PROGRAM = """
import json, sys
import numpy as np
from mindspore_serving.engine.declaration import ModelDeclaration
from mindspore_serving.engine.models import LoadedModel, load_subgraphs

folder, name = sys.argv[1:3]
before = "mindspore.ops" in sys.modules
declaration = ModelDeclaration(name, (f"{name}.mindir",), "mindir", True)
model = LoadedModel(declaration, load_subgraphs(declaration, folder))
with np.load(f"{folder}/{name}.npz") as known:
    rows = model.run([(row,) for row in known["in0"]])
    for place, found in enumerate(zip(*rows)):
        wanted = known[f"out{place}"]
        np.testing.assert_allclose(np.stack(found) if len(wanted) == len(found) else found[0], wanted, rtol=1e-4, atol=1e-5)
print(json.dumps([before, "mindspore.ops" in sys.modules, place + 1]))
"""


def test_official_model():
    for name, loads in (("settings", True), ("convolutions", False)):
        command = [sys.executable, "-c", PROGRAM, str(OFFICIAL), name]
        done = subprocess.run(command, capture_output=True, text=True, timeout=100)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout) == [False, loads, 10 if loads else 1]
