"""Every network of the zoo, in its tiny form: shapes, gradients, modes, files, names.

One of each kind of code in every run; `-m slow` has the others.
"""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

import mindspore as ms
from mindspore import model_zoo
from mindspore.model_zoo.recipe import QUICK
from mindspore.model_zoo.registry import entries
from mindspore.model_zoo.tasks import TASKS

NAMES = Path(__file__).with_name("parameter_names.json")
#: one network of each kind of code; with every test run
KINDS = [
    "lenet5", "alexnet", "vgg11_bn", "resnet18", "resnet50", "seresnet50", "resnext50_32x4d", "googlenet", "densenet121", "mobilenet_v2",
    "mobilenet_v3_small", "shufflenet_v2_x1_0", "efficientnet_b0", "vit_b_16", "swin_t", "convnext_tiny",
    "unet", "deeplabv3plus_resnet50", "gpt2", "llama_7b", "bert_base", "bert_base_classifier", "t5_small", "transformer_base",
    "lstm_sentiment", "seq2seq_attention", "vae", "ddpm", "wide_deep", "deepfm", "ncf", "gcn", "gat", "pinn_heat",
    "bayesian_mlp", "ssd300", "retinanet_resnet50_fpn", "maskrcnn_resnet50_fpn", "yolov5s", "yolov8n", "crnn", "mixtral_8x7b",
    "pangu_alpha_2_6b", "bert_base_squad", "albert_base", "gru_sentiment", "wavenet", "dcgan", "dlrm", "graphsage", "dqn", "ppo",
    "inception_v3", "fasterrcnn_resnet50_fpn", "yolov3", "cyclegan",
]  # fmt: skip
#: what takes long even in its tiny form, and those that differ from one of the above by numbers alone
SLOW = {*entries()} - set(KINDS) | {"inception_v3", "fasterrcnn_resnet50_fpn", "yolov3", "cyclegan"}
EVERY = pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in entries()])


def results(output):
    return [t.asnumpy() for t in (output if isinstance(output, tuple) else (output,))]


def digest(net):
    return hashlib.sha1("\n".join(f"{p.name} {p.shape}" for p in net.get_parameters()).encode()).hexdigest()[:16]


def test_every_kind_of_network_is_tested():
    made = {getattr(e.build, "func", e.build) for e in entries().values()}
    assert made == {getattr(entries()[n].build, "func", entries()[n].build) for n in KINDS}


@EVERY
def test_graph_pynative_and_a_file_give_the_same(name, tmp_path):
    ms.set_seed(0)
    net = model_zoo.create(name, tiny=True).set_train(False)
    inputs = model_zoo.sample(net, batch=2)
    with ms.context.local_context(mode=ms.GRAPH_MODE):
        compiled = results(net(*inputs))
    with ms.context.local_context(mode=ms.PYNATIVE_MODE):
        eager = results(net(*inputs))
    ms.export(net, *inputs, file_name=str(tmp_path / "net"), file_format="MINDIR")
    loaded = results(ms.nn.GraphCell(ms.load(str(tmp_path / "net.mindir")))(*inputs))
    for a, b, c in zip(compiled, eager, loaded, strict=True):
        assert 2 in a.shape[:2]  # recurrent ones may have the time first
        assert np.isfinite(a).all()
        scale = np.abs(a).max() + 1e-30
        np.testing.assert_allclose(a / scale, b / scale, atol=1e-4)
        np.testing.assert_allclose(a / scale, c / scale, atol=1e-4)
    if entries()[name].task in ("images", "segmentation", "text classes", "graphs"):
        assert net.num_classes in compiled[0].shape[1:]


@EVERY
def test_gradients_reach_every_parameter(name):
    ms.set_seed(0)
    net = model_zoo.create(name, tiny=True).set_train(True)
    task = TASKS[entries()[name].task]
    with_loss = task.training_network(net, QUICK).set_train(True)
    columns = next(iter(task.data("synthetic", net, 4, True, limit=4)))
    with ms.context.local_context(mode=ms.GRAPH_MODE):
        weights = with_loss.trainable_params()
        loss, grads = ms.value_and_grad(with_loss, None, weights)(*columns)
    assert np.isfinite(loss.asnumpy()).all()
    assert len(weights) == len(net.trainable_params())
    assert [p.name for p, g in zip(weights, grads) if not np.abs(g.asnumpy()).any()] == []


def test_checkpoint_names_are_stable():
    """Names and shapes of parameters are a promise: stored checkpoints must fit later versions.

    `python tests/model_zoo/test_zoo_networks.py` writes the file anew, for networks that are added.
    """
    stored = json.loads(NAMES.read_text())
    found = {name: digest(model_zoo.create(name, tiny=True)) for name in model_zoo.names()}
    assert found == stored


def test_the_large_ones_count_as_published():
    """Parameters (trained ones) as the papers' implementations have them."""
    counts = {"resnet18": 11_689_512, "mobilenet_v2": 3_504_872, "efficientnet_b0": 5_288_548, "densenet121": 7_978_856,
              "shufflenet_v2_x1_0": 2_278_604, "mobilenet_v3_small": 2_542_856}  # fmt: skip
    for name, count in counts.items():
        assert sum(p.size for p in model_zoo.create(name).trainable_params()) == count, name


if __name__ == "__main__":
    NAMES.write_text(json.dumps({n: digest(model_zoo.create(n, tiny=True)) for n in model_zoo.names()}, indent=1) + "\n")
