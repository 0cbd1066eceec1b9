"""Image data sets laid out by class, or listed in text files: CelebA, Food-101, Places365, SUN397, LSUN, LFW, …"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

import numpy as np

from mindspore.dataset._check import check_bool, check_dir, check_type, check_valid_str
from mindspore.dataset.sources.image_folder import DEFAULT_EXTENSIONS
from mindspore.dataset.sources.image_table import (
    ImageFile,
    ImageTable,
    VisionFolder,
    need_dir,
    need_file,
    no_data,
    read_lines,
)
from mindspore.dataset.sources.source import check_extensions, image_files

_PICTURES = [".jpg", ".jpeg", ".png", ".bmp"]


def subfolders(folder: str) -> list[str]:
    with os.scandir(folder) as entries:
        return sorted(entry.name for entry in entries if entry.is_dir())


def label_rows(folder: str, names: Sequence[str], extensions: Sequence[str], dtype) -> list[tuple]:
    """(image, label) of the files of class folders, classes numbered in the order of `names`."""
    rows = []
    for number, name in enumerate(names):
        base = os.path.join(folder, name)
        if os.path.isdir(base):
            label = np.array(number, dtype=dtype)
            rows += [(ImageFile(path), label) for path in image_files(base, extensions)]
    return rows


def open_caltech256(folder: str, decode: bool) -> ImageTable:
    names = subfolders(folder)
    rows = label_rows(folder, names, _PICTURES, np.int32)
    if not rows:
        raise no_data("Caltech256Dataset", folder)
    return ImageTable(["image", "label"], rows, decode, len(names))


class Caltech256Dataset(VisionFolder):
    """Pictures of 257 classes: columns "image", "label"."""

    def __init__(self, dataset_dir, num_samples=None, num_parallel_workers=None, shuffle=None, decode=False,
                 sampler=None, num_shards=None, shard_id=None, cache=None):  # fmt: skip
        choice = (num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self._folder(dataset_dir, open_caltech256, {"decode": decode}, choice)


_CELEBA_PARTS = {"train": "0", "valid": "1", "test": "2"}


def open_celeba(folder: str, usage: str, decode: bool, extensions: list[str], decrypt: Callable | None) -> ImageTable:
    attributes = need_file("CelebADataset", os.path.join(folder, "list_attr_celeba.txt"))
    parts: dict[str, str] = {}
    if usage != "all":
        listing = need_file("CelebADataset", os.path.join(folder, "list_eval_partition.txt"))
        parts = dict(line.split()[:2] for line in read_lines(listing) if line.strip())
    wanted = tuple(extension.lower() for extension in extensions)
    rows = []
    for line in read_lines(attributes)[2:]:
        cells = line.split()
        if not cells or (usage != "all" and parts.get(cells[0]) != _CELEBA_PARTS[usage]):
            continue
        if wanted and not cells[0].lower().endswith(wanted):
            continue
        values = np.array([int(cell) == 1 for cell in cells[1:]], dtype=np.uint32)
        rows.append((ImageFile(os.path.join(folder, cells[0])), values))
    if not rows:
        raise no_data("CelebADataset", folder)
    return ImageTable(["image", "attr"], rows, decode, decrypt=decrypt)


class CelebADataset(VisionFolder):
    """Faces with forty attributes: columns "image", "attr" (0 or 1 for each)."""

    def __init__(self, dataset_dir, num_parallel_workers=None, shuffle=None, usage="all", sampler=None, decode=False,
                 extensions=None, num_samples=None, num_shards=None, shard_id=None, cache=None,
                 decrypt=None):  # fmt: skip
        check_dir(dataset_dir)
        check_valid_str(usage, ["all", "train", "valid", "test"], "usage")
        if decrypt is not None and not callable(decrypt):
            raise TypeError("Argument decrypt is not a callable object, but got " + str(type(decrypt)))
        choice = (num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        arguments = {"usage": usage, "decode": decode, "extensions": check_extensions(extensions) or []}
        self._folder(dataset_dir, open_celeba, arguments, choice, {"decrypt": decrypt})


def open_food101(folder: str, usage: str, decode: bool) -> ImageTable:
    rows = []
    for part in ["train", "test"] if usage == "all" else [usage]:
        for line in read_lines(need_file("Food101Dataset", os.path.join(folder, "meta", f"{part}.txt"))):
            if line.strip():
                path = os.path.join(folder, "images", *line.strip().split("/")) + ".jpg"
                rows.append((ImageFile(path), line.split("/")[0]))
    if not rows:
        raise no_data("Food101Dataset", folder)
    return ImageTable(["image", "label"], rows, decode)


class Food101Dataset(VisionFolder):
    """Pictures of 101 dishes: columns "image", "label" (its name)."""

    def __init__(self, dataset_dir, usage=None, num_samples=None, num_parallel_workers=None, shuffle=None, decode=False,
                 sampler=None, num_shards=None, shard_id=None, cache=None):  # fmt: skip
        usage = "all" if usage is None else usage
        check_dir(dataset_dir)
        check_valid_str(usage, ["train", "test", "all"], "usage")
        choice = (num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self._folder(dataset_dir, open_food101, {"usage": usage, "decode": decode}, choice)


def open_places365(folder: str, usage: str, small: bool, decode: bool) -> ImageTable:
    size = "256" if small else "large"
    listing, pictures = {
        "train-standard": ("places365_train_standard.txt", f"data_{size}_standard"),
        "train-challenge": ("places365_train_challenge.txt", f"data_{size}_challenge"),
        "val": ("places365_val.txt", f"val_{size}"),
    }[usage]
    need_file("Places365Dataset", os.path.join(folder, "categories_places365.txt"))
    rows = []
    for line in read_lines(need_file("Places365Dataset", os.path.join(folder, listing))):
        if line.strip():
            name, label = line.rsplit(" ", 1)
            path = os.path.join(folder, pictures, *name.strip("/").split("/"))
            rows.append((ImageFile(path), np.array(int(label), dtype=np.uint32)))
    if not rows:
        raise no_data("Places365Dataset", folder)
    return ImageTable(["image", "label"], rows, decode)


class Places365Dataset(VisionFolder):
    """Pictures of 365 kinds of places: columns "image", "label"."""

    def __init__(self, dataset_dir, usage=None, small=True, decode=False, num_samples=None, num_parallel_workers=None,
                 shuffle=None, sampler=None, num_shards=None, shard_id=None, cache=None):  # fmt: skip
        usage = "train-standard" if usage is None else usage
        check_dir(dataset_dir)
        check_valid_str(usage, ["train-standard", "train-challenge", "val"], "usage")
        check_bool(small, "small")
        choice = (num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self._folder(dataset_dir, open_places365, {"usage": usage, "small": small, "decode": decode}, choice)


def open_sun397(folder: str, decode: bool) -> ImageTable:
    listing = need_file("SUN397Dataset", os.path.join(folder, "ClassName.txt"))
    names = [line.strip().strip("/") for line in read_lines(listing) if line.strip()]
    rows = label_rows(folder, names, _PICTURES, np.uint32)
    if not rows:
        raise no_data("SUN397Dataset", folder)
    return ImageTable(["image", "label"], rows, decode)


class SUN397Dataset(VisionFolder):
    """Pictures of 397 scenes: columns "image", "label"."""

    def __init__(self, dataset_dir, num_samples=None, num_parallel_workers=None, shuffle=None, decode=False,
                 sampler=None, num_shards=None, shard_id=None, cache=None):  # fmt: skip
        choice = (num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self._folder(dataset_dir, open_sun397, {"decode": decode}, choice)


_LSUN_CLASSES = ["bedroom", "bridge", "church_outdoor", "classroom", "conference_room", "dining_room", "kitchen",
                 "living_room", "restaurant", "tower"]  # fmt: skip


def open_lsun(folder: str, usage: str, classes: list[str], decode: bool) -> ImageTable:
    if usage == "test":  # nobody says what these show: all have label 0
        files = image_files(need_dir("LSUNDataset", os.path.join(folder, "test")), DEFAULT_EXTENSIONS)
        if not files:
            raise no_data("LSUNDataset", folder)
        return ImageTable(["image", "label"], [(ImageFile(path), np.array(0, np.uint32)) for path in files], decode)
    chosen = classes or [name for name in _LSUN_CLASSES if os.path.isdir(os.path.join(folder, f"{name}_train"))]
    rows = []
    for part in ["train", "valid"] if usage == "all" else [usage]:
        suffix = "val" if part == "valid" else part
        names = [need_dir("LSUNDataset", os.path.join(folder, f"{name}_{suffix}")) for name in chosen]
        for number, name in enumerate(names):
            rows += [(ImageFile(path), np.array(number, np.uint32)) for path in image_files(name, DEFAULT_EXTENSIONS)]
    if not rows:
        raise no_data("LSUNDataset", folder)
    return ImageTable(["image", "label"], rows, decode, len(chosen))


class LSUNDataset(VisionFolder):
    """Pictures of scenes: columns "image", "label"."""

    def __init__(self, dataset_dir, usage=None, classes=None, num_samples=None, num_parallel_workers=None, shuffle=None,
                 decode=False, sampler=None, num_shards=None, shard_id=None, cache=None):  # fmt: skip
        usage = "all" if usage is None else usage
        check_dir(dataset_dir)
        check_valid_str(usage, ["train", "test", "valid", "all"], "usage")
        classes = [classes] if isinstance(classes, str) else classes
        if classes is not None:
            check_type(classes, list, "classes")
            for name in classes:
                check_valid_str(name, _LSUN_CLASSES, "classes")
        choice = (num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self._folder(dataset_dir, open_lsun, {"usage": usage, "classes": classes or [], "decode": decode}, choice)


def open_omniglot(folder: str, background: bool, decode: bool) -> ImageTable:
    base = need_dir("OmniglotDataset", os.path.join(folder, "images_background" if background else "images_evaluation"))
    names = [os.path.join(alphabet, letter) for alphabet in subfolders(base)
             for letter in subfolders(os.path.join(base, alphabet))]  # fmt: skip
    rows = label_rows(base, names, _PICTURES, np.int32)
    if not rows:
        raise no_data("OmniglotDataset", folder)
    return ImageTable(["image", "label"], rows, decode, len(names))


class OmniglotDataset(VisionFolder):
    """Letters of fifty alphabets: columns "image", "label"."""

    def __init__(self, dataset_dir, background=None, num_samples=None, num_parallel_workers=None, shuffle=None,
                 decode=False, sampler=None, num_shards=None, shard_id=None, cache=None):  # fmt: skip
        background = True if background is None else background
        check_dir(dataset_dir)
        check_bool(background, "background")
        choice = (num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self._folder(dataset_dir, open_omniglot, {"background": background, "decode": decode}, choice)


def open_rendered_sst2(folder: str, usage: str, decode: bool) -> ImageTable:
    rows = []
    for part in ["train", "test", "valid"] if usage in ("all", "val+all") else ["valid" if usage == "val" else usage]:
        base = need_dir("RenderedSST2Dataset", os.path.join(folder, part))
        rows += label_rows(base, ["negative", "positive"], _PICTURES, np.uint32)
    if not rows:
        raise no_data("RenderedSST2Dataset", folder)
    return ImageTable(["image", "label"], rows, decode, 2)


class RenderedSST2Dataset(VisionFolder):
    """Film reviews as pictures of text: columns "image", "label"."""

    def __init__(self, dataset_dir, usage=None, num_samples=None, num_parallel_workers=None, shuffle=None, decode=False,
                 sampler=None, num_shards=None, shard_id=None, cache=None):  # fmt: skip
        usage = "all" if usage is None else usage
        check_dir(dataset_dir)
        check_valid_str(usage, ["val", "train", "test", "all"], "usage")
        choice = (num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self._folder(dataset_dir, open_rendered_sst2, {"usage": usage, "decode": decode}, choice)


_LFW_SETS = {"original": "lfw", "funneled": "lfw_funneled", "deepfunneled": "lfw-deepfunneled"}
_LFW_LISTS = {"10fold": "", "train": "DevTrain", "test": "DevTest"}


def open_lfw(folder: str, task: str, usage: str, image_set: str, decode: bool) -> ImageTable:
    base = need_dir("LFWDataset", os.path.join(folder, _LFW_SETS[image_set]))

    def picture(name: str, number: str) -> ImageFile:
        return ImageFile(os.path.join(base, name, f"{name}_{int(number):04d}.jpg"))

    lines = []
    for part in ["train", "test"] if usage == "all" else [usage]:
        lines += read_lines(need_file("LFWDataset", os.path.join(folder, f"{task}{_LFW_LISTS[part]}.txt")))
    cells = [line.split() for line in lines]
    if task == "people":
        names = read_lines(need_file("LFWDataset", os.path.join(folder, "lfw-names.txt")))
        labels = {line.split()[0]: i for i, line in enumerate(names) if line.strip()}
        rows = [(picture(row[0], str(i)), np.array(labels[row[0]], np.uint32))
                for row in cells if len(row) == 2 and row[0] in labels for i in range(1, int(row[1]) + 1)]  # fmt: skip
        return ImageTable(["image", "label"], rows, decode)
    pairs: list[tuple] = []
    for row in cells:
        if len(row) == 3:
            pairs.append((picture(row[0], row[1]), picture(row[0], row[2]), np.array(1, np.uint32)))
        elif len(row) == 4:
            pairs.append((picture(row[0], row[1]), picture(row[2], row[3]), np.array(0, np.uint32)))
    return ImageTable(["image1", "image2", "label"], pairs, decode)


class LFWDataset(VisionFolder):
    """Faces in the wild: "image", "label", or pairs "image1", "image2", "label" (same person)."""

    def __init__(self, dataset_dir, task=None, usage=None, image_set=None, num_samples=None, num_parallel_workers=None,
                 shuffle=None, decode=False, sampler=None, num_shards=None, shard_id=None, cache=None):  # fmt: skip
        task = "people" if task is None else task
        usage, image_set = "all" if usage is None else usage, "funneled" if image_set is None else image_set
        check_dir(dataset_dir)
        check_valid_str(task, ["people", "pairs"], "task")
        check_valid_str(usage, ["10fold", "train", "test", "all"], "usage")
        check_valid_str(image_set, list(_LFW_SETS), "image_set")
        choice = (num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        arguments = {"task": task, "usage": usage, "image_set": image_set, "decode": decode}
        self._folder(dataset_dir, open_lfw, arguments, choice)


def open_sbu(folder: str, decode: bool) -> ImageTable:
    urls = read_lines(need_file("SBUDataset", os.path.join(folder, "SBU_captioned_photo_dataset_urls.txt")))
    captions = read_lines(need_file("SBUDataset", os.path.join(folder, "SBU_captioned_photo_dataset_captions.txt")))
    base = need_dir("SBUDataset", os.path.join(folder, "sbu_images"))
    if len(urls) != len(captions):
        raise RuntimeError(f"Invalid data, there are {len(urls)} urls but {len(captions)} captions in {folder}.")
    rows = []
    for url, caption in zip(urls, captions):
        names = [name for name in _sbu_names(url) if os.path.isfile(os.path.join(base, name))]
        if names:
            rows.append((ImageFile(os.path.join(base, names[0])), caption))
    if not rows:
        raise no_data("SBUDataset", folder)
    return ImageTable(["image", "caption"], rows, decode)


def _sbu_names(url: str) -> list[str]:
    """Names a downloaded picture may have: the path of its address, with or without the end of the host's name."""
    host, *path = url.strip().split("//", 1)[-1].split("/")
    return ["_".join([host[-1:], *path]), "_".join(path)]


class SBUDataset(VisionFolder):
    """Photographs with captions: columns "image", "caption"."""

    def __init__(self, dataset_dir, num_samples=None, num_parallel_workers=None, shuffle=None, decode=False,
                 sampler=None, num_shards=None, shard_id=None, cache=None):  # fmt: skip
        choice = (num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self._folder(dataset_dir, open_sbu, {"decode": decode}, choice)
