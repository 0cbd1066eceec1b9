"""Networks of other frameworks as trainable Cells: `from_torch`, `from_onnx`."""

from __future__ import annotations

from typing import Any

from mindspore._base.optional import require
from mindspore.formats.torch_export import convert
from mindspore.nn.onnx_cell import OnnxCell
from mindspore.train.exporting import load_onnx


def from_torch(module: Any, *example: Any, dynamic_shapes: Any = None, **named: Any) -> OnnxCell:
    """A PyTorch module as a Cell with the module's weights, which computes the same and can be trained.

    The module is exported by `torch.export` as it behaves in evaluation (dropout does nothing, batch normalisation uses its
    running statistics); its own mode is left as it was. Parameters keep their names and whether they are trained; buffers
    are not trained.

    Args:
        module: a `torch.nn.Module`.
        example: tensors (PyTorch's, NumPy's or ours) as the module is called with; sizes are fixed to theirs.
        dynamic_shapes: sizes that may vary, as `torch.export.export` takes them.
        named: arguments by name.

    Returns:
        A Cell. Results of nested structures come as a flat tuple.

    Raises:
        ValueError: the module uses operations that have no form here; all are named, with their places.
    """
    torch = require("torch", "torch", "from_torch")
    if not isinstance(module, torch.nn.Module):
        raise TypeError(f"For 'from_torch', 'module' must be a torch.nn.Module, but got {type(module)}.")
    given = tuple(_as_torch(torch, value) for value in example)
    names = {name: _as_torch(torch, value) for name, value in named.items()}
    modes = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        message = convert.export(module, given, names, dynamic_shapes)
    finally:
        for part, training in modes:
            part.training = training
    cell = OnnxCell(message, type(module).__name__)
    trained = {name for name, parameter in module.named_parameters(remove_duplicate=False) if parameter.requires_grad}
    for parameter in cell.get_parameters():
        parameter.requires_grad = parameter.name in trained
    return cell


def _as_torch(torch: Any, value: Any) -> Any:
    """An example argument as PyTorch takes it."""
    if hasattr(value, "asnumpy"):
        value = value.asnumpy()
    return torch.as_tensor(value) if hasattr(value, "__array__") and not isinstance(value, torch.Tensor) else value


def from_onnx(file_name: str) -> OnnxCell:
    """An ONNX file as a Cell; its float initializers are Parameters and can be trained.

    Args:
        file_name: the file.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import nn, ops
        >>> ms.export(nn.ReLU(), ops.ones(2), file_name="doc_relu", file_format="ONNX")
        >>> print(ms.from_onnx("doc_relu.onnx")(ms.Tensor([-1.0, 2.0])))
        [0. 2.]
    """
    return load_onnx(file_name)
