"""Video frames, decoded by OpenCV. Sound is not decoded: where a sound track belongs, an empty array stands."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from ..transforms.checks import check_type
from ..transforms.transform import Transform
from .functional.geometry import opencv

_UNITS = ("pts", "sec")


@contextlib.contextmanager
def _capture(path: str) -> Iterator[Any]:
    cv2 = opencv()
    capture = cv2.VideoCapture(path)
    try:
        if not capture.isOpened():
            raise RuntimeError(f"Failed to open the file {path}: it is not a video that can be decoded.")
        yield capture
    finally:
        capture.release()


def _frames(capture: Any) -> Iterator[np.ndarray]:
    cv2 = opencv()
    while True:
        found, frame = capture.read()
        if not found:
            return
        yield cv2.cvtColor(frame, cv2.COLOR_BGR2RGB)


def _check_unit(unit: Any) -> None:
    if not isinstance(unit, str):
        raise TypeError(f"Input pts_unit is not of type {str}, but got: {type(unit)}.")
    if unit not in _UNITS:
        raise ValueError(f"Not supported pts_unit for {unit}")


def _check_file(filename: Any) -> None:
    if not isinstance(filename, str):
        raise TypeError(f"Input filename is not of type {str}, but got: {type(filename)}.")
    if not os.path.exists(filename):
        raise ValueError(f"Invalid file path, {filename} does not exist.")
    if not os.path.isfile(filename):
        raise ValueError(f"Invalid file path, {filename} is not a regular file.")


def _no_sound() -> np.ndarray:
    return np.empty((1, 0), np.float32)


def read_video(
    filename: str, start_pts: Any = 0, end_pts: Any = None, pts_unit: str = "pts"
) -> tuple[np.ndarray, np.ndarray, dict[str, float]]:
    """The frames (T, H, W, C) from one time stamp to another, the sound (none), and the frame rate.

    With `pts_unit` "pts" time stamps count frames, with "sec" seconds.
    """
    numbers = (float, Fraction, int)
    for name, value in (("start_pts", start_pts), ("end_pts", 0 if end_pts is None else end_pts)):
        if not isinstance(value, numbers):
            raise TypeError(f"Input {name} is not of type {list(numbers)}, but got: {type(value)}")
    if start_pts < 0:
        raise ValueError(f"Not supported start_pts for {start_pts}. The start_pts should be >= 0.")
    if end_pts is not None and end_pts < start_pts:
        raise ValueError(
            f"Not supported end_pts for {end_pts}. start_pts = {start_pts}. The end_pts should be >= start_pts."
        )
    _check_unit(pts_unit)
    _check_file(filename)
    with _capture(filename) as capture:
        fps = capture.get(opencv().CAP_PROP_FPS)
        scale = fps if pts_unit == "sec" else 1.0
        first, last = start_pts * scale, float("inf") if end_pts is None else end_pts * scale
        kept = []
        for i, frame in enumerate(_frames(capture)):
            if i > last:
                break
            if i >= first:
                kept.append(frame)
    video = np.stack(kept) if kept else np.empty((0, 1, 1, 3), np.uint8)
    return video, _no_sound(), {"video_fps": fps}


def read_video_timestamps(filename: str, pts_unit: str = "pts") -> tuple[list, float | None]:
    """The time stamps of the frames, in frames or in seconds, and the frame rate."""
    try:
        _check_unit(pts_unit)
        _check_file(filename)
    except ValueError as error:
        raise RuntimeError(str(error)) from None
    with _capture(filename) as capture:
        fps = capture.get(opencv().CAP_PROP_FPS)
        count = sum(1 for _ in _frames(capture))
    if not count:
        return [], None
    return [i / fps for i in range(count)] if pts_unit == "sec" else list(range(count)), fps


class DecodeVideo(Transform):
    """The bytes of a video file as its frames (T, H, W, C) and its sound (none)."""

    releases_gil = True

    def __init__(self) -> None:
        super().__init__()

    def apply(self, column: Any) -> tuple[np.ndarray, np.ndarray]:
        data = _video_bytes(column)
        handle, path = tempfile.mkstemp(suffix=".video")  # OpenCV decodes files only
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data.tobytes())
            with _capture(path) as capture:
                frames = list(_frames(capture))
        except RuntimeError as error:
            raise RuntimeError("DecodeVideo: the data is not a video that can be decoded.") from error
        finally:
            os.unlink(path)
        if not frames:
            raise RuntimeError("DecodeVideo: the video has no frame that can be decoded.")
        return np.stack(frames), _no_sound()


def _video_bytes(column: Any) -> np.ndarray:
    if not isinstance(column, np.ndarray):
        raise TypeError(f"Input should be ndarray, got {type(column)}.")
    if column.ndim != 1:
        raise RuntimeError(f"DecodeVideo: invalid input shape, only support 1D input, got rank: {column.ndim}")
    if not column.size:
        raise RuntimeError("DecodeVideo: Input Tensor has no data.")
    if column.dtype != np.uint8:
        raise RuntimeError(
            f"DecodeVideo: The type of the elements of input data should be UINT8, but got {column.dtype}."
        )
    return column


class VideoDecoder:
    """Frames of a video file by index."""

    def __init__(self, source: str):
        check_type(source, (str,), "source")
        _check_file(source)
        self.source = source
        self._metadata = self._read_metadata()

    def _read_metadata(self) -> dict[str, Any]:
        cv2 = opencv()
        with _capture(self.source) as capture:
            fps, count = capture.get(cv2.CAP_PROP_FPS), int(capture.get(cv2.CAP_PROP_FRAME_COUNT))
            width, height = int(capture.get(cv2.CAP_PROP_FRAME_WIDTH)), int(capture.get(cv2.CAP_PROP_FRAME_HEIGHT))
            code = int(capture.get(cv2.CAP_PROP_FOURCC)).to_bytes(4, "little", signed=False)
        return {
            "codec": code.decode("ascii", "replace").strip("\x00 "),
            "width": width,
            "height": height,
            "num_frames": count,
            "average_fps": fps,
            "duration_seconds": count / fps if fps else 0.0,
        }

    @property
    def metadata(self) -> dict[str, Any]:
        """Codec, size, number of frames, frame rate and duration."""
        return dict(self._metadata)

    def get_frames_at(self, indices: list[int]) -> np.ndarray:
        """The frames at the given positions, as (T, H, W, C)."""
        check_type(indices, (list,), "indices")
        total = self._metadata["num_frames"]
        for i, index in enumerate(indices):
            check_type(index, (int,), f"indices[{i}]")
            if not 0 <= index < total:
                raise ValueError(f"Invalid frame index {index}, it should be in the range [0, {total}).")
        if not indices:
            return np.empty(0, np.uint8)
        wanted, found = set(indices), {}
        with _capture(self.source) as capture:
            for i, frame in enumerate(_frames(capture)):
                if i in wanted:
                    found[i] = frame
                if i == max(wanted):
                    break
        missing = wanted - found.keys()
        if missing:
            raise RuntimeError(f"{self.source}: frame {min(missing)} cannot be decoded.")
        return np.stack([found[i] for i in indices])


__all__ = ["DecodeVideo", "VideoDecoder", "read_video", "read_video_timestamps"]
