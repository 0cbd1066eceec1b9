"""Automatic mixed precision of networks, and the training network that goes with it.

- O0: nothing changes. O1: white-listed cells and primitives compute in 16 bits, and their results go back to float32.
- O2: everything but the black list (normalisations) computes in 16 bits. O3: everything does.
- auto: primitives of one list compute in 16 bits, those of another in float32, the rest in whatever comes in.
"""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from mindspore import log as logger
from mindspore import nn
from mindspore._base import dtype as mstype
from mindspore.nn.cell import Cell
from mindspore.nn.loss_scaling import DynamicLossScaleManager, LossScaleManager
from mindspore.ops import operations as P
from mindspore.prims.float8 import Float8Gradient, Float8Rounding
from mindspore.prims.primitive import Primitive
from mindspore.train._amp_strategy import AmpStrategy, CastAll, cast_floats

#: kept for libraries that look here: all floating point arguments of a primitive are cast, so it is empty
AMP_PRIM_ARG_TABLE: dict[str, list[int]] = defaultdict(list)

#: what levels O1 and O2 tell apart
_WHITE_CELLS: tuple[type[Cell], ...] = (
    nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.Conv1dTranspose, nn.Conv2dTranspose, nn.Conv3dTranspose, nn.Dense, nn.LSTMCell,
    nn.RNNCell, nn.GRUCell,
)  # fmt: skip
_BLACK_CELLS: tuple[type[Cell], ...] = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.LayerNorm)
_WHITE_PRIMITIVES: tuple[type[Primitive], ...] = (
    P.Conv2D, P.Conv3D, P.Conv2DTranspose, P.Conv3DTranspose, P.Conv2DBackpropInput, P.MatMul, P.BatchMatMul, P.PReLU,
    P.ReLU, P.Ger,
)  # fmt: skip
#: what level "auto" tells apart
_AUTO_WHITE: tuple[type[Primitive], ...] = (
    P.Conv2D, P.Conv3D, P.Conv2DTranspose, P.Conv3DTranspose, P.MatMul, P.BatchMatMul, P.PReLU, P.Einsum, P.Dense,
)  # fmt: skip
_AUTO_BLACK: tuple[type[Primitive], ...] = (
    P.Pow, P.ACos, P.Asin, P.Cosh, P.Erfinv, P.Exp, P.Expm1, P.Log, P.Log10, P.Log1p, P.Log2, P.Reciprocal, P.Rsqrt,
    P.Sinh, P.Tan, P.Softplus, P.LayerNorm, P.BatchNorm, P.KLDivLoss, P.SmoothL1Loss, P.MultilabelMarginLoss,
    P.SoftMarginLoss, P.TripletMarginLoss, P.MultiMarginLoss, P.BCEWithLogitsLoss, P.Pdist, P.Cdist, P.Renorm,
    P.ReduceProd, P.Softmax, P.LogSoftmax, P.CumProd, P.CumSum, P.NLLLoss,
)  # fmt: skip
#: official names of compositions, made when asked for: in the lists for whoever reads them. What they are made of counts.
_COMPOSED_WHITE = ("MatMulExt", "BatchMatMulExt", "Addmm", "Addbmm", "Addmv", "Baddbmm", "Mv")
_COMPOSED_BLACK = (
    "SoftplusExt", "LayerNormExt", "BatchNormExt", "GroupNorm", "Norm", "ProdExt", "SumExt", "L1LossExt",
)  # fmt: skip
_LEVELS = ("O0", "O1", "O2", "O3", "auto")
_BOOST_LEVELS = ("O0", "O1", "O2")


def get_white_list() -> list[type]:
    """The cells and primitives that level O1 computes in 16 bits (a copy).

    Examples:
        >>> nn.Dense in amp.get_white_list()
        True
    """
    return [*_WHITE_CELLS, *_WHITE_PRIMITIVES]


def get_black_list() -> list[type]:
    """The cells that level O2 keeps in float32 (a copy).

    Examples:
        >>> nn.BatchNorm2d in amp.get_black_list()
        True
    """
    return list(_BLACK_CELLS)


def __getattr__(name: str) -> list[type]:
    makers: dict[str, Callable[[], list[type]]] = {
        "AMP_WHITE_LIST": get_white_list,
        "AMP_BLACK_LIST": get_black_list,
        "AMP_AUTO_WHITE_LIST": lambda: [*_AUTO_WHITE, *(getattr(P, name) for name in _COMPOSED_WHITE)],
        "AMP_AUTO_BLACK_LIST": lambda: [*_AUTO_BLACK, *(getattr(P, name) for name in _COMPOSED_BLACK)],
    }
    if name not in makers:
        raise AttributeError(f"module 'mindspore.train.amp' has no attribute '{name}'")
    return makers[name]()


# ---------------------------------------------------------------------------------------------------------------------
# Casting networks


class _OutputTo32(nn.Cell):
    """A network whose float results are cast to float32."""

    def __init__(self, backbone: Cell):
        super().__init__(auto_prefix=False)
        self._backbone = backbone

    def construct(self, *args: Any, **kwargs: Any) -> Any:
        return cast_floats(self._backbone(*args, **kwargs), mstype.float32)


class _StrategyCell(nn.Cell):
    """A network that runs under an AmpStrategy."""

    def __init__(self, backbone: Cell, strategy: AmpStrategy):
        super().__init__(auto_prefix=False)
        self._backbone = backbone
        self.amp_strategy = strategy

    def construct(self, *args: Any, **kwargs: Any) -> Any:
        return self._backbone(*args, **kwargs)


def _to_float16(cell: Cell, inputs: Any, output: Any) -> Any:
    return cast_floats(output, mstype.float16)


def _to_bfloat16(cell: Cell, inputs: Any, output: Any) -> Any:
    return cast_floats(output, mstype.bfloat16)


def _to_float32(cell: Cell, inputs: Any, output: Any) -> Any:
    return cast_floats(output, mstype.float32)


_OUTPUT_HOOKS = {mstype.float16: _to_float16, mstype.bfloat16: _to_bfloat16, mstype.float32: _to_float32}


def _cast_output(cell: Cell, dtype: Any) -> None:
    """Make a cell return `dtype`, as if a cast stood after it."""
    hooks = cell._forward_hooks
    for key in [k for k, (hook, _) in hooks.items() if hook in _OUTPUT_HOOKS.values()]:
        del hooks[key]
    cell.register_forward_hook(_OUTPUT_HOOKS[dtype])


def _set_by_user(cell: Cell) -> bool:
    return cell.__dict__.get("_amp_dtype") is not None


def _apply_black_list(network: Cell, black_list: list[type], dtype: Any) -> None:
    """Compute in `dtype` except inside cells of the black list."""
    kinds = tuple(black_list)
    network.to_float(dtype)
    _keep_float32(network, kinds, dtype)


def _keep_float32(network: Cell, kinds: tuple[type, ...], dtype: Any) -> None:
    for cell in network.name_cells().values():
        if cell is network:
            continue
        if isinstance(cell, kinds):
            cell.to_float(mstype.float32)
            _cast_output(cell, dtype)
        else:
            _keep_float32(cell, kinds, dtype)


def _auto_black_list(network: Cell, black_list: list[type], dtype: Any) -> Cell:
    """Level O2 with a list of one's own, as libraries call it."""
    _apply_black_list(network, black_list, dtype)
    return network


def _auto_mixed_precision_rewrite(
    network: Cell, dtype: Any, *, white_list: list[type] | None = None, black_list: list[type] | None = None
) -> Cell:
    """`custom_mixed_precision`, as libraries call it."""
    if (white_list is None) == (black_list is None):
        raise ValueError("For '_auto_mixed_precision_rewrite', give one of 'white_list' and 'black_list'.")
    if white_list is not None:
        return _apply_white_list(network, white_list, dtype)
    _apply_black_list(network, black_list or [], dtype)
    return _OutputTo32(network)


def _apply_white_list(network: Cell, white_list: list[type], dtype: Any) -> Cell:
    """Compute in `dtype` inside cells of the white list and in primitives of it; results go back to float32."""
    kinds = tuple(kind for kind in white_list if issubclass(kind, Cell))
    names = _names(kind for kind in white_list if issubclass(kind, Primitive))
    for _, cell in list(network.cells_and_names()):
        if isinstance(cell, kinds) and not _set_by_user(cell):
            cell.to_float(dtype)
            _cast_output(cell, mstype.float32)
    return _StrategyCell(network, AmpStrategy(dtype, names, restore=True))


def auto_mixed_precision(network: Any, amp_level: str = "O0", dtype: Any = mstype.float16) -> Any:
    """A network that computes in mixed precision.

    Args:
        network: a Cell; with level "auto" also a function.
        amp_level: "O0", "O1", "O2", "O3" or "auto".
        dtype: float16 or bfloat16.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import amp, nn
        >>> net = amp.auto_mixed_precision(nn.Dense(3, 2), "O2")
        >>> net(ms.Tensor([[1.0, 2.0, 3.0]])).dtype
        mindspore.float32
    """
    _check_level(amp_level)
    if not isinstance(network, Cell):
        function = inspect.isfunction(network) or inspect.ismethod(network)
        if amp_level != "auto" or not function:
            raise TypeError(f"For amp_level '{amp_level}', 'network' must be a Cell, but got {type(network).__name__}.")
    _check_dtype(dtype)
    if amp_level == "O0":
        return network
    earlier = getattr(network, "_amp_level", None)
    if earlier:
        logger.warning("The mixed precision level of the network is changed from %s to %s.", earlier, amp_level)
    if amp_level == "O1":
        network = _apply_white_list(network, get_white_list(), dtype)
    elif amp_level == "auto":
        strategy = AmpStrategy(dtype, _names(_AUTO_WHITE), _names(_AUTO_BLACK))
        network = _StrategyCell(network, strategy) if isinstance(network, Cell) else strategy.around(network)
    else:
        _apply_black_list(network, get_black_list() if amp_level == "O2" else [], dtype)
        network = _OutputTo32(network)
    network._amp_level = amp_level
    return network


def custom_mixed_precision(
    network: Cell,
    *,
    white_list: list[type] | None = None,
    black_list: list[type] | None = None,
    dtype: Any = mstype.float16,
) -> Cell:
    """A network that computes in 16 bits what a list of your own names, or all but that.

    Args:
        network: a Cell.
        white_list: cells and primitives to compute in 16 bits.
        black_list: cells to keep in float32. Give one of the two lists.
        dtype: float16 or bfloat16.

    Examples:
        >>> net = amp.custom_mixed_precision(nn.SequentialCell(nn.Dense(2, 1)), white_list=[nn.Dense])
        >>> net(ops.ones((1, 2))).shape
        (1, 1)
    """
    if not isinstance(network, Cell):
        raise TypeError(f"For 'custom_mixed_precision', 'network' must be a Cell, but got {type(network).__name__}.")
    if (white_list is None) == (black_list is None):
        raise ValueError("For 'custom_mixed_precision', give either 'white_list' or 'black_list'.")
    _check_dtype(dtype)
    if white_list is not None:
        _check_list("white_list", white_list, (Cell, Primitive))
        return _apply_white_list(network, white_list, dtype)
    assert black_list is not None
    _check_list("black_list", black_list, (Cell,))
    _apply_black_list(network, black_list, dtype)
    return _OutputTo32(network)


_ROUNDING, _GRADIENT, _PRODUCT = Float8Rounding("e4m3"), Float8Gradient("e5m2"), P.MatMul(transpose_b=True)


def _float8_product(x: Any, weight: Any) -> Any:
    """x weightᵀ of factors that are rounded to 8 bits, and so is what comes back through it."""
    return _GRADIENT(_PRODUCT(_ROUNDING(x), _ROUNDING(weight.astype(x.dtype))))


def float8_products(network: Cell) -> Cell:
    """The network, whose Dense layers from now on round both factors of their products to 8-bit floats, and gradients before they go back.

    Numbers are e4m3, gradients e5m2, each tensor with a scale of its own; sums, biases and weights keep their types. With bfloat16
    around it (`auto_mixed_precision(net, "O2", mindspore.bfloat16)`), a GPU that multiplies 8-bit floats does so. The usual choice is
    all layers but the first and the last: give the part of the network that is meant.

    Examples:
        >>> net = nn.SequentialCell(nn.Dense(32, 32), nn.ReLU(), nn.Dense(32, 4))
        >>> amp.float8_products(net[0])(ops.ones((2, 32))).shape
        (2, 32)
    """
    if not isinstance(network, Cell):
        raise TypeError(f"For 'float8_products', 'network' must be a Cell, but got {type(network).__name__}.")
    layers = [cell for _, cell in network.cells_and_names() if isinstance(cell, nn.Dense)]
    if not layers:
        raise ValueError(f"For 'float8_products', 'network' must have Dense layers, but {type(network).__name__} has none.")
    for layer in layers:
        layer.matmul, layer.by_parts = _float8_product, True  # type: ignore[assignment]
    return network


def _check_list(name: str, given: object, kinds: tuple[type, ...]) -> None:
    if not isinstance(given, list):
        raise TypeError(f"For 'custom_mixed_precision', '{name}' must be a list, but got {type(given).__name__}.")
    for item in given:
        if not isinstance(item, type) or not issubclass(item, kinds):
            names = " or ".join(kind.__name__ for kind in kinds)
            raise TypeError(f"For 'custom_mixed_precision', '{name}' holds subclasses of {names}, but got {item!r}.")


def _check_dtype(dtype: Any) -> None:
    if dtype not in (mstype.float16, mstype.bfloat16):
        raise ValueError(f"'dtype' of mixed precision must be float16 or bfloat16, but got {dtype}.")


def _check_level(level: Any) -> None:
    if not isinstance(level, str):
        raise TypeError(f"The amp level must be one of {list(_LEVELS)}, but got {level!r}.")
    if level not in _LEVELS:
        raise ValueError(f"The amp level must be one of {list(_LEVELS)}, but got {level!r}.")


# ---------------------------------------------------------------------------------------------------------------------
# Training networks


class _WithLossCell(nn.Cell):
    """A network and its loss, which is computed in float32."""

    def __init__(self, backbone: Cell, loss_fn: Cell):
        super().__init__(auto_prefix=False)
        self._backbone = backbone
        self._loss_fn = loss_fn

    def construct(self, data: Any, label: Any) -> Any:
        out = cast_floats(self._backbone(data), mstype.float32)
        return self._loss_fn(out, cast_floats(label, mstype.float32))


def build_train_network(
    network: Cell,
    optimizer: Any,
    loss_fn: Cell | None = None,
    level: str = "O0",
    boost_level: str = "O0",
    **kwargs: Any,
) -> Cell:
    """A Cell that makes one training step in mixed precision.

    Args:
        network: computes the loss, or the prediction when `loss_fn` is given.
        optimizer: updates the parameters.
        loss_fn: computes the loss of prediction and label.
        level: "O0", "O1", "O2", "O3" or "auto".
        boost_level: accepted: "O0", "O1" or "O2".
        cast_model_type, keep_batchnorm_fp32, loss_scale_manager: replace what the level stands for.

    Examples:
        >>> net, loss = nn.Dense(2, 1), nn.MSELoss()
        >>> step = amp.build_train_network(net, nn.SGD(net.trainable_params(), 0.1), loss, level="O0")
        >>> step(ops.ones((1, 2)), ops.ones((1, 1))).shape
        ()
    """
    if not isinstance(optimizer, Cell):
        raise TypeError(f"For 'build_train_network', 'optimizer' must be an Optimizer, but got {type(optimizer)}.")
    _check_level(level)
    if boost_level not in _BOOST_LEVELS:
        raise ValueError(f"'boost_level' must be one of {list(_BOOST_LEVELS)}, but got {boost_level!r}.")
    settings = _settings(level, kwargs)
    network = _cast_for_training(network, level, settings)
    if loss_fn is not None:
        if not isinstance(loss_fn, Cell):
            raise TypeError(f"For 'build_train_network', 'loss_fn' must be a Cell, but got {type(loss_fn)}.")
        lowered = settings["cast_model_type"] is not mstype.float32 or level in ("O2", "O3", "auto")
        network = _WithLossCell(network, loss_fn) if lowered else nn.WithLossCell(network, loss_fn)
    manager = settings["loss_scale_manager"]
    if manager is None:
        return nn.TrainOneStepCell(network, optimizer).set_train()
    update = manager.get_update_cell()
    if update is None:
        return nn.TrainOneStepCell(network, optimizer, manager.get_loss_scale()).set_train()
    return nn.TrainOneStepWithLossScaleCell(network, optimizer, scale_sense=update).set_train()


def _settings(level: str, given: dict[str, Any]) -> dict[str, Any]:
    lowered = level in ("O2", "O3")
    settings: dict[str, Any] = {
        "cast_model_type": mstype.float16 if lowered else mstype.float32,
        "keep_batchnorm_fp32": level == "O2",
        "loss_scale_manager": DynamicLossScaleManager()
        if level == "O2" and "loss_scale_manager" not in given
        else None,
    }
    for name, value in given.items():
        if name not in settings:
            raise ValueError(f"For 'build_train_network', there is no argument '{name}'.")
        settings[name] = value
    if settings["cast_model_type"] not in (mstype.float16, mstype.float32):
        raise TypeError(f"'cast_model_type' must be float16 or float32, but got {settings['cast_model_type']}.")
    if not isinstance(settings["keep_batchnorm_fp32"], bool):
        raise TypeError(f"'keep_batchnorm_fp32' must be a bool, but got {settings['keep_batchnorm_fp32']!r}.")
    manager = settings["loss_scale_manager"]
    if manager is not None and not isinstance(manager, LossScaleManager) and not hasattr(manager, "get_update_cell"):
        raise TypeError(f"'loss_scale_manager' must be a LossScaleManager, but got {type(manager)}.")
    return settings


def _cast_for_training(network: Cell, level: str, settings: dict[str, Any]) -> Cell:
    if settings["cast_model_type"] is mstype.float16:
        black = get_black_list() if settings["keep_batchnorm_fp32"] else []
        _apply_black_list(network, black, mstype.float16)
        return network
    return network if level in ("O0", "O2", "O3") else auto_mixed_precision(network, level)


class AmpDecorator(AmpStrategy):
    """Runs what is in its `with` block in mixed precision of level "auto"."""

    def __init__(self, amp_level: Any, amp_dtype: Any, white_list: Any, black_list: Any):
        super().__init__(amp_dtype, _names(white_list), _names(black_list))
        self.amp_level = amp_level


def strategy_of_level(level: str, dtype: Any, white_list: Any, black_list: Any) -> AmpStrategy:
    """The strategy of an `AmpLevel` by its name: lists of primitives (O1, Auto), all but a list (O2, O3), nothing (O0)."""
    if level in ("AmpO2", "AmpO3"):
        return CastAll(dtype, _names(black_list))
    return AmpStrategy(dtype, _names(white_list), _names(black_list)) if level != "AmpO0" else AmpStrategy(dtype, ())


def _names(entries: Iterable[type | str | tuple]) -> list[str]:
    """Names of primitives; entries may be classes, names, or (name, which arguments)."""
    plain = (entry[0] if isinstance(entry, tuple) else entry for entry in entries)
    return [entry.__name__ if isinstance(entry, type) else entry for entry in plain]


__all__ = [
    "AmpDecorator", "auto_mixed_precision", "build_train_network",
    "custom_mixed_precision", "get_black_list", "get_white_list",
]  # fmt: skip
