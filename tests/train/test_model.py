"""Model: training, evaluation, prediction, callbacks, mixed precision, in both modes."""

from __future__ import annotations

import ast
import contextlib
import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, amp, nn
from mindspore import dataset as ds
from mindspore.train import (
    BackupAndRestore,
    Callback,
    CheckpointConfig,
    EarlyStopping,
    History,
    LambdaCallback,
    LearningRateScheduler,
    LossMonitor,
    Model,
    ModelCheckpoint,
    OnRequestExit,
    ReduceLROnPlateau,
    RunContext,
    SummaryCollector,
    TimeMonitor,
    TrainFaultTolerance,
)
from mindspore.train._compiled_graph import graph_of
from mindspore.train.callback import _CallbackManager, _InternalCallbackParam

SAMPLES, BATCH = 16, 4


@pytest.fixture(params=[ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["pynative", "graph"])
def mode(request):
    before = ms.get_context("mode")
    ms.set_context(mode=request.param)
    yield request.param
    ms.set_context(mode=before)


def data(samples=SAMPLES, shuffle=False):
    x = np.random.default_rng(0).random((samples, 3)).astype(np.float32)
    y = (x @ np.array([[1.0], [2.0], [3.0]], np.float32)) + 0.5
    return ds.NumpySlicesDataset({"x": x, "y": y}, shuffle=shuffle).batch(BATCH)


def dense(seed=0):
    weight = np.random.default_rng(seed).random((1, 3)).astype(np.float32)
    return nn.Dense(3, 1, weight_init=Tensor(weight), bias_init=Tensor(np.zeros(1, np.float32)))


def model_of(net, rate=0.1, **options):
    return Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), rate), **options)


def by_hand(epochs, rate=0.1):
    """The same training in NumPy; returns the losses, weight and bias."""
    bias = np.zeros(1)
    x = np.random.default_rng(0).random((SAMPLES, 3)).astype(np.float32).astype(np.float64)
    y = x @ np.array([[1.0], [2.0], [3.0]]) + 0.5
    weight = np.random.default_rng(0).random((1, 3)).astype(np.float32).astype(np.float64)
    losses = []
    for _ in range(epochs):
        for at in range(0, SAMPLES, BATCH):
            a, b = x[at : at + BATCH], y[at : at + BATCH]
            error = a @ weight.T + bias - b
            losses.append(float((error**2).mean()))
            slope = 2 * error / len(a)
            weight, bias = weight - rate * slope.T @ a, bias - rate * slope.sum(0)
    return losses, weight, bias


class Recorder(Callback):
    def __init__(self):
        self.calls, self.losses = [], []

    def __getattribute__(self, name):
        if name.startswith("on_"):
            calls = object.__getattribute__(self, "calls")
            return lambda run_context: calls.append((name, run_context.original_args().get("cur_step_num")))
        return object.__getattribute__(self, name)


# -- training ---------------------------------------------------------------------------------------------------------
def test_training_follows_the_mathematics(mode):
    net, losses = dense(), []
    keep = LambdaCallback(on_train_step_end=lambda c: losses.append(float(c.original_args().net_outputs.asnumpy())))
    model_of(net).train(3, data(), callbacks=keep)
    expected, weight, bias = by_hand(3)
    np.testing.assert_allclose(losses, expected, rtol=1e-4)
    np.testing.assert_allclose(net.weight.asnumpy(), weight, rtol=1e-4)
    np.testing.assert_allclose(net.bias.asnumpy(), bias, rtol=1e-4)


def test_evaluation_and_prediction(mode):
    net = dense()
    model = model_of(dense(), metrics={"mse", "mae", "loss"})
    result = model.eval(data())
    x = np.random.default_rng(0).random((SAMPLES, 3)).astype(np.float32)
    y = x @ np.array([[1.0], [2.0], [3.0]], np.float32) + 0.5
    predicted = x @ net.weight.asnumpy().T
    assert result["mse"] == pytest.approx(((predicted - y) ** 2).mean(), rel=1e-4)
    assert result["mae"] == pytest.approx(np.abs(predicted - y).mean(), rel=1e-4)
    assert result["loss"] == pytest.approx(result["mse"], rel=1e-4)
    np.testing.assert_allclose(model.predict(Tensor(x)).asnumpy(), predicted, rtol=1e-4)


def test_hooks_in_order():
    recorder = Recorder()
    model_of(dense()).train(2, data(8), callbacks=[recorder])
    names = [n for n, _ in recorder.calls]
    step = ["on_train_step_begin", "on_train_step_end"]
    epoch = ["on_train_epoch_begin", *step, *step, "on_train_epoch_end"]
    assert names == ["on_train_begin", *epoch, *epoch, "on_train_end"]
    assert [s for n, s in recorder.calls if n == "on_train_step_end"] == [1, 2, 3, 4]


def test_fit_evaluates_and_history_remembers():
    history, seen = History(), []
    look = LambdaCallback(on_train_epoch_end=lambda c: seen.append(c.original_args().get("eval_results")))
    model_of(dense(), metrics={"mse"}).fit(3, data(), data(), valid_frequency=2, callbacks=[history, look])
    assert [s is not None for s in seen] == [False, True, False]
    assert set(seen[1]) == {"mse", "eval_loss"} and seen[1]["mse"] == pytest.approx(seen[1]["eval_loss"], rel=1e-4)
    assert history.epoch == {"epoch": [1, 2, 3]} and len(history.history["net_output"]) == 3
    assert len(history.history["mse"]) == 1


def test_stop_request_and_initial_epoch():
    steps = []
    stop = LambdaCallback(on_train_step_end=lambda c: (steps.append(c.original_args().cur_step_num), c.request_stop()))
    model_of(dense()).train(3, data(), callbacks=stop)
    assert steps == [1]
    epochs = []
    note = LambdaCallback(on_train_epoch_begin=lambda c: epochs.append(c.original_args().cur_epoch_num))
    model_of(dense()).train(5, data(), callbacks=note, initial_epoch=3)
    assert epochs == [4, 5]


def test_sink_mode_trains_the_same():
    plain, sunk = dense(), dense()
    model_of(plain).train(2, data())
    model_of(sunk).train(2, data(), dataset_sink_mode=True)
    np.testing.assert_array_equal(plain.weight.asnumpy(), sunk.weight.asnumpy())


def test_sink_sizes_cut_epochs_across_the_data():
    helper = ms.DatasetHelper(data(), dataset_sink_mode=True, sink_size=3)
    first = [b[0].asnumpy() for b in helper]
    second = [b[0].asnumpy() for b in helper]
    whole = [b[0].asnumpy() for b in data().create_tuple_iterator()]
    assert len(first) == len(second) == 3
    for ours, theirs in zip([*first, *second], [*whole, *whole]):
        np.testing.assert_array_equal(ours, theirs)
    step = ms.data_sink(lambda x, y: x.sum(), data(), sink_size=2)
    assert float(step().asnumpy()) == pytest.approx(float(whole[1].sum()))


def test_build_compiles_before_training():
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        net = dense()
        model = model_of(net, metrics={"mse"})
        before = net.weight.asnumpy().copy()
        assert graph_of(model.train_network) is None
        model.build(data(), data())
        graph = graph_of(model.train_network)
        assert graph is not None and graph_of(model.eval_network) is not None
        np.testing.assert_array_equal(net.weight.asnumpy(), before)
        model.train(1, data())
        assert graph_of(model.train_network) is graph  # not compiled again
        assert not np.array_equal(net.weight.asnumpy(), before)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


# -- bad arguments ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "bad",
    [
        lambda m: m.train(0, data()),
        lambda m: m.train(1, data(), sink_size=0),
        lambda m: m.train(1, data(), initial_epoch=1),
        lambda m: m.eval(data()),
        lambda m: m.fit(1, data(), data()),
        lambda m: m.predict(Tensor(np.zeros((0, 3), np.float32))),
        lambda m: m.predict(Tensor([1.0]), backend="other"),
        lambda m: m.build(),
        lambda m: Model(dense(), colour=1),
        lambda m: Model(dense(), amp_level="O2"),
        lambda m: Model(dense(), metrics={"mse"}),
        lambda m: Model(dense(), nn.MSELoss(), eval_network=dense(), metrics={"mse"}, eval_indexes=[1]),
        lambda m: m.train(1, ds.NumpySlicesDataset(np.ones((4, 3), np.float32)).batch(2)),
    ],
)
def test_values_that_do_not_fit(bad):
    with pytest.raises(ValueError):
        bad(model_of(dense()))


@pytest.mark.parametrize(
    "bad",
    [
        lambda m: m.train("one", data()),
        lambda m: m.train(1, data(), dataset_sink_mode=1),
        lambda m: m.train(1, data(), callbacks=[1]),
        lambda m: m.predict([1]),
        lambda m: Model("net"),
        lambda m: Model(dense(), "mse"),
        lambda m: m.train(1, [1, 2]),
        lambda m: m.fit(1, data(), [1, 2]),
        lambda m: Model(dense(), nn.MSELoss(), metrics={"mse"}).eval(None),
        lambda m: Model(dense(), nn.MSELoss(), metrics="mse"),
    ],
)
def test_types_that_do_not_fit(bad):
    with pytest.raises(TypeError):
        bad(model_of(dense()))


# -- callbacks --------------------------------------------------------------------------------------------------------
def test_loss_monitor_prints_and_stops_at_nan(capsys):
    model_of(dense()).train(1, data(), callbacks=LossMonitor(2))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 and lines[0].startswith("epoch: 1 step: 2, loss is ")
    params = _InternalCallbackParam(cur_epoch_num=1, cur_step_num=1, batch_num=4, net_outputs=Tensor(float("nan")))
    with pytest.raises(ValueError):
        LossMonitor().step_end(RunContext(params))
    with pytest.raises(ValueError):
        LossMonitor(-1)


def test_time_monitor_prints(capsys):
    model_of(dense()).train(1, data(), callbacks=TimeMonitor(data_time=True))
    out = capsys.readouterr().out
    assert "Train epoch time" in out and "per step time" in out and "data time" in out


def test_checkpoints_by_steps_keep_the_newest(tmp_path):
    net = dense()
    config = CheckpointConfig(
        save_checkpoint_steps=2, keep_checkpoint_max=2, append_info=["epoch_num", "step_num", {"a": 1}]
    )
    callback = ModelCheckpoint("net", str(tmp_path), config)
    model_of(net).train(2, data(), callbacks=callback)
    assert sorted(os.listdir(tmp_path)) == ["net-2_2.ckpt", "net-2_4.ckpt"]
    assert callback.latest_ckpt_file_name.endswith("net-2_4.ckpt")
    stored = ms.load_checkpoint(callback.latest_ckpt_file_name)
    assert stored["epoch_num"].asnumpy() == 2 and stored["step_num"].asnumpy() == 8 and stored["a"].asnumpy() == 1
    np.testing.assert_array_equal(stored["weight"].asnumpy(), net.weight.asnumpy())
    again = ModelCheckpoint("net", str(tmp_path), config)
    model_of(dense()).train(1, data(), callbacks=again)
    assert again.latest_ckpt_file_name.endswith("net_1-1_4.ckpt")


def test_checkpoint_names_by_functions(tmp_path):
    callback = ModelCheckpoint(
        lambda p: f"step{p.cur_step_num}", lambda p: str(tmp_path / "deep"), CheckpointConfig(save_checkpoint_steps=4)
    )
    model_of(dense()).train(1, data(), callbacks=callback)
    assert os.listdir(tmp_path / "deep") == ["step4.ckpt"]


def test_checkpoint_when_training_fails(tmp_path):
    def fail(run_context):
        if run_context.original_args().cur_step_num == 3:
            raise KeyError("on purpose")

    config = CheckpointConfig(save_checkpoint_steps=100, exception_save=True)
    with pytest.raises(KeyError):
        model_of(dense()).train(
            1, data(), callbacks=[ModelCheckpoint("net", str(tmp_path), config), LambdaCallback(on_train_step_end=fail)]
        )
    assert os.listdir(tmp_path) == ["net-1_3_breakpoint.ckpt"]


@pytest.mark.parametrize(
    "options, error",
    [
        ({"save_checkpoint_steps": -1}, ValueError),
        ({"save_checkpoint_steps": 0, "keep_checkpoint_max": 0}, ValueError),
        ({"saved_network": 1}, TypeError),
        ({"append_info": "epoch_num"}, TypeError),
        ({"append_info": ["loss"]}, ValueError),
        ({"enc_key": "text"}, TypeError),
        ({"format": "pickle"}, ValueError),
        ({"crc_check": 1}, TypeError),
    ],
)
def test_checkpoint_config_checks(options, error):
    with pytest.raises(error):
        CheckpointConfig(**options)


def test_early_stopping_goes_back_to_the_best():
    net = dense()
    stop = EarlyStopping(monitor="loss", patience=2, restore_best_weights=True)
    best, epochs = {}, []

    def spoil(run_context):
        params = run_context.original_args()
        epochs.append(params.cur_epoch_num)
        if params.cur_epoch_num == 2:
            best["weight"] = net.weight.asnumpy().copy()
        if params.cur_epoch_num >= 2:
            params.optimizer.learning_rate.set_data(Tensor(3.0))  # diverges from here

    model_of(net).train(20, data(), callbacks=[stop, LambdaCallback(on_train_epoch_end=spoil)])
    assert epochs == [1, 2, 3, 4] and stop.stopped_epoch == 4
    np.testing.assert_array_equal(net.weight.asnumpy(), best["weight"])


def test_reduce_on_plateau_and_scheduler():
    net = dense()
    model = model_of(net, rate=1.0)
    rates = []
    note = LambdaCallback(
        on_train_epoch_end=lambda c: rates.append(float(c.original_args().optimizer.learning_rate.asnumpy()))
    )
    plateau = ReduceLROnPlateau(monitor="loss", factor=0.5, patience=1, min_delta=1e9, min_lr=0.2)
    model.train(4, data(), callbacks=[plateau, note])
    assert rates == [1.0, 0.5, 0.25, pytest.approx(0.2)]
    net = dense()
    model = model_of(net)
    rates.clear()
    model.train(3, data(), callbacks=[LearningRateScheduler(lambda rate, step: 0.1 / step), note])
    assert rates == [pytest.approx(0.1 / 4), pytest.approx(0.1 / 8), pytest.approx(0.1 / 12)]


def test_exit_on_request(tmp_path):
    steps = []

    def ask(run_context):
        steps.append(run_context.original_args().cur_step_num)
        if len(steps) == 2:
            os.kill(os.getpid(), signal.SIGTERM)

    before = signal.getsignal(signal.SIGTERM)
    leave = OnRequestExit(save_mindir=False, directory=str(tmp_path))
    model_of(dense()).train(5, data(), callbacks=[LambdaCallback(on_train_step_end=ask), leave])
    assert steps == [1, 2] and signal.getsignal(signal.SIGTERM) is before
    stored = ms.load_checkpoint(str(tmp_path / "rank_0" / "Net_train.ckpt"))
    assert stored["step_num"].asnumpy() == 2
    net = dense(5)
    model_of(net).train(1, data(), callbacks=[OnRequestExit(save_mindir=False, directory=str(tmp_path)), _StopAtOnce()])
    assert not np.array_equal(net.weight.asnumpy(), dense(5).weight.asnumpy())


class _StopAtOnce(Callback):
    def on_train_step_end(self, run_context):
        run_context.request_stop()


@pytest.mark.parametrize("make", [lambda p: BackupAndRestore(p), lambda p: TrainFaultTolerance(p)])
def test_restart_after_failure(tmp_path, make):
    def fail(run_context):
        if run_context.original_args().cur_epoch_num == 2:
            raise RuntimeError("on purpose")

    net = dense()
    with pytest.raises(RuntimeError):
        model_of(net).train(3, data(), callbacks=[make(str(tmp_path)), LambdaCallback(on_train_epoch_begin=fail)])
    fresh, start = dense(7), {}
    note = LambdaCallback(on_train_epoch_begin=lambda c: start.setdefault("weight", fresh.weight.asnumpy().copy()))
    model_of(fresh).train(1, data(), callbacks=[make(str(tmp_path)), note])
    np.testing.assert_array_equal(start["weight"], net.weight.asnumpy())
    assert os.listdir(tmp_path) == []


def test_summary_collector(tmp_path):
    from mindspore.formats.events.event_file import read_records
    from mindspore.formats.events.messages import Event, LineageEvent

    net = dense()
    collector = SummaryCollector(str(tmp_path), collect_freq=2, custom_lineage_data={"seed": 1, "note": "x"})
    model_of(net, metrics={"mse"}).train(1, data(), callbacks=[collector])
    files = sorted(os.listdir(tmp_path))
    assert len(files) == 2 and files[0].endswith("_MS") and files[1].endswith("_lineage")
    events = [Event.decode(bytes(r)) for r in read_records((tmp_path / files[0]).read_bytes())]
    tags = {v.tag for e in events if e.summary for v in e.summary.value}
    assert {"loss/auto", "weight/auto", "bias/auto"} <= tags
    assert [e.step for e in events if e.summary] == [1, 2, 4]
    lineage = [LineageEvent.decode(bytes(r)) for r in read_records((tmp_path / files[1]).read_bytes())]
    train = next(e.train_lineage for e in lineage if e.train_lineage)
    assert train.hyper_parameters.optimizer == "SGD" and train.hyper_parameters.batch_size == BATCH


def test_callback_managers_refuse_other_things():
    for bad in ([None], ["text"], 5):
        with pytest.raises(TypeError):
            _CallbackManager(bad)
    with pytest.raises(TypeError):
        RunContext([])


def test_fit_refuses_hooks_that_run_twice():
    class Plain(Callback):
        def step_end(self, run_context):
            pass

    with pytest.raises(ValueError, match="on_train_"):
        model_of(dense(), metrics={"mse"}).fit(1, data(), data(), callbacks=[Plain()])


# -- mixed precision --------------------------------------------------------------------------------------------------
class Layers(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.dense = nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Dense(2 * 16, 3)
        self.seen = {}

    def construct(self, x):
        y = self.conv(x)
        self.seen["conv"] = y.dtype
        z = self.norm(y)
        self.seen["norm"] = z.dtype
        out = self.dense(z.reshape(z.shape[0], -1))
        self.seen["dense"] = out.dtype
        return out


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16])
@pytest.mark.parametrize(
    "level, inner", [("O0", "float32"), ("O1", "float32"), ("O2", "low"), ("O3", "low"), ("auto", "low")]
)
def test_levels(level, inner, dtype):
    x = Tensor(np.random.default_rng(0).random((2, 1, 4, 4)).astype(np.float32))
    net = Layers().set_train(False)
    plain = net(x).asnumpy()
    low = amp.auto_mixed_precision(net, level, dtype)
    out = low(x)
    assert net.seen["conv"] == (dtype if inner == "low" else ms.float32)
    if level != "auto":
        assert out.dtype == ms.float32
    np.testing.assert_allclose(out.asnumpy().astype(np.float32), plain, atol=0.05)
    assert all(p.dtype == ms.float32 for p in net.trainable_params())


def test_lists():
    x = Tensor(np.random.default_rng(0).random((2, 1, 4, 4)).astype(np.float32))
    net = Layers().set_train(False)
    custom = amp.custom_mixed_precision(net, black_list=[nn.Dense])
    assert custom(x).dtype == ms.float32 and net.seen["conv"] == ms.float16
    net = Layers().set_train(False)
    amp.custom_mixed_precision(net, white_list=[nn.Dense])(x)
    assert net.seen["conv"] == ms.float32
    assert nn.Conv2d in amp.get_white_list() and nn.BatchNorm2d in amp.get_black_list()
    for bad in (
        {},
        {"white_list": [nn.Dense], "black_list": [nn.Dense]},
        {"white_list": [nn.Dense], "dtype": ms.float32},
    ):
        with pytest.raises(ValueError):
            amp.custom_mixed_precision(Layers(), **bad)
    for bad in ({"white_list": nn.Dense}, {"black_list": [int]}):
        with pytest.raises(TypeError):
            amp.custom_mixed_precision(Layers(), **bad)
    with pytest.raises(ValueError):
        amp.auto_mixed_precision(Layers(), "O7")
    with pytest.raises(TypeError):
        amp.auto_mixed_precision(lambda x: x, "O2")


@pytest.mark.parametrize("level", ["O0", "O1", "O2", "O3", "auto"])
def test_training_in_mixed_precision_learns(level, mode):
    net = dense()
    options = {"loss_scale_manager": amp.DynamicLossScaleManager(1024, 2, 3)} if level == "O2" else {}
    model = model_of(net, amp_level=level, metrics={"mse"}, **options)
    before = model.eval(data())["mse"]
    model.train(10, data())
    assert model.eval(data())["mse"] < before / 5


def test_fixed_scale_trains_like_none():
    plain, scaled = dense(), dense()
    model_of(plain).train(2, data())
    manager = amp.FixedLossScaleManager(1024, drop_overflow_update=True)
    model_of(scaled, loss_scale_manager=manager).train(2, data())
    np.testing.assert_allclose(scaled.weight.asnumpy(), plain.weight.asnumpy(), rtol=1e-5)


def test_overflow_leaves_the_step_out(mode):
    net = dense()
    manager = amp.DynamicLossScaleManager(2.0**10, 2, 1000)
    model = model_of(net, loss_scale_manager=manager)
    before = net.weight.asnumpy().copy()
    bad = ds.NumpySlicesDataset({"x": np.full((4, 3), 1e30, np.float32), "y": np.zeros((4, 1), np.float32)}).batch(4)
    model.train(1, bad)
    np.testing.assert_array_equal(net.weight.asnumpy(), before)
    assert manager.get_loss_scale() == 2.0**9
    model.train(1, data())
    assert not np.array_equal(net.weight.asnumpy(), before)


def test_loss_scalers(mode):
    scaler = amp.DynamicLossScaler(4.0, 2, 2)
    x = (Tensor([1.0, 2.0]), Tensor(np.array([4.0], np.float16)))
    scaled = scaler.scale(x)
    np.testing.assert_allclose(scaled[0].asnumpy(), [4.0, 8.0])
    assert scaled[1].dtype == ms.float16
    np.testing.assert_allclose(scaler.unscale(scaled)[0].asnumpy(), [1.0, 2.0])
    history = []
    for finite in (True, True, True, False, False, False, False):
        scaler.adjust(Tensor(finite))
        history.append(float(scaler.scale_value.asnumpy()))
    assert history == [4.0, 8.0, 8.0, 4.0, 2.0, 1.0, 1.0]
    static = amp.StaticLossScaler(3.0)
    assert static.adjust(Tensor(False)) is False
    assert float(static.scale(Tensor(2.0)).asnumpy()) == 6.0
    for bad in (lambda: amp.StaticLossScaler(0.5), lambda: amp.DynamicLossScaler(2.0, 0, 1)):
        with pytest.raises(ValueError):
            bad()


def test_all_finite(mode):
    good, bad = Tensor([1.0, 2.0]), Tensor([1.0, np.inf])
    assert bool(amp.all_finite((good, good)).asnumpy())
    assert not bool(amp.all_finite((good, (bad,))).asnumpy())


def test_scaler_inside_a_compiled_step():
    net = dense()
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    scaler = amp.DynamicLossScaler(8.0, 2, 2)
    loss_fn = nn.MSELoss()

    def forward(x, y):
        return scaler.scale(loss_fn(net(x), y))

    gradient = ms.value_and_grad(forward, None, optimizer.parameters)

    @ms.jit
    def step(x, y):
        loss, grads = gradient(x, y)
        finite = amp.all_finite(grads)
        if finite:
            optimizer(scaler.unscale(grads))
        plain = scaler.unscale(loss)
        scaler.adjust(finite)
        return plain

    losses = [float(step(*batch).asnumpy()) for _ in range(2) for batch in data().create_tuple_iterator()]
    np.testing.assert_allclose(losses, by_hand(2)[0], rtol=1e-4)


def test_compiled_functions_survive_a_fork():
    """Children of a process that has compiled go on without the libraries whose threads are gone."""
    code = """
import os, numpy as np, mindspore as ms
f = ms.jit(lambda x: ms.ops.exp(x) * 2)
f(ms.Tensor([1.0]))
child = os.fork()
if child == 0:
    same = np.allclose(f(ms.Tensor([1.0])).asnumpy(), [2 * np.e]) and np.allclose(ms.grad(f)(ms.Tensor([1.0])).asnumpy(), [2 * np.e])
    os._exit(0 if same else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), f(ms.Tensor([0.0])).asnumpy())
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert out.stdout.split() == ["0", "[2.]"], out.stderr


def test_what_fit_prints():
    """Losses appear at once; the results of an evaluation are one line with plain numbers."""

    class Stream:
        """Forgets at each flush, as some loggers do."""

        text, flushed = "", 0

        def write(self, text):
            self.text += text

        def flush(self):
            self.text, self.flushed = "", self.flushed + 1

    stream = Stream()
    model = model_of(dense(), metrics={"mse", "mae"})
    with contextlib.redirect_stdout(stream):
        model.fit(1, data(), data(), callbacks=[LossMonitor(1)])
    assert stream.flushed == data().get_dataset_size()
    found = re.fullmatch(r"Eval result: epoch 1, metrics: (\{.*\})\n", stream.text)
    assert found and sorted(ast.literal_eval(found[1])) == ["mae", "mse"]
