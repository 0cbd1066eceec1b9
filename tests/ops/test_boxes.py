"""Suppression of boxes that overlap."""

from __future__ import annotations

import numpy as np

from mindspore import Tensor, ops


def test_suppression():
    boxes = np.array([[0, 0, 2, 2], [0, 0, 2, 1.9], [3, 3, 5, 5], [0, 0, 1, 1]], np.float32)
    scores = np.array([0.6, 0.9, 0.5, 0.1], np.float32)
    kept = ops.NonMaxSuppressionV3()(Tensor(boxes), Tensor(scores), Tensor(3), Tensor(0.5), Tensor(0.2))
    assert kept.asnumpy().tolist() == [1, 2]
    table = Tensor(np.array([[1, 0.9, 0.1], [0.9, 1, 0.1], [0.1, 0.1, 1]], np.float32))
    kept = ops.NonMaxSuppressionWithOverlaps()(table, Tensor([0.1, 0.2, 0.3]), Tensor(3), Tensor(0.5), Tensor(0.0))
    assert kept.asnumpy().tolist() == [2, 1]


def test_suppression_of_several_classes():
    boxes = Tensor(
        np.array([[0.5, 0.25, 0.6, 0.4], [0.5, 0.25, 0.6, 0.41], [0.1, 0.1, 0.2, 1.5]], np.float32)[None, :, None]
    )
    scores = Tensor(np.array([[[0.9, 0.1], [0.8, 0.7], [0.3, 0.6]]], np.float32))
    out = ops.CombinedNonMaxSuppression()(boxes, scores, Tensor(2), Tensor(4), Tensor(0.5), Tensor(0.2))
    kept, points, classes, valid = (o.asnumpy() for o in out)
    assert valid.tolist() == [4] and classes.tolist() == [[0, 1, 1, 0]]
    np.testing.assert_allclose(points, [[0.9, 0.7, 0.6, 0.3]])
    np.testing.assert_allclose(kept[0, 2], [0.1, 0.1, 0.2, 1.0])  # cut off at the image's edge
