"""What folders and lists of images promise: which files count, how classes are numbered, in which order parts come."""

import json

import numpy as np
import pytest

import mindspore.dataset as ds
from mindspore.dataset import vision


def picture(path, value=0):
    path.parent.mkdir(parents=True, exist_ok=True)
    vision.write_png(str(path), np.full((2, 2, 3), value, np.uint8))
    return str(path)


def labels(data):
    return [int(row["label"]) for row in data.create_dict_iterator(num_epochs=1, output_numpy=True)]


def test_a_folder_within_a_class_is_refused(tmp_path):
    picture(tmp_path / "cat" / "0.png")
    picture(tmp_path / "cat" / "kittens" / "1.png")
    with pytest.raises(RuntimeError, match="kittens, should be file, but got directory"):
        labels(ds.ImageFolderDataset(str(tmp_path)))


def test_classes_may_have_negative_numbers(tmp_path):
    for name in ("cat", "dog"):
        picture(tmp_path / name / "0.png")
    assert labels(ds.ImageFolderDataset(str(tmp_path), class_indexing={"cat": -3, "dog": 4}, shuffle=False)) == [-3, 4]


def test_rescale_rounds_once():
    pixels = np.arange(256, dtype=np.uint8).reshape(16, 16, 1).repeat(3, 2)
    for factor, shift in ((1 / 255, -1.0), (0.3, 0.7), (0.017, -100.3)):
        exact = pixels.astype(object) * float(np.float32(factor)) + float(np.float32(shift))
        assert np.array_equal(vision.Rescale(factor, shift)(pixels), exact.astype(np.float32))


def manifest(tmp_path, *files):
    lines = [json.dumps({"source": str(f), "usage": "train", "annotation": [{"name": "cat"}]}) for f in files]
    (tmp_path / "list.manifest").write_text("\n".join(lines))
    return str(tmp_path / "list.manifest")


def test_a_manifest_leaves_out_what_is_no_image_and_refuses_empty_files(tmp_path):
    image, text, empty = picture(tmp_path / "a.png"), tmp_path / "b.png", tmp_path / "c.png"
    text.write_text("no image")
    empty.write_bytes(b"")
    assert labels(ds.ManifestDataset(manifest(tmp_path, image, text, image))) == [0, 0]
    with pytest.raises(RuntimeError, match=r"Invalid manifest file, .*c\.png.* is empty"):
        labels(ds.ManifestDataset(manifest(tmp_path, image, empty)))


def test_parts_of_stl10_come_in_order_of_their_files(tmp_path):
    for part, label in (("train", 5), ("test", 8), ("unlabeled", 0)):
        np.zeros(27648, np.uint8).tofile(tmp_path / f"{part}_X.bin")
        np.array([label + 1], np.uint8).tofile(tmp_path / f"{part}_y.bin")
    assert labels(ds.STL10Dataset(str(tmp_path), "all", shuffle=False)) == [8, 5, -1]
    (tmp_path / "test_X.bin").unlink()
    with pytest.raises(ValueError, match=r"test_X.bin does not exist"):
        ds.STL10Dataset(str(tmp_path), "all")


def test_failures_of_pillow_are_those_of_a_python_function(tmp_path):
    (tmp_path / "cat").mkdir()
    (tmp_path / "cat" / "0.png").write_text("no image")
    for decode, name in ((vision.Decode(), "Decode"), (vision.Decode(to_pil=True), "PyFunc")):
        data = ds.ImageFolderDataset(str(tmp_path)).map(decode, "image")
        with pytest.raises(RuntimeError, match=rf"map operation: \[{name}\] failed"):
            labels(data)


def test_pictures_of_lsun_without_classes_have_label_zero(tmp_path):
    for name in ("test/a", "test/b", "tower_train/c", "bedroom_train/d"):
        picture(tmp_path / f"{name}.png", value=ord(name[-1]))
    unknown = ds.LSUNDataset(str(tmp_path), usage="test", shuffle=False, decode=True)
    assert unknown.get_col_names() == ["image", "label"] and unknown.get_dataset_size() == 2
    rows = list(unknown.create_tuple_iterator(num_epochs=1, output_numpy=True))
    assert [(int(image[0, 0, 0]), int(label)) for image, label in rows] == [(97, 0), (98, 0)]
    assert labels(ds.LSUNDataset(str(tmp_path), usage="train", shuffle=False)) == [0, 1]


def test_lsun_without_pictures_is_refused(tmp_path):
    (tmp_path / "test").mkdir()
    with pytest.raises(RuntimeError, match="LSUNDataset API can't read the data file"):
        ds.LSUNDataset(str(tmp_path), usage="test").get_dataset_size()
