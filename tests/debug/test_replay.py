"""The replay ring: steps run again are those of the training, bit by bit; nothing of it breaks by kills, full disks or damage."""

import errno
import os
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, debug, nn, ops
from mindspore.runtime.replay import ring


class Net(nn.Cell):
    """With random numbers, statistics that are kept, and an optimizer with a state."""

    def __init__(self):
        super().__init__()
        self.inner, self.drop, self.norm = nn.Dense(4, 8), nn.Dropout(p=0.5), nn.BatchNorm1d(8)
        self.outer = nn.Dense(8, 1)

    def construct(self, x):
        return self.outer(self.drop(ops.tanh(self.norm(self.inner(x))))).sum()


def made(seed=1):
    ms.set_seed(seed)
    net = Net()
    step = nn.TrainOneStepCell(net, nn.Adam(net.trainable_params(), 0.01))
    step.set_train()
    return net, step


def batch(number):
    return Tensor(np.random.default_rng(number).standard_normal((3, 4)).astype(np.float32))


@pytest.fixture(params=["interp", "cpu", "xla"])
def backend(request):
    ms.set_context(mode=ms.GRAPH_MODE, backend=request.param)
    yield request.param
    debug.stop_recording()


def trained(folder, steps, keep=3, meddle=lambda net, number: None):
    net, step = made()
    losses, weights = [], []
    with debug.record(str(folder), keep=keep):
        for number in range(steps):
            meddle(net, number)
            losses.append(step(batch(number)).asnumpy())
            weights.append(net.inner.weight.asnumpy().copy())
    return net, step, losses, weights


def test_every_kept_step_is_run_again_bit_by_bit(backend, tmp_path):
    net, step, losses, weights = trained(tmp_path, 8)
    replay = debug.Replay(str(tmp_path), step)
    assert replay.steps == [3, 4, 5, 6, 7]  # at least the last three, from where all states are kept
    for number in (7, 3, 5):
        again = replay.run(number, "Tanh-op0")
        assert again.results[0].tobytes() == losses[number].tobytes()
        np.testing.assert_array_equal(again.state["inner.weight"], weights[number])
        assert again.as_recorded is (None if number == 7 else True)
        (tanh,) = [v for name, v in again.tensors.items() if "Gradients" not in name]
        assert tanh.shape == (3, 8) and np.abs(tanh).max() <= 1
        np.testing.assert_array_equal(replay.inputs(number)[0], batch(number).asnumpy())
    np.testing.assert_array_equal(net.inner.weight.asnumpy(), weights[-1])  # the network is as it was


def test_what_is_changed_from_outside_is_kept(backend, tmp_path):
    def meddle(net, number):
        if number == 4:
            net.inner.weight.set_data(Tensor(np.full((8, 4), 0.25, np.float32)))

    _, step, losses, weights = trained(tmp_path, 6, 10, meddle)
    again = debug.Replay(str(tmp_path), step).run(5)
    assert again.results[0].tobytes() == losses[5].tobytes()
    np.testing.assert_array_equal(again.state["inner.weight"], weights[5])


def test_another_process_can_run_steps_again(tmp_path):
    ms.set_context(mode=ms.GRAPH_MODE, backend="cpu")
    _, _, losses, _ = trained(tmp_path, 4)
    _, fresh = made(seed=7)  # other weights: those of the ring count
    assert debug.Replay(str(tmp_path), fresh).run(2).results[0].tobytes() == losses[2].tobytes()


def test_the_first_difference_of_two_trainings_is_found(tmp_path):
    ms.set_context(mode=ms.GRAPH_MODE, backend="cpu")

    def meddle(net, number):
        if number == 3:
            bias = net.outer.bias.asnumpy().copy()
            net.outer.bias.set_data(Tensor(bias + 0.5))

    _, step, _, _ = trained(tmp_path / "one", 6, 10)
    _, other, _, _ = trained(tmp_path / "two", 6, 10, meddle)
    one, two = debug.Replay(str(tmp_path / "one"), step), debug.Replay(str(tmp_path / "two"), other)
    found = one.first_difference(two)
    assert found.step == 3 and "outer-Dense" in found.name and found.largest == pytest.approx(0.5, rel=1e-5)
    assert one.first_difference(one) is None


def test_disk_space_is_bounded(tmp_path):
    ms.set_context(mode=ms.GRAPH_MODE, backend="cpu")
    trained(tmp_path, 40, 4)
    assert len(os.listdir(tmp_path)) <= 2 * 4 and ring.steps_of(tmp_path)[-1] == 39


def test_damaged_files_are_said_to_be_and_others_still_serve(tmp_path):
    ms.set_context(mode=ms.GRAPH_MODE, backend="cpu")
    _, step, losses, _ = trained(tmp_path, 8)
    path = ring.file_of(tmp_path, 4)
    data = bytearray(path.read_bytes())
    data[-3] ^= 255
    path.write_bytes(data)
    replay = debug.Replay(str(tmp_path), step)
    assert replay.steps == [3, 6, 7]
    with pytest.raises(debug.RingError, match=r"step_000000004.ring is damaged: an array is not what was written"):
        replay.run(5)
    assert replay.run(7).results[0].tobytes() == losses[7].tobytes()
    for content in (b"", b"MSRING1\n", b"x" * 100, bytes(data[:40])):
        path.write_bytes(content)
        with pytest.raises(debug.RingError, match="is damaged"):
            replay.inputs(4)
    with pytest.raises(debug.RingError, match="cannot be read"):
        replay.run(99)


def test_a_full_disk_ends_the_ring_and_not_the_training(tmp_path, monkeypatch):
    ms.set_context(mode=ms.GRAPH_MODE, backend="cpu")
    real = ring.write

    def write(folder, record):
        if record.step >= 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(folder, record)

    monkeypatch.setattr(ring, "write", write)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        _, step, losses, _ = trained(tmp_path, 5)
    assert len(losses) == 5 and any("ends at step 2: No space left on device" in str(w.message) for w in said)
    assert debug.Replay(str(tmp_path), step).steps == [0, 1]


def test_other_networks_and_wrong_arguments_are_refused(tmp_path):
    ms.set_context(mode=ms.GRAPH_MODE, backend="cpu")
    trained(tmp_path, 2)
    other = nn.Dense(4, 2)
    wrong = nn.TrainOneStepCell(nn.SequentialCell(other), nn.SGD(other.trainable_params(), 0.1))
    with pytest.raises(debug.RingError, match="another network"):
        debug.Replay(str(tmp_path), wrong).run(0)
    with pytest.raises(TypeError, match="must be a Cell or a function"):
        debug.Replay(str(tmp_path), lambda x: x).run(0)
    with pytest.raises(ValueError, match="'keep' must be an int of at least 1"):
        debug.record(str(tmp_path), keep=0)
    with pytest.raises(debug.RingError, match="is no folder"):
        debug.Replay(str(tmp_path / "nowhere"), wrong)


SCRIPT = """
import sys
sys.path.insert(0, {here!r})
import mindspore as ms
from mindspore import debug
from test_replay import batch, made
ms.set_context(mode=ms.GRAPH_MODE, backend="interp")
net, step = made()
debug.record({folder!r}, keep=3)
for number in range(100000):
    step(batch(number))
    print(number, flush=True)
"""


def test_a_killed_training_leaves_a_ring_that_serves(tmp_path):
    folder = tmp_path / "ring"
    script = SCRIPT.format(here=os.path.dirname(__file__), folder=str(folder))
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    while int(process.stdout.readline()) < 9 or len(list(folder.glob("step_*.ring"))) < 3:  # they are written beside the steps
        pass
    time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    ms.set_context(mode=ms.GRAPH_MODE, backend="interp")
    _, step = made()
    replay = debug.Replay(str(folder), step)
    kept = replay.steps
    assert len(kept) >= 3
    assert replay.run(kept[-2]).as_recorded is True
    with debug.record(str(folder), keep=3) as recorder:
        assert recorder.step == kept[-1] + 1  # a new run goes on behind it
    assert not list(folder.glob(".step_*"))


def test_large_states_are_written_less_often_where_that_takes_long(backend, tmp_path, monkeypatch):
    from mindspore.runtime.replay import record

    monkeypatch.setattr(record, "_SMALL_STATES", 0)
    monkeypatch.setattr(record, "_SHARE", 1e-9)  # any time is too long
    _, step, losses, _ = trained(tmp_path, 8)
    replay = debug.Replay(str(tmp_path), step)
    assert replay.steps == list(range(8))  # all states are those of the first step
    assert replay.run(7).results[0] == losses[7]


@pytest.fixture
def pynative():
    before = ms.get_context("mode")
    ms.set_context(mode=ms.PYNATIVE_MODE, backend="")
    yield
    debug.stop_recording()
    ms.set_context(mode=before)


def test_steps_of_pynative_mode_are_run_again_bit_by_bit(pynative, tmp_path):
    net, _, losses, weights = trained(tmp_path, 8)
    _, again = made(seed=9)
    left = {p.name: p.asnumpy().copy() for p in again.get_parameters()}
    replay = debug.Replay(str(tmp_path), again)
    assert replay.steps[-3:] == [5, 6, 7]
    for number in replay.steps:
        found = replay.run(number)
        assert found.results[0].tobytes() == losses[number].tobytes()
        assert found.state[net.inner.weight.name].tobytes() == weights[number].tobytes()
        assert found.as_recorded is (True if number < 7 else None)
    assert all(p.asnumpy().tobytes() == left[p.name].tobytes() for p in again.get_parameters())


def test_tensors_of_a_pynative_step_that_were_never_dumped(pynative, tmp_path):
    _, step, losses, _ = trained(tmp_path, 3)
    found = debug.Replay(str(tmp_path), step).run(2, tensors="Tanh|ReduceSum|Sum")
    tanh = next(array for name, array in found.tensors.items() if "Tanh" in name and "Gradients" not in name)
    assert tanh.shape == (3, 8) and np.abs(tanh).max() <= 1
    assert found.results[0].tobytes() == losses[2].tobytes()  # looking at tensors changed no state


def test_what_is_changed_from_outside_in_pynative_mode(pynative, tmp_path):
    def meddle(net, number):
        if number == 4:
            net.outer.weight.set_data(Tensor(np.full((1, 8), 0.25, np.float32)))

    _, step, losses, _ = trained(tmp_path, 6, meddle=meddle)
    assert debug.Replay(str(tmp_path), step).run(4).results[0].tobytes() == losses[4].tobytes()


def test_a_step_written_as_a_function(pynative, tmp_path):
    ms.set_seed(3)
    net = Net()
    optimizer = nn.Adam(net.trainable_params(), 0.01)
    gradient = ms.value_and_grad(net, None, optimizer.parameters)

    def train(x):
        loss, gradients = gradient(x)
        optimizer(gradients)
        return loss

    step = debug.Step(train, net, optimizer)
    with debug.record(str(tmp_path), keep=3):
        losses = [step(batch(n)).asnumpy() for n in range(5)]
        net(batch(0))  # an evaluation is no step
    replay = debug.Replay(str(tmp_path), step)
    assert replay.steps[-1] == 4 and replay.run(3).results[0].tobytes() == losses[3].tobytes()
    with pytest.raises(TypeError, match=r"debug\.Step"):
        debug.Replay(str(tmp_path), train).run(3)
    with pytest.raises(TypeError, match="give the network and the optimizer"):
        debug.Step(train)


def test_model_train_in_pynative_mode_is_recorded(pynative, tmp_path):
    from mindspore import dataset as ds
    from mindspore import train

    ms.set_seed(1)
    net = nn.Dense(4, 1)
    data = ds.NumpySlicesDataset({"x": np.ones((6, 4), np.float32), "y": np.zeros((6, 1), np.float32)}, shuffle=False).batch(2)
    model = train.Model(net, nn.MSELoss(), nn.Momentum(net.trainable_params(), 0.1, 0.9))
    with debug.record(str(tmp_path), keep=2) as recorder:
        model.train(2, data, dataset_sink_mode=False)
    assert recorder.step == 6
