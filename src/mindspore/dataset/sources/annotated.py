"""Image data sets with annotation files: COCO, VOC, Manifest, Cityscapes, KITTI, WIDER Face, Flickr and kin."""

from __future__ import annotations

import functools
import json
import os
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore.dataset._check import check_bool, check_dir, check_file, check_type, check_valid_str
from mindspore.dataset.api.operations import VisionBaseDataset
from mindspore.dataset.ir.leaf import Reader
from mindspore.dataset.sources.class_folders import subfolders
from mindspore.dataset.sources.image_folder import check_class_indexing
from mindspore.dataset.sources.image_table import (
    ImageFile,
    ImageTable,
    VisionFolder,
    load_mat,
    need_dir,
    need_file,
    no_data,
    read_lines,
)
from mindspore.dataset.sources.source import MappableDataset, image_files, read_image

# --------------------------------------------------------------------------------------------------------------------
# COCO

_COCO_TASKS = ["Detection", "Stuff", "Keypoint", "Panoptic", "Captioning"]


def open_coco(folder: str, annotation_file: str, task: str, decode: bool, extra_metadata: bool, decrypt) -> ImageTable:
    content = load_json(annotation_file)
    images = {image["id"]: image["file_name"] for image in field(content, "images", annotation_file)}
    annotations = field(content, "annotations", annotation_file)
    grouped: dict[Any, list[dict]] = {}
    for annotation in annotations:
        if annotation.get("image_id") not in images:
            raise RuntimeError(
                f"Invalid annotation, the image_id {annotation.get('image_id')} of an annotation is not among the "
                f"images of {annotation_file}."
            )
        grouped.setdefault(annotation["image_id"], []).append(annotation)
    categories = {}
    if task in ("Detection", "Panoptic"):
        categories = {category["id"]: category for category in field(content, "categories", annotation_file)}
    make, columns = _COCO_ROWS[task]
    rows = []
    for identity in [key for key in images if key in grouped]:
        path = ImageFile(os.path.join(folder, images[identity]))
        extra = (np.array(os.path.splitext(os.path.basename(images[identity]))[0]),) if extra_metadata else ()
        rows.append((path, *make(grouped[identity], categories), *extra))
    names = ["image", *columns, *(["_meta-filename"] if extra_metadata else [])]
    indexing = {category["name"]: _coco_class(category) for category in categories.values()}
    return ImageTable(names, rows, decode, indexing=indexing, decrypt=decrypt)


def _coco_class(category: dict) -> list[int]:
    return [category["id"], category["isthing"]] if "isthing" in category else [category["id"]]


def _column(values: list, dtype) -> np.ndarray:
    return np.array(values, dtype=dtype).reshape(-1, 1)


def _detection(annotations: list[dict], categories: dict) -> tuple:
    for annotation in annotations:
        if annotation["category_id"] not in categories:
            raise RuntimeError(
                f"Invalid annotation, the attribute of 'category_id': {annotation['category_id']} is missing in the "
                "categories."
            )
    boxes = np.array([annotation["bbox"] for annotation in annotations], dtype=np.float32)
    kinds = _column([annotation["category_id"] for annotation in annotations], np.uint32)
    return boxes, kinds, _column([annotation.get("iscrowd", 0) for annotation in annotations], np.uint32)


def _stuff(annotations: list[dict], categories: dict) -> tuple:
    polygons = [[float(x) for x in part] for annotation in annotations for part in _polygons(annotation)]
    out = np.full((len(polygons), max(map(len, polygons))), -1, dtype=np.float32)
    for i, polygon in enumerate(polygons):
        out[i, : len(polygon)] = polygon
    return out, _column([annotation.get("iscrowd", 0) for annotation in annotations], np.uint32)


def _polygons(annotation: dict) -> list[list]:
    shape = annotation["segmentation"]
    return [shape["counts"]] if isinstance(shape, dict) else shape


def _keypoints(annotations: list[dict], categories: dict) -> tuple:
    points = np.array([annotation["keypoints"] for annotation in annotations], dtype=np.float32)
    return points, _column([annotation["num_keypoints"] for annotation in annotations], np.uint32)


def _panoptic(annotations: list[dict], categories: dict) -> tuple:
    segments = [segment for annotation in annotations for segment in annotation["segments_info"]]
    boxes, kinds, crowds = _detection(segments, categories)
    return boxes, kinds, crowds, _column([segment["area"] for segment in segments], np.uint32)


def _captions(annotations: list[dict], categories: dict) -> tuple:
    return (_column([annotation["caption"] for annotation in annotations], np.str_),)


_COCO_ROWS: dict[str, tuple[Callable, list[str]]] = {
    "Detection": (_detection, ["bbox", "category_id", "iscrowd"]),
    "Stuff": (_stuff, ["segmentation", "iscrowd"]),
    "Keypoint": (_keypoints, ["keypoints", "num_keypoints"]),
    "Panoptic": (_panoptic, ["bbox", "category_id", "iscrowd", "area"]),
    "Captioning": (_captions, ["captions"]),
}


def load_json(path: str) -> Any:
    try:
        with open(path, encoding="utf-8") as stream:
            return json.load(stream)
    except (OSError, ValueError) as error:
        raise RuntimeError(f"Invalid annotation file, Coco Dataset annotation file: {path} load failed: {error}") from None


def field(content: dict, name: str, path: str) -> list:
    if name not in content:
        raise RuntimeError(f"Invalid annotation, the attribute of '{name}' is missing in {path}.")
    return content[name]


class CocoDataset(VisionFolder):
    """Common Objects in Context; the columns depend on the task.

    ds.CocoDataset("path/to/train2017", "path/to/instances_train2017.json", task="Detection")
    """

    def __init__(self, dataset_dir, annotation_file, task="Detection", num_samples=None, num_parallel_workers=None,
                 shuffle=None, decode=False, sampler=None, num_shards=None, shard_id=None, cache=None,
                 extra_metadata=False, decrypt=None):  # fmt: skip
        check_dir(dataset_dir)
        check_type(annotation_file, str, "annotation_file")
        check_file(annotation_file)
        check_type(task, str, "task")
        if task not in _COCO_TASKS:
            raise ValueError(f"Invalid task type: {task}.")
        check_bool(extra_metadata, "extra_metadata")
        if sampler is not None and type(sampler).__name__ == "PKSampler":
            raise ValueError("CocoDataset doesn't support PKSampler.")
        choice = (num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        arguments = {
            "annotation_file": annotation_file,
            "task": task,
            "decode": decode,
            "extra_metadata": extra_metadata,
        }
        self._folder(dataset_dir, open_coco, arguments, choice, {"decrypt": decrypt})

    task: str

    def get_class_indexing(self) -> dict | list:
        if self.task not in ("Detection", "Panoptic"):
            raise NotImplementedError("Only 'Detection' and 'Panoptic' support get_class_indexing.")
        return super().get_class_indexing()


# --------------------------------------------------------------------------------------------------------------------
# Pascal VOC


def open_voc(folder, task, usage, class_indexing, decode, extra_metadata, decrypt) -> ImageTable:
    listing = os.path.join(folder, "ImageSets", "Segmentation" if task == "Segmentation" else "Main", f"{usage}.txt")
    names = [line.split()[0] for line in read_lines(need_file("VOCDataset", listing)) if line.strip()]
    rows: list[tuple] = []
    classes: dict[str, int] = dict(class_indexing)
    parsed = []
    for name in names:
        image = ImageFile(os.path.join(folder, "JPEGImages", f"{name}.jpg"))
        if task == "Segmentation":
            rows.append((image, ImageFile(os.path.join(folder, "SegmentationClass", f"{name}.png")), name))
        else:
            objects = voc_objects(need_file("VOCDataset", os.path.join(folder, "Annotations", f"{name}.xml")))
            kept = [entry for entry in objects if not class_indexing or entry[0] in class_indexing]
            if kept:
                parsed.append((image, kept, name))
    if task == "Detection":
        if not class_indexing:
            found = sorted({entry[0] for _, objects, _ in parsed for entry in objects})
            classes = {name: i for i, name in enumerate(found)}
        rows = [(image, *_voc_columns(objects, classes), name) for image, objects, name in parsed]
    if not rows:
        raise no_data("VOCDataset", folder)
    columns = ["image", "target"] if task == "Segmentation" else ["image", "bbox", "label", "difficult", "truncate"]
    if extra_metadata:
        columns.append("_meta-filename")
    else:
        rows = [row[:-1] for row in rows]
    return ImageTable(columns, rows, decode, indexing=classes, decrypt=decrypt)


def voc_objects(path: str) -> list[tuple]:
    """(class, box, difficult, truncated) of every object of an annotation file."""
    try:
        root = ElementTree.parse(path).getroot()
    except ElementTree.ParseError as error:
        raise RuntimeError(f"Invalid xml, failed to load {path}: {error}") from None
    found = []
    for entry in root.iter("object"):
        name, box = entry.findtext("name"), entry.find("bndbox")
        if name is None or box is None:
            raise RuntimeError(f"Invalid data, node 'name' or 'bndbox' of an object is missing in {path}.")
        corners = [float(box.findtext(side, "0")) for side in ("xmin", "ymin", "xmax", "ymax")]
        if not (corners[0] <= corners[2] and corners[1] <= corners[3] and min(corners) >= 0):
            given = ", ".join(f"{corner:g}" for corner in corners)
            raise RuntimeError(
                f"Invalid bounding box, its sides should be greater than 0, but got {{{given}}} (xmin, ymin, xmax, ymax) "
                f"in {path}."
            )
        flags = [int(entry.findtext(flag, "0") or 0) for flag in ("difficult", "truncated")]
        found.append((name, corners, *flags))
    return found


def _voc_columns(objects: list[tuple], classes: dict[str, int]) -> tuple:
    boxes = np.array([[x, y, right - x, bottom - y] for _, (x, y, right, bottom), _, _ in objects], dtype=np.float32)
    labels = _column([classes[name] for name, *_ in objects], np.uint32)
    return boxes, labels, _column([o[2] for o in objects], np.uint32), _column([o[3] for o in objects], np.uint32)


class VOCDataset(VisionFolder):
    """Pascal VOC: pixels' classes ("image", "target") or boxes ("image", "bbox", "label", "difficult", "truncate").

    ds.VOCDataset("path/to/VOC2012", task="Detection", usage="train", decode=True)
    """

    def __init__(self, dataset_dir, task="Segmentation", usage="train", class_indexing=None, num_samples=None,
                 num_parallel_workers=None, shuffle=None, decode=False, sampler=None, num_shards=None, shard_id=None,
                 cache=None, extra_metadata=False, decrypt=None):  # fmt: skip
        check_dir(dataset_dir)
        check_type(task, str, "task")
        check_type(usage, str, "usage")
        if task not in ("Segmentation", "Detection"):
            raise ValueError(f"Invalid task : {task}.")
        folder = "Segmentation" if task == "Segmentation" else "Main"
        if task == "Segmentation" and class_indexing is not None:
            raise ValueError("class_indexing is not supported in Segmentation task.")
        check_file(os.path.join(os.fspath(dataset_dir), "ImageSets", folder, f"{usage}.txt"))
        check_class_indexing(class_indexing)
        check_bool(extra_metadata, "extra_metadata")
        choice = (num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        arguments = {"task": task, "usage": usage, "class_indexing": class_indexing or {}, "decode": decode,
                     "extra_metadata": extra_metadata}  # fmt: skip
        self._folder(dataset_dir, open_voc, arguments, choice, {"decrypt": decrypt})

    task: str

    def get_class_indexing(self) -> dict | list:
        if self.task != "Detection":
            raise NotImplementedError("Only 'Detection' support get_class_indexing.")
        return super().get_class_indexing()


# --------------------------------------------------------------------------------------------------------------------
# Manifest


#: how the files of images begin
_IMAGE_STARTS = (b"\xff\xd8", b"\x89PNG", b"BM", b"GIF8", b"II*", b"MM\x00*", b"RIFF")


def _is_image(manifest: str, path: str) -> bool:
    """Whether a file that a manifest names begins as images do; others are left out."""
    if not os.path.isfile(path):
        raise RuntimeError(f"Invalid file path, {path} of {manifest} does not exist.")
    with open(path, "rb") as file:
        start = file.read(4)
    if not start:
        raise RuntimeError(f"Invalid manifest file, {path}, which {manifest} names, is empty.")
    return start.startswith(_IMAGE_STARTS)


def open_manifest(path: str, usage: str, class_indexing: dict[str, int], decode: bool) -> ImageTable:
    entries = []
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
            for field in ("source", "usage"):
                if field not in entry:
                    raise RuntimeError(f"Invalid manifest file, '{field}' is missing in line {number} of {path}.")
            part, source = entry.get("usage"), entry["source"]
            names = [annotation["name"] for annotation in entry.get("annotation", []) if annotation.get("name")]
        except (ValueError, KeyError, TypeError) as error:
            raise RuntimeError(f"Invalid manifest file, line {number} of {path} cannot be read: {error}") from None
        if part is None:
            raise RuntimeError(f"Invalid manifest file, 'usage' is missing in line {number} of {path}.")
        if part.lower() == usage:
            entries.append((source, names))
    names_found = {name for _, names in entries for name in names}
    classes = class_indexing or {name: i for i, name in enumerate(sorted(names_found))}
    rows = []
    for source, names in entries:
        labels = [classes[name] for name in names if name in classes]
        if labels:
            if not _is_image(path, source):
                continue
            rows.append((ImageFile(source), np.array(labels if len(labels) > 1 else labels[0], dtype=np.int32)))
    if not rows:
        raise no_data("ManifestDataset", path)
    return ImageTable(["image", "label"], rows, decode, len(classes), classes)


class ManifestDataset(MappableDataset, VisionBaseDataset):
    """Images listed in a manifest file of JSON lines: columns "image", "label".

    ds.ManifestDataset("path/to/file.manifest", usage="train")
    """

    def __init__(self, dataset_file, usage="train", num_samples=None, num_parallel_workers=None, shuffle=None,
                 sampler=None, class_indexing=None, decode=False, num_shards=None, shard_id=None,
                 cache=None):  # fmt: skip
        check_file(dataset_file)
        check_valid_str(usage, ["train", "eval", "inference"], "usage")
        check_bool(decode, "decode")
        check_class_indexing(class_indexing)
        super().__init__(num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id, cache)
        self.dataset_file, self.usage, self.decode = os.fspath(dataset_file), usage, decode
        self.class_indexing = class_indexing
        opener = functools.partial(open_manifest, self.dataset_file, usage, class_indexing or {}, decode)
        params = {"class_indexing": class_indexing or {}, "dataset_file": self.dataset_file, "decode": decode,
                  "usage": usage}  # fmt: skip
        self._rows("ManifestDataset", opener, params)


# --------------------------------------------------------------------------------------------------------------------
# Image pairs and listed annotations

_CITYSCAPES_TASKS = {"instance": "_instanceIds.png", "semantic": "_labelIds.png", "polygon": "_polygons.json",
                     "color": "_color.png"}  # fmt: skip


class TextOrImageTable(ImageTable):
    """A table in which `.json` files are text."""

    def _value(self, cell):
        if isinstance(cell, ImageFile) and cell.endswith(".json"):
            with open(cell, encoding="utf-8") as stream:
                return np.array(stream.read())
        return super()._value(cell)


def open_cityscapes(folder: str, usage: str, quality_mode: str, task: str, decode: bool) -> ImageTable:
    kind = "gtFine" if quality_mode == "fine" else "gtCoarse"
    parts = {"all": ["train", "test", "val"] if quality_mode == "fine" else ["train", "train_extra", "val"]}
    rows = []
    for part in parts.get(usage, [usage]):
        pictures = need_dir("CityscapesDataset", os.path.join(folder, "leftImg8bit", part))
        targets = need_dir("CityscapesDataset", os.path.join(folder, kind, part))
        for city in subfolders(pictures):
            for path in image_files(os.path.join(pictures, city), [".png"]):
                stem = os.path.basename(path).split("_leftImg8bit")[0]
                target = os.path.join(targets, city, f"{stem}_{kind}{_CITYSCAPES_TASKS[task]}")
                rows.append((ImageFile(path), ImageFile(need_file("CityscapesDataset", target))))
    if not rows:
        raise no_data("CityscapesDataset", folder)
    return TextOrImageTable(["image", "task"], rows, decode)


class CityscapesDataset(VisionFolder):
    """Street scenes: columns "image", "task" (a picture, or text for polygons)."""

    def __init__(self, dataset_dir, usage="train", quality_mode="fine", task="instance", num_samples=None,
                 num_parallel_workers=None, shuffle=None, decode=None, sampler=None, num_shards=None, shard_id=None,
                 cache=None):  # fmt: skip
        check_dir(dataset_dir)
        check_valid_str(quality_mode, ["fine", "coarse"], "quality_mode")
        allowed = ["train", "test", "val", "all"] if quality_mode == "fine" else ["train", "train_extra", "val", "all"]
        check_valid_str(usage, allowed, "usage")
        check_valid_str(task, list(_CITYSCAPES_TASKS), "task")
        choice = (num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        arguments = {"usage": usage, "quality_mode": quality_mode, "task": task, "decode": bool(decode)}
        self._folder(dataset_dir, open_cityscapes, arguments, choice)


def open_div2k(folder: str, usage: str, downgrade: str, scale: int, decode: bool) -> ImageTable:
    rows = []
    for part in ["train", "valid"] if usage == "all" else [usage]:
        if downgrade in ("mild", "difficult", "wild"):
            small, suffix = f"DIV2K_{part}_LR_{downgrade}", f"x4{downgrade[0]}"
        elif scale == 8:
            small, suffix = f"DIV2K_{part}_LR_x8", "x8"
        else:
            small, suffix = os.path.join(f"DIV2K_{part}_LR_{downgrade}", f"X{scale}"), f"x{scale}"
        large = need_dir("DIV2KDataset", os.path.join(folder, f"DIV2K_{part}_HR"))
        base = need_dir("DIV2KDataset", os.path.join(folder, small))
        for path in image_files(large, [".png"]):
            stem = os.path.splitext(os.path.basename(path))[0]
            other = need_file("DIV2KDataset", os.path.join(base, f"{stem}{suffix}.png"))
            rows.append((ImageFile(path), ImageFile(other)))
    if not rows:
        raise no_data("DIV2KDataset", folder)
    return ImageTable(["hr_image", "lr_image"], rows, decode)


class DIV2KDataset(VisionFolder):
    """Pictures in high and low resolution: columns "hr_image", "lr_image"."""

    def __init__(self, dataset_dir, usage="train", downgrade="bicubic", scale=2, num_samples=None,
                 num_parallel_workers=None, shuffle=None, decode=None, sampler=None, num_shards=None, shard_id=None,
                 cache=None):  # fmt: skip
        check_dir(dataset_dir)
        check_valid_str(usage, ["train", "valid", "all"], "usage")
        check_valid_str(downgrade, ["bicubic", "unknown", "mild", "difficult", "wild"], "downgrade")
        check_type(scale, int, "scale")
        if scale not in (2, 3, 4, 8):
            raise ValueError("Input scale is not within the valid set of [2, 3, 4, 8].")
        if scale == 8 and downgrade != "bicubic":
            raise ValueError("DIV2KNode: scale equal to 8 is allowed only in bicubic downgrade.")
        if downgrade in ("mild", "difficult", "wild") and scale != 4:
            raise ValueError(f"DIV2KNode: {downgrade} downgrade requires scale equal to 4.")
        choice = (num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        arguments = {"usage": usage, "downgrade": downgrade, "scale": scale, "decode": bool(decode)}
        self._folder(dataset_dir, open_div2k, arguments, choice)


def open_flickr(folder: str, annotation_file: str, decode: bool) -> ImageTable:
    captions: dict[str, list[str]] = {}
    for line in read_lines(annotation_file):
        if not line.strip():
            continue
        head, _, caption = line.partition("\t")
        name, mark, _ = head.rpartition("#")
        if not mark or not caption:
            raise RuntimeError(f"Invalid data, the line {line!r} of {annotation_file} is not '<image>#<n><tab><text>'.")
        captions.setdefault(name, []).append(caption)
    rows = [(ImageFile(os.path.join(folder, name)), np.array(texts)) for name, texts in captions.items()]
    if not rows:
        raise no_data("FlickrDataset", annotation_file)
    return ImageTable(["image", "annotation"], rows, decode)


class FlickrDataset(VisionFolder):
    """Photographs with several captions each: columns "image", "annotation"."""

    def __init__(self, dataset_dir, annotation_file, num_samples=None, num_parallel_workers=None, shuffle=None,
                 decode=None, sampler=None, num_shards=None, shard_id=None, cache=None):  # fmt: skip
        check_dir(dataset_dir)
        check_file(annotation_file)
        choice = (num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        arguments = {"annotation_file": annotation_file, "decode": bool(decode)}
        self._folder(dataset_dir, open_flickr, arguments, choice)


def open_kitti(folder: str, usage: str, decode: bool) -> ImageTable:
    part = "training" if usage == "train" else "testing"
    pictures = need_dir("KITTIDataset", os.path.join(folder, "data_object_image_2", part, "image_2"))
    files = image_files(pictures, [".png"])
    if usage == "test":
        return ImageTable(["image"], [(ImageFile(path),) for path in files], decode)
    base = need_dir("KITTIDataset", os.path.join(folder, "data_object_label_2", part, "label_2"))
    listings = [os.path.join(base, os.path.splitext(os.path.basename(path))[0] + ".txt") for path in files]
    tables = [
        [line.split() for line in read_lines(need_file("KITTIDataset", name)) if line.strip()] for name in listings
    ]
    numbers = {name: i for i, name in enumerate(sorted({row[0] for table in tables for row in table}))}
    rows = []
    for path, cells in zip(files, tables):
        values = np.array([[float(cell) for cell in row[1:15]] for row in cells], dtype=np.float32)
        labels = _column([numbers[row[0]] for row in cells], np.uint32)
        occluded = values[:, 1:2].astype(np.int64).astype(np.uint32)
        rows.append((ImageFile(path), labels, values[:, :1], occluded, values[:, 2:3], values[:, 3:7], values[:, 7:10],
                     values[:, 10:13], values[:, 13:14]))  # fmt: skip
    columns = ["image", "label", "truncated", "occluded", "alpha", "bbox", "dimensions", "location", "rotation_y"]
    return ImageTable(columns, rows, decode)


class KITTIDataset(VisionFolder):
    """Driving scenes with boxes: "image" and, for training, eight columns of labels."""

    def __init__(self, dataset_dir, usage=None, num_samples=None, num_parallel_workers=None, shuffle=None, decode=False,
                 sampler=None, num_shards=None, shard_id=None, cache=None):  # fmt: skip
        usage = "train" if usage is None else usage
        check_dir(dataset_dir)
        check_valid_str(usage, ["train", "test"], "usage")
        choice = (num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self._folder(dataset_dir, open_kitti, {"usage": usage, "decode": decode}, choice)


_FACE_COLUMNS = ["bbox", "blur", "expression", "illumination", "occlusion", "pose", "invalid"]


def open_wider_face(folder: str, usage: str, decode: bool) -> ImageTable:
    split = os.path.join(folder, "wider_face_split")
    rows: list[tuple] = []
    if usage == "test":
        names = read_lines(need_file("WIDERFaceDataset", os.path.join(split, "wider_face_test_filelist.txt")))
        base = os.path.join(folder, "WIDER_test", "images")
        rows = [(ImageFile(os.path.join(base, name.strip())),) for name in names if name.strip()]
        return ImageTable(["image"], rows, decode)
    for part in ["train", "val"] if usage == "all" else ["val" if usage == "valid" else usage]:
        lines = iter(read_lines(need_file("WIDERFaceDataset", os.path.join(split, f"wider_face_{part}_bbx_gt.txt"))))
        base = os.path.join(folder, f"WIDER_{part}", "images")
        for name in lines:
            if not name.strip():
                continue
            count = int(next(lines))
            faces = np.array(
                [[int(cell) for cell in next(lines).split()] for _ in range(max(count, 1))], dtype=np.int32
            )
            # the file orders the six marks otherwise than the columns
            blur, expression, illumination, invalid, occlusion, pose = faces[:, 4:10].T
            marks = (blur, expression, illumination, occlusion, pose, invalid)
            rows.append((ImageFile(os.path.join(base, name.strip())), faces[:, :4], *marks))
    return ImageTable(["image", *_FACE_COLUMNS], rows, decode)


class WIDERFaceDataset(VisionFolder):
    """Faces in crowds: "image" and, except for the test part, "bbox" and six marks of each face."""

    def __init__(self, dataset_dir, usage=None, num_samples=None, num_parallel_workers=None, shuffle=None, decode=False,
                 sampler=None, num_shards=None, shard_id=None, cache=None):  # fmt: skip
        usage = "all" if usage is None else usage
        check_dir(dataset_dir)
        check_valid_str(usage, ["train", "test", "valid", "all"], "usage")
        choice = (num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self._folder(dataset_dir, open_wider_face, {"usage": usage, "decode": decode}, choice)


# --------------------------------------------------------------------------------------------------------------------
# Annotations in MATLAB files


class SBReader(Reader):
    """Pictures with boundaries (twenty planes) or segments of objects."""

    columns = ["image", "task"]

    def __init__(self, folder: str, task: str, usage: str, decode: bool):
        names: list[str] = []
        parts = {"all": ["train", "val"], "train_noval": ["train_noval"]}.get(usage, [usage])
        for part in parts:
            names += read_lines(need_file("SBDataset", os.path.join(folder, f"{part}.txt")))
        self._names = [name.strip() for name in names if name.strip()]
        self._folder, self._task, self._decode = folder, task, decode

    def __len__(self):
        return len(self._names)

    def row(self, index):
        name = self._names[index]
        content = load_mat(os.path.join(self._folder, "cls", f"{name}.mat"))["GTcls"][0]
        if self._task == "Segmentation":
            target = content["Segmentation"][0].astype(np.uint8)
        else:
            planes = content["Boundaries"][0]
            target = np.stack([planes[i][0].toarray() for i in range(20)]).astype(np.uint8)
        return read_image(self.path(index), self._decode), target

    def path(self, index):
        return os.path.join(self._folder, "img", f"{self._names[index]}.jpg")


class SBDataset(VisionFolder):
    """Semantic boundaries: columns "image", "task"."""

    def __init__(self, dataset_dir, task="Boundaries", usage="all", num_samples=None, num_parallel_workers=1,
                 shuffle=None, decode=None, sampler=None, num_shards=None, shard_id=None):  # fmt: skip
        check_dir(dataset_dir)
        check_valid_str(usage, ["train", "val", "train_noval", "all"], "usage")
        check_valid_str(task, ["Boundaries", "Segmentation"], "task")
        choice = (num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, None)
        self._folder(dataset_dir, SBReader, {"task": task, "usage": usage, "decode": bool(decode)}, choice)


def open_flowers102(folder: str, task: str, usage: str, decode: bool) -> ImageTable:
    labels = load_mat(need_file("Flowers102Dataset", os.path.join(folder, "imagelabels.mat")))["labels"][0]
    sets = load_mat(need_file("Flowers102Dataset", os.path.join(folder, "setid.mat")))
    keys = {"train": ["trnid"], "valid": ["valid"], "test": ["tstid"], "all": ["tstid", "trnid", "valid"]}[usage]
    numbers = np.concatenate([sets[key][0] for key in keys])
    rows = []
    for number in sorted(numbers) if usage == "all" else numbers:
        image = ImageFile(os.path.join(folder, "jpg", f"image_{number:05d}.jpg"))
        label = np.array(labels[number - 1] - 1, dtype=np.uint32)
        segment = ImageFile(os.path.join(folder, "segmim", f"segmim_{number:05d}.jpg"))
        rows.append((image, segment, label) if task == "Segmentation" else (image, label))
    columns = ["image", "segmentation", "label"] if task == "Segmentation" else ["image", "label"]
    return ImageTable(columns, rows, decode)


class Flowers102Dataset(VisionFolder):
    """Pictures of 102 kinds of flowers: columns "image", ("segmentation",) "label"."""

    def __init__(self, dataset_dir, task="Classification", usage="all", num_samples=None, num_parallel_workers=1,
                 shuffle=None, decode=False, sampler=None, num_shards=None, shard_id=None):  # fmt: skip
        check_dir(dataset_dir)
        check_valid_str(usage, ["train", "valid", "test", "all"], "usage")
        check_valid_str(task, ["Classification", "Segmentation"], "task")
        choice = (num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, None)
        self._folder(dataset_dir, open_flowers102, {"task": task, "usage": usage, "decode": decode}, choice)


class Caltech101Table(ImageTable):
    """Outlines stand in MATLAB files, read with their row."""

    def _value(self, cell):
        if isinstance(cell, ImageFile) and cell.endswith(".mat"):
            return np.asarray(load_mat(cell)["obj_contour"]).astype(np.int64)
        return super()._value(cell)


CALTECH101_CLASSES = """
    Faces Faces_easy Leopards Motorbikes accordion airplanes anchor ant barrel bass beaver binocular bonsai brain brontosaurus
    buddha butterfly camera cannon car_side ceiling_fan cellphone chair chandelier cougar_body cougar_face crab crayfish
    crocodile crocodile_head cup dalmatian dollar_bill dolphin dragonfly electric_guitar elephant emu euphonium ewer ferry
    flamingo flamingo_head garfield gerenuk gramophone grand_piano hawksbill headphone hedgehog helicopter ibis inline_skate
    joshua_tree kangaroo ketch lamp laptop llama lobster lotus mandolin mayfly menorah metronome minaret nautilus octopus
    okapi pagoda panda pigeon pizza platypus pyramid revolver rhino rooster saxophone schooner scissors scorpion sea_horse
    snoopy soccer_ball stapler starfish stegosaurus stop_sign strawberry sunflower tick trilobite umbrella watch water_lilly
    wheelchair wild_cat windsor_chair wrench yin_yang
""".split()  # noqa: SIM905 - 101 names read better as a text


def open_caltech101(folder: str, target_type: str, decode: bool) -> ImageTable:
    pictures = need_dir("Caltech101Dataset", os.path.join(folder, "101_ObjectCategories"))
    outlines = os.path.join(folder, "Annotations")
    renamed = {
        "Faces": "Faces_2",
        "Faces_easy": "Faces_3",
        "Motorbikes": "Motorbikes_16",
        "airplanes": "Airplanes_Side_2",
    }
    names = [name for name in subfolders(pictures) if name != "BACKGROUND_Google"]
    rows = []
    for number, name in enumerate(names):
        for path in image_files(os.path.join(pictures, name), [".jpg"]):
            mark = os.path.splitext(os.path.basename(path))[0].split("_")[-1]
            outline = ImageFile(os.path.join(outlines, renamed.get(name, name), f"annotation_{mark}.mat"))
            category = np.array(number, dtype=np.int64)
            extra = {"category": (category,), "annotation": (outline,), "all": (category, outline)}[target_type]
            rows.append((ImageFile(path), *extra))
    columns = {"category": ["category"], "annotation": ["annotation"], "all": ["category", "annotation"]}[target_type]
    indexing = {name: i for i, name in enumerate(CALTECH101_CLASSES)}
    return Caltech101Table(["image", *columns], rows, decode, len(names), indexing)


class Caltech101Dataset(VisionFolder):
    """Pictures of 101 classes: "image" and, as asked, "category" and "annotation" (an outline)."""

    def __init__(self, dataset_dir, target_type=None, num_samples=None, num_parallel_workers=1, shuffle=None,
                 decode=False, sampler=None, num_shards=None, shard_id=None):  # fmt: skip
        target_type = "category" if target_type is None else target_type
        check_dir(dataset_dir)
        check_valid_str(target_type, ["category", "annotation", "all"], "target_type")
        choice = (num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, None)
        self._folder(dataset_dir, open_caltech101, {"target_type": target_type, "decode": decode}, choice)
