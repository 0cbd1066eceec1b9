"""Networks for THOR, the second-order optimizer: their layers record the factors of the curvature."""

from __future__ import annotations

from typing import Any

from mindspore import nn
from mindspore.nn.cell import Cell


class ConvertNetUtils:
    """Replaces the layers of a network by those that `nn.thor` needs.

    Examples:
        >>> from mindspore import nn
        >>> from mindspore.train import ConvertNetUtils
        >>> net = nn.SequentialCell([nn.Dense(3, 4), nn.ReLU()])
        >>> ConvertNetUtils().convert_to_thor_net(net)
        >>> type(net[0]).__name__
        'DenseThor'
    """

    def convert_to_thor_net(self, net: Cell) -> None:
        """Replace `Dense`, `Conv2d`, `Embedding` and `EmbeddingLookup` by the layers for THOR; parameters stay the same objects."""
        for name, child in list(net.name_cells().items()):
            converted = _converted(child)
            if converted is child:
                self.convert_to_thor_net(child)
            else:
                net._cells[name] = converted


def _converted(cell: Cell) -> Cell:
    """The layer for THOR, or the cell itself when there is none."""
    if type(cell) is nn.Dense:
        activation = cell.activation if cell.activation_flag else None
        made: Cell = nn.DenseThor(cell.in_channels, cell.out_channels, has_bias=cell.has_bias, activation=activation)
    elif type(cell) is nn.Conv2d and cell.group == 1:
        made = nn.Conv2dThor(
            cell.in_channels, cell.out_channels, cell.kernel_size, cell.stride, cell.pad_mode, cell.padding,
            cell.dilation, has_bias=cell.has_bias,
        )  # fmt: skip
    elif type(cell) is nn.Embedding:
        made = nn.EmbeddingThor(cell.vocab_size, cell.embedding_size, cell.use_one_hot, "zeros", cell.dtype)
    elif type(cell) is nn.EmbeddingLookup:
        made = nn.EmbeddingLookupThor(cell.vocab_size, cell.embedding_size, "zeros", max_norm=cell.max_norm)
    else:
        return cell
    prefix = next(iter(cell._params.values())).name.rpartition(".")[0]
    prefix = f"{prefix}." if prefix else ""
    for name, parameter in made._params.items():
        if name in cell._params:
            made._params[name] = cell._params[name]
        elif parameter is not None:
            parameter.name = prefix + name
    made.set_train(cell.training)
    made.__dict__["_cell_tag"] = cell.__dict__.get("_cell_tag", "")
    return made


class ConvertModelUtils:
    """Makes a Model for THOR.

    Examples:
        >>> train.ConvertModelUtils().__class__.__name__
        'ConvertModelUtils'
    """

    @staticmethod
    def convert_to_thor_model(
        model: Any,
        network: Cell,
        loss_fn: Any = None,
        optimizer: Any = None,
        metrics: Any = None,
        amp_level: str = "O0",
        loss_scale_manager: Any = None,
        keep_batchnorm_fp32: bool = False,
    ) -> Any:
        """The given model: the optimizer itself renews the curvature now and then, so training needs no other loop."""
        return model


__all__ = ["ConvertModelUtils", "ConvertNetUtils"]
