"""Private functions of official `mindspore.train.serialization` that packages import."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from mindspore import context
from mindspore.common.tensor import Tensor
from mindspore.train.serialization import _update_param, load_checkpoint, save_checkpoint


def _exec_save(
    ckpt_file_name: str, data_list: dict, enc_key: bytes | None = None, enc_mode: str = "AES-GCM", **kwargs: Any
) -> None:
    """Write a checkpoint of {name: (shape, type, values)}."""
    rows = [{"name": name, "data": value[-1]} for name, value in data_list.items()]
    for row in rows:
        row["data"] = row["data"] if isinstance(row["data"], Tensor) else Tensor(row["data"])
    save_checkpoint(rows, ckpt_file_name, enc_key=enc_key, enc_mode=enc_mode)


def _parse_ckpt_proto(ckpt_file_name: str, dec_key: Any = None, dec_mode: str = "AES-GCM", *rest: Any) -> Any:
    """A checkpoint as the message it is: `value` lists tags and tensors (`dims`, `tensor_type`, `tensor_content`)."""
    found: dict[str, Any] = load_checkpoint(ckpt_file_name, dec_key=dec_key, dec_mode=dec_mode)
    return SimpleNamespace(
        value=[
            SimpleNamespace(
                tag=name,
                tensor=SimpleNamespace(
                    dims=list(value.shape),
                    tensor_type=str(value.dtype).removeprefix("mindspore.").capitalize(),
                    tensor_content=value.asnumpy().tobytes(),
                ),
            )
            for name, value in found.items()
        ]
    )


def _load_dismatch_prefix_params(net: Any, parameter_dict: dict, param_not_load: list, strict_load: bool) -> list[str]:
    """Load parameters whose names in the file lack, or have, one prefix more than those of the network; the names left."""
    missing = [p for p in net.get_parameters() if p.name in param_not_load]
    prefixes = {p.name.removesuffix(name) for p in missing for name in parameter_dict if p.name.endswith(f".{name}")}
    for prefix in sorted(prefixes, key=len):
        pairs = [(p, parameter_dict.get(p.name.removeprefix(prefix))) for p in missing if p.name.startswith(prefix)]
        if len(pairs) == len(missing) and all(new is not None for _, new in pairs):
            for param, new in pairs:
                _update_param(param, new, strict_load)
            return []
    return list(param_not_load)


def _get_merged_param_data(net: Any, layout: Any, param_name: str, param_data: Any, integrated_save: bool) -> Any:
    """The whole value of a parameter: on one device, what is there."""
    if context.get_auto_parallel_context("device_num") > 1:
        raise RuntimeError("Merging a sharded parameter is what 'mindspore.transform_checkpoints' does.")
    return param_data
