"""Networks to MindIR and ONNX files and back: Cells and Tensors on this side, `mindspore.formats` on the other."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore import context
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.compiler import driver, parse
from mindspore.compiler.parse.entry import Traced
from mindspore.compression.quant.qat import quantised_input
from mindspore.formats import encryption
from mindspore.formats.free_sizes import free_sizes, has_free_sizes, with_sizes
from mindspore.formats.mindir.export import write_model
from mindspore.formats.mindir.files import Decrypt, read_model, save_model
from mindspore.formats.mindir.free_sizes import generalise
from mindspore.formats.mindir.load import read_steps
from mindspore.formats.mindir.messages import ModelProto, UserInfoEntry
from mindspore.formats.mindir.preprocessing import add_preprocessing
from mindspore.formats.onnx.export import network_onnx, save_onnx
from mindspore.formats.onnx.load import read_model as read_onnx
from mindspore.nn.cell import Cell
from mindspore.nn.graph_cell import LoadedGraph
from mindspore.nn.onnx_cell import OnnxCell
from mindspore.prims import world
from mindspore.prims.values import SizeUnknownError
from mindspore.runtime.context import current
from mindspore.train.device_part import device_part

_FORMATS = ("MINDIR", "ONNX", "AIR")
_OPTIONS = frozenset((
    "dataset", "enc_key", "enc_mode", "custom_func", "incremental", "obf_config", "onnx_config", "quant_mode", "mean", "std_dev",
))  # fmt: skip
_QUANT_MODES = ("NONQUANT", "AUTO", "MANUAL", "QUANT")


def export_network(
    net: Any, inputs: tuple, file_name: str, file_format: str, options: dict[str, Any], limits: tuple[int, int]
) -> None:
    """`export`; `limits`: bytes of weights that are split off the model's file, and of each file of weights."""
    if not isinstance(file_name, str):
        raise ValueError(f"For 'export', 'file_name' must be a string, but got {type(file_name)}.")
    if file_format not in _FORMATS:
        raise ValueError(f"For 'export', 'file_format' must be one of {_FORMATS}, but got {file_format!r}.")
    unknown = set(options) - _OPTIONS
    if unknown:
        raise ValueError(f"For 'export', there is no argument {sorted(unknown)[0]!r}.")
    if file_format == "AIR":
        raise ValueError("For 'export', the AIR format needs Ascend's own tools; export as 'MINDIR' or 'ONNX'.")
    if not isinstance(net, Cell) and not callable(net):
        raise TypeError(f"For 'export', 'net' must be a Cell or a function, but got {type(net)}.")
    if not os.path.basename(file_name):
        raise ValueError(f"For 'export', 'file_name' must name a file, but {file_name!r} is a directory.")
    path = os.path.realpath(file_name)
    net = _with_quantised_input(net, options)
    try:
        _write(net, inputs, path, file_format, options, limits)
    except SizeUnknownError as error:
        what = str(error).partition("\n")[0].partition(". ")[0]
        raise ValueError(
            f"For 'export', {what}, but the sizes in a file are fixed. Return a mask, or a result of the largest size with the "
            "number of elements that count, and cut it behind the model."
        ) from error


def _with_quantised_input(net: Any, options: dict[str, Any]) -> Any:
    """With `quant_mode`: the network takes pixels of 8 bits as (pixel - mean) / std_dev, and its file says so."""
    mode = options.get("quant_mode", "NONQUANT")
    if mode not in _QUANT_MODES:
        raise ValueError(f"For 'export', 'quant_mode' must be one of {_QUANT_MODES}, but got {mode!r}.")
    if mode == "NONQUANT":
        return net
    mean, deviation = options.get("mean", 127.5), options.get("std_dev", 127.5)
    if deviation <= 0 or not 0 <= mean <= 255:
        raise ValueError(f"For 'export', 'std_dev' must be positive and 'mean' from 0 to 255, but got {deviation} and {mean}.")
    return quantised_input(net, float(mean), float(deviation))


def _write(
    net: Any, inputs: tuple, path: str, file_format: str, options: dict[str, Any], limits: tuple[int, int]
) -> None:
    if file_format == "ONNX":
        if options.get("enc_key") is not None:
            raise ValueError("For 'export', only MINDIR files can be encrypted.")
        save_onnx(network_onnx(lambda given: trace_network(net, given), inputs), path)
        return
    model = network_model(net, inputs)
    if options.get("dataset") is not None:
        add_preprocessing(model, options["dataset"])
    if options.get("custom_func") is not None:
        _customise(model, options["custom_func"])
    save_model(model, path, _encryptor(options), *limits)


def _customise(model: Any, function: Callable[[Any], Any]) -> None:
    """Let `function` change the model; notes of the user are a dict meanwhile."""
    model.user_info = {note.key: note.value for note in model.user_info}
    try:
        function(model)
    finally:
        model.user_info = [UserInfoEntry(key=str(k), value=str(v)) for k, v in dict(model.user_info).items()]


def _name_of(net: Any) -> str:
    return getattr(net, "__name__", None) or type(net).__name__


def _encryptor(kwargs: dict[str, Any]) -> Callable[[Any], bytes] | None:
    key, mode = kwargs.get("enc_key"), kwargs.get("enc_mode", "AES-GCM")
    if key is None:
        return None
    if callable(mode):
        return lambda content: mode(content, key)
    encryption.check_key("export", "enc_key", key, mode, "enc_mode")
    return lambda content: b"".join(encryption.encrypt(content, key, mode))


def trace_network(net: Any, inputs: tuple) -> Traced:
    """The network as one optimised graph, in the mode (training or not) it is in."""
    concrete = tuple(_as_input(i) for i in inputs)
    function = getattr(net, "function", net) if not isinstance(net, Cell) else net
    traced = parse.trace(function, concrete, {}, _name_of(net), context.get_context("max_call_depth"), checked=False)
    driver.optimise(traced.graph)
    return traced


def _as_input(value: Any) -> Any:
    """An input of the graph, even if the user passes a Parameter or an array."""
    if isinstance(value, Parameter):
        return Tensor(value.asnumpy())
    return Tensor(value) if isinstance(value, np.ndarray) else value


def network_model(net: Any, inputs: tuple) -> ModelProto:
    """The MindIR model of a network."""
    name = _name_of(net)
    inputs = tuple(_as_input(i) for i in inputs)
    cut = current().sharding
    if cut is not None and cut.devices * cut.stages > 1:
        if has_free_sizes(inputs):
            raise ValueError("For 'export', inputs must have fixed sizes where the network is cut over devices.")
        rank = context.get_auto_parallel_context("global_rank") if world.transport().size == 1 else world.transport().rank
        return write_model(device_part(trace_network(net, inputs), cut, rank), inputs, name).model
    if not has_free_sizes(inputs):
        return write_model(trace_network(net, inputs), inputs, name).model
    traced = ((trace_network(net, given), given) for given in (with_sizes(inputs, number) for number in (0, 1)))
    first, second = (write_model(one, given, name) for one, given in traced)
    return generalise(first, second.model, free_sizes(inputs))


def load(file_name: str, **kwargs: Any) -> LoadedGraph:
    """Read a MindIR file; give the result to `nn.GraphCell`.

    Args:
        file_name: the file.
        dec_key, dec_mode: the key and mode of an encrypted file; `dec_mode` may be a function `(file name, key)` that
            returns the content.

    Examples:
        >>> ms.export(nn.ReLU(), ops.ones(2), file_name="relu", file_format="MINDIR")
        >>> print(nn.GraphCell(ms.load("relu.mindir"))(Tensor([-1.0, 2.0])))
        [0. 2.]
    """
    unknown = set(kwargs) - {"dec_key", "dec_mode", "dec_func", "obf_func"}
    if unknown:
        raise ValueError(f"For 'load', there is no argument {sorted(unknown)[0]!r}.")
    if not isinstance(file_name, str):
        raise ValueError(f"For 'load', 'file_name' must be a string, but got {type(file_name)}.")
    if not file_name.endswith(".mindir"):
        raise ValueError(f"For 'load', 'file_name' must end with '.mindir', but got {file_name!r}.")
    steps, model = read_steps(file_name, _decryptor(kwargs))
    return LoadedGraph(steps, model.preprocessor)


def _decryptor(kwargs: dict[str, Any]) -> Decrypt | None:
    key, mode = kwargs.get("dec_key"), kwargs.get("dec_mode", "AES-GCM")
    if key is None:
        return None
    if callable(mode):
        return lambda path, content: mode(path, key)
    encryption.check_key("load", "dec_key", key, mode, "dec_mode")
    return lambda path, content: encryption.decrypt(
        content, key, mode, pieces=not path.endswith(".mindir")
    )  # weights apart


def load_mindir(file_name: str) -> ModelProto:
    """The model of a MindIR file as messages, to look at or change; write it with `save_mindir`.

    Examples:
        >>> ms.export(nn.ReLU(), ops.ones(2), file_name="relu", file_format="MINDIR")
        >>> len(ms.load_mindir("relu.mindir").graph.node)
        1
    """
    return read_model(os.path.realpath(file_name), None)


def save_mindir(model: ModelProto, file_name: str) -> None:
    """Write a model that `load_mindir` returned.

    Examples:
        >>> ms.export(nn.ReLU(), ops.ones(2), file_name="relu", file_format="MINDIR")
        >>> ms.save_mindir(ms.load_mindir("relu.mindir"), "copy.mindir")
        >>> print(nn.GraphCell(ms.load("copy.mindir"))(Tensor([-1.0, 2.0])))
        [0. 2.]
    """
    if not isinstance(model, ModelProto):
        raise TypeError(f"For 'save_mindir', 'model' must be what load_mindir returned, but got {type(model)}.")
    save_model(model, os.path.realpath(file_name), None)


def load_onnx(file_name: str) -> OnnxCell:
    """Read an ONNX file into a trainable Cell.

    Examples:
        >>> import numpy as np
        >>> import mindspore as ms
        >>> from mindspore import nn
        >>> from mindspore.train.serialization import load_onnx
        >>> net, x = nn.Dense(3, 2), ms.Tensor(np.ones((1, 3), np.float32))
        >>> ms.export(net, x, file_name="doc_example.onnx", file_format="ONNX")
        >>> bool(np.allclose(load_onnx("doc_example.onnx")(x).asnumpy(), net(x).asnumpy()))
        True
    """
    if not isinstance(file_name, str) or not os.path.isfile(file_name):
        raise ValueError(f"For 'load_onnx', there is no file {file_name!r}.")
    return OnnxCell(read_onnx(file_name), file_name)
