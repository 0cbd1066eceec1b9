"""Incremental inference of plain networks: two graphs of a model share weights, and what the first leaves the second finds."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.backends.cpu import CpuBackend
from mindspore.backends.interp import InterpBackend
from mindspore.formats import mindir
from mindspore.formats.program import State
from mindspore_serving.client import Client

LENGTH, WIDTH = 6, 4
WEIGHT = np.random.default_rng(0).normal(0, 1, (WIDTH, WIDTH)).astype(np.float32)


class Attending(nn.Cell):
    """Mixes what it has seen: `first` reads a whole text, otherwise the row at `at`."""

    def __init__(self, first):
        super().__init__()
        self.first = first
        self.weight = Parameter(Tensor(WEIGHT), name="weight")
        self.past = Parameter(Tensor(np.zeros((LENGTH, WIDTH), np.float32)), name="past")

    def construct(self, x, at):
        rows = ops.matmul(x, self.weight)
        places = ops.arange(LENGTH)
        if self.first:
            seen = ops.assign(self.past, ops.where((places <= at)[:, None], rows, 0.0))
        else:
            seen = ops.assign(self.past, ops.where((places == at)[:, None], rows, self.past))
        query = ops.matmul(x[at] if self.first else x, self.weight)
        scores = ops.matmul(query, seen.T) + ops.where(places <= at, 0.0, -1e9)
        return ops.matmul(ops.softmax(scores), seen)


def wanted(x, at):
    rows = x @ WEIGHT
    scores = rows[at] @ rows[: at + 1].T
    weights = np.exp(scores - scores.max())
    return weights @ rows[: at + 1] / weights.sum()


def export(folder):
    for name, first in (("prompt", True), ("token", False)):
        x = Tensor(np.zeros((LENGTH if first else 1, WIDTH), np.float32))
        ms.export(Attending(first), x, Tensor([0], ms.int32), file_name=str(folder / f"{name}.mindir"), file_format="MINDIR")


X = np.random.default_rng(1).normal(0, 1, (LENGTH, WIDTH)).astype(np.float32)


@pytest.mark.parametrize("backend", (InterpBackend, CpuBackend))
def test_programs_share_state(backend, tmp_path):
    export(tmp_path)
    state = State()
    prompt, token = (mindir.load(str(tmp_path / f"{name}.mindir")).compile(backend(), state) for name in ("prompt", "token"))
    for begin in (1, 3, 0):  # a prompt again: what is left of the text before does not count
        found = prompt(X, np.array([begin], np.int32))[0]
        np.testing.assert_allclose(found[0], wanted(X, begin), rtol=1e-5)
        kept = found.copy()
        for at in range(begin + 1, LENGTH):
            np.testing.assert_allclose(token(X[at : at + 1], np.array([at], np.int32))[0][0], wanted(X, at), rtol=1e-5)
        assert (found == kept).all()  # results are the caller's own
    assert set(state.arrays) == {"weight", "past"} and state.changing == {"past"}


def test_graphs_that_share_weights_must_agree(tmp_path):
    export(tmp_path)
    program = mindir.load(str(tmp_path / "prompt.mindir"))
    state = State({"weight": np.zeros((1, WIDTH), np.float32)})
    with pytest.raises(ValueError, match="'weight' is float32"):
        program.compile(CpuBackend(), state)


CONFIGURATION = """
    import numpy as np
    model = register.declare_model(model_file=["prompt.mindir", "token.mindir"], model_format="MindIR", with_batch_dim=False)

    def at(place):
        return np.array([place], np.int32)

    def read(x, begin):
        found = [model.call(x, at(int(begin)), subgraph=0)]
        for place in range(int(begin) + 1, len(x)):
            found.append(model.call(x[place : place + 1], at(place), subgraph=1))
        return np.concatenate(found)

    @register.register_method(output_names=["y"])
    def continued(x, begin):
        return register.add_stage(read, x, begin, outputs_count=1)
"""


def test_served(tmp_path, start):
    (tmp_path / "incremental" / "1").mkdir(parents=True)
    export(tmp_path / "incremental" / "1")
    grpc, _ = start("incremental", CONFIGURATION)
    answers = Client(grpc, "incremental", "continued").infer([{"x": X, "begin": np.int32(2)}, {"x": X, "begin": np.int32(0)}])
    for begin, answer in zip((2, 0), answers):
        np.testing.assert_allclose(answer["y"], [wanted(X, at) for at in range(begin, LENGTH)], rtol=1e-5)
