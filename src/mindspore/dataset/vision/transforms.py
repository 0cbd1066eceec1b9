"""The names of `mindspore.dataset.vision` under the module path that scripts also use."""

from ..transforms.transform import Implementation as Implementation
from ..transforms.transform import not_random as not_random
from .auto_augment import *  # noqa: F403
from .bbox import *  # noqa: F403
from .colour import *  # noqa: F403
from .crop import *  # noqa: F403
from .decode import *  # noqa: F403
from .erase import *  # noqa: F403
from .flip import *  # noqa: F403
from .image_transform import ImageTransform
from .layout import *  # noqa: F403
from .mixing import *  # noqa: F403
from .random_colour import *  # noqa: F403
from .resize import *  # noqa: F403
from .video import DecodeVideo as DecodeVideo
from .warp import *  # noqa: F403

ImageTensorOperation = ImageTransform
