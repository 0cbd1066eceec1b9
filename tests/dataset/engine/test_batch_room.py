"""Pixel tables and batches written in place: the same values as operation by operation, and memory that is never shared."""

import gc

import numpy as np
import pytest

import mindspore as ms
import mindspore.dataset as ds
from mindspore.dataset import transforms, vision
from mindspore.dataset.runtime.room import LARGE, BatchRoom, BlockPool

IMAGES = np.random.default_rng(0).integers(0, 256, (7, 20, 30, 3), dtype=np.uint8)
MEAN, STD = [121.0, 115.5, 100.25], [70.0, 68.0, 71.5]
CHAINS = {
    "normalise, planes first": [vision.Normalize(MEAN, STD), vision.HWC2CHW()],
    "planes first, normalise": [vision.HWC2CHW(), vision.Normalize(MEAN, STD, is_hwc=False)],
    "normalise": [vision.Normalize(MEAN, STD)],
    "to tensor": [vision.ToTensor(), vision.Normalize([0.5] * 3, [0.25] * 3, is_hwc=False)],
    "rescale": [vision.Rescale(1 / 255, -0.5), vision.HWC2CHW()],
    "flip first": [vision.HorizontalFlip(), vision.Rescale(1 / 127, 0.0)],
    "cast": [transforms.TypeCast(ms.float32), vision.HWC2CHW()],
    "another type": [vision.Rescale(1 / 255, 0.0), transforms.TypeCast(ms.float16)],
    "no table": [vision.NormalizePad(MEAN, STD), vision.HWC2CHW()],
}


def batches(operations, images=IMAGES, rows=3):
    data = ds.NumpySlicesDataset(images, ["image"], shuffle=False)
    data = data.map(vision.RandomCrop((12, 16)), "image").map(operations, "image")
    return [row[0] for row in data.batch(rows).create_tuple_iterator(num_epochs=1, output_numpy=True)]


@pytest.fixture
def seeded():
    before = ds.config.get_seed()
    ds.config.set_seed(3)
    yield
    ds.config.set_seed(before)


@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize("channels", [1, 3])
def test_tables_give_what_the_operations_give(name, channels, seeded):
    operations = CHAINS[name]
    if channels == 1 and any(len(getattr(operation, "mean", [0])) > 1 for operation in operations):
        operations = [vision.Normalize(MEAN[:1], STD[:1]), vision.HWC2CHW()]
    images = IMAGES[..., :channels]
    with_tables = batches(operations, images)
    ds.config.set_optimizer_rule("pixel_tables", False)
    try:
        without = batches(operations, images)
    finally:
        ds.config.set_optimizer_rule("pixel_tables", True)
    assert [len(batch) for batch in with_tables] == [3, 3, 1]
    for left, right in zip(with_tables, without):
        assert left.dtype == right.dtype
        np.testing.assert_array_equal(left, right)


def test_an_error_names_the_operation_of_the_table_that_failed():
    with pytest.raises(RuntimeError, match=r"\[Normalize\] failed.*number of channels does not match"):
        batches([vision.Rescale(1.0, 0.0), vision.Normalize([1.0, 1.0], [1.0, 1.0])])


def test_images_of_different_sizes_are_refused_as_ever():
    def rows():
        for side in (4, 5):
            yield (np.zeros((side, side, 3), np.uint8),)

    data = ds.GeneratorDataset(rows, ["image"]).map(vision.ToTensor(), "image").batch(2)
    with pytest.raises(RuntimeError, match="different shapes in column 0"):
        list(data.create_tuple_iterator(num_epochs=1))


def test_batches_that_are_kept_keep_their_values():
    images = np.stack([np.full((300, 300, 3), i, np.uint8) for i in range(12)])
    data = ds.NumpySlicesDataset(images, ["image"], shuffle=False)
    data = data.map(vision.RandomHorizontalFlip(), "image").map(vision.Rescale(1.0, 0.0), "image").batch(2)
    iterator = data.create_tuple_iterator(num_epochs=3, output_numpy=True)
    kept = [row[0] for _ in range(3) for row in iterator]
    assert kept[0].nbytes >= LARGE
    assert [int(batch[k, 0, 0, 0]) for batch in kept for k in (0, 1)] == list(range(12)) * 3


def test_a_block_is_used_again_only_when_no_array_over_it_is_left():
    pool = BlockPool()
    first = pool.empty((LARGE,), np.dtype(np.uint8))
    place, part = first.ctypes.data, first[5:9]
    assert place % 64 == 0
    del first
    gc.collect()
    other = pool.empty((LARGE,), np.dtype(np.uint8))
    assert not np.shares_memory(other, part)
    del part
    gc.collect()
    assert pool.empty((LARGE // 4,), np.dtype(np.float32)).ctypes.data == place


def test_room_gives_no_batch_unless_every_row_is_in_its_place():
    room = BatchRoom(2, BlockPool())
    rows = [room((3,), np.dtype(np.float32)) for _ in range(2)]
    assert room.filled(rows) is not None and room.filled(rows[::-1]) is None
    assert room.filled([rows[0], rows[1].copy()]) is None
