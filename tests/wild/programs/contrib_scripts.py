"""Scripts of mindspore-ai/contrib that need no data, as they are: layers, losses, normalisations and recurrent cells."""

import os
import runpy
import sys
from pathlib import Path

#: below `application`
SCRIPTS = (
    "circle-loss/circle_loss.py", "dynamic-relu/dynamic_relu.py", "effnet-an-efficient-structure/effnet.py",
    "fastformer-additive/Fastformer.py", "fixed-classifier/fixed_proj.py", "gaitpart-temporal-part-based/layers.py",
    "group-normalization/group_norm.py", "layer-normalization/GRU_layernorm_cell.py",
    "learning-an-explicit-hyperparameter/protonet_Tanh.py", "root-mean-square-layer-normalization/norm.py",
    "shallow-rnns/model/sharnn.py", "vat/vat.py",
)  # fmt: skip


def main():
    folder = next(Path(place) / "application" for place in sys.path if (Path(place) / "application" / "vat").is_dir())
    for script in SCRIPTS:
        os.chdir((folder / script).parent)
        try:
            runpy.run_path(str(folder / script), run_name="__main__")
        except Exception as error:
            raise AssertionError(f"{script}: {type(error).__name__}: {error}") from error
