"""Models of a worker: files → compiled functions → answers for instances.

A model with a batch dimension takes as many instances at once as its file says; the last batch is filled up with copies
of its last instance. A model whose batch is open is compiled for powers of two as they are needed.

Subgraphs share weights by name. What one leaves in them (keys and values of a prompt, say) the next one finds there: a first
graph reads a whole prompt, a second one continues it token by token.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mindspore.backends.cpu import CpuBackend
from mindspore.formats import encryption, mindir, onnx
from mindspore.formats.mindir.files import Decrypt
from mindspore.formats.mindir.operations import UnknownOperationError
from mindspore.formats.onnx.load import read_model
from mindspore.formats.program import Program, State
from mindspore_serving.engine.declaration import ModelDeclaration
from mindspore_serving.engine.errors import ServingError

Array = np.ndarray[Any, Any]
#: instances at once where the model's file leaves it open
OPEN_BATCH = 32


@dataclass(frozen=True)
class TensorInfo:
    """An input or output of a subgraph, as its file describes it; -1: open."""

    name: str
    dtype: str
    shape: tuple[int, ...]


def decryption(key: bytes | None, mode: str) -> Decrypt | None:
    """How to read encrypted files; ValueError for a wrong key."""
    if key is None:
        return None

    def decrypt(path: str, data: Any) -> bytes:
        try:
            return encryption.decrypt(data, key, mode)
        except encryption.WrongKeyError as error:
            raise ValueError(f"{path} cannot be decrypted with this key and mode: {error}") from None

    return decrypt


def input_shapes(path: str, decrypt: Decrypt | None) -> dict[str, tuple[int, ...]]:
    """The shapes of the inputs as the file gives them; -1: open."""
    if path.endswith(".onnx"):
        inputs = {tensor.name: tensor.type.tensor_type.shape.dim for tensor in read_model(path).graph.input}
        return {name: tuple(d.dim_value if d.HasField("dim_value") else -1 for d in dims) for name, dims in inputs.items()}
    steps, _ = mindir.read_steps(path, decrypt)
    return {name: tuple(info.tensor[0].dims) if info.tensor else () for name, info in steps.input_types}


def _official(dtype: str) -> str:
    """The official messages' name of a type."""
    return f"kMSI_{dtype.capitalize()}"


class Subgraph:
    """One file of a model."""

    def __init__(self, path: str, declaration: ModelDeclaration, decrypt: Decrypt | None, state: State) -> None:
        self._path, self._decrypt, self._declaration, self._state = path, decrypt, declaration, state
        open_inputs = {name: shape for name, shape in input_shapes(path, decrypt).items() if -1 in shape}
        self._open = open_inputs if declaration.with_batch_dim else {}
        self.batch = OPEN_BATCH if self._open else 1
        program = self._load(1)
        self._compiled = {1: program.compile(CpuBackend(), state)}
        self.inputs = tuple(self._info(spec) for spec in program.inputs)
        self.outputs = tuple(self._info(spec) for spec in program.outputs)
        if not self._open:
            self.batch = self._batch()
            self._compiled = {self.batch: self._compiled[1]}

    def _load(self, batch: int) -> Program:
        shapes = {name: (batch, *shape[1:]) for name, shape in self._open.items()}
        if self._path.endswith(".onnx"):
            return onnx.load(self._path, shapes=shapes)
        try:
            return mindir.load(self._path, shapes=shapes, decrypt=self._decrypt)
        except UnknownOperationError:  # the framework has more; loading it takes time and memory
            from mindspore.nn.graph_operations import graph_operations

            return mindir.load(self._path, shapes=shapes, decrypt=self._decrypt, operations=graph_operations())

    def _info(self, spec: Any) -> TensorInfo:
        shape = tuple(spec.shape)
        is_open = bool(self._open) and (spec.name in self._open or spec.name not in self._input_names())
        return TensorInfo(spec.name, np.dtype(spec.dtype.np).name, (-1, *shape[1:]) if is_open else shape)

    def _input_names(self) -> set[str]:
        return {info.name for info in getattr(self, "inputs", ())} | set(self._open)

    def batched(self, place: int) -> bool:
        return self._declaration.with_batch_dim and place not in self._declaration.without_batch_dim_inputs

    def _batch(self) -> int:
        sizes = {info.shape[0] for place, info in enumerate(self.inputs) if self.batched(place) and info.shape}
        return max(sizes) if sizes else 1

    def _function(self, count: int) -> tuple[int, Callable[..., tuple[Array, ...]]]:
        """(batch, function) for this many instances."""
        batch = min(1 << (count - 1).bit_length(), self.batch) if self._open else self.batch
        if batch not in self._compiled:
            self._compiled[batch] = self._load(batch).compile(CpuBackend(), self._state)
        return batch, self._compiled[batch]

    def portion(self, count: int) -> int:
        """How many of so many instances to run at once: filling up by more than a third would cost more than a second run."""
        if not self._open or count >= self.batch:
            return self.batch
        full = 1 << (count - 1).bit_length()
        return count if count > full * 3 // 4 else full // 2

    def compute(self, arguments: Sequence[Array]) -> tuple[Array, ...]:
        """Outputs for whole batches of inputs."""
        return self._compiled[self.batch](*arguments)

    def run(self, instances: Sequence[tuple[Any, ...]]) -> list[tuple[Array, ...]]:
        """The outputs of at most `batch` instances, which were checked."""
        batch, run = self._function(len(instances))
        arguments = []
        for place, info in enumerate(self.inputs):
            given = [np.asarray(instance[place]) for instance in instances]
            if not self.batched(place):
                arguments.append(np.ascontiguousarray(given[-1].reshape(info.shape)))
                continue
            given += [given[-1]] * (batch - len(given))
            arguments.append(np.stack([array.reshape(info.shape[1:]) for array in given]))
        outputs = run(*arguments)
        if not self._declaration.with_batch_dim:
            return [tuple(np.array(output) for output in outputs)]
        return [tuple(np.array(output[number]) for output in outputs) for number in range(len(instances))]

    def check(self, instance: tuple[Any, ...]) -> None:
        """ServingError unless sizes and types of an instance are the model's."""
        if len(instance) != len(self.inputs):
            raise ServingError(f"Given model inputs size {len(instance)} less than model inputs size {len(self.inputs)}")
        for place, (value, info) in enumerate(zip(instance, self.inputs)):
            array = np.asarray(value)
            shape = info.shape[1:] if self.batched(place) else info.shape
            size = math.prod(shape) * np.dtype(info.dtype).itemsize
            if array.nbytes != size:
                raise ServingError(f"Given model input {place} size {array.nbytes} not match the size {size} defined in model")
            if array.dtype != info.dtype:
                raise ServingError(
                    f"Given model input {place} data type {_official(array.dtype.name)} not match the data type "
                    f"{_official(info.dtype)} defined in model"
                )


def load_subgraphs(declaration: ModelDeclaration, folder: str, decrypt: Decrypt | None = None) -> tuple[Subgraph, ...]:
    """The files of a model."""
    state = State()
    return tuple(Subgraph(os.path.join(folder, file), declaration, decrypt, state) for file in declaration.files)


class LoadedModel:
    """A declared model, ready to run."""

    def __init__(self, declaration: ModelDeclaration, subgraphs: tuple[Subgraph, ...]) -> None:
        self.declaration = declaration
        self.subgraphs = subgraphs
        for number, (inputs, outputs) in declaration.counts.items():
            found = self.subgraphs[number]
            for what, declared, own in (("inputs", inputs, found.inputs), ("outputs", outputs, found.outputs)):
                if declared != len(own):
                    raise RuntimeError(
                        f"The {what} count {declared} in register_method not equal to the count {len(own)} defined in model, "
                        f"model info: {declaration.key}"
                    )

    @property
    def batch(self) -> int:
        return self.subgraphs[0].batch

    def run(self, instances: Sequence[tuple[Any, ...]], subgraph: int = 0) -> list[tuple[Array, ...] | ServingError]:
        """An answer for each instance."""
        graph = self.subgraphs[subgraph]
        answers: list[Any] = []
        for instance in instances:
            try:
                graph.check(instance)
                answers.append(None)
            except ServingError as error:
                answers.append(error)
        valid = [number for number, answer in enumerate(answers) if answer is None]
        while valid:
            size = graph.portion(len(valid))
            part, valid = valid[:size], valid[size:]
            for number, outputs in zip(part, graph.run([instances[number] for number in part])):
                answers[number] = outputs
        return answers

    def call(self, instances: list[tuple[Any, ...]], subgraph: int) -> list[tuple[Any, ...]]:
        """As Python stages call it: the first mistake is an exception."""
        if not instances:
            raise RuntimeError("Input instances count is 0")
        if subgraph >= len(self.subgraphs):
            raise RuntimeError(
                f"The model does not have subgraph of index {subgraph}, the subgraph count of the model is {len(self.subgraphs)}"
            )
        count = len(self.subgraphs[subgraph].inputs)
        for number, instance in enumerate(instances):
            if len(instance) != count:
                raise RuntimeError(
                    f"The inputs count {len(instance)} of instance {number} is not equal to the inputs count {count} of the model"
                )
        answers = self.run(instances, subgraph)
        for answer in answers:
            if isinstance(answer, ServingError):
                raise RuntimeError(answer.message)
        return [answer for answer in answers if not isinstance(answer, ServingError)]
