"""What `Converter` and `converter_lite` do: read, check, optimise, quantise, write.

ONNX ─────────────────────────┐
TFLite ──▶ importers/ ──▶ ONNX messages ──▶ Source ──build──▶ Program (graph + weights) ──▶ `.ms`
MindIR ──────────────────────────────────▶    │                    │
                                              └── kept, for other shapes (resize)
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mindspore.formats.program import Program
from mindspore_lite import loading, model_file, source
from mindspore_lite.arrays import ArrayWriter
from mindspore_lite.container import NeedsValuesError
from mindspore_lite.model_file import LiteModel
from mindspore_lite.quantise.request import apply as request_quantised
from mindspore_lite.session import Session, compiled_kernels

if TYPE_CHECKING:
    from mindspore_lite.training.options import TrainOptions
    from mindspore_lite.training.plan import TrainPlan

_SUFFIX = {True: ".ms", False: ".mindir"}


class Request(NamedTuple):
    """All that a conversion is told."""

    kind: str  # ONNX, MINDIR, TFLITE …
    model: str
    output: str
    weights: str = ""
    config: dict[str, dict[str, str]] = {}
    lite: bool = True
    shapes: dict[str, tuple[int, ...]] = {}
    half: bool = False
    optimise: bool = True
    run: bool = False
    train: bool = False
    check: bool = False
    decrypt_key: bytes | None = None
    decrypt_mode: str = "AES-GCM"
    encrypt_key: bytes | None = None
    input_layout: str = ""  # of images; as the source has them, unless told
    output_layout: str = ""
    input_type: str = ""  # of inputs that are whole numbers
    output_type: str = ""


def convert(request: Request) -> str:
    """Write the converted model; returns the file's name. ValueError says why it cannot be done."""
    path = request.output if request.output.endswith(_SUFFIX[request.lite]) else request.output + _SUFFIX[request.lite]
    if not request.lite:
        return _as_mindir(request, path)
    origin, layout = read_source(request)
    if request.check:
        _check_layers(request)
    request, origin, layout = _with_layouts(request, origin, layout)
    if request.train:
        return _for_training(request, origin, layout, path)
    model = loading.prepare(origin, layout, _named_shapes(request, origin))
    arrays = ArrayWriter(request.half)
    model = request_quantised(model, arrays, request.config)
    _check_types(request, model)
    if request.run:
        _try(model)
    if "micro_param" in request.config:
        _write_sources(request, model, path)
    code = compiled_kernels(model.program) if model.program is not None else {}
    model = LiteModel(model.inputs, model.outputs, model.layout, model.program, model.origin, _info(request), code)
    model_file.write(path, model, arrays, request.encrypt_key)
    return path


def _with_layouts(request: Request, origin: source.Source, have: str) -> tuple[Request, source.Source, str]:
    """The source with its images in the order that is asked for, and the request for it; sizes are given as the source has them."""
    wanted = {"input": request.input_layout or have, "output": request.output_layout or have}
    if set(wanted.values()) == {have}:
        return request, origin, have
    if not isinstance(origin, source.OnnxSource):
        raise ValueError(f"a {request.kind} model keeps the order of its dimensions ({have}): leave inputDataFormat and outputDataFormat")
    from mindspore_lite.importers import layouts

    model = origin.model
    if wanted["input"] != have:
        model = layouts.with_inputs_turned(model, have)
        shapes = _named_shapes(request, origin)
        request = request._replace(shapes={name: layouts.turned_shape(shape, have) for name, shape in shapes.items()})
    if wanted["output"] != have:
        model = layouts.with_outputs_turned(model, have)
    return request, source.OnnxSource(model), wanted["input"]


def _check_types(request: Request, model: LiteModel) -> None:
    """ValueError where whole numbers are asked for that a model does not take or give."""
    for name, wanted, specs in (("inputs", request.input_type, model.inputs), ("outputs", request.output_type, model.outputs)):
        other = [spec for spec in specs if wanted and str(spec.dtype) != wanted]
        if other:
            raise ValueError(
                f"the type {wanted} is asked for {name}, but '{other[0].name}' is {other[0].dtype}: models keep the types of their source"
            )


_CLOSE = 1e-3  # of the largest magnitude of a layer


def _check_layers(request: Request) -> None:
    """Print how far apart layers are; ValueError where they part. A model that comes quantised is compared as it stands in its file."""
    from mindspore_lite import layer_check

    origin, _ = read_source(request, grids=False)
    if not isinstance(origin, source.OnnxSource):
        raise ValueError(f"check compares ONNX and TFLite models with ONNX Runtime; there is no other engine for {request.kind}")
    *told, last = layer_check.report(layer_check.check(origin, _named_shapes(request, origin)), _CLOSE)
    for line in told:
        print(line, flush=True)
    if last.startswith("CHECK FAILED"):
        raise ValueError(last)
    print(last, flush=True)


def _for_training(request: Request, origin: source.Source, layout: str, path: str) -> str:
    """A model with the graphs that train it."""
    from mindspore_lite.training import file, gradients, options, plan

    others = [name for name in ("common_quant_param",) if name in request.config]
    if others or request.half or request.encrypt_key is not None:
        given = others[0] if others else "weight_fp16" if request.half else "encryption"
        raise ValueError(f"{given} is for inference: models for training keep their weights as they are")
    settings = options.TrainOptions.from_section(request.config.get("train_param", {}))
    shapes = {spec.name: spec.shape for spec in origin.inputs()} | _named_shapes(request, origin)
    made = plan.plan(lambda pieces: _piece(origin, shapes, pieces), settings)
    if made.needed:
        again = f", THE FORWARD PASS IN {made.segments} SEGMENTS, COMPUTED TWICE: {made.extra:.0%} MORE WORK" if made.segments > 1 else ""
        print(f"TRAINING TAKES {made.needed} BYTES OF {settings.memory}: THE BATCH IN {made.pieces} PIECE(S){again}", flush=True)
    arrays = ArrayWriter()
    inputs = tuple(spec._replace(shape=shapes[spec.name]) for spec in made.program.inputs)
    evaluated = gradients.evaluation(made.program)
    whole = LiteModel(inputs, made.program.outputs, layout, evaluated, origin, _info(request))
    if "micro_param" in request.config:
        _write_training_sources(request, evaluated, made, settings, layout, path)
    extra = file.sections(made, gradients.loss_of(made.program, settings.loss), settings, arrays)
    model_file.write(path, whole, arrays, None, extra)
    return path


def _piece(origin: source.Source, shapes: dict[str, tuple[int, ...]], pieces: int) -> Program | None:
    """The program for a part of the batch, the first size of every input that has one."""
    if any(size < 0 for shape in shapes.values() for size in shape):
        return None
    batch = max((shape[0] for shape in shapes.values() if shape), default=1)
    if batch % pieces:
        return None
    cut = {n: (s[0] // pieces, *s[1:]) if s and s[0] == batch else s for n, s in shapes.items()}
    try:
        return origin.build(cut, {})
    except NeedsValuesError:
        return None


def _write_sources(request: Request, model: LiteModel, path: str) -> None:
    """C sources and libraries, where `[micro_param]` asks for them."""
    from mindspore_lite.aot import project

    options = project.MicroOptions.from_config(request.config, path.removesuffix(".ms"))
    if options is None:
        return
    if options.train:
        raise ValueError("codegen_mode = Train is for models that are converted for training (--trainModel=true)")
    project.write_project(project.generate(model, options.name), options)


def _write_training_sources(
    request: Request, evaluated: Program, made: TrainPlan, settings: TrainOptions, layout: str, path: str
) -> None:
    """The same for a model that learns."""
    from mindspore_lite.aot import project

    options = project.MicroOptions.from_config(request.config, path.removesuffix(".ms"))
    if options is None:
        return
    if not options.train:
        raise ValueError("a model that is converted for training gives sources for training: set codegen_mode = Train")
    project.write_project(project.generate_training(evaluated, made, settings, options.name, layout), options)


def read_source(request: Request, grids: bool = True) -> tuple[source.Source, str]:
    """The model as messages, and the layout of its images; `grids`: with those of a model that comes quantised made out."""
    if request.kind == "MINDIR":
        return source.from_mindir(request.model, request.decrypt_key, request.decrypt_mode), "NCHW"
    if request.kind == "ONNX":
        from mindspore_lite.quantise import stored

        origin = source.from_onnx(request.model)
        origin = source.OnnxSource(stored.with_grids(origin.model)) if grids else origin
        origin.check()
        return origin, "NCHW"
    if request.kind == "TFLITE":
        from mindspore_lite.importers import tflite
        from mindspore_lite.quantise import stored

        read = tflite.read(request.model)
        return source.OnnxSource(stored.with_grids(read) if grids else read), "NHWC"
    if request.kind == "CAFFE":
        from mindspore_lite.importers import caffe

        return source.OnnxSource(caffe.read(request.model, request.weights)), "NCHW"
    if request.kind == "TF":
        from mindspore_lite.importers.tensorflow import files

        return source.OnnxSource(files.read(request.model)), "NHWC"
    if request.kind == "PYTORCH":
        from mindspore.formats.torch_export import convert as torch_export

        return source.OnnxSource(torch_export.read(request.model, request.shapes)), "NCHW"
    raise ValueError(f"models of {request.kind} cannot be read; CAFFE, MINDIR, ONNX, PYTORCH, TF and TFLITE can")


def _named_shapes(request: Request, origin: source.Source) -> dict[str, tuple[int, ...]]:
    known = {spec.name: spec for spec in origin.inputs()}
    for name, shape in request.shapes.items():
        if name not in known:
            raise ValueError(f"input_shape names '{name}', but the model's inputs are {sorted(known)}")
        if len(shape) != len(known[name].shape):
            raise ValueError(f"input_shape of '{name}' must have {len(known[name].shape)} sizes, but got {list(shape)}")
    return request.shapes


def _info(request: Request) -> dict[str, str]:
    info = {"user_info": "", "source_file": os.path.basename(request.model)}
    dims = request.config.get("acl_build_options", {}).get("ge.dynamicDims", "")
    return {**info, "dynamic_dims": dims} if dims else info


def _try(model: LiteModel) -> None:
    """Run the model once on zeros."""
    if any(size < 0 for spec in model.inputs for size in spec.shape):
        raise ValueError("the model leaves sizes of its inputs open: give input_shape to run it")
    Session(model).run([np.zeros(spec.shape, spec.dtype.np) for spec in model.inputs])


def _as_mindir(request: Request, path: str) -> str:
    """A `.mindir` file: models that are MindIR already stay as they are."""
    if request.kind != "MINDIR":
        raise ValueError("save_type MINDIR is for MindIR models; others are converted to MINDIR_LITE (.ms) files")
    source.from_mindir(request.model, request.decrypt_key, request.decrypt_mode)  # a damaged file is refused
    if request.encrypt_key is not None or request.decrypt_key is not None:
        raise ValueError("encryption is for MINDIR_LITE files here")
    if os.path.realpath(path) != os.path.realpath(request.model):
        part = f"{path}.part"
        shutil.copyfile(request.model, part)
        os.replace(part, path)
    return path
