"""What Model, LiteInfer and the workers of a runner have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore_lite import _checks as check
from mindspore_lite.tensor import Format, Tensor, TensorMeta, from_result, kind_of

if TYPE_CHECKING:
    from mindspore_lite.session import Session


class BaseModel:
    """A model that may have been built: `_session` runs it."""

    def __init__(self) -> None:
        self._session: Session | None = None
        self._inputs: list[Tensor] = []

    def _built(self) -> Session:
        if self._session is None:
            raise RuntimeError("Session is null, please build model first!")
        return self._session

    def _start(self, session: Session) -> None:
        self._session = session
        self._inputs = input_tensors(session)

    def get_inputs(self) -> list[Tensor]:
        """The input tensors, to be filled and given to `predict`."""
        self._built()
        return list(self._inputs)

    def get_outputs(self) -> tuple[TensorMeta, ...]:
        """What is known of the outputs."""
        made = []
        for spec in self._built().outputs():
            meta = TensorMeta()
            meta.name, meta.dtype, meta.shape = spec.name, kind_of(spec.dtype.np), list(spec.shape)
            meta.format = Format[self._built().model.layout]
            meta.element_num = int(np.prod(spec.shape, dtype=np.int64)) if all(n >= 0 for n in spec.shape) else 0
            meta.data_size = meta.element_num * spec.dtype.itemsize
            made.append(meta)
        return tuple(made)

    def get_model_info(self, key: Any = None) -> str:
        """What the converter noted: "input_shape", "dynamic_dims", "user_info" …; empty if it did not."""
        check.instance("key", key, str)
        model = self._built().model
        if key == "input_shape":
            return ";".join(f"{s.name}:{','.join(map(str, s.shape))}" for s in model.inputs)
        return model.info.get(key, "")

    def update_weights(self, weights: Any) -> None:
        """Give weights, named as in the model, new values."""
        given: dict[str, np.ndarray] = {}
        if not isinstance(weights, list):
            raise TypeError(f"weights must be list, but got {type(weights)}.")
        for i, group in enumerate(weights):
            if not isinstance(group, list):
                raise TypeError(f"weight must be list, but got {type(group)}.")
            for j, tensor in enumerate(group):
                if not isinstance(tensor, Tensor):
                    raise TypeError(f"weights element must be Tensor, but got {type(tensor)} at index {i}{j}.")
                given[tensor.name] = tensor.get_data_to_numpy()
        session = self._session
        if session is None:
            raise RuntimeError("update weight failed! Error is Session is null, please build model first!")
        try:
            session.update_weights(given)
        except KeyError as error:
            raise RuntimeError(f"update weight failed! Error is the model has no weight {error}.") from None
        except ValueError as error:
            raise RuntimeError(f"update weight failed! Error is {error}.") from None

    def predict(self, inputs: Any, outputs: Any = None) -> list[Tensor]:
        """Run the model. Results go to the arrays of `outputs` where they are given."""
        check.elements("inputs", inputs, Tensor)
        if outputs is not None:
            check.elements("outputs", outputs, Tensor)
        return run(self._built(), inputs, outputs)

    def resize(self, inputs: Any, dims: Any) -> None:
        """Give inputs other shapes."""
        check_resize(inputs, dims)
        session = self._built()
        names = {tensor.name for tensor in self._inputs}
        unknown = [t.name for t in inputs if t.name not in names]
        if unknown:
            raise RuntimeError(f"resize failed! Error is the model has no input '{unknown[0]}'.")
        shapes = {tensor.name: tuple(sizes) for tensor, sizes in zip(inputs, dims)}
        if any(size < 0 for sizes in shapes.values() for size in sizes):
            raise RuntimeError("resize failed! Error is a size is negative.")
        try:
            session.resize(shapes)
        except ValueError as error:
            raise RuntimeError(f"resize failed! Error is {error}") from None
        for tensor in (*inputs, *self._inputs):
            if tensor.name in shapes:
                tensor.shape = list(shapes[tensor.name])


def check_resize(inputs: Any, dims: Any) -> None:
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(f"inputs must be list or tuple of Lite Tensor, but got {type(inputs)}.")
    if not isinstance(dims, (list, tuple)):
        raise TypeError(f"dims must be list or tuple of shape, but got {type(dims)}.")
    check.elements("inputs", inputs, Tensor, (list, tuple))
    for i, sizes in enumerate(dims):
        if not isinstance(sizes, (list, tuple)):
            raise TypeError(f"dims element must be list or tuple of int, but got {type(sizes)} at index {i}.")
        for j, size in enumerate(sizes):
            if not isinstance(size, int):
                raise TypeError(
                    f"dims element's element must be int, but got {type(size)} at {i}th dims element's {j}th element."
                )
    if len(inputs) != len(dims):
        raise ValueError(
            f"inputs' size does not match dims' size, but got inputs: {len(inputs)} and dims: {len(dims)}."
        )


def input_tensors(session: Session) -> list[Tensor]:
    """Empty tensors for a model's inputs."""
    made = []
    for spec in session.model.inputs:
        tensor = Tensor(shape=list(session.shapes[spec.name]), dtype=kind_of(spec.dtype.np))
        tensor.name = spec.name
        tensor.format = Format[session.model.layout]
        made.append(tensor)
    return made


def run(session: Session, inputs: Any, outputs: Any) -> list[Tensor]:
    """The results of a model for tensors."""
    specs = session.model.inputs
    if len(inputs) != len(specs):
        raise RuntimeError(f"predict failed! The model takes {len(specs)} inputs, but got {len(inputs)}.")
    for tensor, spec in zip(inputs, specs):
        if not tensor.filled:
            raise RuntimeError(
                f"predict failed! The input '{tensor.name}' has no data; call set_data_from_numpy first."
            )
        _check_fits(tensor, spec)
    try:
        results = session.run([tensor.get_data_to_numpy() for tensor in inputs])
    except (ValueError, IndexError, TypeError) as error:
        raise RuntimeError(f"predict failed! {error}") from error
    layout = Format[session.model.layout]
    if not outputs:
        return [from_result(name, array, layout) for name, array in results]
    if len(outputs) != len(results):
        raise RuntimeError(f"predict failed! The model gives {len(results)} outputs, but {len(outputs)} were provided.")
    for tensor, (name, array) in zip(outputs, results):
        _fill(tensor, name, array)
    return list(outputs)


def _check_fits(tensor: Tensor, spec: Any) -> None:
    if tensor.dtype is not kind_of(spec.dtype.np):
        raise RuntimeError(
            f"predict failed! The input '{spec.name}' must be {kind_of(spec.dtype.np)}, but got {tensor.dtype}."
        )
    if len(tensor.shape) != len(spec.shape):
        raise RuntimeError(
            f"predict failed! The input '{spec.name}' must have {len(spec.shape)} dimensions, but got the shape {tensor.shape}."
        )


def _fill(tensor: Tensor, name: str, array: np.ndarray) -> None:
    """Write a result where the caller wants it."""
    if tensor.dtype is not kind_of(array.dtype) or tensor.shape != list(array.shape):
        raise RuntimeError(
            f"predict failed! The output '{name}' is {kind_of(array.dtype)} of shape {list(array.shape)}, but the tensor "
            f"given for it is {tensor.dtype} of shape {tensor.shape}."
        )
    if tensor.filled and tensor.get_data_to_numpy().flags.writeable:
        np.copyto(tensor.get_data_to_numpy(), array)
    else:
        tensor.set_data_from_numpy(array)
    if not tensor.name:
        tensor.name = name
