"""`save_checkpoint`: collect named tensors and write them as one file that appears whole or not at all."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mindspore import log as logger
from mindspore.common.parameter import Parameter, require_own_names
from mindspore.common.tensor import Tensor
from mindspore.formats import checkpoint, encryption, safetensors
from mindspore.nn.cell import Cell

FORMATS = ("ckpt", "safetensors")
ASYNC_THREAD_NAME = "asyn_save_ckpt"


def save_checkpoint(
    save_obj: Any,
    ckpt_file_name: str,
    integrated_save: bool = True,
    async_save: bool | str = False,
    append_dict: dict[str, Any] | None = None,
    enc_key: bytes | None = None,
    enc_mode: str = "AES-GCM",
    choice_func: Callable[[str], bool] | None = None,
    crc_check: bool = False,
    format: str = "ckpt",
    **kwargs: Any,
) -> None:
    """Save the parameters of a network to a file.

    Args:
        save_obj: a Cell, a list of Parameters or of `{"name": …, "data": …}`, or a dict of names to Parameters.
        ckpt_file_name: the file; the format's suffix is added when missing.
        integrated_save: whole parameters; False, in a run of processes over which the network is cut: this process's parts of
            them, which `transform_checkpoints` and `load_distributed_checkpoint` join by the strategy file.
        async_save: write in the background; the call returns once the data is copied.
        append_dict: further numbers, strings and tensors to store.
        enc_key, enc_mode: encrypt ("AES-GCM", "AES-CBC" or "SM4-CBC", which takes keys of 16 bytes).
        choice_func: stores a parameter only if this returns True for its name.
        crc_check: add a checksum that `load_checkpoint` can verify.
        format: "ckpt" or "safetensors".

    Examples:
        >>> import mindspore as ms
        >>> weight = ms.Parameter(ms.Tensor([1.0, 2.0]), name="w")
        >>> ms.save_checkpoint([weight], "doc_example.ckpt", append_dict={"epoch": 3})
        >>> sorted(ms.load_checkpoint("doc_example.ckpt"))
        ['epoch', 'w']
    """
    path = _check_target(save_obj, ckpt_file_name, format)
    _check_flags(integrated_save, async_save, crc_check, choice_func)
    encryption.check_key("save_checkpoint", "enc_key", enc_key, enc_mode, "enc_mode")
    if format == "safetensors" and (enc_key is not None or enc_mode != "AES-GCM"):
        raise ValueError("For 'save_checkpoint', 'enc_key' cannot be used when 'format' is 'safetensors'.")
    unknown = set(kwargs) - {"map_param_inc", "incremental", "global_step_num", "remove_redundancy"}
    if unknown:
        raise ValueError(f"For 'save_checkpoint', there is no argument {sorted(unknown)[0]!r}.")
    entries = dict(_named(save_obj, choice_func))
    if not integrated_save:
        entries = {name: _own_part(name, value) for name, value in entries.items()}
    entries.update(_appended(append_dict))
    arrays = {name: _snapshot(name, value, copy=bool(async_save)) for name, value in entries.items()}

    def write() -> None:
        if format == "ckpt":
            checkpoint.write(path, arrays, enc_key, enc_mode, crc_check)
        else:
            redundancy = kwargs.get("remove_redundancy")
            safetensors.write(path, arrays, crc_check, None if redundancy is None else bool(redundancy))

    if async_save:
        _Background.start(write, path)
    else:
        write()


def _check_target(save_obj: Any, name: object, format: str) -> str:
    if format not in FORMATS:
        raise ValueError(f"For 'save_checkpoint', the format must be 'safetensors' or 'ckpt', but got {format}.")
    if not isinstance(save_obj, (Cell, list, dict)):
        raise TypeError(f"For 'save_checkpoint', 'save_obj' must be a Cell, list or dict, but got {type(save_obj)}.")
    if not isinstance(name, str):
        raise TypeError(f"For 'save_checkpoint', 'ckpt_file_name' must be a string, but got {type(name)}.")
    path = os.path.realpath(name)
    if os.path.isdir(path):
        raise IsADirectoryError(f"For 'save_checkpoint', 'ckpt_file_name' must name a file, but {path} is a directory.")
    return path if path.endswith(format) else f"{path}.{format}"


def _check_flags(integrated_save: Any, async_save: Any, crc_check: Any, choice_func: Any) -> None:
    for name, value in (("integrated_save", integrated_save), ("crc_check", crc_check)):
        if not isinstance(value, bool):
            raise TypeError(f"For 'save_checkpoint', '{name}' must be a bool, but got {type(value)}.")
    if not isinstance(async_save, (bool, str)):
        raise TypeError(f"For 'save_checkpoint', 'async_save' must be a bool or a string, but got {type(async_save)}.")
    if isinstance(async_save, str) and async_save not in ("process", "thread"):
        raise ValueError(f"For 'save_checkpoint', 'async_save' must be 'process' or 'thread', but got {async_save!r}.")
    if choice_func is not None and not callable(choice_func):
        raise TypeError(f"For 'save_checkpoint', 'choice_func' must be a function, but got {type(choice_func)}.")


def _named(save_obj: Cell, choice_func: Callable[[str], bool] | None) -> Iterator[tuple[str, Any]]:
    """The (name, tensor) pairs of a Cell, list or dict that `choice_func` accepts."""
    for name, value in _pairs(save_obj):
        if choice_func is None or choice_func(name):
            yield name, value


def _pairs(save_obj: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(save_obj, Cell):
        parameters = [parameter for _, parameter in save_obj.parameters_and_names()]
        require_own_names("For 'save_checkpoint', the network", parameters)
        yield from ((parameter.name, parameter) for parameter in parameters)
    elif isinstance(save_obj, dict):
        for name, value in save_obj.items():
            if not isinstance(name, str) or not isinstance(value, (Tensor, np.ndarray, str)):
                raise TypeError(
                    "For 'save_checkpoint', a dict 'save_obj' must map strings to Parameters, "
                    f"but got {type(name)} and {type(value)}."
                )
            yield name, value
    else:
        yield from map(_pair_of_item, save_obj)


def _pair_of_item(item: Any) -> tuple[str, Any]:
    if isinstance(item, Parameter):
        return item.name, item
    if not isinstance(item, dict) or "name" not in item or "data" not in item:
        raise TypeError(
            "For 'save_checkpoint', the items of a list 'save_obj' must be Parameters or dicts with the keys "
            f"'name' and 'data', but got {type(item)}."
        )
    if not isinstance(item["name"], str):
        raise TypeError(f"For 'save_checkpoint', 'name' must be a string, but got {type(item['name'])}.")
    if not isinstance(item["data"], (Tensor, str)):
        raise TypeError(
            f"For 'save_checkpoint', 'data' of '{item['name']}' must be a Tensor, but got {type(item['data'])}."
        )
    return item["name"], item["data"]


def _own_part(name: str, value: Any) -> Any:
    """This process's part of a Parameter that is cut over the processes."""
    share = value.param_info.part if isinstance(value, Parameter) else None
    if share is None or share.part_shape == share.shape:
        return value
    if not share.is_even:
        raise ValueError(
            f"For 'save_checkpoint', '{name}' of shape {share.shape} is cut into parts of different sizes, which a strategy file cannot "
            "describe: set 'integrated_save' to True."
        )
    return share.own(np.asarray(value.asnumpy()))


def _appended(append_dict: dict[str, Any] | None) -> Iterator[tuple[str, Any]]:
    if append_dict is None:
        return
    if not isinstance(append_dict, dict):
        raise TypeError(f"For 'save_checkpoint', 'append_dict' must be a dict, but got {type(append_dict)}.")
    for name, value in append_dict.items():
        if name == "__exception_save__":
            continue
        if hasattr(value, "get_state"):  # a random Generator
            value = value.get_state()
        if not isinstance(name, str) or not isinstance(value, (int, float, bool, str, Tensor)):
            raise TypeError(
                "For 'save_checkpoint', 'append_dict' must map strings to numbers, bools, strings or Tensors, "
                f"but got {type(name)} and {type(value)}."
            )
        yield name, value if isinstance(value, (str, Tensor)) else Tensor(value)


def _snapshot(name: str, value: Any, copy: bool) -> checkpoint.Entry:
    """The value as an array; a copy when the caller goes on changing it while the file is written."""
    if isinstance(value, str):
        return value
    if isinstance(value, Tensor):
        value.init_data()
    array = np.asarray(value.asnumpy() if isinstance(value, Tensor) else value)
    return array.copy() if copy else array


# ---------------------------------------------------------------------------------------------------------------------
# In the background


class _Background:
    """At most one save under way; a failed one is reported at the next save or at exit."""

    thread: threading.Thread | None = None
    error: BaseException | None = None

    @classmethod
    def start(cls, write: Callable[[], None], path: str) -> None:
        cls.wait()
        cls.thread = threading.Thread(target=cls._run, args=(write, path), name=ASYNC_THREAD_NAME)
        cls.thread.start()

    @classmethod
    def _run(cls, write: Callable[[], None], path: str) -> None:
        try:
            write()
        except BaseException as error:  # raised by `wait`
            logger.critical("Failed to save the checkpoint file %s: %s", path, error)
            cls.error = error

    @classmethod
    def wait(cls) -> None:
        """Wait for the save under way; raises what it raised."""
        if cls.thread is not None:
            cls.thread.join()
            cls.thread = None
        error, cls.error = cls.error, None
        if error is not None:
            raise RuntimeError(f"an asynchronous checkpoint could not be saved: {error}") from error


def wait_async_saves() -> None:
    """Wait until every asynchronous checkpoint is on disk."""
    _Background.wait()


def async_ckpt_thread_status() -> bool:
    """Whether an asynchronous checkpoint is being written.

    Examples:
        >>> ms.async_ckpt_thread_status()
        False
    """
    return any(t.name == ASYNC_THREAD_NAME for t in threading.enumerate())


def _finish() -> None:
    if _Background.thread is not None:
        _Background.thread.join()


atexit.register(_finish)
