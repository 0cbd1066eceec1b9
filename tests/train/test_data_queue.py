"""Rows of a data set taken from inside a program: GetNext, GetNextSingleOp and the queue of a DatasetHelper."""

import numpy as np
import pytest

import mindspore as ms
import mindspore.dataset as ds
from mindspore import nn, ops

MODES = pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE], ids=["graph", "pynative"])


def numbers(count=6):
    data = np.arange(2 * count, dtype=np.float32).reshape(count, 2)
    return ds.NumpySlicesDataset((data, np.arange(count, dtype=np.int32)), ["x", "y"], shuffle=False).batch(2)


@pytest.fixture(params=["interp", "cpu", "xla"])
def backend(request):
    ms.set_context(backend=request.param)
    yield
    ms.set_context(backend="")


@MODES
def test_the_queue_of_a_sunk_data_set(mode, backend):
    ms.set_context(mode=mode)
    helper = ms.DatasetHelper(numbers(), dataset_sink_mode=True)
    types, shapes = helper.types_shapes()
    sink = helper.iter.dataset.__transfer_dataset__
    next_row = nn.GetNextSingleOp(types, shapes, sink.queue_name)
    seen = [next_row() for _ in range(4)]  # the fourth begins the second epoch
    sink.release()
    assert [row[1].asnumpy().tolist() for row in seen] == [[0, 1], [2, 3], [4, 5], [0, 1]]
    assert seen[1][0].asnumpy().tolist() == [[4.0, 5.0], [6.0, 7.0]] and seen[1][1].dtype == ms.int32


def test_each_run_of_a_graph_takes_rows_in_order(backend):
    sink = numbers().device_que(queue_name="in order")
    sink.send(1)
    get_next = ops.GetNext([ms.float32, ms.int32], [(2, 2), (2,)], 2, "in order")

    @ms.jit
    def two_rows():
        first, _ = get_next()
        second, labels = get_next()
        return first.sum(), second.sum() * 10, labels

    low, high, labels = two_rows()
    sink.release()
    assert (low.item(), high.item(), labels.asnumpy().tolist()) == (6.0, 220.0, [2, 3])


@MODES
def test_queues_that_do_not_fit_say_so(mode):
    ms.set_context(mode=mode)
    with pytest.raises(RuntimeError, match="no data queue 'nowhere'"):
        nn.GetNextSingleOp([ms.float32], [(2,)], "nowhere")()
    with pytest.raises(ValueError, match="'shapes' must have 'output_num'"):
        ops.GetNext([ms.float32], [(2,), (3,)], 1, "x")
    sink = numbers(2).device_que(queue_name="one row")
    sink.send(1)
    with pytest.raises(RuntimeError, match="must have the shapes"):
        nn.GetNextSingleOp([ms.float32, ms.int32], [(5, 2), (5,)], "one row")()
    with pytest.raises(RuntimeError, match="no more rows"):
        nn.GetNextSingleOp([ms.float32, ms.int32], [(2, 2), (2,)], "one row")()
    sink.release()
