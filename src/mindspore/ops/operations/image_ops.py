"""Classes of operations on boxes and regions of images."""

from __future__ import annotations

from mindspore.ops import functional as F
from mindspore.ops.composition import REQUIRED, composition, plain

IOU = composition("IOU", lambda self, anchors, truth: F.iou(anchors, truth, self.mode), "Overlaps.", mode="iou")
BoundingBoxEncode = composition(
    "BoundingBoxEncode", lambda self, anchors, truth: F.bounding_box_encode(anchors, truth, self.means, self.stds),
    "Offsets from anchors to boxes.", means=(0.0, 0.0, 0.0, 0.0), stds=(1.0, 1.0, 1.0, 1.0),
)  # fmt: skip
BoundingBoxDecode = composition(
    "BoundingBoxDecode",
    lambda self, anchors, deltas: F.bounding_box_decode(
        anchors, deltas, self.max_shape, self.means, self.stds, self.wh_ratio_clip
    ),
    "Boxes from offsets.", max_shape=REQUIRED, means=(0.0, 0.0, 0.0, 0.0), stds=(1.0, 1.0, 1.0, 1.0),
    wh_ratio_clip=0.016,
)  # fmt: skip
CheckValid = plain("CheckValid", F.check_valid)
NMSWithMask = composition(
    "NMSWithMask", lambda self, boxes: F.nms_with_mask(boxes, self.iou_threshold), "Non-maximum suppression.",
    iou_threshold=0.5,
)  # fmt: skip
ROIAlign = composition(
    "ROIAlign",
    lambda self, features, rois: F.roi_align(
        features, rois, self.pooled_height, self.pooled_width, self.spatial_scale, self.sample_num, self.roi_end_mode
    ),
    "Features of regions as grids.", pooled_height=REQUIRED, pooled_width=REQUIRED, spatial_scale=REQUIRED,
    sample_num=2, roi_end_mode=1,
)  # fmt: skip
CropAndResize = composition(
    "CropAndResize",
    lambda self, image, boxes, indices, size: F.crop_and_resize(
        image, boxes, indices, size, self.method, self.extrapolation_value
    ),
    "Boxes of images, resized.", method="bilinear", extrapolation_value=0.0,
)  # fmt: skip

__all__ = [
    "BoundingBoxDecode", "BoundingBoxEncode", "CheckValid", "CropAndResize", "IOU", "NMSWithMask", "ROIAlign",
]  # fmt: skip
