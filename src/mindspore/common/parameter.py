"""Parameter: a tensor with a name that layers own, optimizers update and checkpoints store."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.common.changes import note_change
from mindspore.common.tensor import Tensor, own_copy
from mindspore.common.unfilled import Unfilled, UnfilledTensor, postpone
from mindspore.prims import values, world
from mindspore.prims.active import ACTIVE
from mindspore.prims.inplace import value_of
from mindspore.prims.values import TensorBase
from mindspore.runtime import context as contexts
from mindspore.runtime import parallel_settings

_keys = itertools.count()
_default_names = itertools.count()


class ParamInfo:
    """What a Parameter carries besides data; user code reads it as `param.param_info`."""

    def __init__(self, name: str = "Parameter", requires_grad: bool = True):
        self.name = name
        self.unnamed = True  # until the user or a Cell gives it a name
        self.requires_grad = requires_grad
        self.layerwise_parallel = False
        self.parallel_optimizer = True
        self.parallel_optimizer_comm_recompute = False
        self.comm_fusion = 1
        self.cache_enable = False
        self.cache_shape: tuple = ()
        self.requires_aggr = True
        self.push_weight_to_server = False
        self.pull_weight_from_server = False
        self.is_param_ps = False
        self.init_in_server = False
        self.storage_format = ""
        self.key = next(_keys)
        self.obj: Any = None
        self.is_pipeline_shared_param = False
        self.follows: tuple[int, tuple[int, ...]] | None = None  # see `follow`
        self.strategy: Any = None  # how it is cut over devices, where a `parameter_plan` says so
        self.part: Any = None  # of a run of processes: how this one's part lies (runtime.sharded.Share), once a graph is cut

    def clone(self) -> ParamInfo:
        twin = ParamInfo()
        twin.__dict__.update(self.__dict__)
        twin.key = next(_keys)
        return twin

    def follow(self, weight: ParamInfo, dims: Iterable[int]) -> None:
        """Say that this is a state of `weight`, of which it has these dimensions: over devices both are cut alike."""
        self.follows = weight.key, tuple(dims)


class Parameter(Tensor):
    """A trainable (or merely stateful) tensor.

    Args:
        default_input: a Tensor (perhaps from `initializer`), NumPy array, number or list.
        name: set by the Cell that owns it when None.
        requires_grad: whether optimizers update it.

    Examples:
        >>> import mindspore as ms
        >>> w = ms.Parameter(ms.Tensor([1.0, 2.0]), name="w")
        >>> w.name, w.requires_grad
        ('w', True)
    """

    __slots__ = ()

    def __init__(
        self,
        default_input: Any,
        name: str | None = None,
        requires_grad: bool = True,
        layerwise_parallel: bool = False,
        parallel_optimizer: bool = True,
        storage_format: str = "",
        device: str | None = None,
    ):
        if isinstance(default_input, (bool, np.bool_)) or default_input is None or isinstance(default_input, str):
            raise TypeError(
                "The parameter input must be a Tensor, int, float, NumPy array or list, "
                f"but got {default_input!r} of type {type(default_input).__name__}."
            )
        if isinstance(default_input, UnfilledTensor) and default_input.has_init and type(self) is Parameter:
            self.__class__ = UnfilledParameter
            postpone(self, default_input.__dict__["_later"])
        else:
            super().__init__(default_input)
        if not isinstance(default_input, (TensorBase, np.ndarray)):
            self._data = np.array(self._data)
        self.param_info = ParamInfo(requires_grad=requires_grad)
        self.param_info.obj = self
        self.param_info.layerwise_parallel = layerwise_parallel
        self.param_info.parallel_optimizer = parallel_optimizer
        self.param_info.storage_format = storage_format
        self.name = name
        self.requires_grad = requires_grad
        self.is_init = True
        self.init_mode: Any = None  # what it was made from is not held: its memory would never be given back
        self.sliced = False
        self.unique = False
        self.init_finished = True
        self.is_in_parallel = False
        self.is_in_shard = False
        self.from_ckpt = False

    # -- identity -------------------------------------------------------------------------------------------------
    @property
    def name(self) -> str:
        """The name in checkpoints and optimizers."""
        return self.param_info.name

    @name.setter
    def name(self, value: str | None) -> None:
        unnamed = value is None
        if value is None:
            value = f"Parameter#{next(_default_names)}"
        if not isinstance(value, str):
            raise TypeError(f"The name of a Parameter must be a string or None, but got {value!r}.")
        value = value.strip()
        if not value or len(value) > 1024:
            raise ValueError(f"The length of a Parameter's name must be in 1..1024, but got {len(value)}.")
        self.param_info.name = value
        self.param_info.unnamed = unnamed

    @property
    def requires_grad(self) -> bool:
        return self.param_info.requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool = True) -> None:
        if not isinstance(value, (bool, np.bool_)):
            raise TypeError(f"'requires_grad' must be a bool, but got {value!r}.")
        if self.param_info.requires_grad is not bool(value):
            note_change()
        self.param_info.requires_grad = bool(value)

    # -- data -----------------------------------------------------------------------------------------------------
    @property
    def data(self) -> Parameter:
        """The parameter itself."""
        return self

    def value(self) -> Tensor:
        """The current value as a plain tensor."""
        if ACTIVE.builder is not None:
            return ACTIVE.builder.read(self)
        alias = values.from_array(self._data)
        if ACTIVE.tapes:
            alias._value = value_of(self)
        return alias

    def set_data(self, data: Any, slice_shape: bool = False) -> Parameter:
        """Replace the data, also by data of another shape; the element type stays."""
        if not isinstance(data, (TensorBase, int, float, np.ndarray, list)):
            raise TypeError(
                f"'data' of Parameter.set_data must be a Tensor or a number, but got {type(data).__name__}."
            )
        source = data if isinstance(data, TensorBase) else Tensor(data)
        if tuple(source.shape) != tuple(self.shape):
            note_change()  # graphs made for the old shape are of no use
        array = source._data
        if source.dtype is not self.dtype:
            if source.dtype.kind == "c" or (source.dtype.kind == "f" and self.dtype.kind in "bui"):
                raise TypeError(f"Parameter '{self.name}' is of {self.dtype} and cannot take data of {source.dtype}.")
            array = np.asarray(array).astype(self.dtype.np)
        self._data = array if array is not source._data else np.array(array)
        return self

    def register_hook(self, hook: Any) -> Any:
        """Call `hook(grad)` when the gradient of this Parameter is known; a returned value replaces it. It also works on
        gradients that graphs compute, but a graph cannot register hooks on Parameters itself.

        Examples:
            >>> w = ms.Parameter(Tensor([1.0, 2.0]), name="w")
            >>> handle = w.register_hook(lambda grad: 10 * grad)
            >>> print(ms.grad(lambda x: (x * w).sum(), None, w)(Tensor([3.0, 4.0])))
            [30. 40.]
        """
        if ACTIVE.builder is not None:
            raise ValueError("Register hook for Parameter inside graph is not supported. Register it before the call.")
        if not self.requires_grad:
            raise RuntimeError(
                f"The tensor requires grad is false, which can not register tensor hook: Parameter '{self.name}'."
            )
        note_change()
        return super().register_hook(hook)

    def set_dtype(self, dtype: Any) -> Parameter:
        self._data = np.asarray(self._data).astype(mstype.to_dtype(dtype).np)
        return self

    def init_data(self, layout: Any = None, set_sliced: bool = False) -> Parameter:  # type: ignore[override]
        """Draw the initial values, if that has not happened yet: within `nn.utils.no_init_parameters` it waits for the first use."""
        return self

    def clone(self, init: Any = "same") -> Parameter:
        """A new parameter of the same shape; `init` is 'same', a number, an initializer name or an initializer."""
        twin = type(self).__new__(type(self))
        twin._node = None
        if isinstance(init, str) and init == "same":
            twin._data = own_copy(self._data)
        else:
            from mindspore.common.initializer import initializer

            twin._data = initializer(init, shape=self.shape, dtype=self.dtype)._data
        twin.__dict__.update(self.__dict__)
        twin.param_info = self.param_info.clone()
        twin.param_info.obj = twin
        twin.param_info.follow(self.param_info, range(self.ndim))
        return twin

    def copy(self) -> Parameter:
        return self.clone()

    def asnumpy(self) -> np.ndarray:
        return super().asnumpy()

    # -- settings kept for parallel training and servers ------------------------------------------------------------
    def _info_property(name: str) -> Any:  # type: ignore[misc]
        def get(self: Parameter) -> Any:
            return getattr(self.param_info, name)

        def put(self: Parameter, value: Any) -> None:
            setattr(self.param_info, name, value)

        return property(get, put)

    layerwise_parallel = _info_property("layerwise_parallel")
    parallel_optimizer = _info_property("parallel_optimizer")
    parallel_optimizer_comm_recompute = _info_property("parallel_optimizer_comm_recompute")
    comm_fusion = _info_property("comm_fusion")
    cache_enable = _info_property("cache_enable")
    cache_shape = _info_property("cache_shape")
    requires_aggr = _info_property("requires_aggr")
    is_param_ps = _info_property("is_param_ps")
    push_weight_to_server = _info_property("push_weight_to_server")
    pull_weight_from_server = _info_property("pull_weight_from_server")
    key = _info_property("key")
    inited_param = property(lambda self: None)
    del _info_property

    def set_param_ps(self, init_in_server: bool = False) -> None:
        """Mark the Parameter for a parameter server, as scripts of older versions do.

        One process trains it itself, with the same result. Several would train a copy each: they must share gradients, or are refused.
        """
        parallel = contexts.current().section("parallel", parallel_settings.DEFAULTS)
        if world.transport().size > 1 and parallel["parallel_mode"] == "stand_alone":
            raise RuntimeError(
                f"set_param_ps: there is no parameter server that would keep '{self.name}' equal on {world.transport().size} processes. "
                'ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True) before this line does; tables of '
                "embedding vectors can be kept on servers: mindspore.parallel.ServedTable."
            )
        self.param_info.is_param_ps = True
        self.param_info.init_in_server = init_in_server

    def __repr__(self) -> str:
        return f"Parameter (name={self.name}, shape={tuple(self.shape)}, dtype={self.dtype}, requires_grad={self.requires_grad})"

    def __str__(self) -> str:
        return repr(self)

    __hash__ = Tensor.__hash__


class UnfilledParameter(Unfilled, Parameter):
    """A Parameter that was made within `no_init_parameters`, until its first use."""

    __slots__ = ()
    filled = Parameter


UnfilledParameter.__name__ = UnfilledParameter.__qualname__ = "Parameter"


def require_own_names(what: str, parameters: Iterable[Parameter]) -> None:
    """Refuse two Parameters of one name: in a checkpoint one of them would be lost."""
    named: dict[str, Parameter] = {}
    for parameter in parameters:
        if named.setdefault(parameter.name, parameter) is not parameter:
            raise ValueError(
                f"{what} has two Parameters called '{parameter.name}': its name '{parameter.name}' already exists. Give each a name "
                "of its own, or leave 'name' out: they are then called like the attributes."
            )


class ParameterTuple(tuple):
    """An immutable list of parameters with unique names.

    Examples:
        >>> import mindspore as ms
        >>> len(ms.ParameterTuple([ms.Parameter(1.0, name="a"), ms.Parameter(2.0, name="b")]))
        2
    """

    def __new__(cls, iterable: Iterable[Parameter]) -> ParameterTuple:
        if isinstance(iterable, Tensor):
            raise TypeError(f"ParameterTuple needs an iterable of Parameters, but got {iterable!r}.")
        data = tuple(iterable)
        for index, item in enumerate(data):
            if not isinstance(item, Parameter):
                raise TypeError(
                    f"ParameterTuple may hold Parameters only, but element {index} is {type(item).__name__}."
                )
        require_own_names("ParameterTuple", data)
        return super().__new__(cls, data)

    def clone(self, prefix: str, init: Any = "same") -> ParameterTuple:
        """Clone every parameter, with `prefix.` before its name."""
        if not isinstance(prefix, str) or not prefix:
            raise ValueError(f"'prefix' must be a non-empty string, but got {prefix!r}.")
        cloned = []
        for item in self:
            twin = item.clone(init)
            twin.name = f"{prefix}.{item.name}"
            cloned.append(twin)
        return ParameterTuple(cloned)

    def __iter__(self) -> Iterator[Parameter]:
        return super().__iter__()


values.register_parameter_class(Parameter)
