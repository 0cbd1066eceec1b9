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
