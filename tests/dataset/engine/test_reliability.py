"""What goes wrong: damaged files, failing functions, killed workers, iterators dropped half-way, Ctrl-C."""

import gc
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import mindspore.dataset as ds
from mindspore.dataset.runtime.process import Processes


def rows(data):
    return list(data.create_tuple_iterator(num_epochs=1, output_numpy=True))


class Slow:
    def __getitem__(self, index):
        time.sleep(0.01)
        return np.array(index)

    def __len__(self):
        return 200


def triple(x):
    return x * 3


def fail_on_seven(x):
    if x == 7:
        raise ValueError("seven")
    return x


def kill_self(x):
    if x == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return x


def workers_alive(pids):
    def alive(pid):
        try:
            with open(f"/proc/{pid}/stat") as stream:
                return stream.read().split()[2] != "Z"
        except OSError:
            return False

    return [pid for pid in pids if alive(pid)]


def wait_until(condition, seconds=10):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


def test_truncated_idx_file_is_named(tmp_path):
    (tmp_path / "t10k-images-idx3-ubyte").write_bytes(
        bytes([0, 0, 8, 3, 0, 0, 0, 9, 0, 0, 0, 28, 0, 0, 0, 28]) + b"abc"
    )
    (tmp_path / "t10k-labels-idx1-ubyte").write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 9]) + b"a" * 9)
    with pytest.raises(RuntimeError, match="t10k-images-idx3-ubyte holds 3 bytes"):
        rows(ds.MnistDataset(str(tmp_path), "test"))


def test_damaged_image_names_file_row_and_operation(tmp_path):
    vision = pytest.importorskip("mindspore.dataset.vision")
    (tmp_path / "cat").mkdir()
    (tmp_path / "cat" / "broken.jpg").write_bytes(b"\xff\xd8 this is no image")
    with pytest.raises(RuntimeError) as caught:
        rows(ds.ImageFolderDataset(str(tmp_path)).map(vision.Decode(), "image"))
    assert "map operation: [Decode] failed." in str(caught.value)
    assert "broken.jpg" in str(caught.value)


@pytest.mark.parametrize("kept", [3, 300, 900, -40])
def test_a_jpeg_cut_short_names_file_and_row_also_where_only_a_crop_is_decoded(tmp_path, kept):
    vision = pytest.importorskip("mindspore.dataset.vision")
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    (tmp_path / "cat").mkdir()
    (tmp_path / "cat" / "short.jpg").write_bytes(vision.encode_jpeg(noise).tobytes()[:kept])
    data = ds.ImageFolderDataset(str(tmp_path)).map([vision.Decode(), vision.RandomResizedCrop(8)], "image")
    with pytest.raises(RuntimeError, match=r"\[Decode\] failed.*short\.jpg.*row 0"):
        rows(data)


def test_damaged_images_are_skipped_when_the_user_asks_for_it(tmp_path):
    vision = pytest.importorskip("mindspore.dataset.vision")
    (tmp_path / "cat").mkdir()
    image = vision.encode_jpeg(np.zeros((16, 16, 3), np.uint8)).tobytes()
    for i in range(6):
        (tmp_path / "cat" / f"{i}.jpg").write_bytes(image if i != 4 else image[:100])
    ds.config.set_error_samples_mode(ds.config.ErrorSamplesMode.SKIP)
    try:
        data = ds.ImageFolderDataset(str(tmp_path)).map([vision.Decode(), vision.RandomResizedCrop(8)], "image")
        assert [batch[0].shape for batch in rows(data.map(vision.ToTensor(), "image").batch(2))] == [
            (2, 3, 8, 8), (2, 3, 8, 8), (1, 3, 8, 8),
        ]  # fmt: skip
    finally:
        ds.config.set_error_samples_mode(ds.config.ErrorSamplesMode.RETURN)


def open_files():
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts open files in /proc")
@pytest.mark.parametrize("ending", ["end of data", "dropped", "failed", "killed"])
def test_shared_memory_and_processes_are_given_back(ending):
    function = {"failed": fail_on_seven, "killed": kill_self}.get(ending, triple)
    gc.collect()
    before, shared = open_files(), set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()
    for _ in range(3):
        data = ds.NumpySlicesDataset(np.arange(40), "x", shuffle=False)
        data = data.map(function, python_multiprocessing=True, num_parallel_workers=2)
        iterator = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
        try:
            for _ in range(1 if ending == "dropped" else 40):
                next(iterator)
        except RuntimeError:
            assert ending in ("failed", "killed")
        del iterator, data
    gc.collect()
    assert wait_until(lambda: open_files() <= before)
    if shared:
        assert set(os.listdir("/dev/shm")) <= shared


def resident_bytes():
    with open("/proc/self/statm") as stream:
        return int(stream.read().split()[1]) * os.sysconf("SC_PAGESIZE")


@pytest.mark.skipif(not os.path.isfile("/proc/self/statm"), reason="reads memory in /proc")
def test_memory_does_not_grow_from_epoch_to_epoch(tmp_path):
    vision = pytest.importorskip("mindspore.dataset.vision")
    image = vision.encode_jpeg(np.zeros((240, 320, 3), np.uint8)).tobytes()
    (tmp_path / "cat").mkdir()
    for i in range(64):
        (tmp_path / "cat" / f"{i:02d}.jpg").write_bytes(image)
    operations = [
        vision.Decode(),
        vision.RandomResizedCrop(224),
        vision.Normalize([1.0] * 3, [2.0] * 3),
        vision.HWC2CHW(),
    ]
    data = ds.ImageFolderDataset(str(tmp_path)).map(operations, "image", num_parallel_workers=2).batch(16)
    iterator = data.create_tuple_iterator(num_epochs=-1, output_numpy=True)

    def epoch():
        for batch in iterator:
            assert batch[0].shape == (16, 3, 224, 224)

    for _ in range(3):
        epoch()
    grown = []
    for _ in range(3):  # a leak grows each time; what the allocator does for others in this process, once
        before = resident_bytes()
        for _ in range(8):  # one lost batch an epoch would be 77 MB
            epoch()
        grown.append(resident_bytes() - before)
        if grown[-1] < 40 << 20:
            return
    raise AssertionError(f"memory grows from epoch to epoch: {grown}")


@pytest.fixture
def error_samples():
    """A function that sets what happens to failed rows, until the test ends."""
    yield lambda mode: ds.config.set_error_samples_mode(ds.config.ErrorSamplesMode[mode])
    ds.config.set_error_samples_mode(ds.config.ErrorSamplesMode.RETURN)


@pytest.mark.parametrize("mode, expected", [("SKIP", [0, 1, 2, 3, 4, 5, 6, 8, 9]), ("REPLACE", [0, 1, 2, 3, 4, 5, 6, 8, 9, 0])])
def test_failed_rows_are_skipped_or_replaced(error_samples, mode, expected):
    error_samples(mode)
    data = ds.NumpySlicesDataset(np.arange(10), "x", shuffle=False).map(fail_on_seven)
    assert [int(row[0]) for row in rows(data)] == expected


def fail_on_odd(x):
    if x % 2:
        raise ValueError("odd")
    return x


@pytest.mark.parametrize("processes", [False, True])
def test_replacements_are_spread_over_the_epoch_once_sixteen_rows_are_good(error_samples, processes):
    error_samples("REPLACE")
    data = ds.NumpySlicesDataset(np.arange(40), "x", shuffle=False)
    data = data.map(fail_on_odd, python_multiprocessing=processes, num_parallel_workers=2)
    good, late = list(range(0, 32, 2)), [0, 32, 2, 34, 4, 36, 6, 38]
    expected = good + late + good[4:] + [32, 34, 36, 38]
    assert [int(row[0]) for row in rows(data)] == expected
    assert [row[0].shape for row in rows(data.map(fail_on_seven).batch(8))] == [(8,)] * 5


def test_rows_that_all_fail_cannot_be_replaced(error_samples):
    error_samples("REPLACE")
    data = ds.NumpySlicesDataset(np.arange(1, 8, 2), "x", shuffle=False).map(fail_on_odd)
    with pytest.raises(RuntimeError, match="All data is garbage"):
        rows(data)


def test_an_error_names_the_one_of_several_files_that_holds_the_row(tmp_path):
    for name, lines in (("a.csv", "1\n2\n"), ("b.csv", "5\n7\n9\n")):
        (tmp_path / name).write_text(lines)
    files = [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]
    data = ds.CSVDataset(files, column_defaults=[0], column_names=["x"], shuffle=False).map(fail_on_seven, "x")
    with pytest.raises(RuntimeError, match=r"\[PyFunc\] failed. The corresponding data file is: .*b\.csv. \(row 3\)"):
        rows(data)


def test_failing_function_in_a_worker_process():
    data = ds.NumpySlicesDataset(np.arange(20), "x", shuffle=False)
    data = data.map(fail_on_seven, python_multiprocessing=True, num_parallel_workers=2)
    with pytest.raises(RuntimeError) as caught:
        rows(data)
    assert "map operation: [PyFunc] failed. (row 7)" in str(caught.value)
    assert "ValueError: seven" in str(caught.value)


def test_killed_worker_is_reported():
    data = ds.NumpySlicesDataset(np.arange(20), "x", shuffle=False)
    data = data.map(kill_self, python_multiprocessing=True, num_parallel_workers=2)
    with pytest.raises(RuntimeError, match="killed by signal SIGKILL"):
        rows(data)


def test_dropped_iterator_leaves_nothing_behind():
    data = ds.NumpySlicesDataset(np.arange(5000), "x").map(triple, python_multiprocessing=True, num_parallel_workers=2)
    threads = threading.active_count()
    iterator = data.create_tuple_iterator(output_numpy=True)
    next(iterator)
    (stage,) = [s for s in iterator._runtime_context.operator.executors() if isinstance(s, Processes)]
    pids = stage.process_ids()
    assert len(pids) == 2
    del iterator, stage
    gc.collect()
    assert wait_until(lambda: not workers_alive(pids))
    assert wait_until(lambda: threading.active_count() <= threads)


def test_large_rows_pass_through_shared_memory_and_around_it():
    def grow(x):
        return np.full(int(x), 7, dtype=np.uint8)

    sizes = [10, 3 << 20, 0, 100]
    data = ds.NumpySlicesDataset(sizes, "x", shuffle=False)
    data = data.map(grow, python_multiprocessing=True, num_parallel_workers=2, max_rowsize=1)
    assert [row[0].shape[0] for row in rows(data)] == sizes
    assert all((row[0] == 7).all() for row in rows(data))


def test_parent_that_dies_takes_its_workers_along(tmp_path):
    script = textwrap.dedent("""
        import os, sys, time
        import numpy as np
        import mindspore.dataset as ds
        data = ds.NumpySlicesDataset(np.arange(100000), "x").map(lambda x: x, python_multiprocessing=True, num_parallel_workers=2)
        iterator = data.create_tuple_iterator(output_numpy=True)
        next(iterator)
        stage = [s for s in iterator._runtime_context.operator.executors() if hasattr(s, "process_ids")][0]
        print(stage.process_ids(), flush=True)
        time.sleep(60)
    """)
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    pids = json.loads(process.stdout.readline())
    process.kill()
    process.wait()
    assert wait_until(lambda: not workers_alive(pids), 20)


def test_spawned_workers():
    ds.config.set_multiprocessing_start_method("spawn")
    try:
        data = ds.NumpySlicesDataset(np.arange(10), "x", shuffle=False)
        data = data.map(np.negative, python_multiprocessing=True, num_parallel_workers=1)
        assert [int(row[0]) for row in rows(data)] == [-i for i in range(10)]
        with pytest.raises(RuntimeError, match="cannot be started with the 'spawn' method"):
            rows(ds.NumpySlicesDataset(np.arange(3), "x").map(lambda x: x, python_multiprocessing=True))
    finally:
        ds.config.set_multiprocessing_start_method("fork")


def test_back_pressure_bounds_what_runs_ahead():
    class Counting:
        def __init__(self):
            self.loaded = 0

        def __getitem__(self, index):
            self.loaded += 1
            return np.array(index)

        def __len__(self):
            return 10000

    source = Counting()
    iterator = ds.GeneratorDataset(source, ["x"], shuffle=False).create_tuple_iterator(output_numpy=True)
    next(iterator)
    time.sleep(0.2)
    assert source.loaded < 200
    iterator.stop()


def test_classes_of_pairs_are_their_matches(tmp_path):
    """PKSampler takes the column of numbers, not a column of images."""
    from PIL import Image

    folder = tmp_path / "liberty"
    folder.mkdir()
    (folder / "info.txt").write_text("0 0\n" * 8)
    Image.fromarray(np.zeros((1024, 1024), np.uint8)).save(folder / "patches0000.bmp")
    pairs = [(0, 5, 1, 5), (2, 6, 3, 7), (4, 8, 5, 8), (6, 1, 7, 2)]
    (folder / "m50_100000_100000_0.txt").write_text("".join(f"{a} {b} 0 {c} {d} 0 0\n" for a, b, c, d in pairs))
    data = ds.PhotoTourDataset(str(tmp_path), "liberty", "test", sampler=ds.PKSampler(2))
    assert [int(row[2]) for row in rows(data)] == [0, 0, 1, 1]


def test_functions_that_no_file_can_hold_are_tuned_without_one():
    from mindspore.dataset import transforms

    ds.config.set_enable_autotune(True)
    try:
        held = transforms.Compose([lambda x: x + 1])
        data = ds.NumpySlicesDataset({"x": [1, 2, 3]}, shuffle=False).map(held, "x")
        assert [int(x) for (x,) in data.create_tuple_iterator(num_epochs=1, output_numpy=True)] == [2, 3, 4]
    finally:
        ds.config.set_enable_autotune(False)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_file_that_vanishes_is_an_error_of_the_pipeline(tmp_path, workers):
    """Not a bare FileNotFoundError of some thread: the user's loop catches RuntimeError whatever fails in a pipeline."""
    (tmp_path / "a").mkdir()
    for name in ("0.png", "1.png"):
        ds.vision.write_png(str(tmp_path / "a" / name), np.zeros((2, 2, 3), np.uint8))
    data = ds.ImageFolderDataset(str(tmp_path), num_parallel_workers=workers, shuffle=False)
    data.get_dataset_size()
    (tmp_path / "a" / "1.png").unlink()
    with pytest.raises(RuntimeError, match=r"Failed to open file: .*1\.png: No such file"):
        list(data)


class Ends:
    """Rows of which one ends the program instead of being given."""

    def __init__(self, error):
        self.error = error

    def __len__(self):
        return 20

    def __getitem__(self, index):
        if index == 7:
            raise self.error
        return (np.array([index]),)


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), GeneratorExit()], ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("workers", [1, 2])
def test_what_ends_a_program_ends_the_pipeline(error, workers):
    """The consumer waited for a thread that was gone."""
    rows = ds.GeneratorDataset(Ends(error), ["x"], shuffle=False, num_parallel_workers=workers, python_multiprocessing=False)
    seen = []
    with pytest.raises(type(error)):
        for (x,) in rows.create_tuple_iterator(num_epochs=1, output_numpy=True):
            seen.append(int(x[0]))
    assert seen == list(range(7))


def test_an_iterator_after_an_error():
    rows = ds.GeneratorDataset(Ends(ValueError("broken")), ["x"], shuffle=False).create_tuple_iterator(num_epochs=1)
    for _ in range(7):
        next(rows)
    with pytest.raises(RuntimeError, match="broken"):
        next(rows)
    with pytest.raises(AttributeError, match="no running pipeline"):
        next(rows)


def test_many_repetitions_are_not_written_down():
    rows = ds.NumpySlicesDataset(np.arange(3), shuffle=True).repeat(2**31 - 1).take(30)
    for _ in range(2):
        seen = [int(x) for (x,) in rows.create_tuple_iterator(num_epochs=1, output_numpy=True)]
        assert len(seen) == 30 and all(sorted(seen[i : i + 3]) == [0, 1, 2] for i in range(0, 30, 3))


def test_numbers_beyond_their_type_are_refused_with_the_line(tmp_path):
    (tmp_path / "a.csv").write_text("1,2\n99999999999,3\n")
    data = ds.CSVDataset(str(tmp_path / "a.csv"), column_defaults=[0, 0], column_names=["x", "y"], shuffle=False)
    with pytest.raises(RuntimeError, match=r"at line 2, type does not match: 99999999999 is beyond the range of int32"):
        list(data.create_tuple_iterator(num_epochs=1, output_numpy=True))


def test_fields_that_are_missing_are_refused_with_the_data_set(tmp_path):
    (tmp_path / "train-v1.1.json").write_text('{"data": [{"paragraphs": [{"context": "cats purr", "qas": [{"answers": []}]}]}]}')
    data = ds.SQuADDataset(str(tmp_path), "train", shuffle=False)
    with pytest.raises(RuntimeError, match="files of SQuADDataset cannot be read: KeyError: 'question'"):
        list(data.create_tuple_iterator(num_epochs=1, output_numpy=True))
