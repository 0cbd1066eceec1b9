"""What a servable declares: models, and methods made of stages. Filled while its `servable_config.py` is imported.

    method(x1, x2)  ──▶  stage 1: function  ──▶  stage 2: model  ──▶  …  ──▶  outputs
                         inputs are places (stage, number); stage 0 is the method's own inputs

The declaration being filled is found through a ContextVar, so that two can be read in two threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Place(NamedTuple):
    """Where a value comes from: an output of a stage; stage 0 are the inputs of the method."""

    stage: int
    number: int


@dataclass
class ModelDeclaration:
    key: str
    files: tuple[str, ...]
    format: str
    with_batch_dim: bool = True
    without_batch_dim_inputs: tuple[int, ...] = ()
    threads: int | None = None
    ranks: int = 0  # of a model that is cut over agents; 0: the worker runs it
    #: subgraph -> (inputs, outputs) that stages use
    counts: dict[int, tuple[int, int]] = field(default_factory=dict)

    def note_use(self, inputs: int, outputs: int, subgraph: int = 0) -> None:
        """All stages that use a subgraph must agree on its numbers of inputs and outputs."""
        old = self.counts.setdefault(subgraph, (inputs, outputs))
        for what, new, before in (("inputs", inputs, old[0]), ("outputs", outputs, old[1])):
            if new != before:
                raise RuntimeError(
                    f"RegisterInputOutputInfo failed, {what} count {new} not match old count {before}, model: {self.key}"
                )


@dataclass
class Stage:
    """A Python function or a model. `batch`: the function takes a tuple of instances; None: one instance's inputs."""

    inputs: tuple[Place, ...]
    outputs: int
    tag: str
    function: Callable[..., Any] | None = None
    batch: int | None = None
    model: str | None = None


@dataclass
class Method:
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    stages: list[Stage] = field(default_factory=list)
    results: tuple[Place, ...] = ()

    @property
    def only_models(self) -> bool:
        return all(stage.model is not None for stage in self.stages)


@dataclass
class Servable:
    """All that one `servable_config.py` declares."""

    name: str
    models: dict[str, ModelDeclaration] = field(default_factory=dict)
    methods: dict[str, Method] = field(default_factory=dict)
    #: function name -> (inputs, outputs, takes a batch): one meaning for all methods
    functions: dict[str, tuple[int, int, bool]] = field(default_factory=dict)
    #: runs a declared model: (key, instances, subgraph) -> instances; there once the models are loaded
    call_model: Callable[[str, list[tuple[Any, ...]], int], list[tuple[Any, ...]]] | None = None

    def add_model(self, model: ModelDeclaration) -> None:
        for file in model.files:
            if any(file in other.files for other in self.models.values()):
                raise RuntimeError(f"Declare model {list(model.files)} failed, model file '{file}' has already been used")
        self.models[model.key] = model

    def add_method(self, method: Method) -> None:
        if method.name in self.methods:
            raise RuntimeError(f"Method {method.name} has been registered more than once.")
        self.methods[method.name] = method

    def note_function(self, name: str, inputs: int, outputs: int, batched: bool, method: str) -> None:
        """A function used by several stages has the same numbers of inputs and outputs in all of them."""
        known_inputs, known_outputs, known_batched = self.functions.setdefault(name, (inputs, outputs, batched))
        where = f"method name '{method}'"
        if known_inputs != inputs:
            raise RuntimeError(
                f"Stage function '{name}' inputs count {inputs} not match last registered count {known_inputs}, {where}"
            )
        if known_outputs != outputs:
            raise RuntimeError(
                f"Stage function '{name}' outputs count {outputs} not match last registered count {known_outputs}, {where}"
            )
        if known_batched != batched:
            raise RuntimeError(
                f"Failed to add stage function {name}: parameter 'batch_size' in multiple 'add_stage' should be enabled or "
                "disabled consistently"
            )


_declaring: ContextVar[Servable | None] = ContextVar("servable being declared", default=None)


@contextmanager
def declaring(servable: Servable) -> Iterator[Servable]:
    """Declarations made within go to this servable."""
    token = _declaring.set(servable)
    try:
        yield servable
    finally:
        _declaring.reset(token)


def current() -> Servable:
    servable = _declaring.get()
    if servable is None:
        raise RuntimeError("Failed to obtain the directory of servable_config.py: models and methods are declared in it, "
                           "when the serving server imports it")  # fmt: skip
    return servable
