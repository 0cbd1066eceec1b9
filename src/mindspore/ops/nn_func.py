"""The neural-network functions of `mindspore.ops`, by subject."""

from mindspore.ops.nn_activation import *  # noqa: F403
from mindspore.ops.nn_activation import __all__ as _activation
from mindspore.ops.nn_attention import *  # noqa: F403
from mindspore.ops.nn_attention import __all__ as _attention
from mindspore.ops.nn_cache import *  # noqa: F403
from mindspore.ops.nn_cache import __all__ as _cache
from mindspore.ops.nn_conv import *  # noqa: F403
from mindspore.ops.nn_conv import __all__ as _conv
from mindspore.ops.nn_deformable import *  # noqa: F403
from mindspore.ops.nn_deformable import __all__ as _deformable
from mindspore.ops.nn_dropout import *  # noqa: F403
from mindspore.ops.nn_dropout import __all__ as _dropout
from mindspore.ops.nn_embedding import *  # noqa: F403
from mindspore.ops.nn_embedding import __all__ as _embedding
from mindspore.ops.nn_experts import *  # noqa: F403
from mindspore.ops.nn_experts import __all__ as _experts
from mindspore.ops.nn_fractional import *  # noqa: F403
from mindspore.ops.nn_fractional import __all__ as _fractional
from mindspore.ops.nn_image import *  # noqa: F403
from mindspore.ops.nn_image import __all__ as _image
from mindspore.ops.nn_loss import *  # noqa: F403
from mindspore.ops.nn_loss import __all__ as _loss
from mindspore.ops.nn_norm import *  # noqa: F403
from mindspore.ops.nn_norm import __all__ as _norm
from mindspore.ops.nn_pooling import *  # noqa: F403
from mindspore.ops.nn_pooling import __all__ as _pooling
from mindspore.ops.nn_rotated import *  # noqa: F403
from mindspore.ops.nn_rotated import __all__ as _rotated
from mindspore.ops.nn_sparse_attention import *  # noqa: F403
from mindspore.ops.nn_sparse_attention import __all__ as _sparse_attention

__all__ = [  # noqa: PLE0604 - lists of names
    *_activation, *_attention, *_cache, *_conv, *_deformable, *_dropout,
    *_embedding, *_experts, *_fractional, *_image, *_loss, *_norm, *_pooling,
    *_rotated, *_sparse_attention,
]  # fmt: skip
