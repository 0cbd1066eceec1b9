"""Arguments of sources that are wrong in ways common to all of them."""

import numpy as np
import pytest

import mindspore.dataset as ds


@pytest.fixture
def source(tmp_path):
    (tmp_path / "lines.txt").write_text("a\nb\n")
    return str(tmp_path / "lines.txt")


def test_shards_are_whole_numbers_given_together(source):
    with pytest.raises(TypeError, match="shard_id"):
        ds.TextFileDataset(source, shard_id="x")
    with pytest.raises(RuntimeError, match="shard_id is specified but num_shards is not"):
        ds.TextFileDataset(source, shard_id=1)
    with pytest.raises(ValueError, match="together"):
        ds.NumpySlicesDataset(np.arange(3), "x", num_shards=2)


def test_a_cache_is_a_cache(source):
    with pytest.raises(TypeError, match="cache"):
        ds.TextFileDataset(source, cache=1)


def test_a_sampler_says_how_many_rows(tmp_path):
    with pytest.raises(RuntimeError, match="sampler and num_samples"):
        ds.ImageFolderDataset(str(tmp_path), sampler=ds.RandomSampler(), num_samples=2)


@pytest.mark.parametrize("make", [ds.ImageFolderDataset, ds.Caltech256Dataset, ds.LFWDataset])
def test_decode_is_a_flag(make, tmp_path):
    with pytest.raises(TypeError, match="decode"):
        make(str(tmp_path), decode="x")


def test_decrypt_is_a_function(tmp_path):
    with pytest.raises(TypeError, match="decrypt is not a callable"):
        ds.ImageFolderDataset(str(tmp_path), decrypt="x")


def test_a_csv_file_with_an_open_quote_fails_where_it_stands(tmp_path):
    path = tmp_path / "open.csv"
    path.write_text('1,2\n3,"4\n')
    data = ds.CSVDataset(str(path), column_names=["a", "b"], shuffle=False)
    (first,) = data.take(1).create_tuple_iterator(num_epochs=1, output_numpy=True)
    assert [str(cell) for cell in first] == ["1", "2"]
    with pytest.raises(RuntimeError, match=r"failed to parse csv file: .*open\.csv at line 2"):
        list(data)
    with pytest.raises(RuntimeError, match="duplicate column names are not allowed: a"):
        ds.CSVDataset(str(path), column_names=["a", "a"]).get_dataset_size()


def test_settings_say_what_they_want():
    with pytest.raises(TypeError, match="seed isn't of type int"):
        ds.config.set_seed(True)
    with pytest.raises(TypeError, match="debug_hook_list is not a list"):
        ds.config.set_debug_mode(True, "hook")
    with pytest.raises(TypeError, match="fast_recovery must be a boolean"):
        ds.config.set_fast_recovery(0)
    ds.config.set_enable_autotune(False, "/no/such/folder/x.json")
