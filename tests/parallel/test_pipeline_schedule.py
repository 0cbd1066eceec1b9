"""Schedules of pipelines, and the graphs of their stages."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.compiler.parse.entry import trace
from mindspore.compiler.shard.pipeline import Slot, Stages, messages, stage_order, timetable
from mindspore.ir.verify import verify
from mindspore.prims.exchange import Receive, Send


def in_flight(order):
    """The most micro-batches whose activations a stage holds at a time."""
    most = held = 0
    for slot in order:
        held += -1 if slot.backward else 1
        most = max(most, held)
    return most


@pytest.mark.parametrize("stages", [1, 2, 4, 7])
@pytest.mark.parametrize("micros", [1, 3, 4, 16])
def test_every_piece_is_done_once_after_what_it_needs(stages, micros):
    for schedule in ("1f1b", "gpipe"):
        times = timetable(schedule, stages, micros)
        assert len(times) == 2 * stages * micros
        for (stage, (backward, micro, _)), time in times.items():
            if backward:
                assert times[stage, Slot(False, micro)] < time
                assert stage == stages - 1 or times[stage + 1, Slot(True, micro)] < time
            else:
                assert stage == 0 or times[stage - 1, Slot(False, micro)] < time
        for stage in range(stages):  # one piece at a time
            own = [t for (s, _), t in times.items() if s == stage]
            assert len(set(own)) == len(own)
        assert max(times.values()) + 1 == 2 * (micros + stages - 1)  # the bubble of both schedules


@pytest.mark.parametrize(("stages", "micros", "segments"), [(2, 4, 2), (4, 8, 2), (4, 16, 4), (3, 6, 3), (4, 4, 2)])
def test_segments_shrink_the_bubble(stages, micros, segments):
    for schedule in ("1f1b", "gpipe"):
        times = timetable(schedule, stages, micros, segments)
        assert len(times) == 2 * stages * micros * segments
        for (stage, (backward, micro, segment)), time in times.items():
            place = segment * stages + stage
            if backward:
                assert times[stage, Slot(False, micro, segment)] < time
            neighbour = place + 1 if backward else place - 1
            if 0 <= neighbour < stages * segments:
                assert times[neighbour % stages, Slot(backward, micro, neighbour // stages)] < time
        assert len({(stage, time) for (stage, _), time in times.items()}) == len(times)  # one piece at a time
    length = max(timetable("1f1b", stages, micros, segments).values()) + 1
    assert length - 2 * micros * segments == 2 * (stages - 1)  # in chunks; a chunk is 1 / segments of a stage's layers


def test_segments_need_whole_rounds_of_micro_batches():
    with pytest.raises(ValueError, match="6 micro-batches are no multiple of 4 stages"):
        timetable("1f1b", 4, 6, 2)


def test_one_forward_one_backward_holds_as_many_micro_batches_as_stages_follow():
    assert [in_flight(stage_order("1f1b", 4, stage, 16)) for stage in range(4)] == [4, 3, 2, 1]
    assert [in_flight(stage_order("gpipe", 4, stage, 16)) for stage in range(4)] == [16] * 4


def stages_of(count, micros, segments=1):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.layers = nn.CellList([nn.Dense(4, 4) for _ in range(count * segments)])
            for i, layer in enumerate(self.layers):
                layer.pipeline_stage, layer.pipeline_segment = i % count, i // count

        def construct(self, x):
            for layer in self.layers:
                x = ops.tanh(layer(x))
            return x.sum()

    net = nn.PipelineCell(Net(), micros)
    step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.1))
    found = trace(step.construct, (Tensor(np.ones((24, 4), np.float32)),), {}, checked=False)
    return Stages(found.graph, count)


@pytest.mark.parametrize("segments", [1, 2])
def test_messages_of_the_stages_match(segments):
    count, micros = 3, 6
    stages = stages_of(count, micros, segments)
    sent, received = {}, {}
    for stage in range(count):
        graph = stages.graph_of(stage, lambda other: other)
        verify(graph, "stage")
        for node in messages(graph):
            if isinstance(node.op, Send):
                sent.setdefault((stage, node.op.dest_rank), []).append(node.op.sr_tag)
            else:
                received.setdefault((node.op.src_rank, stage), []).append(node.op.sr_tag)
        products = [n for n in graph.nodes() if n.op.name in ("MatMul", "Dense", "BatchMatMul")]
        assert products and len(products) < len([n for n in stages.nodes if n.op.name == products[0].op.name])
    assert set(sent) == set(received)
    assert all(sorted(sent[pair]) == sorted(received[pair]) for pair in sent)


def test_a_receive_stands_behind_the_sends_before_it():
    """The last stage has sent the gradient of a micro-batch before it waits for the next one but one."""
    graph = stages_of(2, 4).graph_of(1, lambda other: other)
    kinds = [type(n.op) for n in messages(graph)]
    assert kinds[0] is Receive
    first_sends = [kinds[: i + 1].count(Send) for i, kind in enumerate(kinds) if kind is Receive][:4]
    assert first_sends == [0, 1, 2, 3]


def test_one_process_rehearses_all_stages():
    ms.set_context(mode=ms.GRAPH_MODE)
    x = Tensor(np.arange(32, dtype=np.float32).reshape(8, 4))
    net = nn.PipelineCell(nn.Dense(4, 4), 4)
    alone = net(x).asnumpy()
    np.testing.assert_allclose(alone, sum(net.network(x[i : i + 2]).asnumpy() for i in (0, 2, 4, 6)), rtol=1e-6)
    ms.set_auto_parallel_context(parallel_mode="semi_auto_parallel", device_num=4, pipeline_stages=2, full_batch=True)
    try:
        np.testing.assert_allclose(nn.PipelineCell(net.network, 4)(x).asnumpy(), alone, rtol=1e-6)
    finally:
        ms.reset_auto_parallel_context()
        ms.set_context(mode=ms.PYNATIVE_MODE)


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
@pytest.mark.parametrize("backend", ["interp", "cpu", "xla"])
def test_gradients_of_micro_batches(mode, backend):
    """The loss of parts, and its gradient, are those of the whole, if the loss is a sum over rows."""
    with ms.context.local_context(mode=mode, backend=backend):
        x = Tensor(np.random.default_rng(0).standard_normal((6, 4)).astype(np.float32))
        net = nn.SequentialCell(nn.Dense(4, 3), nn.Tanh())

        class Total(nn.Cell):
            def construct(self, x):
                return ops.square(net(x)).sum()

        whole = ms.value_and_grad(Total(), 0, net.trainable_params())(x)
        parts = ms.value_and_grad(nn.PipelineCell(Total(), 3), 0, net.trainable_params())(x)
        flat = lambda found: [found[0], found[1][0], *found[1][1]]
        for one, other in zip(flat(whole), flat(parts), strict=True):
            np.testing.assert_allclose(other.asnumpy(), one.asnumpy(), rtol=1e-5, atol=1e-6)
        with pytest.raises(ValueError, match="multiple of 4"):
            nn.PipelineCell(Total(), 4)(x)


class Two(nn.Cell):
    def __init__(self, first, second):
        super().__init__()
        self.first, self.second = nn.Dense(4, 4), nn.Dense(4, 4)
        self.first.pipeline_stage, self.second.pipeline_stage = first, second

    def construct(self, x):
        return self.second(self.first(x)).sum()


@pytest.mark.parametrize(
    "stages, cells, error, text",
    [
        (3, (0, 1), ValueError, "'pipeline_stages' must divide the number of devices, 8, but got 3"),
        (2, (0, 2), RuntimeError, r"There are 2 pipeline stages, but the cells of the network have the stages \[0, 2\]"),
        (2, (0, 0), RuntimeError, r"There are 2 pipeline stages, but the cells of the network have the stages \[0\]"),
    ],
)
def test_wrong_stages_are_refused_in_a_rehearsal_too(stages, cells, error, text):
    with ms.context.local_context(mode=ms.GRAPH_MODE):
        ms.set_auto_parallel_context(parallel_mode="semi_auto_parallel", device_num=8, full_batch=True, pipeline_stages=stages)
        try:
            with pytest.raises(error, match=text):
                nn.PipelineCell(Two(*cells), 2)(ops.zeros((8, 4)))
        finally:
            ms.reset_auto_parallel_context()
