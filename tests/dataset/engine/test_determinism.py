"""Same seed, same rows: for any number of workers, with the optimiser on or off, and after a restart in mid-epoch."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mindspore as ms
import mindspore.dataset as ds
from mindspore.dataset.opt import RULES
from mindspore.dataset.settings import DEFAULT_SEED, change


class Noise:
    """A random operation as the engine's contract describes it."""

    random = True
    releases_gil = True

    def set_rng(self, rng):
        self.rng = rng

    def __call__(self, x):
        return x + self.rng.integers(0, 1 << 40)


class Double:
    releases_gil = True

    def __call__(self, x):
        return x * 2

    batched = __call__


class Rows:
    def __getitem__(self, index):
        return np.array(index)

    def __len__(self):
        return 37


def numpy_noise(x):
    return x + np.random.randint(0, 1 << 30)


@pytest.fixture(autouse=True)
def seeded():
    before = ds.config.get_seed()
    ds.config.set_seed(11)
    yield
    change(seed=before)


def epochs(data, count=2):
    iterator = data.create_tuple_iterator(num_epochs=count, output_numpy=True)
    return [[np.asarray(row[0]).tolist() for row in iterator] for _ in range(count)]


def noisy(workers, batch=5):
    data = ds.NumpySlicesDataset(np.arange(37), "x").map([Double(), Noise()], num_parallel_workers=workers)
    return data.shuffle(8).map(Noise(), num_parallel_workers=workers).batch(batch)


def test_workers_do_not_change_rows():
    first = epochs(noisy(1))
    assert epochs(noisy(2)) == first
    assert epochs(noisy(8)) == first
    assert first[0] != first[1]


def test_worker_processes_do_not_change_rows():
    def made(workers):
        data = ds.GeneratorDataset(Rows(), ["x"], num_parallel_workers=workers)
        return data.map(numpy_noise, python_multiprocessing=True, num_parallel_workers=workers)

    assert epochs(made(1), 1) == epochs(made(2), 1)


def test_without_a_seed_runs_differ():
    change(seed=DEFAULT_SEED)
    orders = {tuple(epochs(ds.NumpySlicesDataset(np.arange(50), "x"), 1)[0]) for _ in range(3)}
    assert len(orders) == 3


def test_seed_gives_the_order_of_the_standard_library():
    # std::shuffle of 0..9 with mt19937(1), and a shuffle buffer of 4 with mt19937_64(1)
    ds.config.set_seed(1)
    sampled = ds.NumpySlicesDataset(np.arange(10), "x", sampler=ds.RandomSampler())
    assert epochs(sampled) == [[9, 0, 2, 5, 7, 4, 6, 3, 1, 8], [4, 9, 5, 0, 1, 7, 6, 2, 3, 8]]
    buffered = ds.NumpySlicesDataset(np.arange(10), "x", shuffle=False).shuffle(4)
    assert epochs(buffered) == [[0, 2, 4, 5, 3, 1, 7, 9, 6, 8], [0, 4, 1, 6, 3, 5, 8, 7, 9, 2]]


@settings(max_examples=15, deadline=None)
@given(consumed=st.integers(0, 20), batch=st.integers(1, 6))
def test_state_restores_the_exact_next_row(consumed, batch):
    whole = [row for epoch in epochs(noisy(2, batch), 3) for row in epoch]
    iterator = noisy(2, batch).create_tuple_iterator(num_epochs=3, output_numpy=True)
    seen = []
    while len(seen) < consumed:
        seen += [row[0].tolist() for row in itertools.islice(iterator, consumed - len(seen))]
    state = iterator.state_dict()
    iterator.stop()
    again = noisy(2, batch).create_tuple_iterator(num_epochs=3, output_numpy=True)
    again.load_state_dict(state)
    rest = []
    for _ in range(3 - state["epoch"]):
        rest += [row[0].tolist() for row in again]
    assert seen + rest == whole


@pytest.mark.parametrize("rule", sorted(RULES))
def test_rules_do_not_change_rows(rule):
    def made():
        data = ds.NumpySlicesDataset({"x": np.arange(40), "y": np.arange(40) % 3}).skip(0).repeat(1)
        data = data.map(Double(), "x").map(Noise(), "x").filter(lambda y: y != 1, "y").take(30).take(25).project("x")
        return data.batch(4).take(3)

    plain = epochs(made())
    ds.config.set_optimizer_rule(rule, False)
    try:
        assert epochs(made()) == plain
    finally:
        ds.config.set_optimizer_rule(rule, True)


@pytest.mark.parametrize("step", [0, 1, 2, 3])
def test_init_step_of_a_generator_without_length(step):
    """Whole epochs are skipped where only a run tells how long one is, and the size stays that of an epoch."""

    def generate():
        yield from range(4)

    data = ds.GeneratorDataset(generate, ["x"]).batch(2)
    every = [[0, 1], [2, 3]] * 2
    data.set_init_step(step)
    assert data.get_dataset_size() == 2
    iterator = data.create_tuple_iterator(num_epochs=2, output_numpy=True)
    assert [x.tolist() for _ in range(2 - step // 2) for (x,) in iterator] == every[step:]


def test_init_step_starts_in_the_middle():
    data = ds.NumpySlicesDataset(np.arange(10), "x", shuffle=False).batch(2)
    data.set_init_step(7)
    iterator = data.create_tuple_iterator(num_epochs=2, output_numpy=True)
    assert [row[0].tolist() for row in iterator] == [[4, 5], [6, 7], [8, 9]]


def test_split_parts_do_not_overlap():
    for randomize in (False, True):
        parts = ds.NumpySlicesDataset(np.arange(20), "x", shuffle=False).split([0.5, 0.25, 0.25], randomize)
        found = [epochs(part, 1)[0] for part in parts]
        assert [len(part) for part in found] == [10, 5, 5]
        assert sorted(itertools.chain.from_iterable(found)) == list(range(20))
    lines = ds.GeneratorDataset(lambda: iter(range(12)), ["x"]).split([8, 4])
    assert sorted(itertools.chain.from_iterable(epochs(part, 1)[0] for part in lines)) == list(range(12))


def test_debug_mode_repeats_itself_without_a_seed():
    ds.config.set_debug_mode(True)
    try:
        orders = [[int(row[0]) for row in ds.NumpySlicesDataset(np.arange(50), "x")] for _ in range(2)]
    finally:
        ds.config.set_debug_mode(False)
    assert orders[0] == orders[1] != list(range(50))


@pytest.mark.parametrize("run", ["train", "fit", "eval"])
def test_debug_mode_refuses_sinking(run):
    """A pipeline in debug mode is stepped through in the calling thread and feeds no queue."""
    net = ms.nn.Dense(2, 1)
    model = ms.Model(net, ms.nn.MSELoss(), ms.nn.SGD(net.trainable_params()), metrics={"loss"})
    data = ds.NumpySlicesDataset((np.ones((4, 2), np.float32), np.ones((4, 1), np.float32)), ["x", "y"]).batch(2)
    calls = {"train": lambda: model.train(1, data, dataset_sink_mode=True),
             "fit": lambda: model.fit(1, data, data, valid_dataset_sink_mode=True),
             "eval": lambda: model.eval(data, dataset_sink_mode=True)}  # fmt: skip
    ds.config.set_debug_mode(True)
    try:
        with pytest.raises(ValueError, match="turn off sink mode"):
            calls[run]()
    finally:
        ds.config.set_debug_mode(False)
