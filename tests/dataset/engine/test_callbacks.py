"""Callbacks of maps: the order of events, and pipelines that wait for the training without ever hanging."""

import gc
import threading
import time
import weakref

import pytest

import mindspore as ms
import mindspore.dataset as ds
from mindspore import nn
from mindspore.train import Callback, Model


class Waited(ds.WaitedDSCallback):
    def __init__(self, events, step_size=1):
        super().__init__(step_size)
        self.events = events

    def sync_epoch_begin(self, train_run_context, ds_run_context):
        assert train_run_context is None or train_run_context.original_args() is not None
        self.events.append(f"pipeline epoch {ds_run_context.cur_epoch_num}")

    def sync_step_begin(self, train_run_context, ds_run_context):
        self.events.append(f"pipeline row {ds_run_context.cur_step_num}")


class Trained(Callback):
    def __init__(self, events, fail_at=None):
        self.events, self.fail_at = events, fail_at

    def epoch_end(self, run_context):
        self.events.append(f"training epoch {run_context.original_args().cur_epoch_num}")

    def step_end(self, run_context):
        step = run_context.original_args().cur_step_num
        self.events.append(f"training step {step}")
        if step == self.fail_at:
            raise ValueError("stop here")


class Net(nn.Cell):
    def construct(self, x, y):
        return x


def pipeline(waited, rows=4, batch=0):
    data = ds.NumpySlicesDataset((list(range(rows)),) * 2, column_names=["a", "b"], shuffle=False)
    data = data.map(lambda x: x, callbacks=waited)
    data = data.map(ds.transforms.TypeCast(ms.float32), "a", num_parallel_workers=4)  # workers must not run ahead
    return data.batch(batch, drop_remainder=True) if batch else data


@pytest.fixture
def short_wait():
    before = ds.config.get_callback_timeout()
    ds.config.set_callback_timeout(1)
    yield
    ds.config.set_callback_timeout(before)


@pytest.mark.parametrize("sink", [False, True])
def test_the_pipeline_follows_the_training_step_by_step(sink):
    events = []
    waited = Waited(events)
    Model(Net()).train(2, pipeline(waited, 3), dataset_sink_mode=sink, callbacks=[Trained(events), waited])
    assert events[:13] == [
        "training step 1", "pipeline row 2", "training step 2", "pipeline row 3", "training step 3",
        "training epoch 1", "pipeline epoch 2", "pipeline row 4", "training step 4", "pipeline row 5",
        "training step 5", "pipeline row 6", "training step 6",
    ]  # fmt: skip


def test_a_dropped_remainder_does_not_stop_the_next_epoch(short_wait):
    events = []
    waited = Waited(events, 2)
    Model(Net()).train(3, pipeline(waited, 5, 2), dataset_sink_mode=False, callbacks=[Trained(events), waited])
    assert [event for event in events if event.startswith("training")] == [
        "training step 1", "training step 2", "training epoch 1", "training step 3", "training step 4",
        "training epoch 2", "training step 5", "training step 6", "training epoch 3",
    ]  # fmt: skip


def test_one_callback_serves_several_trainings():
    events = []
    waited, model = Waited(events), Model(Net())
    for _ in range(2):
        model.train(2, pipeline(waited, 2), dataset_sink_mode=False, callbacks=[Trained(events), waited])
    assert [event for event in events if event.startswith("pipeline row")][:6] == [
        "pipeline row 2", "pipeline row 3", "pipeline row 4", "pipeline row 2", "pipeline row 3", "pipeline row 4",
    ]  # fmt: skip


def test_a_step_size_that_never_comes_is_an_error_in_time(short_wait):
    waited = Waited([], 2)
    with pytest.raises(RuntimeError, match=r"RuntimeError: ds_step_begin timed out after 1 second"):
        Model(Net()).train(2, pipeline(waited, 4, 3), dataset_sink_mode=False, callbacks=[waited])


def test_a_training_that_fails_leaves_no_pipeline_waiting():
    events = []
    waited = Waited(events)
    with pytest.raises(ValueError, match="stop here"):
        Model(Net()).train(2, pipeline(waited, 4), dataset_sink_mode=False, callbacks=[Trained(events, 2), waited])
    alive = weakref.ref(waited)
    del waited
    gc.collect()
    feeders = [thread for thread in threading.enumerate() if thread.name == "mindspore-data-feeder"]
    for thread in feeders:
        thread.join(timeout=5)
    assert not any(thread.is_alive() for thread in feeders)
    end = time.monotonic() + 10
    while alive() is not None and time.monotonic() < end:  # pipelines are closed by a thread of their own
        time.sleep(0.01)
        gc.collect()
    assert alive() is None


def test_an_iterator_dropped_while_the_pipeline_waits():
    iterator = pipeline(Waited([])).create_tuple_iterator(num_epochs=1)
    next(iterator)
    del iterator
    gc.collect()
    waiting = [thread for thread in threading.enumerate() if thread.name == "mindspore-data-feeder"]
    for thread in waiting:
        thread.join(timeout=5)
    assert not any(thread.is_alive() for thread in waiting)


def test_a_callback_has_to_override_something():
    class Nothing(ds.WaitedDSCallback):
        pass

    with pytest.raises(AttributeError, match="without overriding any methods"):
        pipeline(Nothing())
