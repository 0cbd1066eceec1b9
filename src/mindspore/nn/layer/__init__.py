"""Layers, by subject."""

from mindspore.nn.containers import *  # noqa: F403
from mindspore.nn.layer.activation import *  # noqa: F403
from mindspore.nn.layer.basic import *  # noqa: F403
from mindspore.nn.layer.channel_shuffle import *  # noqa: F403
from mindspore.nn.layer.combined import *  # noqa: F403
from mindspore.nn.layer.conv import *  # noqa: F403
from mindspore.nn.layer.dropout import *  # noqa: F403
from mindspore.nn.layer.embedding import *  # noqa: F403
from mindspore.nn.layer.image import *  # noqa: F403
from mindspore.nn.layer.math import *  # noqa: F403
from mindspore.nn.layer.normalization import *  # noqa: F403
from mindspore.nn.layer.padding import *  # noqa: F403
from mindspore.nn.layer.pooling import *  # noqa: F403
from mindspore.nn.layer.quant import *  # noqa: F403
from mindspore.nn.layer.rnn_cells import *  # noqa: F403
from mindspore.nn.layer.rnns import *  # noqa: F403
from mindspore.nn.layer.sparse import *  # noqa: F403
from mindspore.nn.layer.thor_layer import *  # noqa: F403
from mindspore.nn.layer.timedistributed import *  # noqa: F403
from mindspore.nn.layer.transformer import *  # noqa: F403

__all__ = [name for name in globals() if name[0].isupper() or name == "get_activation"]
