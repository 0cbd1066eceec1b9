"""`load_checkpoint` and `load_param_into_net`.

Readers check everything before they build anything: a truncated, altered or foreign file gives a ValueError that says
what is wrong, and a network is changed only after all parameters were found to fit.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from mindspore import log as logger
from mindspore._base import dtype as mstype
from mindspore._base.files import read_file
from mindspore.common.parameter import Parameter, require_own_names
from mindspore.common.tensor import Tensor
from mindspore.formats import checkpoint, encryption, safetensors
from mindspore.nn.cell import Cell
from mindspore.train._checkpoint.save import FORMATS

Wanted = Callable[[str], bool]
_FLOATS = frozenset(mstype.FLOAT_TYPES)
_SIGNED = frozenset((*mstype.signed_type, mstype.qint4x2))


def load_checkpoint(
    ckpt_file_name: str | io.BytesIO,
    net: Cell | None = None,
    strict_load: bool = False,
    filter_prefix: str | list[str] | tuple[str, ...] | None = None,
    dec_key: bytes | None = None,
    dec_mode: str = "AES-GCM",
    specify_prefix: str | list[str] | tuple[str, ...] | None = None,
    choice_func: Callable[[str], bool] | None = None,
    crc_check: bool = False,
    remove_redundancy: bool = False,
    format: str = "ckpt",
) -> dict[str, Parameter | str]:
    """Read a checkpoint file into a dict of names to Parameters; with `net`, also load them into the network.

    Args:
        ckpt_file_name: the file.
        net: the network to load into.
        strict_load: require equal names and types when loading into `net`.
        filter_prefix: leave out parameters whose names start so.
        dec_key, dec_mode: the key and mode of an encrypted file.
        specify_prefix: read only parameters whose names start so.
        choice_func: reads a parameter only if this returns True for its name.
        crc_check: verify the file's checksum.
        remove_redundancy: the file holds only this device's share of replicated parameters.
        format: "ckpt" or "safetensors".

    Examples:
        >>> net = nn.Dense(2, 1)
        >>> _ = ms.save_checkpoint(net, "net.ckpt")
        >>> sorted(train.load_checkpoint("net.ckpt"))
        ['bias', 'weight']
    """
    specified, filtered = _check_prefix(specify_prefix), _check_prefix(filter_prefix)
    encryption.check_key("load_checkpoint", "dec_key", dec_key, dec_mode, "dec_mode")
    for name, value in (
        ("crc_check", crc_check),
        ("remove_redundancy", remove_redundancy),
        ("strict_load", strict_load),
    ):
        if not isinstance(value, bool):
            raise TypeError(f"For 'load_checkpoint', '{name}' must be a bool, but got {type(value)}.")
    if format == "safetensors" and (dec_key is not None or dec_mode != "AES-GCM"):
        raise ValueError("For 'load_checkpoint', 'dec_key' cannot be used when 'format' is 'safetensors'.")
    wanted = _selection(specified, filtered, choice_func)
    data, shown = _open(ckpt_file_name, format)
    if format == "ckpt":
        entries = checkpoint.read(data, shown, wanted, dec_key, dec_mode, crc_check)
    else:
        entries = safetensors.read(data, shown, wanted, crc_check)
    if not entries:
        raise ValueError(
            f"No parameter was loaded from {shown}: the file has none, or 'filter_prefix', 'specify_prefix' or "
            "'choice_func' leave them all out."
        )
    parameters = {name: _to_parameter(name, entry) for name, entry in entries.items()}
    if net is not None:
        load_param_into_net(net, parameters, strict_load, remove_redundancy)
    return parameters


class ParamDictFuture:
    """A checkpoint being loaded in the background."""

    def __init__(self, executor: ThreadPoolExecutor, param_dict_future: Future):
        self.executor = executor
        self.param_dict_future = param_dict_future

    def result(self) -> dict[str, Parameter | str]:
        """Wait for it and return what `load_checkpoint` returns."""
        try:
            return self.param_dict_future.result()
        finally:
            self.executor.shutdown()


def load_checkpoint_async(
    ckpt_file_name: str,
    net: Cell | None = None,
    strict_load: bool = False,
    filter_prefix: Any = None,
    dec_key: bytes | None = None,
    dec_mode: str = "AES-GCM",
    specify_prefix: Any = None,
    choice_func: Callable[[str], bool] | None = None,
) -> ParamDictFuture:
    """Start `load_checkpoint` in the background; call `.result()` of what it returns.

    Examples:
        >>> _ = ms.save_checkpoint(nn.Dense(2, 1), "net.ckpt")
        >>> sorted(ms.load_checkpoint_async("net.ckpt").result())
        ['bias', 'weight']
    """
    format = "safetensors" if str(ckpt_file_name).endswith(".safetensors") else "ckpt"
    executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="load_checkpoint")
    future = executor.submit(
        load_checkpoint, ckpt_file_name, net, strict_load, filter_prefix, dec_key, dec_mode, specify_prefix,
        choice_func, format=format,
    )  # fmt: skip
    return ParamDictFuture(executor, future)


# ---------------------------------------------------------------------------------------------------------------------
# Reading


def _check_prefix(prefix: Any) -> tuple[str, ...]:
    if prefix is None:
        return ()
    if not isinstance(prefix, (str, list, tuple)):
        raise TypeError(
            "For 'load_checkpoint', 'specify_prefix' and 'filter_prefix' must be a string or a list of strings, "
            f"but got {type(prefix)}."
        )
    prefixes = (prefix,) if isinstance(prefix, str) else tuple(prefix)
    if not prefixes or "" in prefixes:
        raise ValueError(
            "For 'load_checkpoint', 'specify_prefix' and 'filter_prefix' cannot be or contain what is empty."
        )
    for index, one in enumerate(prefixes):
        if not isinstance(one, str):
            raise TypeError(f"For 'load_checkpoint', prefix {index} must be a string, but got {type(one)}.")
    return prefixes


def _selection(specified: tuple[str, ...], filtered: tuple[str, ...], choice_func: Any) -> Wanted:
    def wanted(name: str) -> bool:
        if specified and not name.startswith(specified):
            return False
        if filtered and name.startswith(filtered):
            return False
        if choice_func is None or specified or filtered:
            return True
        try:
            return bool(choice_func(name))
        except Exception as error:
            raise ValueError(f"For 'load_checkpoint', 'choice_func' failed for '{name}': {error}") from error

    return wanted


def _open(file: Any, format: str) -> tuple[memoryview, str]:
    """The bytes of the file, mapped rather than read so that unwanted parameters cost nothing."""
    if format not in FORMATS:
        raise ValueError(f"For 'load_checkpoint', 'format' must be 'ckpt' or 'safetensors', but got {format!r}.")
    if isinstance(file, io.BytesIO):
        if format == "ckpt":
            raise TypeError("For 'load_checkpoint', a BytesIO is read as 'safetensors' only.")
        return memoryview(file.getvalue()), "the given bytes"
    if not isinstance(file, str):
        raise TypeError(f"For 'load_checkpoint', 'ckpt_file_name' must be a string, but got {type(file)}.")
    if not file.endswith(format):
        raise ValueError(f"For 'load_checkpoint', the file name {file!r} must end with the format {format!r}.")
    path = os.path.realpath(file)
    if not os.path.exists(path):
        raise ValueError(f"For 'load_checkpoint', the checkpoint file {path} does not exist.")
    try:
        return read_file(path), path
    except OSError as error:
        raise ValueError(f"For 'load_checkpoint', the checkpoint file {path} cannot be read: {error}") from error


def _to_parameter(name: str, entry: Any) -> Any:
    if not isinstance(entry, np.ndarray):
        return entry
    parameter = Parameter(Tensor.from_numpy(entry), name=name)
    parameter.from_ckpt = True
    return parameter


# ---------------------------------------------------------------------------------------------------------------------
# Into a network


def load_param_into_net(
    net: Cell, parameter_dict: dict[str, Any], strict_load: bool = False, remove_redundancy: bool = False
) -> tuple[list[str], list[str]]:
    """Load parameters into a network.

    Without `strict_load`, parameters are also matched when all names of `parameter_dict` have a common prefix more, and
    float and integer types are converted within their kind. Nothing is changed unless everything fits. In a run of processes
    over which the network is cut, each may load its part of the parameters; all of them do so then.

    Returns:
        The names in the network that were not found, and those of `parameter_dict` that were not used.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import Tensor, nn
        >>> net = nn.Dense(1, 1)
        >>> ms.load_param_into_net(net, {'weight': ms.Parameter(Tensor([[2.0]]), name='weight')})
        (['bias'], [])
        >>> net.weight.asnumpy().tolist()
        [[2.0]]
    """
    _check_load_arguments(net, parameter_dict, strict_load, remove_redundancy)
    parameters = [parameter for _, parameter in net.parameters_and_names()]
    require_own_names("For 'load_param_into_net', the network", parameters)
    own = {parameter.name: parameter for parameter in parameters}
    pairs = {name: name for name in own if isinstance(parameter_dict.get(name), Parameter)}
    missing = [name for name in own if name not in parameter_dict]
    if missing and not strict_load:
        by_prefix = _match_by_prefix(missing, parameter_dict)
        pairs.update(by_prefix)
        missing = [name for name in missing if name not in by_prefix]
    missing = [name for name in missing if not name.startswith("accu_grads")]
    checked = [(own[name], _fitting(own[name], parameter_dict[source], strict_load)) for name, source in pairs.items()]
    for parameter, array in checked:
        parameter.set_data(Tensor.from_numpy(array), slice_shape=bool(parameter.sliced))
    used = set(pairs.values())
    unused = [name for name in parameter_dict if name not in used]
    if missing:
        logger.warning(
            "For 'load_param_into_net', %d parameters in the 'net' are not loaded, because they are not in the 'parameter_dict': "
            "%s. Of those that are in it, these are not in the 'net': %s",
            len(missing), missing, unused,
        )  # fmt: skip
    return missing, unused


def _check_load_arguments(net: Any, parameter_dict: Any, strict_load: Any, remove_redundancy: Any) -> None:
    if not isinstance(net, Cell):
        raise TypeError(f"For 'load_param_into_net', 'net' must be a Cell, but got {type(net)}.")
    if not isinstance(parameter_dict, dict):
        raise TypeError(f"For 'load_param_into_net', 'parameter_dict' must be a dict, but got {type(parameter_dict)}.")
    for name, value in parameter_dict.items():
        if not isinstance(name, str) or not isinstance(value, (Parameter, str, list)):
            raise TypeError(
                "For 'load_param_into_net', 'parameter_dict' must map strings to Parameters, "
                f"but got {type(name)} and {type(value)}."
            )
    for label, value in (("strict_load", strict_load), ("remove_redundancy", remove_redundancy)):
        if not isinstance(value, bool):
            raise TypeError(f"For 'load_param_into_net', '{label}' must be a bool, but got {type(value)}.")


def _match_by_prefix(missing: list[str], parameter_dict: dict[str, Any]) -> dict[str, str]:
    """Network names to file names, for names in the file that are longer by a prefix."""
    found: dict[str, str] = {}
    left = list(missing)
    while left:
        prefix = next(
            (
                s[: -len(n)]
                for n in left
                for s, v in parameter_dict.items()
                if s.endswith(n) and isinstance(v, Parameter)
            ),
            None,
        )
        if prefix is None:
            break
        logger.warning("For 'load_param_into_net', the prefix %r of the names is left out to go on loading.", prefix)
        found.update({n: prefix + n for n in left if isinstance(parameter_dict.get(prefix + n), Parameter)})
        left = [n for n in left if n not in found]
    return found


def _fitting(own: Parameter, new: Parameter, strict_load: bool) -> np.ndarray:
    """The new data in the shape and type of the network's parameter; RuntimeError when it does not fit."""
    array = np.asarray(new.asnumpy())
    shape = tuple(own.shape)
    share = own.param_info.part
    if array.shape != shape and share is not None and share.is_even and array.shape == share.part_shape:
        array = share.whole(array)  # every process has loaded its part
    if array.shape != shape:
        if array.shape[: len(shape)] != shape or any(d != 1 for d in array.shape[len(shape) :]):
            raise RuntimeError(
                f"For 'load_param_into_net', {own.name} has shape {shape} in 'net' but {array.shape} in "
                "'parameter_dict'. Check that the checkpoint belongs to this network."
            )
        array = array.reshape(shape)
    if new.dtype != own.dtype:
        same_kind = {new.dtype, own.dtype} <= _FLOATS or {new.dtype, own.dtype} <= _SIGNED
        if strict_load or not same_kind:
            raise RuntimeError(
                f"For 'load_param_into_net', {own.name} has type {own.dtype} in 'net' but {new.dtype} in "
                "'parameter_dict'. Check that the checkpoint belongs to this network."
            )
        with np.errstate(over="ignore", invalid="ignore"):
            array = array.astype(own.dtype.np)
    return array.copy()
