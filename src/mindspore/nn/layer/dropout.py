"""Dropout of elements (Srivastava et al. 2014) and of whole channels (Tompson et al. 2015)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.nn import checks
from mindspore.nn.cell import Cell
from mindspore.prims.setting_types import setting_types

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor

__all__ = ["Dropout", "Dropout1d", "Dropout2d", "Dropout2dExt", "Dropout3d", "DropoutExt"]


class Dropout(Cell):
    """In training, set elements to 0 with probability `p` and scale the others by 1 / (1 - p).

    `keep_prob` is the older way to say 1 - p.

    Examples:
        >>> import mindspore as ms, numpy as np
        >>> ms.nn.Dropout(p=0.5)(ms.Tensor(np.ones(3, np.float32))).asnumpy().tolist()
        [1.0, 1.0, 1.0]
    """

    def __init__(self, keep_prob: float = 0.5, p: float | None = None, dtype: Any = mstype.float32):
        super().__init__()
        if p is None:
            if isinstance(keep_prob, bool) or not isinstance(keep_prob, float):
                raise TypeError(
                    f"For 'Dropout', the type of 'keep_prob' should be 'float', but got type "
                    f"'{type(keep_prob).__name__}'."
                )
            if not 0 < keep_prob <= 1:
                raise ValueError(f"For 'Dropout', 'keep_prob' must be in range (0, 1], but got {keep_prob}.")
        else:
            checks.fraction("Dropout", "p", p, high=False)
        self.p = p
        self.keep_prob = keep_prob if p is None else 1 - p
        self.dropout = ops.Dropout(self.keep_prob)

    def construct(self, x: Tensor) -> Any:
        if not self.training or self.keep_prob == 1:
            return x
        return self.dropout(x)[0]

    def extend_repr(self) -> str:
        return f"keep_prob={self.keep_prob}" if self.p is None else f"p={self.p}"


class DropoutExt(Cell):
    """Dropout with probability `p`, as in `mint`.

    Examples:
        >>> from mindspore import Tensor, mint
        >>> mint.nn.Dropout(0.5).set_train(False)(Tensor([1.0])).tolist()
        [1.0]
    """

    def __init__(self, p: float = 0.5, inplace: bool = False):
        super().__init__()
        self.p, self.inplace = p, inplace

    def construct(self, input: Tensor) -> Any:
        return ops.dropout(input, self.p, self.training)


class _ChannelDropout(Cell):
    @setting_types(p=float)
    def __init__(self, p: float = 0.5):
        super().__init__()
        self.p = checks.fraction(type(self).__name__, "p", p)

    def extend_repr(self) -> str:
        return f"p={self.p}"


class Dropout1d(_ChannelDropout):
    """Dropout of whole channels of (N, C, L).

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.Dropout1d(p=0.5)(Tensor(np.ones((1, 2, 6), np.float32))).shape
        (1, 2, 6)
    """

    def construct(self, x: Tensor) -> Any:
        return ops.dropout1d(x, self.p, self.training)


class Dropout2d(_ChannelDropout):
    """Dropout of whole channels of (N, C, H, W).

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.Dropout2d(p=0.5)(Tensor(np.ones((1, 2, 6, 6), np.float32))).shape
        (1, 2, 6, 6)
    """

    def construct(self, x: Tensor) -> Any:
        return ops.dropout2d(x, self.p, self.training)


class Dropout2dExt(_ChannelDropout):
    """Dropout of whole channels, as in `mint`.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.Dropout2dExt(p=0.5)(Tensor(np.ones((1, 2, 6, 6), np.float32))).shape
        (1, 2, 6, 6)
    """

    def __init__(self, p: float = 0.5, inplace: bool = False):
        super().__init__(p)
        self.inplace = inplace

    def construct(self, input: Tensor) -> Any:
        return ops.dropout2d(input, self.p, self.training)


class Dropout3d(_ChannelDropout):
    """Dropout of whole channels of (N, C, D, H, W).

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.Dropout3d(p=0.5)(Tensor(np.ones((1, 2, 4, 4, 4), np.float32))).shape
        (1, 2, 4, 4, 4)
    """

    def construct(self, x: Tensor) -> Any:
        return ops.dropout3d(x, self.p, self.training)
