"""Names that are looked for in vain by those who come from PyTorch, and what to write instead: part of the messages."""

from __future__ import annotations

from typing import Any, NoReturn

_DEVICE = "mindspore.set_device says where everything runs"
_GRADIENTS = "mindspore.value_and_grad(function, None, network.trainable_params()) makes a function that returns gradients"

CELLS = {
    "add_module": "insert_child_to_cell(name, cell) does that",
    "children": "cells() gives them",
    "cpu": _DEVICE,
    "cuda": _DEVICE,
    "double": "to_float(mindspore.float64) does that",
    "eval": "set_train(False) does that",
    "float": "to_float(mindspore.float32) does that",
    "forward": "networks are called, and define 'construct'",
    "half": "to_float(mindspore.float16) does that",
    "modules": "cells_and_names() gives them with their names",
    "named_children": "name_cells() gives them",
    "named_modules": "cells_and_names() gives them",
    "named_parameters": "parameters_and_names() gives them",
    "parameters": "get_parameters() gives all, trainable_params() those that are trained",
    "requires_grad_": "set_grad(), and 'requires_grad' of its Parameters, do that",
    "train": "set_train() does that",
    "zero_grad": "each call of mindspore.value_and_grad's function begins anew, so there is nothing to clear",
}
OPTIMIZERS = {
    **CELLS,
    "step": "it is called with the gradients: optimizer(gradients)",
}
TENSORS = {
    "backward": _GRADIENTS,
    "cuda": _DEVICE,
    "grad": _GRADIENTS,
    "grad_fn": _GRADIENTS,
    "is_cuda": _DEVICE,
    "requires_grad": "Parameters have it; mindspore.grad(function, positions) says which arguments are differentiated by",
    "retain_grad": _GRADIENTS,
}


def missing(names: dict[str, str], owner: type, name: str) -> str:
    """What is said of an attribute that an object does not have."""
    hint = f": {names[name]}." if name in names else ""
    return f"'{owner.__name__}' object has no attribute '{name}'{hint}"


class NotHere:
    """An attribute of Tensor that is not there, and says what is."""

    def __init__(self, name: str):
        self.name = name

    def __get__(self, instance: Any, owner: type) -> NoReturn:
        raise AttributeError(missing(TENSORS, owner, self.name), name=self.name, obj=instance)
