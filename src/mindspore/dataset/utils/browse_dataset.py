"""`imshow_det_bbox`: an image with its boxes, labels and masks drawn on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore._base.optional import require
from mindspore.dataset._check import check_type


def imshow_det_bbox(
    image: np.ndarray,
    bboxes: np.ndarray,
    labels: np.ndarray,
    segm: np.ndarray | None = None,
    class_names: Sequence[str] | None = None,
    score_threshold: float = 0,
    bbox_color: tuple[int, int, int] = (0, 255, 0),
    text_color: tuple[int, int, int] = (203, 192, 255),
    mask_color: tuple[int, int, int] | Any = (128, 0, 128),
    thickness: int = 2,
    font_size: float = 0.8,
    show: bool = True,
    win_name: str = "win",
    wait_time: int = 2000,
    out_file: str | None = None,
) -> np.ndarray:
    """Draw boxes (x, y, width, height[, score]) and their labels on a copy of `image`; show or save it.

    `image` is (H, W, C) or (C, H, W) in BGR order; `segm` holds a mask (H, W) for each box.
    """
    cv2 = require("cv2", "data", "drawing boxes")
    _check_arguments(image, bboxes, labels, segm, class_names, score_threshold)
    picture = np.ascontiguousarray(_channels_last(image)).copy()
    if bboxes.shape[1] == 5 and score_threshold > 0:
        kept = bboxes[:, 4] > score_threshold
        bboxes, labels = bboxes[kept], labels[kept]
        segm = None if segm is None else segm[kept]
    for i, (box, label) in enumerate(zip(bboxes, labels)):
        if segm is not None:
            picture[segm[i].astype(bool)] = picture[segm[i].astype(bool)] * 0.5 + np.array(mask_color) * 0.5
        x, y, width, height = (int(value) for value in box[:4])
        cv2.rectangle(picture, (x, y), (x + width, y + height), bbox_color, thickness)
        text = class_names[int(label)] if class_names is not None else f"class {int(label)}"
        if len(box) == 5:
            text += f"|{box[4]:.2f}"
        cv2.putText(picture, text, (x, max(y - 2, 0)), cv2.FONT_HERSHEY_SIMPLEX, font_size, text_color, 1)
    if out_file is not None and not cv2.imwrite(out_file, picture):
        raise RuntimeError(f"The image cannot be written to {out_file}.")
    if show:
        cv2.imshow(win_name, picture)
        cv2.waitKey(wait_time)
    return picture


def _channels_last(image: np.ndarray) -> np.ndarray:
    return image.transpose(1, 2, 0) if image.shape[0] in (1, 3) and image.shape[-1] not in (1, 3) else image


def _check_arguments(image, bboxes, labels, segm, class_names, score_threshold) -> None:
    for value, name in ((image, "image"), (bboxes, "bboxes"), (labels, "labels")):
        check_type(value, np.ndarray, name)
    if image.ndim != 3 or not {image.shape[0], image.shape[-1]} & {1, 3}:
        raise ValueError("image must be of shape (H, W, C) or (C, H, W).")
    if bboxes.ndim != 2 or bboxes.shape[1] not in (4, 5):
        raise ValueError("bboxes must be of shape (n, 4) or (n, 5).")
    if labels.shape[0] != bboxes.shape[0]:
        raise ValueError("labels.shape[0] must be equal to bboxes.shape[0].")
    if segm is not None:
        check_type(segm, np.ndarray, "segm")
        if segm.ndim != 3:
            raise ValueError("segm must be of shape (M, H, W).")
    if class_names is not None:
        check_type(class_names, (list, tuple, dict), "class_names")
    check_type(score_threshold, (int, float), "score_threshold")
    if score_threshold < 0:
        raise ValueError("score_threshold must be greater than or equal to 0.")
