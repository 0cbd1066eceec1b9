"""A method on many instances: stage after stage, all instances that have not failed at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindspore_serving import log
from mindspore_serving.engine.declaration import Method, Place, Stage
from mindspore_serving.engine.errors import Kind, ServingError
from mindspore_serving.engine.models import LoadedModel
from mindspore_serving.engine.values import Instance, Value, as_value, for_stage

Answer = Instance | ServingError


class Pipeline:
    """Runs one method. Instances keep their stages' outputs; one that fails keeps its error and leaves the pipeline."""

    def __init__(self, method: Method, models: dict[str, LoadedModel]) -> None:
        self.method = method
        self._models = models
        self.batch = max([model.batch for model in models.values()], default=1)

    def run(self, instances: Sequence[Instance]) -> list[Answer]:
        outputs: list[list[Instance]] = [[instance] for instance in instances]
        errors: dict[int, ServingError] = {}
        for number, stage in enumerate(self.method.stages, 1):
            alive = [i for i in range(len(instances)) if i not in errors]
            inputs = [tuple(_take(outputs[i], place) for place in stage.inputs) for i in alive]
            for i, answer in zip(alive, self._stage(number, stage, inputs)):
                if isinstance(answer, ServingError):
                    errors[i] = answer
                else:
                    outputs[i].append(answer)
        return [
            errors[i] if i in errors else tuple(_take(outputs[i], place) for place in self.method.results)
            for i in range(len(instances))
        ]

    def _stage(self, number: int, stage: Stage, inputs: list[Instance]) -> list[Answer]:
        if not inputs:
            return []
        if stage.model is not None:
            return list(self._models[stage.model].run(inputs))
        run = _FunctionStage(stage, f"Call {stage.tag} Failed, method: '{self.method.name}', stage index(begin with 1): {number}")
        size = stage.batch or self.batch if stage.batch is not None else len(inputs)
        return [answer for start in range(0, len(inputs), size) for answer in run(inputs[start : start + size])]


def _take(outputs: list[Instance], place: Place) -> Value:
    return outputs[place.stage][place.number]


class _FunctionStage:
    """A Python function over instances. What it raises is the answer of the instance at hand, not the end of the worker."""

    def __init__(self, stage: Stage, title: str) -> None:
        assert stage.function is not None
        self._function: Callable[..., Any] = stage.function
        self._stage = stage
        self._title = title

    def __call__(self, inputs: list[Instance]) -> list[Answer]:
        given = [tuple(for_stage(value) for value in instance) for instance in inputs]
        if self._stage.batch is None:
            return [self._one(self._function, instance) for instance in given]
        return self._many(tuple(given))

    def _failed(self, error: object) -> ServingError:
        return ServingError(f"{self._title}, error msg: {error}", Kind.SYSTEM)

    def _one(self, produce: Callable[..., Any], arguments: Sequence[Any]) -> Answer:
        try:
            return self._checked(produce(*arguments))
        except Exception as error:  # the operator's code: its mistakes are answers
            log.warning(f"{self._stage.tag}: {type(error).__name__}: {error}")
            return self._failed(error)

    def _checked(self, output: Any) -> Instance:
        values = output if isinstance(output, (tuple, list)) else (output,)
        if len(values) != self._stage.outputs:
            raise ValueError(
                f"The outputs number {len(values)} of one instance returned by {self._stage.tag} is not equal to the outputs "
                f"number {self._stage.outputs} registered in method"
            )
        return tuple(as_value(value) for value in values)

    def _many(self, given: tuple[Instance, ...]) -> list[Answer]:
        try:
            returned = iter(self._function(given))
        except Exception as error:  # as above
            log.warning(f"{self._stage.tag}: {type(error).__name__}: {error}")
            return [self._failed(error)] * len(given)
        answers: list[Answer] = []
        while len(answers) < len(given):
            try:
                output = next(returned)
            except StopIteration:
                missing = (
                    f"The number {len(answers)} of instances returned is not equal to the number {len(given)} of instances provided"
                )
                return answers + [self._failed(missing)] * (len(given) - len(answers))
            except Exception as error:  # a generator that raised has ended: the rest is given to a new one
                answers.append(self._failed(error))
                return answers + (self._many(given[len(answers) :]) if len(answers) < len(given) else [])
            answers.append(self._one(lambda made: made, [output]))
        return answers
