"""What a configuration asks for: quantised weights, whole layers, or nothing."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from mindspore_lite.arrays import ArrayWriter
from mindspore_lite.container import as_json
from mindspore_lite.model_file import LiteModel
from mindspore_lite.quantise import calibration, full, packed, ranges, trained
from mindspore_lite.quantise.full import FullOptions, Layer
from mindspore_lite.quantise.weights import QuantiseOptions, Sections, quantise_weights, skipped, truth
from mindspore_lite.session import compile_program
from mindspore_lite.source import FixedSource, MindirSource

KINDS = ("WEIGHT_QUANT", "FULL_QUANT", "DYNAMIC_QUANT")


def apply(model: LiteModel, arrays: ArrayWriter, config: Sections) -> LiteModel:
    """The model as the configuration wants it."""
    common = config.get("common_quant_param", {})
    kind = common.get("quant_type", "")
    if kind in ("", "FULL_QUANT") and model.program is not None and trained.has_grids(model.program):
        return _as_trained(model, config)
    if not kind:
        return model
    if kind not in KINDS:
        raise ValueError(f"quant_type must be one of {list(KINDS)}, but got {kind!r}")
    if model.program is None:
        raise ValueError("quantisation needs a graph: the model leaves sizes open; give input_shape")
    options = QuantiseOptions.from_config(config)
    if options is not None:
        return _with_weights(model, arrays, config, options)
    if common.get("bit_num", "8") != "8":
        raise ValueError(f"bit_num must be 8 for {kind}, but got {common['bit_num']!r}")
    return _in_layers(model, config, _options(config, kind == "DYNAMIC_QUANT"))


def _as_trained(model: LiteModel, config: Sections) -> LiteModel:
    """Layers in whole numbers by the ranges of training; with samples, layers without such a range as well."""
    assert model.program is not None
    program, known = trained.without_grids(model.program)
    options = _options(config, False)
    layers = full.Finder(program).layers(options)
    seen = trained.ranges_of(layers, known)
    section = config.get("data_preprocess_param", {})
    if section:
        others = [layer for layer in layers if any(node.id not in seen for node in layer.seen)]
        data = calibration.samples(section, program.inputs, model.layout)
        seen = {**full.calibrate(program, others, data, compile_program), **seen}
    layers = [layer if all(node.id in seen for node in layer.seen) else layer.without_curve() for layer in layers]
    layers = [layer for layer in layers if layer.source.id in seen]
    if not layers and not isinstance(model.origin, MindirSource):
        return model  # a model that came quantised: floats are rounded to its grids
    if not layers:
        raise ValueError("no layer has both a range of its input and fixed weights: export the network in evaluation mode")
    made = full.quantise(program, layers, seen, options._replace(bias_correction=False))
    return model.with_program(made, FixedSource(model.inputs))


def _with_weights(model: LiteModel, arrays: ArrayWriter, config: Sections, options: QuantiseOptions) -> LiteModel:
    """Weights of fewer bits: in the file alone, or where they are used, too."""
    strategy = config.get("weight_quant_param", {}).get("dequant_strategy", "")
    if strategy not in ("", "ON_THE_FLY"):
        raise ValueError(f"dequant_strategy must be ON_THE_FLY, but got {strategy!r}")
    if not strategy:
        return quantise_weights(model, arrays, options)
    assert model.program is not None
    made = packed.with_bits(model.program, options.bits, options.smallest, options.skip)
    return model.with_program(made, FixedSource(model.inputs))


def _options(config: Sections, dynamic: bool) -> FullOptions:
    own = config.get("dynamic_quant_param" if dynamic else "full_quant_param", {})
    method = own.get("activation_quant_method", "MAX_MIN")
    if method not in ranges.METHODS:
        raise ValueError(f"activation_quant_method must be one of {list(ranges.METHODS)}, but got {method!r}")
    if own.get("target_device", "") not in ("", "CPU"):
        raise ValueError(f"target_device must be CPU, but got {own['target_device']!r}")
    return FullOptions(
        method,
        truth("per_channel", own.get("per_channel", "true")),
        truth("bias_correction", own.get("bias_correction", "true")) and not dynamic,
        skipped(config.get("common_quant_param", {})),
        dynamic,
    )


def _in_layers(model: LiteModel, config: Sections, options: FullOptions) -> LiteModel:
    program = model.program
    assert program is not None
    layers = full.Finder(program).layers(options)
    if not layers:
        raise ValueError("the model has no convolution or product with fixed weights to quantise")
    seen: dict[int, ranges.Range] = {}
    data: list[list[np.ndarray]] = []
    if not options.dynamic:
        section = config.get("data_preprocess_param", {})
        data = list(calibration.samples(section, program.inputs, model.layout))
        seen = full.calibrate(program, layers, data, compile_program)
    place = config.get("common_quant_param", {}).get("debug_info_save_path", "")
    if place and not options.dynamic:
        _report(os.path.join(place, "quantisation.json"), model, layers, seen, options, data[:4])
    made = full.quantise(program, layers, seen, options)
    return model.with_program(made, FixedSource(model.inputs))


def _report(path: str, model: LiteModel, layers: list[Layer], seen: dict[int, Any], options: FullOptions, data: Any) -> None:
    """How much the results change when one layer alone is quantised, the most sensitive first."""
    program = model.program
    assert program is not None
    exact = [compile_program(program)(*sample) for sample in data]
    rows = []
    for layer in layers:
        run = compile_program(full.quantise(program, [layer], seen, options))
        found = [run(*sample) for sample in data]
        error = sum(float(np.square(a - b).sum()) for x, y in zip(exact, found) for a, b in zip(x, y) if a.dtype.kind == "f")
        size = sum(float(np.square(a).sum()) for x in exact for a in x if a.dtype.kind == "f")
        span = seen[layer.source.id]
        rows.append({
            "layer": layer.name, "kind": layer.head.op.name, "relative_error": (error / max(size, 1e-30)) ** 0.5,
            "largest_input": span.largest, "step": span.scale(options.method), "type": span.kind,
        })  # fmt: skip
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(f"{path}.part", "wb") as stream:
        stream.write(as_json(sorted(rows, key=lambda row: -row["relative_error"])))
    os.replace(f"{path}.part", path)
