"""ONNX If, Loop, Scan and SequenceMap: operators over nested graphs.

Conditions and trip counts that are known (always so in PyNative mode) are followed step by step. While a graph is being
built and they are not, If becomes a branch and Loop a while loop of that graph; then a Loop cannot collect its steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore.formats.control import choose, interpreted, repeat
from mindspore.formats.onnx.registry import NeedsValuesError, P, as_tensor, is_known, tensor

CONTROL: dict[str, Callable[..., tuple]] = {}
_ENDLESS = np.iinfo(np.int64).max


def _control(name: str) -> Callable[[Callable], Callable]:
    def register(function: Callable) -> Callable:
        CONTROL[name] = function
        return function

    return register


def _flag(value: Any) -> bool:
    return bool(np.asarray(value if isinstance(value, np.ndarray) else np.asarray(value._data)).reshape(-1)[0])


def _tensors(values: tuple) -> tuple:
    if any(isinstance(value, list) for value in values):
        raise NeedsValuesError("A sequence that comes from a branch or a loop needs a condition that is known.")
    return tuple(as_tensor(v) for v in values)


@_control("If")
def _if(inputs: list[Any], attributes: dict[str, Any], values: dict, opset: int) -> tuple:
    condition = inputs[0]
    then, otherwise = attributes["then_branch"], attributes["else_branch"]
    if is_known(condition):
        return (then if _flag(condition) else otherwise).run((), values)
    flag = condition.reshape(())
    return interpreted(
        choose, flag, lambda: _tensors(then.run((), values)), lambda: _tensors(otherwise.run((), values))
    )


@_control("Loop")
def _loop(inputs: list[Any], attributes: dict[str, Any], values: dict, opset: int) -> tuple:
    limit, going, *state = inputs
    body = attributes["body"]
    carried = len(state)
    if not all(v is None or is_known(v) for v in (limit, going)):
        return _symbolic_loop(limit, going, state, body, values)
    trips = _ENDLESS if limit is None else int(np.asarray(_array(limit)).reshape(-1)[0])
    collected: list[list[Any]] = [[] for _ in body.outputs[1 + carried :]]
    step, alive = 0, going is None or _flag(going)
    while alive and step < trips:
        result = body.run((np.array(step, np.int64), np.array(True), *state), values)
        state = list(result[1 : 1 + carried])
        for place, value in enumerate(result[1 + carried :]):
            collected[place].append(value)
        if not is_known(result[0]):
            raise NeedsValuesError("An ONNX Loop that ends by a computed condition must not collect its steps in a graph.")
        step, alive = step + 1, _flag(result[0])
    return (*state, *(_stacked(c, 0) for c in collected))


def _array(value: Any) -> np.ndarray:
    return value if isinstance(value, np.ndarray) else np.asarray(value._data)


def _stacked(steps: list[Any], axis: int) -> Any:
    if not steps:
        return np.zeros((0,), np.float32)
    if all(isinstance(s, np.ndarray) for s in steps):
        return np.stack(steps, axis)
    return P.Stack(axis)([as_tensor(s) for s in steps])


def _symbolic_loop(limit: Any, going: Any, state: list[Any], body: Any, values: dict) -> tuple:
    if len(body.outputs) != 1 + len(state):
        raise NeedsValuesError("An ONNX Loop of unknown length that collects its steps can be run in PyNative mode only.")
    bound = as_tensor(np.array(_ENDLESS) if limit is None else limit).reshape(())
    alive = as_tensor(np.array(True) if going is None else going).reshape(())

    def test(step: Any, going: Any, *_: Any) -> Any:
        return P.LogicalAnd()(going, step < bound)

    def advance(step: Any, going: Any, *state: Any) -> tuple:
        result = _tensors(body.run((step, going, *state), values))
        return (step + 1, result[0].reshape(()), *result[1:])

    start = (tensor(np.array(0, np.int64)), alive, *_tensors(tuple(state)))
    return tuple(interpreted(repeat, test, advance, start)[2:])


@_control("Scan")
def _scan(inputs: list[Any], attributes: dict[str, Any], values: dict, opset: int) -> tuple:
    body, count = attributes["body"], attributes["num_scan_inputs"]
    if opset < 9:
        return _batched_scan(inputs[1:], attributes, values)
    return _scan_sequences(inputs, body, count, attributes, values)


def _scan_sequences(inputs: list[Any], body: Any, count: int, attributes: dict[str, Any], values: dict) -> tuple:
    state, sequences = list(inputs[: len(inputs) - count]), [as_tensor(v) for v in inputs[len(inputs) - count :]]
    axes = attributes.get("scan_input_axes") or [0] * count
    backwards = attributes.get("scan_input_directions") or [0] * count
    length = sequences[0].shape[axes[0]]
    collected: list[list[Any]] = [[] for _ in body.outputs[len(state) :]]
    for step in range(length):
        slices = [
            s[(*(slice(None),) * (a % s.ndim), length - 1 - step if back else step)]
            for s, a, back in zip(sequences, axes, backwards)
        ]
        result = body.run((*state, *slices), values)
        state = list(result[: len(state)])
        for place, value in enumerate(result[len(state) :]):
            collected[place].append(value)
    turned = attributes.get("scan_output_directions") or [0] * len(collected)
    places = attributes.get("scan_output_axes") or [0] * len(collected)
    outputs = [_stacked(c[::-1] if t else c, a) for c, t, a in zip(collected, turned, places)]
    return (*state, *outputs)


def _batched_scan(inputs: list[Any], attributes: dict[str, Any], values: dict) -> tuple:
    """Opset 8: every input has a first dimension of independent runs."""
    given = [as_tensor(v) for v in inputs]
    body, count = attributes["body"], attributes["num_scan_inputs"]
    options = {"scan_input_directions": attributes.get("directions")}
    runs = [_scan_sequences([v[b] for v in given], body, count, options, values) for b in range(given[0].shape[0])]
    return tuple(_stacked(list(results), 0) for results in zip(*runs))


@_control("SequenceMap")
def _sequence_map(inputs: list[Any], attributes: dict[str, Any], values: dict, opset: int) -> tuple:
    body = attributes["body"]
    results = [
        body.run(tuple(v[i] if isinstance(v, list) else v for v in inputs), values) for i in range(len(inputs[0]))
    ]
    return tuple([r[place] for r in results] for place in range(len(body.outputs)))
