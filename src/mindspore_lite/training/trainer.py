"""`TrainModel`: a converted model that learns."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mindspore._base.files import read_file
from mindspore.backends import cpu
from mindspore.backends.base import Backend
from mindspore.backends.interp import InterpBackend
from mindspore.formats import checkpoint
from mindspore.formats.spec import TensorSpec, checked
from mindspore.ir import FuncGraph
from mindspore_lite import _checks as check
from mindspore_lite import model_file
from mindspore_lite.arrays import ArrayWriter
from mindspore_lite.container import Container
from mindspore_lite.context import Context
from mindspore_lite.training import file, gradients

_SLOT, _STEP = "lite.slot", "lite.step"


class TrainModel:
    """Trains a model that was converted with `--trainModel=true`.

    Examples:
        >>> model = mslite.TrainModel()
        >>> model.build_from_file("net.ms")
        >>> loss = model.run_step([images, labels])
        >>> model.save_checkpoint("net.ckpt")
    """

    def __init__(self) -> None:
        self._path = ""
        self._training: file.Training | None = None

    def build_from_file(self, model_path: str, context: Context | None = None) -> None:
        """Load a model; RuntimeError when it is none, or one that was not converted for training."""
        check.instance("model_path", model_path, str)
        context = Context() if context is None else context
        check.instance("context", context, Context)
        if not os.path.exists(model_path):
            raise RuntimeError("build_from_file failed, model_path does not exist!")
        try:
            container = Container.open(model_path)
            arrays = model_file.arrays_of(container)
            self._model = model_file.read_sections(container, arrays)
            training = file.read(container, arrays)
        except ValueError as error:
            raise RuntimeError(f"build_from_file failed! Error is the file {model_path} cannot be used: {error}") from None
        assert self._model.program is not None  # of every file that has training
        self._path, self._training = model_path, training
        self._backend: Backend = (
            cpu.CpuBackend(threads=context.cpu.thread_num) if cpu.available() else InterpBackend()
        )
        changing = {*training.graphs.trained, *training.graphs.changed}  # the others stay in the file
        self.weights = {n: np.array(a) if n in changing else a for n, a in self._model.program.weights.items()}
        self._slots = gradients.slots([self.weights[n] for n in training.graphs.trained], training.options)
        self._rate, self._virtual = training.options.rate, training.options.virtual_batch
        self._sums: list[np.ndarray] | None = None
        self._gathered = 0
        self.steps = 0
        self._train_mode = True
        self._compiled: dict[str, Any] = {}
        self._evaluator: Any = None

    def _built(self) -> file.Training:
        if self._training is None:
            raise RuntimeError("Session is null, please build model first!")
        return self._training

    def inputs(self) -> tuple[TensorSpec, ...]:
        """What a step takes."""
        self._built()
        return self._model.inputs

    # -- settings ---------------------------------------------------------------------------------------------------
    @property
    def train_mode(self) -> bool:
        """Whether `run_step` learns; otherwise it evaluates."""
        return self._train_mode

    @train_mode.setter
    def train_mode(self, value: bool) -> None:
        check.instance("train_mode", value, bool)
        self._train_mode = value

    @property
    def learning_rate(self) -> float:
        return self._rate

    @learning_rate.setter
    def learning_rate(self, value: float) -> None:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
            raise ValueError(f"learning_rate must be a number of at least 0, but got {value!r}.")
        self._rate = float(value)

    def setup_virtual_batch(self, virtual_batch_multiplier: int, learning_rate: float | None = None) -> None:
        """Weights change after so many steps, by the mean of their gradients."""
        if isinstance(virtual_batch_multiplier, bool) or not isinstance(virtual_batch_multiplier, int) or virtual_batch_multiplier < 1:
            raise ValueError(f"virtual_batch_multiplier must be an int of at least 1, but got {virtual_batch_multiplier!r}.")
        self._built()
        if learning_rate is not None:
            self.learning_rate = learning_rate
        self._virtual, self._sums, self._gathered = virtual_batch_multiplier, None, 0

    # -- running ------------------------------------------------------------------------------------------------------
    def run_step(self, inputs: Sequence[Any]) -> float:
        """One step on arrays, one for each input; returns the loss. Nothing changes when it fails."""
        training = self._built()
        arrays = self._checked(inputs)
        if not self._train_mode:
            return float(np.mean(self.predict(inputs)[training.loss]))
        losses = []
        for piece in self._pieces(arrays):
            gathers = training.pieces > 1 or self._virtual > 1
            losses.append(self._gather(piece) if gathers else self._step(piece))
        self.steps += 1
        return float(np.mean(losses))

    def _pieces(self, arrays: list[np.ndarray]) -> list[list[np.ndarray]]:
        count = self._built().pieces
        if count == 1:
            return [arrays]
        program = self._model.program
        assert program is not None
        cut = [
            np.split(a, count) if a.shape != spec.shape else [a] * count for a, spec in zip(arrays, program.inputs)
        ]
        return [list(piece) for piece in zip(*cut)]

    def _checked(self, inputs: Sequence[Any]) -> list[np.ndarray]:
        program, pieces = self._model.program, self._built().pieces
        assert program is not None
        if len(inputs) != len(program.inputs):
            raise ValueError(f"the model takes {len(program.inputs)} inputs, but got {len(inputs)}.")
        arrays = [np.ascontiguousarray(x, spec.dtype.np) for x, spec in zip(inputs, program.inputs)]
        for array, spec, given in zip(arrays, program.inputs, self._model.inputs):
            if array.shape != given.shape and array.shape != spec.shape:
                raise ValueError(f"the input '{spec.name}' must have the shape {given.shape}, but got {array.shape}.")
        if pieces > 1 and all(a.shape == s.shape for a, s in zip(arrays, program.inputs)):
            raise ValueError(f"the inputs must be a whole batch, of shapes {[s.shape for s in self._model.inputs]}.")
        return arrays

    def _executable(self, name: str) -> Any:
        """A graph, compiled when it is first needed; what it changes is overwritten in place where that is possible."""
        if name not in self._compiled:
            graph: FuncGraph = getattr(self._built().graphs, name)
            own = {p.name for p in graph.parameters if p.name.startswith(("slot", "sum."))}
            mine = own if name == "gather" else {*self._built().graphs.trained, *own}
            donated = frozenset(n for n, p in enumerate(graph.parameters) if p.name in mine)
            self._compiled[name] = self._backend.compile(graph, donated)
        return self._compiled[name]

    def _run(self, name: str, *arrays: np.ndarray) -> list[np.ndarray]:
        found = [np.asarray(value) for value in self._executable(name)(*arrays)]
        record = getattr(self._built().graphs, name).attrs.get("record")
        if record and int(found[record[0]]):
            raise ValueError(f"a value that the model computes with is not allowed: {float(found[record[1]]):g}")
        return found

    def _step(self, arrays: list[np.ndarray]) -> float:
        graphs = self._built().graphs
        rate = np.array(self._rate, np.float32)
        found = iter(self._run("step", *arrays, *self.weights.values(), *self._slots, rate))
        outputs = [next(found) for _ in range(graphs.outputs)]
        loss = float(np.mean(outputs[self._built().loss]))
        self.weights.update({name: next(found) for name in (*graphs.changed, *graphs.trained)})
        self._slots = [next(found) for _ in self._slots]
        return loss

    def _gather(self, arrays: list[np.ndarray]) -> float:
        training = self._built()
        graphs = training.graphs
        if self._sums is None:
            self._sums = [np.zeros(self.weights[name].shape, np.float32) for name in graphs.trained]
        found = iter(self._run("gather", *arrays, *self.weights.values(), *self._sums))
        outputs = [next(found) for _ in range(graphs.outputs)]
        loss = float(np.mean(outputs[training.loss]))
        self.weights.update({name: next(found) for name in graphs.changed})
        self._sums = [next(found) for _ in graphs.trained]
        self._gathered += 1
        if self._gathered == self._virtual * training.pieces:
            self._apply()
        return loss

    def _apply(self) -> None:
        graphs = self._built().graphs
        assert self._sums is not None
        part, rate = np.array(1 / self._gathered, np.float32), np.array(self._rate, np.float32)
        trained = [self.weights[name] for name in graphs.trained]
        found = iter(self._run("apply", *trained, *self._sums, part, *self._slots, rate))
        self.weights.update({name: next(found) for name in graphs.trained})
        self._slots = [next(found) for _ in self._slots]
        self._sums, self._gathered = None, 0

    def predict(self, inputs: Sequence[Any]) -> list[np.ndarray]:
        """The outputs for inputs of the shapes that one piece has, without learning."""
        self._built()
        program = self._model.program
        assert program is not None
        if self._evaluator is None:
            self._evaluator = self._backend.compile(program.graph)
        given = checked(program.inputs, [np.ascontiguousarray(x, s.dtype.np) for x, s in zip(inputs, program.inputs)])
        found = self._evaluator(*given, *self.weights.values())
        return [np.asarray(value) for value in found[: len(program.outputs)]]

    # -- weights ------------------------------------------------------------------------------------------------------
    def update_weights(self, weights: Mapping[str, np.ndarray]) -> None:
        """Other values for weights, by name: all of them, or none where one does not fit."""
        self._built()
        for name, array in weights.items():
            if name not in self.weights:
                raise KeyError(f"the model has no weight '{name}'")
            if self.weights[name].shape != np.shape(array):
                raise ValueError(f"the weight '{name}' has the shape {self.weights[name].shape}, not {np.shape(array)}")
        self.weights.update({n: np.array(a, self.weights[n].dtype) for n, a in weights.items()})

    def export_weights(self, path: str) -> None:
        """The weights as a `.ckpt` file, which `mindspore.load_checkpoint` reads."""
        self._built()
        checkpoint.write(path, dict(self.weights))

    def save_checkpoint(self, path: str) -> None:
        """Weights, the optimizer's state and the number of steps: the file is the old one or the new one, never a part."""
        self._built()
        slots = {f"{_SLOT}{n}": array for n, array in enumerate(self._slots)}
        checkpoint.write(path, {**self.weights, **slots, _STEP: np.array(self.steps, np.int64)}, checksum=True)

    def load_checkpoint(self, path: str) -> None:
        """Go on from a checkpoint, of `save_checkpoint` or of the framework; ValueError when it does not fit."""
        self._built()
        found = checkpoint.read(read_file(path), path)
        weights = {n: np.asarray(a) for n, a in found.items() if n in self.weights and isinstance(a, np.ndarray)}
        if not weights:
            raise ValueError(f"the checkpoint {path} has none of the model's weights")
        slots = [found.get(f"{_SLOT}{n}") for n in range(len(self._slots))]
        self.update_weights(weights)
        if all(isinstance(s, np.ndarray) and s.shape == own.shape for s, own in zip(slots, self._slots)):
            self._slots = [np.array(slot) for slot in slots]
        step = found.get(_STEP)
        self.steps = int(step) if isinstance(step, np.ndarray) else 0
        self._sums, self._gathered = None, 0

    def export_model(self, path: str) -> None:
        """A `.ms` file for inference with the weights at hand."""
        self._built()
        program = self._model.program
        assert program is not None
        model = self._model.with_program(program._replace(weights=self.weights))
        model_file.write(path if path.endswith(".ms") else f"{path}.ms", model, ArrayWriter())


__all__ = ["TrainModel"]
