"""Pipelines of real processes: losses and weights of 20 steps are those of one device.

The second argument `short` leaves out what two processes show as well as four.
"""

import sys

import numpy as np
from cases import CASES, case, run
from networks import adam, losses, momentum, weight

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.communication import get_group_size, get_rank, init

init()
RANK, SIZE = get_rank(), get_group_size()


class Block(nn.Cell):
    def __init__(self, seed, mp):
        super().__init__()
        self.up, self.down = ops.MatMul(), ops.MatMul()
        if mp > 1:
            self.up.shard(((1, 1), (1, mp)))
            self.down.shard(((1, mp), (mp, 1)))
        self.norm = nn.LayerNorm((16,))
        self.w1, self.w2 = weight((16, 32), seed, f"a{seed}"), weight((32, 16), seed + 50, f"b{seed}")

    def construct(self, x):
        return x + self.down(ops.relu(self.up(self.norm(x), self.w1)), self.w2)


class Language(nn.Cell):
    """Blocks in stages; the table of the first stage is the head of the last."""

    def __init__(self, stages=1, mp=1, segments=1):
        super().__init__()
        self.table = weight((24, 16), 1, "table", 0.3)
        self.blocks = nn.CellList([Block(2 + i, mp) for i in range(4)])
        self.embed, self.head = ops.Gather(), Head(self.table)
        for i, block in enumerate(self.blocks):
            place = i * stages * segments // 4
            block.pipeline_stage, block.pipeline_segment = place % stages, place // stages
        self.head.pipeline_stage, self.head.pipeline_segment = stages - 1, segments - 1

    def construct(self, tokens, labels):
        x = self.embed(self.table, tokens, 0)
        for block in self.blocks:
            x = block(x)
        return self.head(x, labels)


class Head(nn.Cell):
    def __init__(self, table):
        super().__init__(auto_prefix=False)
        self.table = table

    def construct(self, x, labels):
        return ops.cross_entropy(ops.matmul(x, self.table.T), labels)


class Pipelined(nn.Cell):
    """A batch of 16 in micro-batches."""

    def __init__(self, micros=4, **named):
        super().__init__()
        self.net = nn.PipelineCell(Language(**named), micros)

    def construct(self, tokens, labels):
        return self.net(tokens, labels)

    @staticmethod
    def batch(draw):
        return draw.integers(0, 24, 16).astype("i"), draw.integers(0, 24, 16).astype("i")


def same_as_one_device(stages, optimizer=momentum, micros=4, mp=1, segments=1, **settings):
    alone, one = losses(Pipelined, optimizer, micros=micros)
    ms.set_auto_parallel_context(
        parallel_mode="semi_auto_parallel", full_batch=True, pipeline_stages=stages, device_num=SIZE, **settings
    )
    try:
        together, many = losses(Pipelined, optimizer, stages=stages, micros=micros, mp=mp, segments=segments)
    finally:
        ms.reset_auto_parallel_context()
    np.testing.assert_allclose(together, alone, rtol=1e-6)
    for mine, other in zip(many.get_parameters(), one.get_parameters(), strict=True):
        value = mine.asnumpy()
        np.testing.assert_allclose(value, other.asnumpy(), rtol=1e-4, atol=1e-6)
        np.testing.assert_array_equal(ops.AllReduce("max")(Tensor(value)).asnumpy(), value)


@case
def one_forward_one_backward():
    same_as_one_device(SIZE)


@case
def gpipe():
    same_as_one_device(SIZE, adam, pipeline_config={"pipeline_scheduler": "gpipe"})


@case
def interleaved():
    same_as_one_device(2, segments=2, pipeline_config={"pipeline_interleave": True, "pipeline_scheduler": "1f1b"})


@case
def as_many_micro_batches_as_rows():
    same_as_one_device(SIZE, adam, micros=16)  # by sums of 16 losses momentum would diverge


if SIZE == 4:

    @case
    def tensor_parallel_stages():
        same_as_one_device(2, mp=2)

    @case
    def data_and_optimizer_parallel_stages():
        same_as_one_device(
            2, adam, enable_parallel_optimizer=True, parallel_optimizer_config={"parallel_optimizer_threshold": 0}
        )


@case
def a_wrong_value_in_one_stage_is_raised_by_all():
    ms.set_auto_parallel_context(
        parallel_mode="semi_auto_parallel", full_batch=True, pipeline_stages=SIZE, device_num=SIZE
    )
    try:
        _, step = losses(Pipelined, steps=1, stages=SIZE)
        tokens, labels = Pipelined.batch(np.random.default_rng(0))
        tokens[0] = 99
        try:
            step(Tensor(tokens), Tensor(labels))
        except (IndexError, ValueError) as error:
            assert "99" in str(error)
        else:
            raise AssertionError("an index out of range passed")
    finally:
        ms.reset_auto_parallel_context()


@case
def forward_passes_and_graphs_without_stages():
    tokens, labels = map(Tensor, Pipelined.batch(np.random.default_rng(0)))
    double = ms.jit(lambda x: x * 2)
    ms.set_context(mode=ms.GRAPH_MODE)
    alone = Language()(tokens, labels).asnumpy()
    ms.set_auto_parallel_context(
        parallel_mode="semi_auto_parallel", full_batch=True, pipeline_stages=SIZE, device_num=SIZE
    )
    try:
        np.testing.assert_allclose(Language(stages=SIZE)(tokens, labels).asnumpy(), alone, rtol=1e-6)
        np.testing.assert_array_equal(double(Tensor([1.0, 2.0])).asnumpy(), [2.0, 4.0])
    finally:
        ms.reset_auto_parallel_context()


@case
def files_of_stages_have_the_weights_of_their_layers():
    tokens, labels = map(Tensor, Pipelined.batch(np.random.default_rng(0)))
    alone = Language()(tokens, labels).asnumpy()
    mp = SIZE // 2
    ms.set_auto_parallel_context(parallel_mode="semi_auto_parallel", full_batch=True, pipeline_stages=2, device_num=SIZE)
    try:
        name = f"{sys.argv[1]}/stage_of_{RANK}"
        ms.export(Language(stages=2, mp=mp), tokens, labels, file_name=name, file_format="MINDIR")
    finally:
        ms.reset_auto_parallel_context()
    model = nn.GraphCell(ms.load(f"{name}.mindir"))
    for _ in range(2):
        np.testing.assert_allclose(model(tokens, labels).asnumpy(), alone, rtol=1e-6)
    shapes = {p.name: tuple(p.shape) for p in model.get_parameters()}
    first = RANK // mp * 2
    assert {n: s for n, s in shapes.items() if n.endswith("w1")} == {f"blocks.{first + i}.w1": (16, 32 // mp) for i in range(2)}


@case
def stages_that_no_cell_has_are_refused():
    ms.set_auto_parallel_context(
        parallel_mode="semi_auto_parallel", full_batch=True, pipeline_stages=SIZE, device_num=SIZE
    )
    try:
        losses(Pipelined, steps=1, stages=1)
    except RuntimeError as error:
        assert "pipeline_stage" in str(error) and "[0]" in str(error)
    else:
        raise AssertionError("a pipeline without stages passed")
    finally:
        ms.reset_auto_parallel_context()


if sys.argv[2:] == ["short"]:
    for name in ("gpipe", "as_many_micro_batches_as_rows", "interleaved", "stages_that_no_cell_has_are_refused"):
        del CASES[name]
run(RANK)
