"""Writes docs/torch_api_map.md: what names of PyTorch are called here.

    python docs/generate_torch_map.py [--check-torch]

`mindspore.mint` follows PyTorch's names and signatures, so most of the table follows from what it holds; names that differ are
listed below by hand. With --check-torch, where PyTorch is installed, every name of the left column must exist there.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
from pathlib import Path

TARGET = Path(__file__).parent / "torch_api_map.md"
#: namespaces of PyTorch whose names mint has as they are
SAME = {
    "torch": "mindspore.mint", "torch.nn": "mindspore.mint.nn", "torch.nn.functional": "mindspore.mint.nn.functional",
    "torch.optim": "mindspore.mint.optim", "torch.linalg": "mindspore.mint.linalg", "torch.special": "mindspore.mint.special",
    "torch.distributed": "mindspore.mint.distributed",
}  # fmt: skip
#: names of mint that PyTorch does not have, or has elsewhere
OWN = {
    "torch": {"addr_", "item", "npu_gelu"},
    "torch.nn": {"Callable", "Cell", "CellDict", "CellList", "SequentialCell"},
    "torch.nn.functional": {"flatten", "sigmoid_"},
    "torch.optim": {"FusedAdamW"},
    "torch.distributed": {"all_gather_into_tensor_uneven", "reduce_scatter_tensor_uneven"},
}
OTHERWISE = {
    "torch.tensor": "mindspore.Tensor", "torch.Tensor": "mindspore.Tensor", "torch.from_numpy": "mindspore.Tensor.from_numpy",
    "torch.Tensor.numpy": "mindspore.Tensor.asnumpy", "torch.Tensor.detach": "mindspore.ops.stop_gradient",
    "torch.nn.Module": "mindspore.nn.Cell", "torch.nn.Parameter": "mindspore.Parameter",
    "torch.nn.Sequential": "mindspore.nn.SequentialCell",
    "torch.nn.ModuleList": "mindspore.nn.CellList", "torch.nn.ModuleDict": "mindspore.nn.CellDict",
    "torch.nn.Module.parameters": "mindspore.nn.Cell.trainable_params",
    "torch.nn.Module.named_parameters": "mindspore.nn.Cell.parameters_and_names",
    "torch.nn.Module.state_dict": "mindspore.nn.Cell.parameters_dict", "torch.nn.Module.train": "mindspore.nn.Cell.set_train",
    "torch.nn.Module.register_buffer": "mindspore.nn.Cell.register_buffer", "torch.nn.Module.apply": "mindspore.nn.Cell.apply",
    "torch.autograd.grad": "mindspore.grad", "torch.func.grad": "mindspore.grad", "torch.func.vmap": "mindspore.vmap",
    "torch.func.jacrev": "mindspore.jacrev", "torch.func.jacfwd": "mindspore.jacfwd", "torch.func.jvp": "mindspore.jvp",
    "torch.func.vjp": "mindspore.vjp", "torch.compile": "mindspore.jit", "torch.manual_seed": "mindspore.set_seed",
    "torch.save": "mindspore.save_checkpoint", "torch.load": "mindspore.load_checkpoint",
    "torch.nn.Module.load_state_dict": "mindspore.load_param_into_net", "torch.export.export": "mindspore.export",
    "torch.onnx.export": "mindspore.onnx.export", "torch.amp.autocast": "mindspore.amp.auto_mixed_precision",
    "torch.amp.GradScaler": "mindspore.amp.DynamicLossScaler", "torch.utils.data.DataLoader": "mindspore.dataset.GeneratorDataset",
    "torch.utils.checkpoint.checkpoint": "mindspore.nn.Cell.recompute",
    "torch.nn.parallel.DistributedDataParallel": "mindspore.parallel.distributed.DistributedDataParallel",
    "torch.profiler.profile": "mindspore.profiler.profile",
    "torch.optim.lr_scheduler.StepLR": "mindspore.experimental.optim.lr_scheduler.StepLR",
    "torch.optim.lr_scheduler.CosineAnnealingLR": "mindspore.experimental.optim.lr_scheduler.CosineAnnealingLR",
    "torch.nn.init.kaiming_uniform_": "mindspore.common.initializer.HeUniform",
    "torch.nn.init.xavier_uniform_": "mindspore.common.initializer.XavierUniform",
    "torch.nn.init.normal_": "mindspore.common.initializer.Normal",
}  # fmt: skip


def resolve(path: str) -> object:
    """The object of a dotted name; AttributeError where there is none."""
    parts = path.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:cut]))
        except ImportError:
            continue
        for name in parts[cut:]:
            found = getattr(found, name)
        return found
    raise AttributeError(path)


def public(namespace: str) -> list[str]:
    module = importlib.import_module(namespace)
    names = getattr(module, "__all__", None) or [n for n in dir(module) if not n.startswith("_")]
    return sorted(n for n in set(names) if callable(getattr(module, n, None)) and not inspect.ismodule(getattr(module, n)))


def rows() -> dict[str, dict[str, str]]:
    """Name there -> name here, by namespace of PyTorch."""
    table: dict[str, dict[str, str]] = {"different names": dict(sorted(OTHERWISE.items()))}
    for theirs, ours in SAME.items():
        table[theirs] = {f"{theirs}.{n}": f"{ours}.{n}" for n in public(ours) if n not in OWN.get(theirs, set())}
    return table


def page() -> str:
    found = rows()
    lines = [
        "# Names of PyTorch, and what they are called here", "",
        "Written by `python docs/generate_torch_map.py`; a test keeps it true. "
        "How programs differ: [Coming from PyTorch](from_pytorch.md).", "",
        "| PyTorch | here |", "|---|---|", *(f"| `{a}` | `{b}` |" for a, b in found.pop("different names").items()), "",
    ]  # fmt: skip
    for theirs, names in found.items():
        short = ", ".join(f"`{name.rpartition('.')[2]}`" for name in names)
        lines += [f"## `{theirs}` is `{SAME[theirs]}`", "", f"{len(names)} names, the same there and here: {short}.", ""]
    return "\n".join(lines)


def missing_in_torch() -> list[str]:
    def there(name: str) -> bool:
        try:
            resolve(name)
        except AttributeError:
            return False
        return True

    return [name for names in rows().values() for name in names if not there(name)]


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--check-torch", action="store_true")
    if arguments.parse_args().check_torch:
        print("not in PyTorch:", missing_in_torch())
    else:
        TARGET.write_text(page(), encoding="utf-8")
        print(f"{sum(map(len, rows().values()))} names: {TARGET}")
