"""From `torch.export`'s programs to ONNX messages.

An exported program is a list of calls of ATen operations on tensors whose types are known, sizes possibly as symbols. Operations
without a rule are taken apart by PyTorch's own decompositions first; what has no rule then is reported, all of it at once. Parameters and
buffers become initializers under the names they have in the module's `state_dict`.
"""

from __future__ import annotations

import operator
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mindspore._base.optional import require
from mindspore.formats.onnx.writing import ModelWriter
from mindspore.formats.torch_export import elementwise, layers, reductions, selection, shapes  # noqa: F401 - they fill the table
from mindspore.formats.torch_export.registry import Value, find, numpy_type, type_name
from mindspore.formats.torch_export.writer import AtenWriter

_PURPOSE = "Reading a PyTorch model"


class UnsupportedTorchError(ValueError):
    """A module uses operations that have no form here."""


def read(path: str, sizes: Mapping[str, Sequence[int]] | None = None) -> Any:
    """The ONNX message of a file of `torch.export.save`, or of TorchScript, for which `sizes` must give the inputs' shapes, in order."""
    torch = require("torch", "torch", _PURPOSE)
    try:
        with zipfile.ZipFile(path) as archive:
            script = any(name.endswith("/constants.pkl") or "/code/" in name for name in archive.namelist())
    except (OSError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is no file of torch.export.save or torch.jit.save: {error}") from None
    try:
        if script:
            return to_onnx(_from_script(torch, path, sizes or {}), list(sizes or ()))
        return to_onnx(torch.export.load(path))
    except UnsupportedTorchError:
        raise
    except Exception as error:  # PyTorch's readers raise errors of every kind for damaged files
        raise ValueError(f"{path} cannot be read: {error}") from None


def _from_script(torch: Any, path: str, sizes: Mapping[str, Sequence[int]]) -> Any:
    """TorchScript keeps no shapes: they are asked for."""
    from importlib import import_module

    module = torch.jit.load(path, map_location="cpu").eval()
    if not sizes or any(n < 0 for shape in sizes.values() for n in shape):
        raise ValueError("a TorchScript file does not say its inputs' shapes: give them all with input_shape")
    examples = tuple(torch.zeros(tuple(shape)) for shape in sizes.values())
    converter = import_module("torch._export.converter")  # PyTorch's own way from TorchScript to torch.export
    return converter.TS2EPConverter(module, examples, {}).convert()


def export(module: Any, arguments: Sequence[Any], names: Mapping[str, Any] | None = None, dynamic_shapes: Any = None) -> Any:
    """The ONNX message of a `torch.nn.Module` called with these arguments."""
    torch = require("torch", "torch", "Converting a PyTorch module")
    return to_onnx(torch.export.export(module, tuple(arguments), dict(names or {}), dynamic_shapes=dynamic_shapes))


def to_onnx(exported: Any, names: Sequence[str] = ()) -> Any:
    """The ONNX message of an exported program; `names` of its inputs, where they are to have others."""
    exported = exported.run_decompositions(_decompositions())
    changed = [*exported.graph_signature.buffers_to_mutate.values(), *exported.graph_signature.user_inputs_to_mutate.values()]
    if changed:
        raise UnsupportedTorchError(f"the module changes {changed} when it is called; call eval() on it before it is exported")
    _check(exported.graph)
    return _Conversion(exported, names).model()


def _decompositions() -> dict[Any, Any]:
    """PyTorch's, but for operations that have a rule."""
    table = require("torch", "torch", _PURPOSE).export.default_decompositions()
    return {op: how for op, how in table.items() if find(*_names(op)) is None}


def _names(target: Any) -> tuple[str, str]:
    """An operation's name and its overload's."""
    if hasattr(target, "_schema"):
        return target._schema.name.removeprefix("aten::"), target._overloadname
    return getattr(target, "__name__", str(target)), ""


#: calls that only check or note something
_WITHOUT_RESULT = ("_assert_scalar", "_assert_async", "_assert_tensor_metadata", "sym_constrain_range", "sym_constrain_range_for_size")


def _check(graph: Any) -> None:
    missing: dict[str, list[str]] = {}
    for node in graph.nodes:
        if node.op != "call_function" or node.target is operator.getitem or _names(node.target)[0] in _WITHOUT_RESULT:
            continue
        if find(*_names(node.target)) is None:
            missing.setdefault(str(node.target), []).append(_place(node))
    if missing:
        listed = "; ".join(f"{op} (at {', '.join(at[:5])}{' …' * (len(at) > 5)})" for op, at in missing.items())
        raise UnsupportedTorchError(
            f"the model uses PyTorch operations that are not supported: {listed}. Write them with simpler ones"
        )


def _place(node: Any) -> str:
    """The module that a node is from, or its own name."""
    stack = node.meta.get("nn_module_stack") or {}
    return next((str(path[0]) for path in reversed(list(stack.values())) if path[0]), node.name)


class _Conversion:
    def __init__(self, exported: Any, names: Sequence[str]):
        self.exported = exported
        self.names = iter(names)
        self.writer = ModelWriter(_PURPOSE)
        self.values: dict[str, Any] = {}  # by names of nodes: a Value, or a list of them
        self.symbols: dict[str, str] = {}

    def model(self) -> Any:
        inputs: list[Any] = []
        outputs: list[Any] = []
        held = self._held()
        for node in self.exported.graph.nodes:
            if node.op == "placeholder":
                inputs += self._placeholder(node, held)
            elif node.op == "output":
                outputs = [self._output(value) for value in _flat(node.args[0])]
            elif node.op == "get_attr":
                raise UnsupportedTorchError(f"the model has a graph inside '{node.target}' (torch.cond, map, scan), which is not supported")
            elif _names(node.target)[0] not in _WITHOUT_RESULT:
                self.values[node.name] = self._call(node)
        return self.writer.model("main", inputs, outputs)

    # -- what goes in and out -------------------------------------------------------------------------------------
    def _held(self) -> dict[str, tuple[str, Any]]:
        """Placeholders that stand for parameters, buffers and constants: their names and tensors."""
        signature, found = self.exported.graph_signature, {}
        for table in (signature.inputs_to_parameters, signature.inputs_to_buffers, signature.inputs_to_lifted_tensor_constants):
            for placeholder, name in table.items():
                source = self.exported.state_dict if name in self.exported.state_dict else self.exported.constants
                found[placeholder] = (name, source[name])
        return found

    def _placeholder(self, node: Any, held: Mapping[str, tuple[str, Any]]) -> list[Any]:
        if node.name in held:
            name, tensor = held[node.name]
            if node.users:  # counters of batches are not read
                known = name in self.writer.initializers
                self.values[node.name] = Value(name if known else self.writer.constant(_array(tensor), name), node.meta["val"])
            return []
        fake = node.meta["val"]
        if fake is None or isinstance(fake, (bool, int, float, str)):
            self.values[node.name] = fake  # the program is for this value
            return []
        if not hasattr(fake, "dtype"):
            raise UnsupportedTorchError(f"the input '{node.name}' is a number that is left open; give tensors")
        name = self.writer.reserve(next(self.names, node.name))
        self.values[node.name] = Value(name, fake)
        return [self.writer.info(name, numpy_type(type_name(fake.dtype)), [self._size(size) for size in fake.shape])]

    def _size(self, size: Any) -> int | str:
        return size if isinstance(size, int) else self.symbols.setdefault(str(size), str(size))

    def _output(self, node: Any) -> Any:
        value = self.values[node.name] if hasattr(node, "name") else node
        if value is None or isinstance(value, (bool, int, float)):
            raise UnsupportedTorchError("the model gives a number or None; give tensors")
        name = self.writer.fresh("output")
        self.writer.node("Identity", [value.name], [name])
        shape = () if value.is_number else [self._size(size) for size in value.fake.shape]
        return self.writer.info(name, numpy_type(value.dtype), shape)

    # -- calls ----------------------------------------------------------------------------------------------------
    def _call(self, node: Any) -> Any:
        if node.target is operator.getitem:
            return self.values[node.args[0].name][node.args[1]]
        how = find(*_names(node.target))
        assert how is not None
        fake = node.meta.get("val")
        found = how(AtenWriter(self.writer, fake), *self._arguments(node))
        if isinstance(found, list):
            return [Value(name, kind) for name, kind in zip(found, fake)]
        return found if isinstance(found, Value) else Value(found, fake)

    def _arguments(self, node: Any) -> list[Any]:
        """In the order of the schema, with defaults."""
        given = [self._argument(a) for a in node.args]
        if not hasattr(node.target, "_schema"):
            return given
        rest = node.target._schema.arguments[len(given) :]
        return given + [
            self._argument(node.kwargs[a.name]) if a.name in node.kwargs else a.default_value if a.has_default_value() else None
            for a in rest
        ]

    def _argument(self, argument: Any) -> Any:
        if isinstance(argument, (list, tuple)):
            return [self._argument(a) for a in argument]
        return self.values[argument.name] if hasattr(argument, "op") and hasattr(argument, "name") else argument


def _flat(value: Any) -> list[Any]:
    return [leaf for item in value for leaf in _flat(item)] if isinstance(value, (list, tuple)) else [value]


def _array(tensor: Any) -> np.ndarray:
    tensor = tensor.detach().cpu().contiguous()
    name = type_name(tensor.dtype)
    if name == "bfloat16":
        torch = require("torch", "torch", _PURPOSE)
        return np.asarray(tensor.view(torch.int16).numpy().view(numpy_type(name)))
    return np.asarray(tensor.numpy())


__all__ = ["UnsupportedTorchError", "export", "read", "to_onnx"]
