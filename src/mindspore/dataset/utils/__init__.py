"""Helpers around data sets: reading single lines of large files, drawing boxes on images."""

from mindspore.dataset.utils.browse_dataset import imshow_det_bbox
from mindspore.dataset.utils.line_reader import LineReader

__all__ = ["LineReader", "imshow_det_bbox"]
