"""The order of rows that stand in several files: readers side by side, their rows taken in turns."""

import pytest

import mindspore.dataset as ds

FILES = 5
ROWS = 4


@pytest.fixture
def files(tmp_path):
    paths = []
    for number in range(FILES):
        path = tmp_path / f"{number}.txt"
        path.write_text("".join(f"{number}{row}\n" for row in range(ROWS)))
        paths.append(str(path))
    return paths


def lines(data):
    return [str(line) for (line,) in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]


def in_turns(queues):
    queues = [list(queue) for queue in queues]
    found = []
    while any(queues):
        found += [queue.pop(0) for queue in queues if queue]
    return found


@pytest.mark.parametrize("shuffle", [False, ds.Shuffle.INFILE])
@pytest.mark.parametrize("readers", [1, 2, 3, 5, 8])
def test_rows_come_from_the_readers_in_turns(files, readers, shuffle):
    rows = [[f"{number}{row}" for row in range(ROWS)] for number in range(FILES)]
    queues = [[row for rows_of in rows[first::readers] for row in rows_of] for first in range(min(readers, FILES))]
    data = ds.TextFileDataset(files, shuffle=shuffle, num_parallel_workers=readers)
    assert lines(data) == in_turns(queues)
    assert lines(data.take(7)) == in_turns(queues)[:7]


def test_the_setting_says_how_many_readers_there_are(files):
    before = ds.config.get_num_parallel_workers()
    try:
        ds.config.set_num_parallel_workers(1)
        assert lines(ds.TextFileDataset(files, shuffle=False))[:ROWS] == ["00", "01", "02", "03"]
        ds.config.set_num_parallel_workers(2)
        assert lines(ds.TextFileDataset(files, shuffle=False))[:4] == ["00", "10", "01", "11"]
    finally:
        ds.config.set_num_parallel_workers(before)


@pytest.mark.parametrize("readers", [1, 4])
@pytest.mark.parametrize("num_shards", [2, 3, 7])
@pytest.mark.parametrize("shuffle", [False, ds.Shuffle.FILES, ds.Shuffle.GLOBAL])
def test_shards_have_as_many_rows_and_together_all_of_them(files, readers, num_shards, shuffle):
    share = -(-FILES * ROWS // num_shards)
    found = []
    for shard in range(num_shards):
        data = ds.TextFileDataset(
            files, shuffle=shuffle, num_parallel_workers=readers, num_shards=num_shards, shard_id=shard
        )
        rows = lines(data)
        assert len(rows) == data.get_dataset_size() == share
        found += rows
    assert sorted(set(found)) == [f"{number}{row}" for number in range(FILES) for row in range(ROWS)]


def test_a_shard_is_a_run_of_rows_whose_files_are_read_in_turns(files):
    data = ds.TextFileDataset(files, shuffle=False, num_parallel_workers=4, num_shards=2, shard_id=1)
    assert lines(data) == ["22", "30", "40", "23", "31", "41", "32", "42", "33", "43"]
