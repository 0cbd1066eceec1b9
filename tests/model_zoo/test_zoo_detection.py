"""Boxes: codes, matches, the choice among boxes found, and average precision, against plain loops."""

import json

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, model_zoo, ops
from mindspore.model_zoo import boxes as bx
from mindspore.model_zoo import rcnn
from mindspore.model_zoo.tasks import TASKS
from mindspore.model_zoo.tasks.detection import average_precision, read_coco


def random_boxes(rng, *shape):
    corner, side = rng.uniform(0, 50, (*shape, 2)), rng.uniform(2, 30, (*shape, 2))
    return np.concatenate((corner, corner + side), -1).astype(np.float32)


def one_overlap(a, b):
    wide = max(0.0, min(a[2], b[2]) - max(a[0], b[0]))
    high = max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
    both = wide * high
    return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both)


def test_overlaps_are_those_of_pairs():
    rng = np.random.default_rng(0)
    first, second = random_boxes(rng, 7), random_boxes(rng, 5)
    wanted = [[one_overlap(a, b) for b in second] for a in first]
    np.testing.assert_allclose(bx.overlaps(Tensor(first), Tensor(second)).asnumpy(), wanted, atol=1e-6)
    np.testing.assert_allclose(bx.array_overlaps(first, second), wanted, atol=1e-6)


def test_codes_lead_back_to_boxes():
    rng = np.random.default_rng(1)
    boxes, about = Tensor(random_boxes(rng, 3, 20)), Tensor(random_boxes(rng, 20))
    back = bx.decode(bx.encode(boxes, about, (10.0, 5.0)), about, (10.0, 5.0))
    np.testing.assert_allclose(back.asnumpy(), boxes.asnumpy(), atol=1e-3)


def test_every_object_has_an_anchor_and_the_best_one():
    rng = np.random.default_rng(2)
    about, boxes = random_boxes(rng, 40), random_boxes(rng, 2, 3)
    label = np.array([[0, 1, -1], [2, -1, -1]], np.int32)
    chosen, positive, negative = (t.asnumpy() for t in bx.match(Tensor(about), Tensor(boxes), Tensor(label), 0.5, 0.4))
    assert not (positive & negative).any()
    for n in range(2):
        pairs = np.array([[one_overlap(a, b) for b in boxes[n]] for a in about]) * (label[n] >= 0)
        for m in np.flatnonzero(label[n] >= 0):
            best = pairs[:, m].argmax()
            assert positive[n, best]
        for a in range(40):
            if pairs[a].max() >= 0.5:
                assert positive[n, a]
            assert negative[n, a] == (pairs[a].max() < 0.4 and not positive[n, a])
            assert label[n, chosen[n, a]] >= 0 or not positive[n, a]


def test_a_better_box_covers_those_it_overlaps():
    boxes = np.array([[0, 0, 10, 10], [1, 0, 11, 10], [30, 30, 40, 40], [0, 0, 10, 10]], np.float32)
    scores = np.array([[0.9, 0.0], [0.8, 0.0], [0.7, 0.0], [0.0, 0.6]], np.float32)
    found, score, kind = bx.keep_best(boxes, scores)
    assert found.tolist() == [boxes[0].tolist(), boxes[2].tolist(), boxes[3].tolist()]
    assert kind.tolist() == [0, 0, 1]
    np.testing.assert_allclose(score, [0.9, 0.7, 0.6])


def test_average_precision_of_a_case_by_hand():
    there = (np.array([[0, 0, 10, 10], [20, 20, 30, 30]], np.float32), np.array([0, 0]))
    found = (np.array([[0, 0, 10, 10], [50, 50, 60, 60], [20, 20, 30, 30]], np.float32), np.array([0.9, 0.8, 0.7]), np.zeros(3, int))
    assert average_precision([found], [there], 0) == pytest.approx(0.5 * 1 + 0.5 * 2 / 3)
    twice = (np.array([[0, 0, 10, 10]] * 2, np.float32), np.array([0.9, 0.8]), np.zeros(2, int))
    assert average_precision([twice], [there], 0) == pytest.approx(0.5)  # the same object found again counts as wrong


def test_files_of_coco_are_read(tmp_path):
    vision = pytest.importorskip("mindspore.dataset.vision")
    for i in range(10):
        vision.write_png(str(tmp_path / f"{i}.png"), np.full((20, 40, 3), 10 * i, np.uint8))
    stored = {
        "images": [{"id": i, "file_name": f"{i}.png"} for i in range(10)],
        "categories": [{"id": 7, "name": "cat"}, {"id": 3, "name": "dog"}],
        "annotations": [
            {"image_id": 0, "category_id": 7, "bbox": [10, 5, 20, 10]},
            {"image_id": 0, "category_id": 3, "bbox": [0, 0, 4, 4], "segmentation": [[0, 0, 40, 0, 0, 20]]},
        ],
    }
    (tmp_path / "annotations.json").write_text(json.dumps(stored))
    image, boxes, label, masks = read_coco(tmp_path, 2, 3, 20, True, 0)
    assert image.shape == (9, 3, 20, 20)
    assert label[0].tolist() == [1, 0]
    assert label[1].tolist() == [-1, -1]
    np.testing.assert_allclose(boxes[0, 0], [5, 5, 15, 15])
    assert masks[0, 0].sum() == 100
    assert abs(masks[0, 1].sum() - 200) <= 20  # half of the picture
    with pytest.raises(ValueError, match="has 2 classes, but the network was made for 5"):
        read_coco(tmp_path, 5, 3, 20, True, 0)
    (tmp_path / "annotations.json").write_text("{}")
    with pytest.raises(ValueError, match="lacks 'images'"):
        TASKS["detection"].options(str(tmp_path))


def test_the_best_proposals_remain_in_both_modes():
    rng = np.random.default_rng(3)
    boxes = random_boxes(rng, 1, 30)
    kept = []
    for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
        with ms.context.local_context(mode=mode):
            kept.append(bx.suppress(Tensor(boxes), 0.3).asnumpy()[0] > 0)
    wanted = [all(one_overlap(boxes[0, j], boxes[0, i]) <= 0.3 for j in range(i)) for i in range(30)]
    assert kept[0].tolist() == kept[1].tolist() == wanted


@pytest.mark.parametrize("name", ["yolov3", "yolov5s"])
def test_every_class_counts_in_the_loss_of_yolo_with_anchors(name):
    net = model_zoo.create(name, tiny=True, num_classes=4)
    channels, size, _ = net.takes[0].shape
    boxes, label = Tensor([[[8.0, 8.0, 30.0, 30.0]]], ms.float32), Tensor([[2]], ms.int32)
    image = ops.zeros((1, channels, size, size), ms.float32)
    found = np.zeros(net(image).shape, np.float32)

    def loss(scores):
        net.construct = lambda _: Tensor(np.concatenate((found[..., :5], np.broadcast_to(scores, found[..., 5:].shape)), -1))
        return float(net.loss(image, boxes, label))

    scores = np.array([0.5, -1.0, 2.0, 0.0], np.float32)
    wanted = np.log1p(np.exp(scores)).sum() - scores[2] - 4 * np.log(2)  # summed over the classes, as the third version's paper does
    np.testing.assert_allclose(loss(scores) - loss(np.zeros(4, np.float32)), wanted, rtol=1e-4)


def test_features_of_boxes_come_from_the_map_of_their_size():
    rng = np.random.default_rng(0)
    maps = [Tensor(rng.standard_normal((2, 3, 64 // stride, 64 // stride)).astype(np.float32)) for stride in rcnn.STRIDES]
    boxes = np.array([[0, 0, 9, 10], [-3, 5, 20, 25], [10, 12, 44, 40], [0, 0, 64, 64], [30, 30, 90, 80], [5, 5, 5, 5]], np.float32)
    boxes = np.stack((boxes, boxes[::-1] + 1))
    align = rcnn.Align(4, 14.0)
    levels = align.level(Tensor(boxes.reshape(-1, 4))).asnumpy()
    found = align(maps, Tensor(boxes)).asnumpy()
    assert set(levels) == {0, 1, 2, 3}
    for i, (level, box) in enumerate(zip(levels, boxes.reshape(-1, 4))):
        cut = ops.ROIAlign(4, 4, 1 / rcnn.STRIDES[level], 2, 0)
        wanted = cut(maps[level], Tensor(np.concatenate(([i // 6], box)).astype(np.float32)[None])).asnumpy()[0]
        np.testing.assert_allclose(found[i], wanted, rtol=1e-5, atol=1e-6)
