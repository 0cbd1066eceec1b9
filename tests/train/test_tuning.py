"""`ms.auto_tune`: what it leaves alone, what it stores, what it refuses. That it is quicker is measured by `benchmarks/tuning`."""

import json
import threading

import numpy as np
import pytest

import mindspore as ms
import mindspore.dataset as ds
from mindspore import nn, train
from mindspore.train import tuning
from mindspore.train.tuning import search, store, turns


@pytest.fixture(autouse=True)
def own_place(tmp_path, monkeypatch):
    monkeypatch.setenv("MS_COMPILER_CACHE_PATH", str(tmp_path))
    monkeypatch.setattr(turns, "processor_seconds", lambda: (0.0, 0.0, 0.0))  # a machine of which nothing is known: nobody disturbs
    workers = ds.config.get_num_parallel_workers()
    with ms.context.local_context(mode=ms.GRAPH_MODE):
        yield
    ds.config.set_num_parallel_workers(workers)


def data(rows=64):
    x = np.random.default_rng(0).random((rows, 8)).astype(np.float32)
    return ds.NumpySlicesDataset((x, x.sum(1, keepdims=True)), ["x", "y"], shuffle=False).batch(16)


def model(dropout=0.0):
    ms.set_seed(1)
    net = nn.SequentialCell(nn.Dense(8, 16), nn.Dropout(p=dropout), nn.Dense(16, 1))
    return train.Model(net, nn.MSELoss(), nn.Momentum(net.trainable_params(), 0.05, 0.9))


def files(folder):
    return sorted((folder / "tuned").glob("*"))


def test_training_goes_on_as_if_nothing_had_been_tuned():
    weights = []
    for tuned in (False, True):
        made = model(dropout=0.3)
        made.train_network.set_train(True)
        if tuned:
            ms.auto_tune(made, data(), budget=2, precision=False, verbose=False)
        made.train(2, data())
        weights.append([p.asnumpy() for p in made.train_network.get_parameters()])
    for plain, tuned in zip(*weights):
        np.testing.assert_allclose(plain, tuned, rtol=1e-5, atol=1e-6)


def test_what_was_tried_is_said_and_used_again(tmp_path, capsys):
    first = ms.auto_tune(model(), data(), budget=3)
    said = capsys.readouterr().out
    assert said.startswith("auto_tune: ")
    assert "ms a step as it is" in said
    assert first.trials
    assert first.after <= first.before
    (file,) = files(tmp_path)
    second = ms.auto_tune(model(), data(), budget=3)
    assert second.stored
    assert second.settings == first.settings
    assert "found earlier" in capsys.readouterr().out
    other = ms.auto_tune(model(), ds.NumpySlicesDataset((np.ones((8, 8), np.float32), np.ones((8, 1), np.float32)), ["x", "y"]).batch(4),
                         budget=0.1, verbose=False)  # fmt: skip
    assert not other.stored  # another batch, another key
    assert file in files(tmp_path)


@pytest.mark.parametrize("content", ["", "{", "[]", json.dumps({"settings": {"graph": 1}}), json.dumps({"settings": {"what": 1}})])
def test_damaged_files_are_made_again(tmp_path, content):
    ms.auto_tune(model(), data(), budget=0.1, verbose=False)
    (file,) = files(tmp_path)
    file.write_text(content)
    assert not ms.auto_tune(model(), data(), budget=0.1, verbose=False).stored
    assert json.loads(file.read_text())["settings"]["graph"] is True


def test_several_writers_leave_one_whole_file(tmp_path):
    file = tmp_path / "tuned" / "key.json"
    found = [tuning.Tuning(tuning.Settings(threads=n + 1), 2.0, 1.0) for n in range(8)]
    threads = [threading.Thread(target=lambda t=t: [store.write(file, t) for _ in range(20)]) for t in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert files(tmp_path) == [file]
    assert store.read(file).settings in [t.settings for t in found]


def busy_machine(monkeypatch):
    """One whose other programs take nine tenths of the processors."""
    passed = iter(range(10**6))
    monkeypatch.setattr(turns, "processor_seconds", lambda: (0.0, 0.9 * (now := next(passed)), float(now)))


def test_what_was_found_on_a_busy_machine_is_not_stored(tmp_path, monkeypatch, capsys):
    busy_machine(monkeypatch)
    found = ms.auto_tune(model(), data(), budget=1)
    assert found.others == pytest.approx(0.9)
    assert "others use 90 % of the processors: threads stay, and this is not stored" in capsys.readouterr().out
    assert not files(tmp_path)
    assert not ms.auto_tune(model(), data(), budget=1, verbose=False).stored


def compared(first, second, others=0.0):
    """Turns of three steps with these middle times."""
    return turns.Comparison([[0.99 * t, t, 1.2 * t] for t in first], [[0.99 * t, t, 1.2 * t] for t in second], others)


@pytest.mark.parametrize("second, quicker", [
    ([9.0] * 7, True),
    ([9.0] * 6 + [30.0], True),  # something else ran in one turn
    ([9.8] * 7, False),  # quicker, but by less than the margin
    ([9.0] * 4 + [12.0] * 3, False),  # now so, now so
    ([9.0] * 5 + [30.0] * 2, False),
    ([11.0] * 7, False),
])  # fmt: skip
def test_only_what_is_clearly_quicker_is_kept(second, quicker):
    assert compared([10.0] * 7, second).second_is_quicker(0.97) is quicker


def test_a_load_that_comes_and_goes_meets_both():
    load = [1.0, 6.0, 6.0, 6.0, 1.0, 1.0, 1.0]
    assert compared([10 * x for x in load], [8 * x for x in load]).second_is_quicker(0.97)
    assert not compared([10 * x for x in load], [10 * x for x in load]).second_is_quicker(0.97)
    assert compared([10 * x for x in load], [8 * x for x in load]).share == pytest.approx(0.8)


def test_turns_change_their_order():
    order = []
    found = turns.by_turns(lambda: order.append("a") or [2.0], lambda: order.append("b") or [1.0], 3)
    assert "".join(order) == "abbaab"
    assert (found.before, found.after, found.others) == (2.0, 1.0, 0.0)


@pytest.mark.parametrize("busy", [False, True])
def test_threads_are_left_where_others_use_the_processors(monkeypatch, busy):
    if busy:
        busy_machine(monkeypatch)
    made = model()
    looked = search._Search(made.train_network, {0: data}, 5.0, 0.02, False, 0)
    monkeypatch.setattr(looked, "timed", lambda settings, seconds: [1.0 if settings.threads else 2.0])
    usual = tuning.Settings()
    assert looked.wins(tuning.Settings(threads=1), usual) is not busy
    assert ("others use 90 %" in looked.trials[-1].remark) is busy


def test_precision_is_left_if_the_loss_does_not_agree():
    class Sharp(nn.Cell):
        """A loss that only float32 can tell from 0."""

        def __init__(self):
            super().__init__()
            self.w = ms.Parameter(ms.Tensor(np.eye(4, dtype=np.float32)), name="w")

        def construct(self, x, y):
            return ((ms.ops.matmul(x, self.w) - x * 0.999) ** 2).mean()

    net = Sharp()
    step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 1e-6))
    x = np.full((4, 4), 1.001, np.float32)
    rows = ds.NumpySlicesDataset((x, x), ["x", "y"]).batch(4)
    found = ms.auto_tune(step, rows, budget=5, verbose=False)
    assert found.settings.precision == "float32"
    assert any("precision" in t.settings and "losses differ" in t.remark for t in found.trials)


@pytest.mark.parametrize("arguments, error", [
    (("model", None), AttributeError), ((3, "data"), TypeError), (("model", "data", 0), ValueError), (("model", "empty"), ValueError),
])  # fmt: skip
def test_mistakes_are_named(arguments, error):
    given = {"model": model(), "data": data(), "empty": data().take(1).skip(1)}
    with pytest.raises(error):
        ms.auto_tune(*(given.get(a, a) if isinstance(a, str) else a for a in arguments))


class Deep(nn.Cell):
    """Blocks with wide results between few weights, whose results are most of a step's memory."""

    def __init__(self, depth=6):
        super().__init__()
        self.blocks = nn.SequentialCell(
            [nn.SequentialCell(nn.Dense(8, 256), nn.Tanh(), nn.Dense(256, 8), nn.Sigmoid()) for _ in range(depth)]
        )
        self.last = nn.Dense(8, 1)

    def construct(self, x):
        return self.last(self.blocks(x))


def deep_model():
    ms.set_seed(1)
    net = Deep()
    return train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 1e-3))


def rows(batch):
    x = np.random.default_rng(0).random((1024, 8)).astype(np.float32)
    return ds.NumpySlicesDataset((x, x.sum(1, keepdims=True)), ["x", "y"], shuffle=False).batch(batch)


def bytes_of(batch, recompute):
    """What a step takes, by its own report."""
    made = deep_model()
    for block in made.train_network.network.backbone_network.blocks if recompute else ():
        block.recompute()
    columns = next(rows(batch).create_tuple_iterator(num_epochs=1))
    made.train_network.compile(*columns)
    kept = sum(p.nbytes for p in made.train_network.get_parameters()) + sum(c.nbytes for c in columns)
    return kept + made.train_network.memory_report()["peak_bytes"]


def test_blocks_are_computed_again_where_memory_is_short():
    plain, less = bytes_of(512, False), bytes_of(512, True)
    assert less < 0.6 * plain
    made, usual = deep_model(), deep_model()
    found = ms.auto_tune(made, rows(512), budget=1, precision=False, verbose=False, memory=int((plain + less) / 2))
    assert found.settings.recompute == "blocks"
    assert found.bytes == less
    assert all(block.get_flags().get("recompute") for block in made.train_network.network.backbone_network.blocks)
    assert any("left: it takes" in str(t) for t in found.trials)
    made.train(1, rows(512))
    usual.train(1, rows(512))
    for a, b in zip(made.train_network.get_parameters(), usual.train_network.get_parameters()):
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=1e-5, atol=1e-5)


def test_memory_that_suffices_changes_nothing():
    made = deep_model()
    found = ms.auto_tune(made, rows(64), budget=1, precision=False, verbose=False, memory="1GB")
    assert found.settings.recompute == ""
    assert not any(cell.get_flags().get("recompute") for _, cell in made.train_network.cells_and_names())


def test_the_batch_is_chosen_among_those_that_fit(tmp_path):
    limit = int(bytes_of(128, False))
    found = ms.auto_tune(deep_model(), rows, budget=2, precision=False, verbose=False, memory=limit, batches=(32, 64, 128, 1024))
    assert found.settings.batch in (32, 64, 128)  # 1024 rows do not fit, computed again or not
    assert found.bytes <= limit
    assert found.after <= found.before
    (file,) = files(tmp_path)
    again = ms.auto_tune(deep_model(), rows, budget=2, precision=False, verbose=False, memory=limit, batches=(32, 64, 128, 1024))
    assert again.stored
    assert again.settings == found.settings
    assert files(tmp_path) == [file]


@pytest.mark.parametrize("options, text", [
    ({"memory": "much"}, "such as '2GB'"), ({"memory": 0}, "such as '2GB'"), ({"memory": "1kB"}, "no step fits into 'memory'"),
    ({"batches": (16,)}, "must be a function"),
])  # fmt: skip
def test_limits_that_cannot_be_kept_are_named(options, text):
    with pytest.raises((ValueError, TypeError), match=text):
        ms.auto_tune(deep_model(), rows(64), budget=1, verbose=False, **options)


def test_batches_are_positive_numbers():
    with pytest.raises(ValueError, match="positive ints, but got -1"):
        ms.auto_tune(deep_model(), rows, batches=(16, -1))
    with pytest.raises(TypeError, match="needs 'batches'"):
        ms.auto_tune(deep_model(), rows)
