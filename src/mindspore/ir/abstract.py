"""Abstract values: what is known of a node before anything runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindspore._base.dtype import DType
from mindspore._base.keys import exact


class Abstract:
    """Base of abstract values. Immutable, compared by content."""

    __slots__ = ()

    if TYPE_CHECKING:  # dtype, shape, elements: each kind has its own

        def __getattr__(self, name: str) -> Any: ...

    def _key(self) -> tuple:
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._key()))

    def __repr__(self) -> str:
        return str(self)


class AbstractTensor(Abstract):
    """A tensor of known element type and shape."""

    __slots__ = ("dtype", "shape")

    def __init__(self, dtype: DType, shape: tuple[int, ...]):
        self.dtype = dtype
        self.shape = shape

    def _key(self) -> tuple:
        return (self.dtype.name, self.shape)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        n = 1
        for d in self.shape:
            n *= d
        return n

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    def __str__(self) -> str:
        return f"<Tensor[{self.dtype}], ({', '.join(map(str, self.shape))})>"


class AbstractScalar(Abstract):
    """A Python number whose value is only known at run time."""

    __slots__ = ("dtype",)
    shape: tuple[int, ...] = ()
    ndim = 0
    size = 1

    def __init__(self, dtype: DType):
        self.dtype = dtype

    @property
    def nbytes(self) -> int:
        return self.dtype.itemsize

    def _key(self) -> tuple:
        return (self.dtype.name,)

    def __str__(self) -> str:
        return f"<{self.dtype}, NoShape>"


class AbstractTuple(Abstract):
    """Several values: the outputs of one node."""

    __slots__ = ("elements",)

    def __init__(self, elements: tuple[Abstract, ...]):
        self.elements = tuple(elements)

    def _key(self) -> tuple:
        return self.elements

    def __str__(self) -> str:
        return "<Tuple[" + ", ".join(map(str, self.elements)) + "]>"


class AbstractNone(Abstract):
    __slots__ = ()

    def _key(self) -> tuple:
        return ()

    def __str__(self) -> str:
        return "<NoneType>"


class AbstractFunction(Abstract):
    """A graph used as a value."""

    __slots__ = ("graph",)

    def __init__(self, graph: Any):
        self.graph = graph

    def _key(self) -> tuple:
        return (id(self.graph),)

    def __str__(self) -> str:
        return f"<Func, @{self.graph.name}>"


class AbstractOther(Abstract):
    """A compile-time constant: a Python number, string, tuple, dtype, module, class … Its value lives in the node."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value

    def _key(self) -> tuple:
        return (exact(self.value),)

    def __str__(self) -> str:
        return f"<{type(self.value).__name__}, {self.value!r}>"
