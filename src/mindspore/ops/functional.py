"""Every function of `mindspore.ops`, gathered from the modules that hold them by subject.

The usual name in programs is `F`: `from mindspore.ops import functional as F`.
"""

# ruff: noqa: F401, F403 - names are re-exported

from mindspore.ops.activation import *
from mindspore.ops.attention import *
from mindspore.ops.comparison import *
from mindspore.ops.conv import *
from mindspore.ops.creation import *
from mindspore.ops.ctc import *
from mindspore.ops.deformable import *
from mindspore.ops.detection import *
from mindspore.ops.dropouts import *
from mindspore.ops.elementwise import *
from mindspore.ops.embeddings import *
from mindspore.ops.experts import *
from mindspore.ops.fourier import *
from mindspore.ops.fractional_pooling import *
from mindspore.ops.gather_scatter import *
from mindspore.ops.image import *
from mindspore.ops.joining import *
from mindspore.ops.joining import slice_ as slice
from mindspore.ops.kv_cache import *
from mindspore.ops.linalg import *
from mindspore.ops.loss import *
from mindspore.ops.normalization import *
from mindspore.ops.norms import *
from mindspore.ops.pooling import *
from mindspore.ops.product import *
from mindspore.ops.python_values import *
from mindspore.ops.random import *
from mindspore.ops.reduction import *
from mindspore.ops.reshaping import *
from mindspore.ops.rotated_boxes import *
from mindspore.ops.sorting import *
from mindspore.ops.sparse_attention import *
from mindspore.ops.special import *
