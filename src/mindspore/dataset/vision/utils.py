"""The choices and helper functions of `mindspore.dataset.vision` under the module path that scripts also use."""

from .enums import *  # noqa: F403
from .image_io import *  # noqa: F403
from .image_transform import parse_padding as parse_padding
from .video import VideoDecoder as VideoDecoder
from .video import read_video as read_video
from .video import read_video_timestamps as read_video_timestamps
