"""Less memory for training: recomputation changes nothing but the work, 16-bit floats little; plans say what they cost."""

import itertools
import os
import re
from pathlib import Path

import numpy as np
import pytest

import mindspore as ms
import mindspore_lite as mslite
from mindspore import Tensor, nn
from mindspore_lite.training.plan import arena_bytes

SHAPE = (8, 3, 16, 16)
NATIVE = os.path.exists("/proc/cpuinfo") and "avx512_bf16" in Path("/proc/cpuinfo").read_text()


class Network(nn.Cell):
    """Blocks with normalisation, and a loss."""

    def __init__(self, normalised=True):
        super().__init__()
        norm = nn.BatchNorm2d if normalised else lambda _: nn.Identity()
        widths = (3, 8, 8, 8, 8, 8)
        blocks = [(nn.Conv2d(a, b, 3, weight_init="he_normal"), norm(b), nn.ReLU()) for a, b in itertools.pairwise(widths)]
        self.body = nn.SequentialCell(*[cell for block in blocks for cell in block])
        self.head = nn.Dense(8, 4)
        self.loss = nn.CrossEntropyLoss()

    def construct(self, x, label):
        return self.loss(self.head(self.body(x).mean((2, 3))), label)


def batch(seed, count=SHAPE[0]):
    random = np.random.default_rng(seed)
    return random.normal(size=(count, *SHAPE[1:])).astype(np.float32), random.integers(0, 4, count).astype(np.int32)


@pytest.fixture(scope="module", params=[True, False], ids=["normalised", "plain"])
def exported(request, tmp_path_factory):
    ms.set_seed(3)
    net = Network(request.param).set_train()
    path = str(tmp_path_factory.mktemp("net") / "net")
    ms.export(net, *map(Tensor, batch(0)), file_name=path, file_format="MINDIR")
    return f"{path}.mindir", request.param


def model_of(path, folder, name="net", **settings):
    converter = mslite.Converter()
    converter.train_model = True
    converter.set_config_info("train_param", {"learning_rate": "0.05", **settings})
    converter.convert(mslite.FmkType.MINDIR, path, str(folder / name))
    model = mslite.TrainModel()
    model.build_from_file(str(folder / f"{name}.ms"))
    return model


def trained(model, steps=3):
    return [model.run_step(batch(n)) for n in range(steps)]


def test_recomputation_gives_the_same_steps_in_less_memory(exported, tmp_path):
    plain, again = model_of(exported[0], tmp_path), model_of(exported[0], tmp_path, "again", recompute="3")
    np.testing.assert_allclose(trained(again), trained(plain), rtol=1e-5)
    for name, array in plain.weights.items():
        np.testing.assert_allclose(again.weights[name], array, rtol=1e-4, atol=1e-6, err_msg=name)
    assert arena_bytes(again._training.graphs.step) < 0.8 * arena_bytes(plain._training.graphs.step)


@pytest.mark.parametrize("kind", ["bfloat16", "float16"])
def test_sixteen_bits_learn_the_same_in_less_memory(exported, tmp_path, kind):
    plain, half = model_of(exported[0], tmp_path), model_of(exported[0], tmp_path, "half", mixed_precision=kind)
    np.testing.assert_allclose(trained(half, 6), trained(plain, 6), rtol=0.1)
    assert all(array.dtype == np.float32 for array in half.weights.values())
    start = half._model.program.weights
    assert all(not np.array_equal(half.weights[n], start[n]) for n in half._training.graphs.trained)
    if kind == "bfloat16" and NATIVE:  # elsewhere operands are widened where they are used
        assert arena_bytes(half._training.graphs.step) < 0.85 * arena_bytes(plain._training.graphs.step)


def test_a_step_whose_gradients_overflow_is_left_out(exported, tmp_path):
    model = model_of(exported[0], tmp_path, mixed_precision="float16", loss_scale="1e8")
    before = {n: model.weights[n].copy() for n in model._training.graphs.trained}
    trained(model, 1)
    for name, array in before.items():
        np.testing.assert_array_equal(model.weights[name], array)
    assert all(np.isfinite(slot).all() for slot in model._slots)


def test_a_plan_under_a_limit_says_what_it_costs(exported, tmp_path, capsys):
    path, normalised = exported
    plain = model_of(path, tmp_path)
    model_of(path, tmp_path, "all", memory_limit="1G")
    everything = int(re.search(r"TAKES (\d+) BYTES", capsys.readouterr().out)[1])
    limited = model_of(path, tmp_path, "less", memory_limit=str(int(everything * 0.75)))
    told = capsys.readouterr().out
    assert int(re.search(r"TAKES (\d+) BYTES", told)[1]) <= everything * 0.75
    if normalised:  # pieces would normalise by their own statistics
        assert limited._training.pieces == 1 and re.search(r"COMPUTED TWICE: [1-9]\d?% MORE WORK", told)
    else:
        assert limited._training.pieces > 1 and "TWICE" not in told
    np.testing.assert_allclose(trained(limited), trained(plain), rtol=1e-4)


def test_unknown_settings_are_refused(exported, tmp_path):
    with pytest.raises(RuntimeError, match="mixed_precision must be none, float16 or bfloat16"):
        model_of(exported[0], tmp_path, mixed_precision="int8")
    with pytest.raises(RuntimeError, match="recompute must be a whole number"):
        model_of(exported[0], tmp_path, recompute="yes")
    with pytest.raises(RuntimeError, match="training takes at least"):
        model_of(exported[0], tmp_path, memory_limit="2K")
