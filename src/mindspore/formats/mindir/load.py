"""Reading MindIR files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from mindspore._base.protobuf import DecodeError
from mindspore.formats import encryption, program
from mindspore.formats.mindir.files import Decrypt, external_reader, read_model
from mindspore.formats.mindir.messages import ModelProto
from mindspore.formats.mindir.operations import PrimitiveOperations
from mindspore.formats.mindir.program import Program as Steps
from mindspore.formats.mindir.values import tensor_type
from mindspore.formats.program import Program, Shape, TensorSpec


def read_steps(path: str, decrypt: Decrypt | None = None) -> tuple[Steps, ModelProto]:
    """The program of a file as steps, and its messages; ValueError when it is no MindIR file."""
    model = read_model(os.path.realpath(path), decrypt)
    try:
        return Steps(model, external_reader(path, decrypt)), model
    except encryption.WrongKeyError as error:
        raise ValueError(f"The weights of {path} cannot be decrypted with this 'dec_key': {error}.") from None
    except DecodeError as error:
        raise ValueError(f"The file {path} is no MindIR model or is damaged: {error}.") from None


def load(
    path: str,
    shapes: Mapping[str, Shape] | None = None,
    decrypt: Decrypt | None = None,
    operations: PrimitiveOperations | None = None,
) -> Program:
    """The graph and weights of a MindIR file. `shapes` gives sizes that the file leaves open, by names of inputs. `operations`: those
    that a file may use; without it, those of `mindspore.prims`."""
    return build(read_steps(path, decrypt)[0], shapes, operations=operations)


def build(
    steps: Steps,
    shapes: Mapping[str, Shape] | None = None,
    resize: bool = False,
    operations: PrimitiveOperations | None = None,
) -> Program:
    """The graph and weights of a program of steps. With `resize`, `shapes` may differ from those of the model."""
    known = operations or PrimitiveOperations()
    return program.build(
        steps.main,
        lambda arguments, held: steps.run(known, held, arguments),
        input_specs(steps),
        steps.weights,
        shapes,
        resize=resize,
    )


def input_specs(steps: Steps) -> list[TensorSpec]:
    """What a model takes; -1 stands for a size that the file leaves open."""
    return [_spec(name, info) for name, info in steps.input_types]


def _spec(name: str, info: Any) -> TensorSpec:
    if not info.tensor:
        raise ValueError(f"The input '{name}' of the model is no tensor; only tensors can be given to a compiled graph.")
    kind = tensor_type(info.tensor[0])
    return TensorSpec(name, kind.dtype, tuple(kind.shape))
