"""`export` and `load`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mindspore import context
from mindspore._base.protobuf import DecodeError
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.compiler import driver, parse
from mindspore.compiler.parse.entry import Place, Traced, tensors_in
from mindspore.ir.abstract import Abstract, AbstractNone, AbstractTensor, AbstractTuple
from mindspore.ir.mindir_program import Program
from mindspore.ir.mindir_proto import ModelProto, UserInfoEntry
from mindspore.ir.mindir_writer import GraphWriter, ModelWriter
from mindspore.nn.cell import Cell
from mindspore.train import cipher
from mindspore.train._free_sizes import free_sizes, has_free_sizes, with_sizes
from mindspore.train._mindir.files import Decrypt, external_reader, read_model, save_model
from mindspore.train._mindir.free_sizes import generalise
from mindspore.train._mindir.graph_cell import LoadedGraph
from mindspore.train._mindir.lowering import lower
from mindspore.train._mindir.preprocess import add_preprocessing

_FORMATS = ("MINDIR", "ONNX", "AIR")
_VERSION = "2.10.0"
_RANDOM = "rng_state"
_OPTIONS = frozenset(("dataset", "enc_key", "enc_mode", "custom_func", "incremental", "obf_config", "onnx_config"))


def export(net: Any, *inputs: Any, file_name: str, file_format: str, **kwargs: Any) -> None:
    """Write a network as a file that runs without its Python.

    Args:
        net: a Cell or a function.
        inputs: example inputs; a Tensor made with `shape=` may have None where a size is not fixed.
        file_name: the file; the suffix is added when missing.
        file_format: "MINDIR" or "ONNX". "AIR" is a format of Ascend tools and cannot be written here.
        dataset: with "MINDIR": a dataset whose `map` operations are stored with the model.
        enc_key, enc_mode: encrypt with AES ("AES-GCM", "AES-CBC"), or by a function `enc_mode(content, key)`.
        custom_func: a function that may change the model before it is written.

    Examples:
        >>> net = nn.Dense(2, 1)
        >>> ms.export(net, ops.ones((1, 2)), file_name="net", file_format="MINDIR")
        >>> nn.GraphCell(ms.load("net.mindir"))(ops.ones((1, 2))).shape
        (1, 1)
    """
    if not isinstance(file_name, str):
        raise ValueError(f"For 'export', 'file_name' must be a string, but got {type(file_name)}.")
    if file_format not in _FORMATS:
        raise ValueError(f"For 'export', 'file_format' must be one of {_FORMATS}, but got {file_format!r}.")
    unknown = set(kwargs) - _OPTIONS
    if unknown:
        raise ValueError(f"For 'export', there is no argument {sorted(unknown)[0]!r}.")
    if file_format == "AIR":
        raise ValueError("For 'export', the AIR format needs Ascend's own tools; export as 'MINDIR' or 'ONNX'.")
    if not isinstance(net, Cell) and not callable(net):
        raise TypeError(f"For 'export', 'net' must be a Cell or a function, but got {type(net)}.")
    if not os.path.basename(file_name):
        raise ValueError(f"For 'export', 'file_name' must name a file, but {file_name!r} is a directory.")
    path = os.path.realpath(file_name)
    if file_format == "ONNX":
        if kwargs.get("enc_key") is not None:
            raise ValueError("For 'export', only MINDIR files can be encrypted.")
        from mindspore.train._onnx.export import network_onnx, save_onnx

        save_onnx(network_onnx(lambda given: trace_network(net, given), inputs), path)
        return
    model = network_model(net, inputs)
    if kwargs.get("dataset") is not None:
        add_preprocessing(model, kwargs["dataset"])
    if kwargs.get("custom_func") is not None:
        _customise(model, kwargs["custom_func"])
    from mindspore.train import serialization

    limits = (int(size * 1024) for size in (serialization.TOTAL_SAVE, serialization.PARAMETER_SPLIT_SIZE))
    save_model(model, path, _encryptor(kwargs), *limits)


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
    cipher.check_key("export", "enc_key", key, mode, "enc_mode")
    return lambda content: b"".join(cipher.encrypt(content, key, mode))


def trace_network(net: Any, inputs: tuple) -> Traced:
    """The network as one optimised graph, in the mode (training or not) it is in."""
    concrete = tuple(_as_input(i) for i in inputs)
    function = getattr(net, "function", net) if not isinstance(net, Cell) else net
    traced = parse.trace(function, concrete, {}, _name_of(net), context.get_context("max_call_depth"))
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
    if not has_free_sizes(inputs):
        return write_model(trace_network(net, inputs), inputs, name).model
    traced = ((trace_network(net, given), given) for given in (with_sizes(inputs, number) for number in (0, 1)))
    first, second = (write_model(one, given, name) for one, given in traced)
    return generalise(first, second.model, free_sizes(inputs))


def write_model(traced: Traced, inputs: tuple, name: str) -> ModelWriter:
    """A network, traced with these inputs, as a MindIR model."""
    owner = ModelWriter(lower, _VERSION)
    writer = GraphWriter(owner, f"{name}_{owner.number()}")
    graph = traced.graph
    nodes = iter(graph.parameters[: traced.arguments])
    for value in inputs:
        _declare_input(writer, value, nodes)
    for node, weight in zip(graph.parameters[traced.arguments :], traced.weights):
        value = np.asarray(weight.asnumpy())
        # the state of random numbers is no part of a model: official operations have their own
        writer.bind(node, writer.constant(value) if weight.name == _RANDOM else writer.parameter(weight.name, value))
    outputs = graph.output.args if isinstance(graph.output.abstract, AbstractTuple) else (graph.output,)
    result, kind = _structure(writer, traced.result, outputs)
    if any(parameter.name != _RANDOM for parameter, _ in traced.written):
        result = _with_writes(writer, traced, outputs, result, kind)
    writer.finish(result, kind)
    owner.model.graph = writer.proto
    return owner


def _declare_input(writer: GraphWriter, value: Any, nodes: Iterator[Any]) -> None:
    """Declare one argument: a tensor as it is, a sequence as a tuple whose items are taken out in the graph."""
    if not isinstance(value, (tuple, list)):
        for _ in tensors_in(value):
            node = next(nodes)
            writer.bind(node, writer.input(node.name, node.abstract))
        return
    held: list[Any] = []

    def kind_of(item: Any) -> AbstractTuple:
        parts: list[Abstract] = []
        for part in item:
            if isinstance(part, (tuple, list)):
                parts.append(kind_of(part))
            elif tensors_in(part):
                held.append(next(nodes))
                parts.append(held[-1].abstract)
        return AbstractTuple(tuple(parts))

    kind = kind_of(value)
    if held:
        dynamic = bool(getattr(value, "__ms_dynamic__", False))
        _take_apart(writer, writer.input(held[0].name, kind, dynamic_length=dynamic), kind, iter(held))


def _take_apart(writer: GraphWriter, name: str, kind: AbstractTuple, nodes: Iterator[Any]) -> None:
    for place, part in enumerate(kind.elements):
        item = writer.get_item(name, place, part)
        if isinstance(part, AbstractTuple):
            _take_apart(writer, item, part, nodes)
        else:
            writer.bind(next(nodes), item)


def _structure(writer: GraphWriter, template: Any, outputs: Any) -> tuple[str, Abstract]:
    """Emit the result: tensors at their places, sequences as tuples."""
    if type(template) is Place:
        node = outputs[template.index]
        return writer.name_of(node), node.abstract
    if isinstance(template, dict):
        template = tuple(template.values())
    if isinstance(template, (tuple, list)):
        parts = [_structure(writer, item, outputs) for item in template]
        kind = AbstractTuple(tuple(k for _, k in parts))
        return writer.make_tuple([n for n, _ in parts], kind), kind
    if isinstance(template, Tensor):
        return writer.constant(template.asnumpy()), AbstractTensor(template.dtype, tuple(template.shape))
    return writer.constant(template), AbstractNone()


def _with_writes(writer: GraphWriter, traced: Traced, outputs: Any, result: str, kind: Abstract) -> str:
    """The result after the new values of Parameters have been assigned."""
    names = {id(w): n for n, w in zip(traced.graph.parameters[traced.arguments :], traced.weights)}
    effects = []
    for parameter, index in traced.written:
        if parameter.name == _RANDOM:
            continue
        target, value = writer.name_of(names[id(parameter)]), writer.name_of(outputs[index])
        effects.append(writer.emit("Assign", [target, value], outputs[index].abstract))
    return writer.after(result, kind, effects)


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
    path = os.path.realpath(file_name)
    decrypt = _decryptor(kwargs)
    model = read_model(path, decrypt)
    try:
        return LoadedGraph(Program(model, external_reader(file_name, decrypt)), model.preprocessor)
    except cipher.WrongKeyError as error:
        raise ValueError(f"The weights of {file_name} cannot be decrypted with this 'dec_key': {error}.") from None
    except DecodeError as error:
        raise ValueError(f"The file {file_name} is no MindIR model or is damaged: {error}.") from None


def _decryptor(kwargs: dict[str, Any]) -> Decrypt | None:
    key, mode = kwargs.get("dec_key"), kwargs.get("dec_mode", "AES-GCM")
    if key is None:
        return None
    if callable(mode):
        return lambda path, content: mode(path, key)
    cipher.check_key("load", "dec_key", key, mode, "dec_mode")
    return lambda path, content: cipher.decrypt(content, key, mode)


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
