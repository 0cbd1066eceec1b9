"""What a transform is.

A transform is a callable object: `op(*columns)` takes the columns of a row as NumPy arrays (image transforms also take
PIL images) and returns one column or a tuple of columns. It also knows, for the pipeline that runs it:

* `random`: whether two calls may differ. All its randomness comes from the generator given by `set_rng`, so a row's
  result depends on the seed and the row alone, not on which worker runs it. The generator is kept per thread: workers
  may share one transform.
* `releases_gil`: whether its time is spent in NumPy, OpenCV or Pillow, so that threads run it in parallel.
* `to_json()` / `from_json(params)`: its name and parameters, by which a pipeline is saved and loaded.
* `batched(batch)`: where cheap, the same result for a whole batch at once.

Subclasses declare their parameters once, as arguments of `__init__` stored in attributes of the same name; the JSON
form follows from that.
"""

from __future__ import annotations

import inspect
import sys
import threading
from enum import Enum, IntEnum
from typing import Any, ClassVar

import numpy as np

from ..._base.dtype import DType
from .checks import checked, choice


class Implementation(IntEnum):
    """Where official MindSpore runs an operation. Here it only decides what `Compose` returns (see there).

    Examples:
        >>> [choice.name for choice in transforms.Implementation]
        ['C', 'PY']
    """

    C = 0
    PY = 1


_REGISTRY: dict[str, type[Transform]] = {}
# Keys that official JSON adds to the parameters and that carry none.
_BOOKKEEPING = {"device_target", "implementation", "output_type", "random", "transforms"}
_PACKAGE = __name__.rsplit(".", 2)[0]


def transform_from_json(name: str, params: dict[str, Any]) -> Transform:
    """The transform that `to_json` described."""
    found = _REGISTRY.get(name)
    if found is None:
        raise RuntimeError(f"'{name}' is not a known transform; known are {', '.join(sorted(_REGISTRY))}")
    return found.from_json(params)


def _takes_one_column(apply: Any) -> bool:
    parameters = list(inspect.signature(apply).parameters.values())[1:]
    return len(parameters) == 1 and parameters[0].kind is parameters[0].POSITIONAL_OR_KEYWORD


class Transform:
    """Base of all transforms. A subclass defines `apply(*columns)`.

    Examples:
        >>> import numpy as np
        >>> from mindspore.dataset.transforms.transform import Transform
        >>> class Double(Transform):
        ...     def apply(self, column):
        ...         return column * 2
        >>> Double()(np.array([1, 2])).tolist()
        [2, 4]
    """

    random: bool = False
    releases_gil: bool = False
    implementation: Implementation | None = None
    device_target: str = "CPU"
    error_name: str | None = None  # what errors call it, if not by its class
    _one_column: ClassVar[bool] = False

    # Constructor argument -> key in the JSON form, where the two differ; a None key is left out.
    json_keys: ClassVar[dict[str, str | None]] = {}
    json_name: ClassVar[str] = ""
    # The module that official MindSpore loads the operation from, for those it implements in Python.
    json_module: str | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "json_name" not in cls.__dict__:
            cls.json_name = cls.__name__
        if cls.json_module and "implementation" not in cls.__dict__:
            cls.implementation = Implementation.PY
        cls._one_column = _takes_one_column(cls.apply)
        if cls.__module__.startswith(_PACKAGE) and not cls.__name__.startswith("_"):
            _REGISTRY.setdefault(cls.json_name, cls)

    def __call__(self, *columns: Any) -> Any:
        if self._one_column and len(columns) != 1:
            raise RuntimeError("The op is OneToOne, can only accept one tensor as input.")
        return self.apply(*columns)

    def apply(self, *columns: Any) -> Any:
        """The work itself. Transforms that users derive may define `_execute_py` or `execute_py` instead."""
        for name in ("_execute_py", "execute_py"):
            method = getattr(self, name, None)
            if method is not None:
                return method(*columns)
        raise NotImplementedError(f"{type(self).__name__} has to define apply(*columns) or __call__.")

    def __repr__(self) -> str:
        arguments = ", ".join(f"{name}={getattr(self, name, None)!r}" for name in _parameters(type(self)))
        return f"{type(self).__name__}({arguments})"

    # -- randomness

    def set_rng(self, rng: np.random.Generator) -> None:
        """Draw from `rng` in this thread from now on."""
        self._thread_state().rng = rng

    @property
    def rng(self) -> np.random.Generator:
        state = self._thread_state()
        found = getattr(state, "rng", None)
        if found is None:
            found = state.rng = _default_rng()
        return found

    def _thread_state(self) -> threading.local:
        state = self.__dict__.get("_local")
        if state is None:
            state = self.__dict__.setdefault("_local", threading.local())
        return state

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_local"}

    # -- JSON

    def to_json(self) -> tuple[str, dict[str, Any] | None]:
        """The operation's name and its parameters as plain JSON values, None if it has none."""
        params = {}
        for name in _parameters(type(self)):
            key = self.json_keys.get(name, name)
            if key is not None:
                params[key] = to_plain(getattr(self, name))
        return self.json_name, params or None

    def describe(self) -> dict[str, Any]:
        """The entry of the operation in a pipeline's JSON."""
        name, params = self.to_json()
        if self.json_module is None:
            return {"tensor_op_name": name, "tensor_op_params": params}
        kept = {"implementation": int(self.implementation is Implementation.PY), "output_type": "float64"}
        kept |= {"transforms": []} if self.random else {"random": False, "transforms": []}
        return {
            "python_module": self.json_module,
            "tensor_op_name": name,
            "tensor_op_params": {**kept, **(params or {})},
        }

    @classmethod
    def from_json(cls, params: Any) -> Any:
        """Build the transform from the parameters that `to_json` gives; unknown keys are an error."""
        arguments = {}
        rest = dict(params or {})
        for name, parameter in _parameters(cls).items():
            key = cls.json_keys.get(name, name)
            if key is not None and key in rest:
                arguments[name] = from_plain(rest.pop(key), parameter.default)
        unknown = rest.keys() - _BOOKKEEPING
        if unknown:
            raise RuntimeError(
                f"{cls.json_name} has no parameter {', '.join(sorted(unknown))}; is this a pipeline's JSON?"
            )
        return cls(**arguments)


class DeviceTransform(Transform):
    """A transform with the `device` method of those that official MindSpore can also run on an accelerator."""

    @checked(device_target=choice(["CPU", "Ascend"]))
    def device(self, device_target: str = "CPU") -> DeviceTransform:
        """Ask for a device. The name is kept for files; the work is done by the CPU with the same result."""
        self.device_target = device_target
        return self

    def to_json(self) -> tuple[str, dict[str, Any] | None]:
        name, params = super().to_json()
        return name, {"device_target": self.device_target, **(params or {})}


def is_pil(image: Any) -> bool:
    """Whether this is a PIL image; Pillow is not imported to find out."""
    if isinstance(image, np.ndarray):
        return False
    module = sys.modules.get("PIL.Image")
    return module is not None and isinstance(image, module.Image)


def not_random(function: Any) -> Any:
    """Mark a function as giving the same result for the same input, so that its output may be cached.

    Examples:
        >>> @vision.not_random
        ... def halve(image):
        ...     return image // 2
        >>> halve(10)
        5
    """
    function.random = False
    return function


def _parameters(cls: type) -> dict[str, inspect.Parameter]:
    signature = inspect.signature(cls.__init__)  # type: ignore[misc]
    return {name: p for name, p in signature.parameters.items() if name != "self" and p.kind is p.POSITIONAL_OR_KEYWORD}


def to_plain(value: Any) -> Any:
    """A parameter as JSON holds it: enums as their value, arrays and tuples as lists, types by name."""
    if isinstance(value, Transform):
        return value.describe()
    if isinstance(value, Enum):
        return getattr(value, "json_code", value.value)
    if isinstance(value, DType):
        return value.name.rstrip("_")
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return np.dtype(value).name
    if isinstance(value, (list, tuple)):
        return [to_plain(item) for item in value]
    if hasattr(value, "to_plain"):  # an object that knows its own form, such as a vocabulary
        return value.to_plain()
    return value


def from_plain(value: Any, default: Any) -> Any:
    """The inverse of `to_plain`, guided by the argument's default value."""
    if isinstance(value, dict) and "tensor_op_name" in value:
        return transform_from_json(value["tensor_op_name"], value.get("tensor_op_params") or {})
    if isinstance(default, Enum) and not isinstance(value, Enum):
        by_code = {getattr(member, "json_code", member.value): member for member in type(default)}
        return by_code[value]
    if isinstance(value, list):
        items = [from_plain(item, None) for item in value]
        return items if any(isinstance(item, Transform) for item in items) else tuple(items)
    return value


# ---------------------------------------------------------------------------------------------------------------------
# Randomness outside a pipeline

_UNSEEDED = 5489  # the value `config.get_seed()` gives when no seed was set
_entropy = threading.local()


def _default_rng() -> np.random.Generator:
    """For eager calls: reproducible after `dataset.config.set_seed`, else one generator per thread from OS entropy."""
    try:
        from .. import config

        seed = config.get_seed()
    except (ImportError, AttributeError):
        seed = _UNSEEDED
    if seed != _UNSEEDED:
        return np.random.default_rng(seed)
    if not hasattr(_entropy, "rng"):
        _entropy.rng = np.random.default_rng()
    return _entropy.rng


def tensor_to_json(array: np.ndarray | None) -> dict[str, Any] | None:
    """A constant array as the pipeline's JSON spells it."""
    if array is None:
        return None
    kind = "string" if array.dtype.kind in "US" else array.dtype.name
    return {"data": array.reshape(-1).tolist(), "shape": list(array.shape), "type": kind}


def tensor_from_json(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    dtype = None if value["type"] == "string" else value["type"]
    return np.array(value["data"], dtype=dtype).reshape(value["shape"])


def on_each(function: Any, columns: tuple) -> Any:
    """The function's results for each column: a tuple, or the one result itself."""
    results = tuple(function(column) for column in columns)
    return results[0] if len(results) == 1 else results


def as_column(value: Any) -> np.ndarray:
    """A column as an array; TypeError for what no array can hold."""
    array = np.asarray(value)
    if array.dtype == object:
        raise TypeError(f"Invalid user input. Got {type(value)}: {value}, cannot be converted into tensor.")
    return array


__all__ = [
    "DeviceTransform",
    "Implementation",
    "Transform",
    "as_column",
    "is_pil",
    "from_plain",
    "not_random",
    "on_each",
    "tensor_from_json",
    "tensor_to_json",
    "to_plain",
    "transform_from_json",
]
