"""`register_method` and `add_stage`: a method is its function, run once on placeholders that note where values come from."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from mindspore_serving.checks import check_int, check_str, check_strs
from mindspore_serving.engine.declaration import Method, Place, Stage, current
from mindspore_serving.server.register.call_sources import checked_calls
from mindspore_serving.server.register.model import Model

_PLACEHOLDERS = "is a placeholder for data and must come from the method inputs or the outputs of add_stage"
F = TypeVar("F", bound=Callable[..., Any])


class _TensorDef:
    """A placeholder: an input of the method or an output of a stage."""

    def __init__(self, place: Place) -> None:
        self.place = place


_defining: ContextVar[Method | None] = ContextVar("method being defined", default=None)


@contextmanager
def _define(method: Method) -> Iterator[None]:
    token = _defining.set(method)
    try:
        yield
    finally:
        _defining.reset(token)


def method_being_defined(caller: str) -> Method:
    method = _defining.get()
    if method is None:
        raise RuntimeError(f"'{caller}' can only be used within a function that 'register_method' decorates")
    return method


def add_stage(stage: Any, *args: Any, outputs_count: int, batch_size: int | None = None, tag: str | None = None) -> Any:
    """Add a stage, a Python function or a declared model, to the method being defined. Returns its outputs' placeholders.

    `batch_size`: None, the function takes one instance's inputs; 0 or n, a tuple of instances (at most n of them).
    """
    method = method_being_defined("add_stage")
    if tag is not None:
        check_str("tag", tag)
    if not all(isinstance(item, _TensorDef) for item in args):
        raise RuntimeError(f"Each value of parameter *args {_PLACEHOLDERS}")
    check_int("outputs_count", outputs_count, 1)
    places = tuple(item.place for item in args)
    if isinstance(stage, Model):
        added = _model_stage(method, stage, places, outputs_count, tag)
    elif inspect.isfunction(stage):
        added = _function_stage(method, stage, places, outputs_count, batch_size, tag)
    else:
        raise RuntimeError(
            f"Check failed in method '{method.name}', the parameter 'stage' of add_stage must be function or Model returned by "
            f"declare_model, now is {type(stage)}"
        )
    method.stages.append(added)
    return _outputs(len(method.stages), outputs_count)


def _outputs(stage: int, count: int) -> Any:
    outputs = tuple(_TensorDef(Place(stage, number)) for number in range(count))
    return outputs[0] if count == 1 else outputs


def _model_stage(method: Method, model: Model, places: tuple[Place, ...], outputs: int, tag: str | None) -> Stage:
    if model.servable is not current():
        raise RuntimeError(
            f"Check failed in method '{method.name}', the parameter 'stage' of add_stage must be function or Model returned by "
            "declare_model, and ensure that interface 'declare_model' can take effect when importing servable_config.py by "
            "the serving server"
        )
    current().models[model.model_key].note_use(len(places), outputs)
    return Stage(places, outputs, tag or f"Model '{model.model_key}'", model=model.model_key)


def _function_stage(
    method: Method, function: Callable[..., Any], places: tuple[Place, ...], outputs: int, batch: int | None, tag: str | None
) -> Stage:
    name = f"{current().name}.{function.__name__}"
    if batch is None:
        count = len(inspect.signature(function).parameters)
        if count != len(places):
            raise RuntimeError(
                f"function {function.__name__} input args count {count} not match the count {len(places)} registered in method"
            )
    else:
        check_int("batch_size", batch, 0)
    current().note_function(name, len(places), outputs, batch is not None, method.name)
    return Stage(places, outputs, tag or f"Function '{name}'", function=function, batch=batch)


def register_method(output_names: Any) -> Callable[[F], F]:
    """Declare the decorated function as a method: its parameters name the inputs, `output_names` the outputs."""
    names = check_strs("output_names", output_names)

    def register(function: F) -> F:
        name = function.__name__
        inputs = _input_names(name, function)
        method = Method(name, inputs, names)
        with _define(method):
            returned = _run(function, [_TensorDef(Place(0, number)) for number in range(len(inputs))])
        if len(returned) != len(names):
            raise RuntimeError(f"Method return output size {len(returned)} not match registered {len(names)}")
        method.results = tuple(item.place for item in returned)
        current().add_method(method)
        return function

    return register


def _input_names(name: str, function: Callable[..., Any]) -> tuple[str, ...]:
    kinds = inspect.Parameter
    wrong = {kinds.VAR_POSITIONAL: "VAR_POSITIONAL", kinds.VAR_KEYWORD: "VAR_KEYWORD", kinds.KEYWORD_ONLY: "KEYWORD_ONLY"}
    parameters = inspect.signature(function).parameters
    for key, parameter in parameters.items():
        if parameter.kind in wrong:
            raise RuntimeError(f"'{name}' input {key} cannot be {wrong[parameter.kind]} !")
    return tuple(parameters)


def _run(function: Callable[..., Any], inputs: list[_TensorDef]) -> tuple[_TensorDef, ...]:
    with checked_calls(function):
        returned = function(*inputs)
    outputs = returned if isinstance(returned, (tuple, list)) else (returned,)
    if not all(isinstance(item, _TensorDef) for item in outputs):
        raise RuntimeError(f"Each value returned {_PLACEHOLDERS}")
    return tuple(outputs)
