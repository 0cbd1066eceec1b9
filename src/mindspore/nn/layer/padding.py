"""Padding layers: (left, right, top, bottom, front, back) around the last dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindspore import ops
from mindspore.nn.cell import Cell

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor

__all__ = [
    "ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d",
    "ReplicationPad1d", "ReplicationPad2d", "ReplicationPad3d", "ZeroPad2d",
]  # fmt: skip


class _PadNd(Cell):
    """Padding of the last `dims` dimensions."""

    dims = 1
    mode = "constant"

    def __init__(self, padding: Any, value: Any = None):
        super().__init__()
        owner = type(self).__name__
        if isinstance(padding, int) and not isinstance(padding, bool):
            padding = (padding,) * (2 * self.dims)
        if not isinstance(padding, tuple) or any(isinstance(p, bool) or not isinstance(p, int) for p in padding):
            raise TypeError(f"For '{owner}', 'padding' must be an int or a tuple of ints, but got {padding!r}.")
        if len(padding) % 2 or len(padding) > 2 * self.dims or not padding:
            raise ValueError(
                f"For '{owner}', 'padding' must have up to {2 * self.dims} ints in pairs, but got {padding}."
            )
        if self.mode != "constant" and (len(padding) != 2 * self.dims or any(p < 0 for p in padding)):
            raise ValueError(f"For '{owner}', 'padding' must be {2 * self.dims} ints of 0 or more, but got {padding}.")
        self.padding, self.value = padding, value

    def construct(self, x: Tensor) -> Any:
        if self.mode == "constant":
            return ops.pad(x, self.padding, "constant", self.value)
        return ops.pad(x, self.padding, self.mode)

    def extend_repr(self) -> str:
        return f"padding={self.padding}" + (f", value={self.value}" if self.mode == "constant" else "")


class _ConstantPad(_PadNd):
    def __init__(self, padding: Any, value: Any):
        super().__init__(padding, value)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise TypeError(f"For '{type(self).__name__}', 'value' must be a number, but got {value!r}.")


class ConstantPad1d(_ConstantPad):
    """A constant around the last dimension.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.ConstantPad1d(1, 0.5)(Tensor(np.ones((1, 2, 6), np.float32))).shape
        (1, 2, 8)
    """


class ConstantPad2d(_ConstantPad):
    """A constant around the last two dimensions.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.ConstantPad2d(1, 0.5)(Tensor(np.ones((1, 2, 6, 6), np.float32))).shape
        (1, 2, 8, 8)
    """

    dims = 2


class ConstantPad3d(_ConstantPad):
    """A constant around the last three dimensions.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.ConstantPad3d(1, 0.5)(Tensor(np.ones((1, 2, 4, 4, 4), np.float32))).shape
        (1, 2, 6, 6, 6)
    """

    dims = 3


class ZeroPad2d(_PadNd):
    """Zeros around the last two dimensions.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.ZeroPad2d(1)(Tensor(np.ones((1, 2, 6, 6), np.float32))).shape
        (1, 2, 8, 8)
    """

    dims = 2

    def __init__(self, padding: Any):
        super().__init__(padding, 0)


class _Reflection(_PadNd):
    mode = "reflect"

    def __init__(self, padding: Any):
        super().__init__(padding)


class ReflectionPad1d(_Reflection):
    """The last dimension mirrored at its ends, the border element left out.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.ReflectionPad1d(1)(Tensor(np.ones((1, 2, 6), np.float32))).shape
        (1, 2, 8)
    """


class ReflectionPad2d(_Reflection):
    """The last two dimensions mirrored at their ends.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.ReflectionPad2d(1)(Tensor(np.ones((1, 2, 6, 6), np.float32))).shape
        (1, 2, 8, 8)
    """

    dims = 2


class ReflectionPad3d(_Reflection):
    """The last three dimensions mirrored at their ends.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.ReflectionPad3d(1)(Tensor(np.ones((1, 2, 4, 4, 4), np.float32))).shape
        (1, 2, 6, 6, 6)
    """

    dims = 3


class _Replication(_PadNd):
    mode = "replicate"

    def __init__(self, padding: Any):
        super().__init__(padding)


class ReplicationPad1d(_Replication):
    """The border elements of the last dimension repeated.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.ReplicationPad1d(1)(Tensor(np.ones((1, 2, 6), np.float32))).shape
        (1, 2, 8)
    """


class ReplicationPad2d(_Replication):
    """The border elements of the last two dimensions repeated.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.ReplicationPad2d(1)(Tensor(np.ones((1, 2, 6, 6), np.float32))).shape
        (1, 2, 8, 8)
    """

    dims = 2


class ReplicationPad3d(_Replication):
    """The border elements of the last three dimensions repeated.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.ReplicationPad3d(1)(Tensor(np.ones((1, 2, 4, 4, 4), np.float32))).shape
        (1, 2, 6, 6, 6)
    """

    dims = 3
