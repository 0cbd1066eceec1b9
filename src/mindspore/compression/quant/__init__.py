"""Quantisation-aware training: `QuantizationAwareTraining` puts rounding into a network, training does the rest."""

from mindspore.compression.quant.qat import OptimizeOption, QuantizationAwareTraining, create_quant_config
from mindspore.compression.quant.quant_utils import load_nonquant_param_into_quant_net, query_quant_layers

__all__ = [
    "OptimizeOption", "QuantizationAwareTraining", "create_quant_config", "load_nonquant_param_into_quant_net",
    "query_quant_layers",
]  # fmt: skip
