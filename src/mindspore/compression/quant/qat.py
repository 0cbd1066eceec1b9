"""Quantisation-aware training: a network whose weights and activations are rounded to few bits while it trains.

`quantize` replaces layers, and keeps their parameters and these parameters' names:

    Conv2dBnAct, DenseBnAct          → the same with rounded weights, normalisation folded into them, and a rounded result
    Conv2d, BatchNorm2d, activation  → likewise, where they follow each other in a SequentialCell
    other Conv2d and Dense           → with rounded weights, behind an observer of their input
    Add, Mul, … of a Cell            → behind them an observer of their result

Training, `ms.export(…, file_format="MINDIR")` and `converter_lite` follow as for any network: the converter finds the ranges in the file
and needs no calibration.
"""

from __future__ import annotations

import enum
from typing import Any

from mindspore import nn
from mindspore.common.dtype import QuantDtype
from mindspore.nn.cell import Cell
from mindspore.nn.layer import quant
from mindspore.nn.layer.quant import FakeQuantWithMinMaxObserver, QuantConfig
from mindspore.prims import elementwise, reduction
from mindspore.prims.primitive import Primitive

_INT8: Any = QuantDtype["INT8"]
_SUMS = (elementwise.Add, elementwise.Sub, elementwise.Mul, elementwise.RealDiv, reduction.ReduceMean)
_ACTIVATIONS = (nn.ReLU, nn.ReLU6, nn.Sigmoid, nn.LeakyReLU, nn.HSigmoid, nn.HSwish)
_DONE = (
    FakeQuantWithMinMaxObserver, quant.Conv2dBnFoldQuant, quant.Conv2dBnWithoutFoldQuant, quant.Conv2dQuant,
    quant.DenseQuant, quant.ActQuant, quant.TensorAddQuant, quant.MulQuant,
)  # fmt: skip


class OptimizeOption(enum.Enum):
    """How the grid is found: by the ranges seen (`QAT`), or learned with the weights (`LEARNED_SCALE`)."""

    QAT = "QAT"
    LEARNED_SCALE = "LEARNED_SCALE"


def create_quant_config(
    quant_observer: Any = (FakeQuantWithMinMaxObserver, FakeQuantWithMinMaxObserver), quant_delay: Any = (0, 0),
    quant_dtype: Any = (_INT8, _INT8), per_channel: Any = (False, False), symmetric: Any = (False, False),
    narrow_range: Any = (False, False), mode: str = "DEFAULT",
) -> QuantConfig:  # fmt: skip
    """The observers of weights (first of each pair) and of activations (second).

    Args:
        quant_observer: the classes of the observers.
        quant_delay: training steps before values are rounded.
        quant_dtype: bit widths.
        per_channel: one range per output channel; for weights only.
        symmetric: a range from -a to a.
        narrow_range: without the lowest integer, so that -a and a both are on the grid.
        mode: "DEFAULT".

    Raises:
        ValueError: ranges of activations per channel, or another mode.

    Examples:
        >>> from mindspore.compression.quant import create_quant_config
        >>> create_quant_config(per_channel=(True, False)).weight(num_channels=4).minq.shape
        (4,)
    """
    if per_channel[-1]:
        raise ValueError("Arg 'per_channel' second element must be 'False'.")
    if mode != "DEFAULT":
        raise ValueError(f"'mode' must be 'DEFAULT', but got {mode!r}: learned scales are not supported.")
    observers = [
        quant_observer[place].partial_init(
            quant_delay=quant_delay[place], quant_dtype=quant_dtype[place], per_channel=per_channel[place],
            symmetric=symmetric[place], narrow_range=narrow_range[place], mode=mode,
        )
        for place in (0, -1)
    ]  # fmt: skip
    return QuantConfig(*observers)


def _pair(name: str, value: Any, kind: type) -> tuple[Any, Any]:
    """A setting of weights and of activations."""
    given = tuple(value) if isinstance(value, (list, tuple)) else (value,)
    if not 1 <= len(given) <= 2:
        raise ValueError(f"input `{name}` len should less then 2")
    for one in given:
        if not isinstance(one, kind) or (kind is int and isinstance(one, bool)):
            raise TypeError(f"'{name}' must be of type {kind.__name__}, but got {type(one).__name__}.")
        if isinstance(one, int) and kind is int and one < 0:
            raise ValueError(f"'{name}' must be at least 0, but got {one}.")
    return given[0], given[-1]


class _Observed(Cell):
    """A layer whose input is rounded before, or a primitive whose result is rounded behind it."""

    def __init__(self, layer: Any, before: Any = None, after: Any = None):
        super().__init__(auto_prefix=False)
        self.layer = layer
        self.fake_quant_input, self.fake_quant_act = before, after

    def construct(self, *values: Any) -> Any:
        if self.fake_quant_input is not None:
            values = (self.fake_quant_input(values[0]), *values[1:])
        out = self.layer(*values)
        return out if self.fake_quant_act is None else self.fake_quant_act(out)


class QuantizationAwareTraining:
    """Makes networks for quantisation-aware training; pairs are settings of weights and of activations.

    Args:
        bn_fold: fold batch normalisation into the weights before they are rounded.
        freeze_bn: training steps after which the running statistics normalise and stay as they are.
        quant_delay, quant_dtype, per_channel, symmetric, narrow_range: as for `create_quant_config`. Files for mindspore_lite are exact
            with `per_channel=(True, False), symmetric=(True, False), narrow_range=(True, False)`.
        optimize_option: `OptimizeOption.QAT`.
        one_conv_fold: there is one way to fold here; both values are it.

    Examples:
        >>> from mindspore.compression.quant import QuantizationAwareTraining
        >>> net = nn.SequentialCell(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Dense(64, 2))
        >>> net = QuantizationAwareTraining(per_channel=(True, False), symmetric=(True, False)).quantize(net)
        >>> net(ops.ones((1, 1, 4, 4))).shape
        (1, 2)
    """

    def __init__(
        self, bn_fold: bool = True, freeze_bn: int = 10000000, quant_delay: Any = (0, 0), quant_dtype: Any = (_INT8, _INT8),
        per_channel: Any = (False, False), symmetric: Any = (False, False), narrow_range: Any = (False, False),
        optimize_option: Any = OptimizeOption.QAT, one_conv_fold: bool = True,
    ):  # fmt: skip
        options = optimize_option if isinstance(optimize_option, (list, tuple)) else (optimize_option,)
        for option in options:
            if not isinstance(option, OptimizeOption):
                raise TypeError(f"'optimize_option' must be an OptimizeOption, but got {type(option).__name__}.")
        if OptimizeOption.LEARNED_SCALE in options:
            raise ValueError("'optimize_option' must be OptimizeOption.QAT: learned scales are not supported.")
        for name, flag in (("bn_fold", bn_fold), ("one_conv_fold", one_conv_fold)):
            _pair(name, flag, bool)
        self.bn_fold, (self.freeze_bn, _) = bn_fold, _pair("freeze_bn", freeze_bn, int)
        self.quant_dtype = _pair("quant_dtype", quant_dtype, QuantDtype)
        self.quant_config = create_quant_config(
            quant_delay=_pair("quant_delay", quant_delay, int),
            quant_dtype=self.quant_dtype,
            per_channel=_pair("per_channel", per_channel, bool),
            symmetric=_pair("symmetric", symmetric, bool),
            narrow_range=_pair("narrow_range", narrow_range, bool),
        )

    def quantize(self, network: Cell) -> Cell:
        """Replace the layers of a network, which is changed and returned.

        Raises:
            TypeError: it is no Cell.
            ValueError: it has no layer to quantise.
        """
        if not isinstance(network, Cell):
            raise TypeError(f"'network' must be a Cell, but got {type(network).__name__}.")
        named = [(parameter, parameter.name) for parameter in network.get_parameters()]
        if not self._within(network):
            raise ValueError("the network has no convolution or dense layer to quantise")
        network.update_parameters_name()
        for parameter, name in named:  # checkpoints of the float network keep their names
            parameter.name = name
        return network

    # -- walking -----------------------------------------------------------------------------------------------------
    def _within(self, network: Cell) -> bool:
        """Replace what is in a Cell; whether there was anything."""
        if isinstance(network, _DONE):
            return False
        changed = self._sequences(network) if isinstance(network, nn.SequentialCell) else False
        for name, cell in list(network.name_cells().items()):
            made = self._replaced(cell)
            if made is not None:
                _put(network, name, made)
            elif cell is not network and not isinstance(cell, (_Observed, *_DONE)):
                changed |= self._within(cell)
            changed |= made is not None
        for name, value in list(vars(network).items()):
            if isinstance(value, Primitive) and isinstance(value, _SUMS):
                delattr(network, name)
                setattr(network, name, _Observed(value, after=self._observer()))
        return changed

    def _replaced(self, cell: Cell) -> Cell | None:
        if isinstance(cell, nn.Conv2dBnAct):
            return self._combined(cell, "conv")
        if isinstance(cell, nn.DenseBnAct):
            return self._combined(cell, "dense")
        if type(cell) is nn.Conv2d:
            return _Observed(self._convolution(cell), before=self._observer())
        if type(cell) is nn.Dense:
            return _Observed(self._dense(cell), before=self._observer())
        return None

    def _sequences(self, sequence: nn.SequentialCell) -> bool:
        """Convolutions with the normalisation and the activation that follow them: the last ones become identities."""
        cells = list(sequence.name_cells().items())
        changed = False
        for place, (name, cell) in enumerate(cells):
            after = cells[place + 1 :]
            if type(cell) is not nn.Conv2d or not after or type(after[0][1]) is not nn.BatchNorm2d:
                continue
            _put(sequence, name, _Observed(self._folded(cell, after[0][1]), before=self._observer()))
            _put(sequence, after[0][0], nn.Identity())
            changed = True
        return changed

    # -- layers ------------------------------------------------------------------------------------------------------
    def _observer(self) -> Any:
        """Of activations: follows their range."""
        return self.quant_config.activation(ema=True, min_init=-6, max_init=6)

    def _combined(self, cell: Any, inner: str) -> Cell:
        """A Conv2dBnAct or DenseBnAct with its inner layer and its activation replaced."""
        layer = getattr(cell, inner)
        if inner == "dense":
            cell.dense = self._dense(layer)
        elif cell.has_bn:
            cell.conv = self._folded(layer, cell.batchnorm)
            cell.batchnorm, cell.has_bn = nn.Identity(), False
        else:
            cell.conv = self._convolution(layer)
        if cell.has_act:
            cell.activation = self._activation(cell.activation)
        elif cell.after_fake:
            cell.has_act, cell.activation = True, self._observer()
        return cell

    def _activation(self, activation: Any) -> Cell:
        if not isinstance(activation, _ACTIVATIONS):
            allowed = ", ".join(kind.__name__ for kind in _ACTIVATIONS)
            raise ValueError(f"the activation {type(activation).__name__} cannot be quantised; {allowed} can")
        unbounded = isinstance(activation, (nn.LeakyReLU, nn.HSigmoid, nn.HSwish))
        return quant.ActQuant(
            activation, ema=unbounded, fake_before=unbounded, quant_config=self.quant_config, quant_dtype=self.quant_dtype[1]
        )

    def _settings(self) -> dict[str, Any]:
        return {"quant_config": self.quant_config, "quant_dtype": self.quant_dtype[0]}

    def _dense(self, layer: Any) -> Cell:
        made = quant.DenseQuant(
            layer.in_channels, layer.out_channels, has_bias=layer.has_bias, activation=layer.activation, **self._settings()
        )
        return _sharing(made, layer)

    def _convolution(self, layer: Any) -> Cell:
        return _sharing(quant.Conv2dQuant(**_shape(layer), **self._settings()), layer)

    def _folded(self, layer: Any, norm: Any) -> Cell:
        more: dict[str, Any] = {**_shape(layer), "eps": norm.eps, "momentum": norm.momentum, **self._settings()}
        if self.bn_fold:
            made: Any = quant.Conv2dBnFoldQuant(freeze_bn=self.freeze_bn, **more)
        else:
            made = quant.Conv2dBnWithoutFoldQuant(**more)
        made.batchnorm = norm
        _sharing(made.conv, layer)
        return made


_SHAPE = ("in_channels", "out_channels", "kernel_size", "stride", "pad_mode", "padding", "dilation", "group", "has_bias")


def _shape(layer: Any) -> dict[str, Any]:
    """The arguments that quantised convolutions share with Conv2d."""
    return {name: getattr(layer, name) for name in _SHAPE}


def _sharing(made: Any, layer: Any) -> Any:
    """The new layer with the old one's parameters."""
    made.weight = layer.weight
    if layer.has_bias:
        made.bias = layer.bias
    return made


def _put(network: Cell, name: str, made: Cell) -> None:
    """Another Cell in the place of one."""
    if isinstance(network, nn.SequentialCell):
        network[list(network.name_cells()).index(name)] = made
    else:
        setattr(network, name, made)


def quantised_input(network: Cell, mean: float, std_dev: float) -> Cell:
    """A network behind a grid for pixels, numbers p of 8 bits given as (p - mean) / std_dev; 0 is on the grid."""
    low, high = -mean / std_dev, (255 - mean) / std_dev
    signed = low < 0
    observer = FakeQuantWithMinMaxObserver(low, high, symmetric=signed, narrow_range=signed).set_train(False)
    return _Observed(network, before=observer)


__all__ = ["OptimizeOption", "QuantizationAwareTraining", "create_quant_config", "quantised_input"]
