"""Private functions of official modules that packages import, with their behaviour where it means something here."""

from __future__ import annotations

import contextlib
import enum
import functools
import itertools
import pickle
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from mindspore import context, mint, nn, ops
from mindspore._base import dtype as mstype
from mindspore.common import initial_numbers
from mindspore.common.initializer import Initializer
from mindspore.common.parameter import Parameter
from mindspore.common.random import get_seed
from mindspore.common.tensor import Tensor
from mindspore.nn.wrap.micro_batches import split_batch
from mindspore.prims import summary
from mindspore.train import amp
from mindspore.train.callback import Callback


# -- settings --------------------------------------------------------------------------------------------------------------
def _get_mode() -> int:
    """GRAPH_MODE or PYNATIVE_MODE."""
    return context.get_context("mode")


def _get_graph_seed(op_seed: int | None, kernel_name: str) -> tuple[int, int]:
    """The seed of the program and that of one operation; 0 where none was set."""
    return get_seed() or 0, op_seed or 0


_get_seed = _get_graph_seed


def _set_prim_op_user_data(prim: Any, key: str, value: Any) -> Any:
    """The primitive `prim`, with the attribute `key` set."""
    prim.add_prim_attr(key, value)
    return prim


_keys = itertools.count()


def _get_unique_parameter_key() -> int:
    """A number that no other parameter has been given."""
    return next(_keys)


def update_pijit_default_config(**config: Any) -> None:
    """Kept for programs that call it: there is one way of compiling."""


@contextlib.contextmanager
def NoFallbackGuard() -> Iterator[None]:
    """Kept for programs that use it: operations have one implementation, so there is nothing to fall back to."""
    yield


# -- tensors ---------------------------------------------------------------------------------------------------------------
class _TensorMeta(type):
    """A metaclass that classes derived from Tensor may extend (`isinstance` by type of elements, for instance)."""


class StubTensor:
    """What stood for a result that was not computed yet; no tensor is one."""


def _convert_stub(value: Any) -> Any:
    """The value: results are computed when an operation returns, so nothing stands for one."""
    return value


def _of_class(cls: type[Tensor], data: Tensor, requires_grad: bool = False) -> Tensor:
    """A tensor of the class `cls` with the values of `data`."""
    made = cls.__new__(cls)
    Tensor.__init__(made, data)
    return made


_make_subclass = classmethod(_of_class)


def _object_to_tensor(obj: Any, size: int = 0) -> tuple[Tensor, int]:
    """An object as bytes, filled up to `size`, and how many of them count."""
    data = np.frombuffer(pickle.dumps(obj), np.uint8)
    return Tensor(np.pad(data, (0, max(size - data.size, 0)))), data.size


def _init_random_uniform(low: float, high: float, shape: Any) -> np.ndarray:
    """Numbers drawn evenly from [low, high)."""
    return Initializer().draw(initial_numbers.uniform, low, high, shape)


def _init_truncated_normal(a: float, b: float, mean: float, sigma: float, shape: Any) -> np.ndarray:
    """Numbers of a normal distribution that lie between a and b."""
    return Initializer().draw(initial_numbers.truncated, mean, sigma, a, b, shape)


def _random_normal(seed: int, values: np.ndarray, mean: float, sigma: float) -> None:
    """Fill an array with numbers of a normal distribution."""
    values[...] = initial_numbers.normal(seed, mean, sigma, values.shape)


def _random_uniform(seed: int, values: np.ndarray, low: float, high: float) -> None:
    """Fill an array with numbers drawn evenly from [low, high)."""
    values[...] = initial_numbers.uniform(seed, low, high, values.shape)


def _truncated_normal(seed: int, values: np.ndarray, a: float, b: float, mean: float, sigma: float) -> None:
    """Fill an array with numbers of a normal distribution that lie between a and b."""
    values[...] = initial_numbers.truncated(seed, mean, sigma, a, b, values.shape)


PARAMETER_NAME_DEFAULT = "Parameter"
#: the default directory of checkpoints
_cur_dir = str(Path.cwd())


def pyboost_empty(arguments: Any) -> Tensor:
    """A tensor of a size and a type, whatever its values; where it lies does not matter here."""
    size, dtype, *_ = arguments
    return mint.empty(size, dtype=dtype)


def pyboost_dense(primitive: Any, arguments: Any) -> Tensor:
    """x Wᵀ + b."""
    return ops.dense(*arguments)


def str_to_enum(op_name: str, arg_name: str, value: str) -> str:
    """The word itself: operations take words here, not numbers."""
    return value


op_enum = SimpleNamespace(str_to_enum=str_to_enum)


# -- training --------------------------------------------------------------------------------------------------------------
def check_value_type(arg_name: str, arg_value: Any, valid_types: Any) -> Any:
    """The value, which must be of one of the types; a bool is no number."""
    kinds = tuple(valid_types) if isinstance(valid_types, (list, tuple)) else (valid_types,)
    if not isinstance(arg_value, kinds) or (isinstance(arg_value, bool) and bool not in kinds):
        names = [kind.__name__ for kind in kinds]
        raise TypeError(f"The type of '{arg_name}' must be one of {names}, but got {type(arg_value).__name__}.")
    return arg_value


def _transfer_tensor_to_tuple(inputs: Any) -> Any:
    """One tensor becomes a tuple of one."""
    return (inputs,) if isinstance(inputs, Tensor) else inputs


class _StepSync(Callback):
    """Kept for programs that add it: a step has been computed when it ends."""


_current: dict[str, Any] = {"net": None, "dataset": None}


def set_cur_net(net: Any) -> None:
    """Remember the network being trained."""
    _current["net"] = net


def _set_training_dataset(dataset: Any) -> None:
    """Remember the data set being trained on."""
    _current["dataset"] = dataset


def _get_training_dataset() -> Any:
    """The data set remembered last."""
    return _current["dataset"]


_SUMMARIES = {"scalar": "Scalar", "image": "Image", "tensor": "Tensor", "histogram": "Histogram"}


def _get_summary_tensor_data() -> dict[str, Tensor]:
    """What summary operations have measured since they were asked last, by "name[:plugin]"."""
    return {f"{name}[:{_SUMMARIES.get(plugin, plugin)}]": Tensor(array) for plugin, name, array in summary.take()}


def _cache_summary_tensor_data(measured: list[dict[str, Any]]) -> None:
    """Hand values to the next record as if summary operations had measured them: {"name": "x[:Scalar]", "data": tensor}."""
    plugins = {label: plugin for plugin, label in _SUMMARIES.items()}
    for item in measured:
        name, _, label = item["name"].removesuffix("]").rpartition("[:")
        if label not in plugins:
            raise ValueError(
                f"A summary's name ends in one of {[f'[:{s}]' for s in plugins]}, but got {item['name']!r}."
            )
        summary.keep(plugins[label], name, np.array(item["data"].asnumpy()))


class _MicroBatch(nn.Cell):
    """Part `i` of each input, which is cut along its first axis into `micro_size` equal parts."""

    def __init__(self, micro_size: int):
        super().__init__()
        self.micro_size = micro_size

    def construct(self, i: int, *inputs: Any) -> tuple:
        return tuple(split_batch("_MicroBatch", x, self.micro_size)[i] for x in inputs)


def _grad_overflow(grad: Any) -> Any:
    """Whether a gradient holds an infinity or a NaN."""
    return ops.logical_not(ops.isfinite(grad).all())


def _tensor_getitem(data: Tensor, index: Any) -> Tensor:
    """data[index]."""
    return data[index]


def _tensor_setitem(data: Tensor, index: Any, value: Any) -> Tensor:
    """A copy of `data` with a part replaced."""
    changed = data.copy()
    changed[index] = value
    return changed


_tensor_getitem_origin, _tensor_setitem_origin = _tensor_getitem, _tensor_setitem

grad_scale = ops.MultitypeFuncGraph("grad_scale")
shard_grad_scale = ops.MultitypeFuncGraph("shard_grad_scale")


_grad_scale = ops.MultitypeFuncGraph("_grad_scale")


@_grad_scale.register("Tensor", "Tensor")
def _unscaled(scale: Any, grad: Any) -> Any:
    """A gradient without the loss scale."""
    return grad * ops.cast(ops.reciprocal(scale), grad.dtype)


@grad_scale.register("Tensor", "Tensor", "Tensor")
def _unscaled_sum(scale: Any, grad: Any, summed: Any) -> Any:
    """What was summed over micro batches, without the loss scale; the sum begins anew."""
    unscaled = ops.depend(summed, grad) * ops.reciprocal(scale)
    return ops.depend(unscaled, ops.assign(summed, ops.zeros_like(summed)))


@shard_grad_scale.register("Tensor", "Tensor", "Tensor")
def _unscaled_shard(scale: Any, grad: Any, summed: Any) -> Any:
    """A gradient cut over devices, without the loss scale; the sum begins anew."""
    unscaled = grad * ops.reciprocal(scale)
    return ops.depend(unscaled, ops.assign(summed, ops.zeros_like(summed)))


_config_level: dict[str, dict[str, Any]] = {
    level: {
        "keep_batchnorm_fp32": level == "O2",
        "cast_model_type": mstype.float16 if level in ("O2", "O3") else mstype.float32,
        "loss_scale_manager": None,
    }
    for level in ("O0", "O1", "O2", "O3", "auto")
}


def _do_keep_batchnorm_fp32(network: nn.Cell) -> nn.Cell:
    """Batch normalisation computes in float32 in a network cast to float16."""
    kinds = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.LayerNorm)
    for _, cell in network.cells_and_names():
        if isinstance(cell, kinds):
            cell.to_float(mstype.float32)
    return network


def _add_loss_network(network: nn.Cell, loss_fn: nn.Cell, cast_model_type: Any) -> nn.Cell:
    """The network with its loss, which is computed in float32 where the network was cast."""
    if cast_model_type is mstype.float16:
        return amp._WithLossCell(network, loss_fn)
    return nn.WithLossCell(network, loss_fn)


# -- compiling -------------------------------------------------------------------------------------------------------------
def _add_attr(fn: Any, **kwargs: Any) -> Any:
    """The function: attributes that official passes read have nobody to read them here."""
    return fn


def flops_collection(phase: str = "train") -> tuple[int, int, int, int, bool]:
    """Official code counts operations while it compiles; here a callback does."""
    raise RuntimeError(
        "'flops_collection' needs graphs compiled by official MindSpore. Use train.FlopsUtilizationCollector."
    )


def memory_replay(file_path: str) -> None:
    """Repeat the allocations of an Ascend device that a file notes."""
    raise RuntimeError("'memory_replay' needs an Ascend device and the memory_block.csv that it wrote.")


class _TftHandler:
    """The link to MindIO TFT, a service that restarts jobs on Ascend clusters: there is none."""

    tft = None

    def get_tft(self) -> None:
        """None: there is no such service."""

    def init(self, **kwargs: Any) -> None:
        """Official code connects here."""
        raise RuntimeError("MindIO TFT is a service of Ascend clusters. Use msrun, which restarts lost workers.")

    def unregister_tft(self) -> None:
        """Nothing is registered."""


_tft_handler = _TftHandler()


def _ascend_only(name: str, instead: str) -> Any:
    def function(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"'{name}' belongs to the compiler of official MindSpore. {instead}")

    function.__name__ = function.__qualname__ = name
    return function


_NO_PASSES = "Change networks with mindspore.rewrite, or primitives with ops.Custom."
register_custom_pass = _ascend_only("register_custom_pass", _NO_PASSES)
register_custom_backend = _ascend_only(
    "register_custom_backend", "set_context(backend=…) chooses among those there are."
)
register_op_infer = _ascend_only("register_op_infer", _NO_PASSES)
register_op_wrapper = _ascend_only("register_op_wrapper", _NO_PASSES)


class CustomPassType(enum.Enum):
    """What `register_custom_pass` would be given."""

    PATTERN = 0
    FULL_GRAPH = 1


def clear_op_infer() -> None:
    """Forget registered inference functions, of which there are none."""


def clear_op_wrapper() -> None:
    """Forget registered wrappers, of which there are none."""


def get_broadcast_shape(
    x_shape: Any, y_shape: Any, prim_name: str, arg_name1: str = "x", arg_name2: str = "y"
) -> list[int]:
    """The shape to which two shapes are broadcast."""
    try:
        return list(np.broadcast_shapes(tuple(x_shape), tuple(y_shape)))
    except ValueError:
        raise ValueError(
            f"For '{prim_name}', {arg_name1}.shape and {arg_name2}.shape need to broadcast, "
            f"but got {arg_name1}.shape = {list(x_shape)} and {arg_name2}.shape = {list(y_shape)}."
        ) from None


# -- what the compiled extension has ---------------------------------------------------------------------------------------
class _Empty:
    """Stands for a value that is not given."""


_empty_instance = _Empty()


class TensorTransform:
    """Plans how slices of a tensor become other slices; `mindspore.parallel` does so when checkpoints are converted."""

    @classmethod
    def get_instance(cls) -> TensorTransform:
        return cls()

    def transform_tensor_sharding(self, *args: Any) -> Any:
        raise RuntimeError(
            "'TensorTransform' is a part of official MindSpore's compiler. Use parallel.transform_checkpoints."
        )


def run_backward(*args: Any, **kwargs: Any) -> Any:
    """Official code runs the tape here."""
    raise RuntimeError(
        "'run_backward' walks official MindSpore's tape. Use mindspore.grad, value_and_grad or Tensor.backward."
    )


def type_to_type_id(dtype: Any) -> int:
    """The number of an element type in official files and primitives."""
    from mindspore.formats.mindir.messages import TYPE_IDS

    if dtype == mstype.string:
        return 12
    if dtype not in TYPE_IDS:
        raise TypeError(f"{dtype} has no type id.")
    return TYPE_IDS[dtype]


@functools.cache
def get_squared_device_local_norm_param() -> Any:
    """The Parameter in which official code sums the squared gradients of a device; nothing adds to it here."""
    return Parameter(Tensor(0.0, mstype.float32), name="squared_device_local_norm", requires_grad=False)
