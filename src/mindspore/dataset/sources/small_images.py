"""Small images stored together in binary files: CIFAR, STL-10, SVHN, USPS, Semeion, PhotoTour, and generated ones."""

from __future__ import annotations

import functools
import os

import numpy as np

from mindspore.dataset._check import check_bool, check_dir, check_file, check_pos_int32, check_type, check_valid_str
from mindspore.dataset.api.operations import VisionBaseDataset
from mindspore.dataset.api.schema import Schema, numpy_type
from mindspore.dataset.ir.leaf import Reader
from mindspore.dataset.samplers.files import FileSampler
from mindspore.dataset.sources.image_table import ArrayTable, VisionFolder, load_mat, need_file, no_data, read_lines
from mindspore.dataset.sources.records import FileDataset
from mindspore.dataset.sources.source import MappableDataset

_CIFAR10 = {"train": [f"data_batch_{i}.bin" for i in range(1, 6)], "test": ["test_batch.bin"]}
_CIFAR100 = {"train": ["train.bin"], "test": ["test.bin"]}
_PIXELS = 3072


def open_cifar(folder: str, usage: str, files: dict[str, list[str]], columns: list[str], kind: str) -> ArrayTable:
    """Records of one byte for each label, then the pixels, channel by channel."""
    names = [name for part, members in files.items() if usage in ("all", part) for name in members]
    width = _PIXELS + len(columns) - 1
    blocks, found = [], []
    for name in names:
        path = os.path.join(folder, name)
        if not os.path.isfile(path):
            continue
        data = np.fromfile(path, dtype=np.uint8)
        if len(data) % width:
            raise RuntimeError(f"Invalid cifar file, {path} is of {len(data)} bytes, which is no multiple of {width}.")
        blocks.append(data.reshape(-1, width))
        found.append((path, len(blocks[-1])))
    if not blocks:
        if not any(name.endswith(".bin") for name in os.listdir(folder)):
            raise RuntimeError(f"Invalid data, {kind}: cifar(.bin) files are missing under {folder}.")
        raise no_data(kind, folder)
    records = np.concatenate(blocks)
    images = np.ascontiguousarray(records[:, -_PIXELS:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1))
    labels = [records[:, i].astype(np.uint32) for i in range(len(columns) - 1)]
    # the fine label is the "label" of CIFAR-100 and stands second in the file
    return ArrayTable(columns, images, *(labels[::-1] if len(labels) > 1 else labels), files=found)


class _Cifar(VisionFolder):
    files: dict[str, list[str]] = {}
    column_names: list[str] = []

    def __init__(self, dataset_dir, usage=None, num_samples=None, num_parallel_workers=None, shuffle=None, sampler=None,
                 num_shards=None, shard_id=None, cache=None):  # fmt: skip
        usage = "all" if usage is None else usage
        check_dir(dataset_dir)
        check_valid_str(usage, ["train", "test", "all"], "usage")
        choice = (num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        fixed = {"files": self.files, "columns": self.column_names, "kind": type(self).__name__}
        self._folder(dataset_dir, open_cifar, {"usage": usage}, choice, fixed)


class Cifar10Dataset(_Cifar):
    """Ten classes of 32 x 32 pictures: columns "image", "label".

    ds.Cifar10Dataset("path/to/cifar-10-batches-bin", usage="train")
    """

    files, column_names = _CIFAR10, ["image", "label"]


class Cifar100Dataset(_Cifar):
    """A hundred classes of 32 x 32 pictures: columns "image", "coarse_label", "fine_label"."""

    files, column_names = _CIFAR100, ["image", "coarse_label", "fine_label"]


def _stl10_parts(usage: str) -> list[str]:
    return ["test", "train", "unlabeled"] if usage == "all" else usage.split("+")


def open_stl10(folder: str, usage: str) -> ArrayTable:
    images, labels, files = [], [], []
    for part in _stl10_parts(usage):
        path = need_file("STL10Dataset", os.path.join(folder, f"{part}_X.bin"))
        block = np.fromfile(path, dtype=np.uint8)
        if len(block) % 27648:
            raise RuntimeError(f"Invalid file, {path} is of {len(block)} bytes, which is no multiple of 27648.")
        images.append(block.reshape(-1, 3, 96, 96).transpose(0, 3, 2, 1))
        files.append((path, len(images[-1])))
        if part == "unlabeled":
            labels.append(np.full(len(images[-1]), -1, dtype=np.int32))
        else:
            label = np.fromfile(need_file("STL10Dataset", os.path.join(folder, f"{part}_y.bin")), dtype=np.uint8)
            labels.append(label.astype(np.int32) - 1)
    pixels = np.ascontiguousarray(np.concatenate(images))
    return ArrayTable(["image", "label"], pixels, np.concatenate(labels), files=files)


class STL10Dataset(VisionFolder):
    """Ten classes of 96 x 96 pictures, most of them without a label (-1): columns "image", "label"."""

    def __init__(self, dataset_dir, usage=None, num_samples=None, num_parallel_workers=None, shuffle=None, sampler=None,
                 num_shards=None, shard_id=None, cache=None):  # fmt: skip
        usage = "all" if usage is None else usage
        check_dir(dataset_dir)
        check_valid_str(usage, ["train", "test", "unlabeled", "train+unlabeled", "all"], "usage")
        for part in _stl10_parts(usage):
            check_file(os.path.join(dataset_dir, f"{part}_X.bin"))
        choice = (num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self._folder(dataset_dir, open_stl10, {"usage": usage}, choice)


def svhn_files(folder: str, usage: str) -> list[str]:
    parts = ["train", "test", "extra"] if usage == "all" else [usage]
    return [os.path.join(folder, f"{part}_32x32.mat") for part in parts]


def open_svhn(folder: str, usage: str) -> ArrayTable:
    images, labels, files = [], [], svhn_files(folder, usage)
    for path in files:
        content = load_mat(need_file("SVHNDataset", path))
        images.append(content["X"].transpose(3, 0, 1, 2))
        labels.append(content["y"].reshape(-1) % 10)
    pixels, classes = np.ascontiguousarray(np.concatenate(images)), np.concatenate(labels).astype(np.uint32)
    return ArrayTable(["image", "label"], pixels, classes, files=list(zip(files, map(len, images))))


class SVHNDataset(VisionFolder):
    """House numbers: columns "image" (32 x 32 x 3), "label"."""

    def __init__(self, dataset_dir, usage=None, num_samples=None, num_parallel_workers=1, shuffle=None, sampler=None,
                 num_shards=None, shard_id=None):  # fmt: skip
        usage = "all" if usage is None else usage
        check_dir(dataset_dir)
        check_valid_str(usage, ["train", "test", "extra", "all"], "usage")
        for path in svhn_files(dataset_dir, usage):
            check_file(path)
        choice = (num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, None)
        self._folder(dataset_dir, open_svhn, {"usage": usage}, choice)


def open_semeion(folder: str) -> ArrayTable:
    path = need_file("SemeionDataset", os.path.join(folder, "semeion.data"))
    cells = [line.split() for line in read_lines(path) if line.strip()]
    if any(len(row) < 266 for row in cells):
        raise RuntimeError(f"Invalid data, a line of {path} has fewer than 266 numbers.")
    table = np.array([[float(cell) for cell in row[:266]] for row in cells])
    images = table[:, :256].astype(np.uint8).reshape(-1, 16, 16)
    return ArrayTable(
        ["image", "label"], images, table[:, 256:].argmax(axis=1).astype(np.uint32), files=[(path, len(table))]
    )


class SemeionDataset(VisionFolder):
    """Handwritten digits of 16 x 16 black or white pixels: columns "image", "label"."""

    def __init__(self, dataset_dir, num_samples=None, num_parallel_workers=None, shuffle=None, sampler=None,
                 num_shards=None, shard_id=None, cache=None):  # fmt: skip
        choice = (num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self._folder(dataset_dir, open_semeion, {}, choice)


class USPSReader(ArrayTable):
    """Lines of "label place:value ..."; values of [-1, 1] become grey levels."""

    def __init__(self, files: list[str]):
        images, labels, found = [], [], []
        for path in files:
            lines = [line.split() for line in read_lines(need_file("USPSDataset", path)) if line.strip()]
            found.append((path, len(lines)))
            for cells in lines:
                values = [float(cell.partition(":")[2]) for cell in cells[1:257]]
                if len(values) != 256:
                    raise RuntimeError(f"Invalid data, a line of {path} has {len(values)} values instead of 256.")
                images.append((np.array(values, np.float32) + np.float32(1)) / np.float32(2) * np.float32(255))
                labels.append(int(cells[0]) - 1)
        pixels = np.array(images, dtype=np.uint8).reshape(-1, 16, 16, 1)
        super().__init__(["image", "label"], pixels, np.array(labels, dtype=np.uint32), files=found)


class USPSDataset(FileDataset, VisionBaseDataset):
    """Handwritten digits of 16 x 16 grey pixels: columns "image", "label"."""

    def __init__(self, dataset_dir, usage=None, num_samples=None, num_parallel_workers=None, shuffle=True,
                 num_shards=None, shard_id=None, cache=None):  # fmt: skip
        check_dir(dataset_dir)
        usage = "all" if usage is None else usage
        check_valid_str(usage, ["train", "test", "all"], "usage")
        super().__init__(num_parallel_workers, num_samples, shuffle, num_shards, shard_id, cache)
        self.dataset_dir, self.usage = os.fspath(dataset_dir), usage
        names = {"train": ["usps"], "test": ["usps.t"], "all": ["usps", "usps.t"]}[usage]
        opener = functools.partial(USPSReader, [os.path.join(self.dataset_dir, name) for name in names])
        sampler = FileSampler(shuffle, num_samples, num_shards, shard_id)
        self._files("USPSDataset", opener, sampler, {"dataset_dir": self.dataset_dir, "usage": usage})


_PHOTO_TOUR = ["notredame", "yosemite", "liberty", "notredame_harris", "yosemite_harris", "liberty_harris"]
_PATCH, _GRID = 64, 16


def open_phototour(folder: str, name: str, usage: str) -> ArrayTable:
    base = os.path.join(folder, name)
    info = read_lines(need_file("PhotoTourDataset", os.path.join(base, "info.txt")))
    count = len([line for line in info if line.strip()])
    patches = _patches(base, count)
    if usage == "train":
        return ArrayTable(["image"], patches)
    path = need_file("PhotoTourDataset", os.path.join(base, "m50_100000_100000_0.txt"))
    pairs = np.array([[int(cell) for cell in line.split()] for line in read_lines(path) if line.strip()])
    matches = (pairs[:, 1] == pairs[:, 4]).astype(np.uint32)
    return ArrayTable(["image1", "image2", "matches"], patches[pairs[:, 0]], patches[pairs[:, 3]], matches)


def _patches(base: str, count: int) -> np.ndarray:
    """Patches stand in a 16 x 16 grid in each picture."""
    from mindspore._base.optional import require

    image = require("PIL.Image", "data", "reading PhotoTour patches")
    blocks = []
    for number in range(-(-count // (_GRID * _GRID))):
        path = need_file("PhotoTourDataset", os.path.join(base, f"patches{number:04d}.bmp"))
        pixels = np.asarray(image.open(path).convert("L"))
        rows = pixels.reshape(_GRID, _PATCH, _GRID, _PATCH).transpose(0, 2, 1, 3)
        blocks.append(rows.reshape(-1, _PATCH, _PATCH, 1))
    if not blocks:
        raise no_data("PhotoTourDataset", base)
    return np.concatenate(blocks)[:count]


class PhotoTourDataset(VisionFolder):
    """Patches of photographs: column "image", or pairs "image1", "image2", "matches" for usage "test"."""

    def __init__(self, dataset_dir, name, usage=None, num_samples=None, num_parallel_workers=None, shuffle=None,
                 sampler=None, num_shards=None, shard_id=None, cache=None):  # fmt: skip
        usage = "train" if usage is None else usage
        check_dir(dataset_dir)
        check_valid_str(usage, ["train", "test"], "usage")
        check_valid_str(name, _PHOTO_TOUR, "name")
        choice = (num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self._folder(dataset_dir, open_phototour, {"name": name, "usage": usage}, choice)


class FakeImages(Reader):
    """Random pictures; picture `i` depends on the base seed and on `i` only."""

    columns = ["image", "label"]

    def __init__(self, num_images: int, image_size: tuple[int, int, int], num_classes: int, base_seed: int):
        self._count, self._size, self._classes, self._seed = num_images, tuple(image_size), num_classes, base_seed

    def __len__(self):
        return self._count

    def row(self, index):
        rng = np.random.default_rng([self._seed, index])
        image = rng.integers(0, 256, self._size, dtype=np.uint8)
        return image, np.array(rng.integers(0, self._classes), dtype=np.uint32)

    def labels(self, column="label"):
        return np.array([self.row(i)[1] for i in range(self._count)])

    def num_classes(self):
        return self._classes


class FakeImageDataset(MappableDataset, VisionBaseDataset):
    """Random pictures for trying out a model: columns "image", "label".

    ds.FakeImageDataset(num_images=100, image_size=(32, 32, 3), num_classes=10)

    Examples:
        >>> data = ds.FakeImageDataset(num_images=4, image_size=(2, 3, 3), num_classes=2)
        >>> data.output_shapes()[0]
        [2, 3, 3]
    """

    def __init__(self, num_images=1000, image_size=(224, 224, 3), num_classes=10, base_seed=0, num_samples=None,
                 num_parallel_workers=None, shuffle=None, sampler=None, num_shards=None, shard_id=None,
                 cache=None):  # fmt: skip
        check_pos_int32(num_images, "num_images")
        check_type(image_size, (list, tuple), "image_size")
        if len(image_size) != 3:
            raise ValueError(f"image_size should be a list or tuple of length 3, but got {len(image_size)}.")
        for i, side in enumerate(image_size):
            check_pos_int32(side, f"image_size[{i}]")
        check_pos_int32(num_classes, "num_classes")
        check_type(base_seed, int, "base_seed")
        super().__init__(num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id, cache)
        opener = functools.partial(FakeImages, num_images, tuple(image_size), num_classes, base_seed)
        params = {"num_images": num_images, "image_size": list(image_size), "num_classes": num_classes,
                  "base_seed": base_seed}  # fmt: skip
        self._rows("FakeImageDataset", opener, params)


class RandomRows(Reader):
    """Random rows of a schema."""

    def __init__(self, total_rows: int, schema: Schema | None, columns_list: list[str] | None):
        self._count = total_rows
        described = schema.columns if schema is not None else _random_columns()
        self._columns = [c for c in described if columns_list is None or c["name"] in columns_list]
        self.columns = [column["name"] for column in self._columns]

    def __len__(self):
        return self._count

    def row(self, index):
        rng = np.random.default_rng([index, 20])
        return tuple(_random_value(rng, column) for column in self._columns)


def _random_columns() -> list[dict]:
    return [{"name": f"c{i}", "type": "uint8", "shape": [4]} for i in range(3)]


def _random_value(rng: np.random.Generator, column: dict) -> np.ndarray:
    shape = [int(rng.integers(1, 5)) if side == -1 else side for side in column.get("shape", [1])]
    dtype = numpy_type(column["type"])
    if dtype.kind in "US":
        return np.full(shape, f"random_{int(rng.integers(0, 1000))}").astype(dtype.kind)
    size = int(np.prod(shape)) * dtype.itemsize
    raw = np.frombuffer(rng.bytes(size), dtype=dtype) if dtype.kind in "iu" else rng.random(int(np.prod(shape)))
    return np.array(raw).astype(dtype).reshape(shape)


class RandomDataset(FileDataset, VisionBaseDataset):
    """Random rows of a schema, for measuring and trying out.

    ds.RandomDataset(total_rows=10, schema=schema)

    Examples:
        >>> schema = ds.Schema()
        >>> schema.add_column("x", ms.float32, shape=[2])
        >>> ds.RandomDataset(total_rows=3, schema=schema).get_dataset_size()
        3
    """

    def __init__(self, total_rows=None, schema=None, columns_list=None, num_samples=None, num_parallel_workers=None,
                 cache=None, shuffle=None, num_shards=None, shard_id=None):  # fmt: skip
        if total_rows is not None:
            check_type(total_rows, int, "total_rows")
            if total_rows < 0:
                raise ValueError(
                    f"Input total_rows is not within the required interval of [0, 2147483647], got {total_rows}."
                )
        if schema is not None:
            check_type(schema, (str, Schema), "schema")
            schema = schema if isinstance(schema, Schema) else Schema(schema)
        if columns_list is not None:
            check_type(columns_list, list, "columns_list")
        if shuffle is not None:
            check_bool(shuffle, "shuffle")
        super().__init__(num_parallel_workers, num_samples, shuffle, num_shards, shard_id, cache)
        rows = total_rows or (schema.num_rows if schema is not None else None) or 1000
        opener = functools.partial(RandomRows, rows, schema, columns_list)
        self.total_rows, self.schema = rows, schema
        self._files("RandomDataset", opener, FileSampler(bool(shuffle), num_samples, num_shards, shard_id), {})
