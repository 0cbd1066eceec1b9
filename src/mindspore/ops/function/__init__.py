"""The functions of `mindspore.ops`, by subject."""

from mindspore.ops.function.comparison import *  # noqa: F403
from mindspore.ops.function.creation import *  # noqa: F403
from mindspore.ops.function.detection import *  # noqa: F403
from mindspore.ops.function.elementwise import *  # noqa: F403
from mindspore.ops.function.fft import *  # noqa: F403
from mindspore.ops.function.gather_scatter import *  # noqa: F403
from mindspore.ops.function.joining import *  # noqa: F403
from mindspore.ops.function.joining import slice_ as slice  # noqa: F401
from mindspore.ops.function.linalg import *  # noqa: F403
from mindspore.ops.function.other import *  # noqa: F403
from mindspore.ops.function.product import *  # noqa: F403
from mindspore.ops.function.random import *  # noqa: F403
from mindspore.ops.function.reduce import *  # noqa: F403
from mindspore.ops.function.shape import *  # noqa: F403
from mindspore.ops.function.sorting import *  # noqa: F403
from mindspore.ops.function.special import *  # noqa: F403
from mindspore.ops.paths import find as __getattr__  # noqa: F401 - what `mindspore.ops` has beyond these
