"""Arguments of the server: what to start, on what addresses, with which certificates."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mindspore_serving.checks import check_bool, check_int, check_ints, check_key, check_str
from mindspore_serving.engine.dispatcher import Deployment
from mindspore_serving.engine.location import Location, check_location, versions

_DEVICES = ("ascend", "gpu", "cpu")
#: where scripts that start servables find the workers' log files, within the folder they are started in
LOGS = "serving_logs"


class ServableStartConfig:
    """A servable to start: its folder is `servable_directory/servable_name`; version 0 is the newest there.

    `device_ids` gives one worker process each; `num_parallel_workers` more for Python stages. Encrypted models need
    `dec_key` (16, 24 or 32 bytes) and `dec_mode` ('AES-GCM' or 'AES-CBC').
    """

    def __init__(
        self,
        servable_directory: str,
        servable_name: str,
        device_ids: Any = None,
        version_number: int = 0,
        device_type: str | None = None,
        num_parallel_workers: int = 0,
        dec_key: bytes | None = None,
        dec_mode: str = "AES-GCM",
    ) -> None:
        check_str("servable_directory", servable_directory)
        check_str("servable_name", servable_name)
        check_int("version_number", version_number, 0)
        check_int("num_parallel_workers", num_parallel_workers, 0, 64)
        check_key(dec_key, dec_mode)
        self.servable_directory = os.path.realpath(servable_directory)
        self.servable_name = servable_name
        self.version_number = version_number
        self.device_ids = check_ints("device_ids", [] if device_ids is None else device_ids, 0)
        self.device_type = _device(device_type)
        self.num_parallel_workers = num_parallel_workers or (0 if self.device_ids else 1)
        self.dec_key = dec_key
        self.dec_mode = dec_mode


def _device(device_type: Any) -> str:
    if device_type is None:
        return "none"
    check_str("device_type", device_type)
    if device_type.lower() not in (*_DEVICES, "none"):
        raise RuntimeError(f"Unsupported device type '{device_type}', only support 'Ascend', 'GPU', 'CPU' and None, case ignored")
    return str(device_type.lower())


@dataclass
class Wanted:
    """A version to start: `devices` workers that run models, up to `workers` in all."""

    deployment: Deployment
    devices: set[int]


def merge(configs: Sequence[ServableStartConfig]) -> list[Wanted]:
    """One entry for each version: several configurations of it add their devices."""
    directories: dict[str, str] = {}
    found: dict[tuple[str, int], Wanted] = {}
    for config in configs:
        name, directory = config.servable_name, config.servable_directory
        if config.device_type not in ("none", "cpu"):
            raise RuntimeError(
                f"The device type '{config.device_type}' of servable name {name} is inconsistent with current running environment, "
                "supported device type: None or 'Cpu'"
            )
        if directories.setdefault(name, directory) != directory:
            raise RuntimeError(
                f"The servable directory of servable name {name} is different in multiple configurations, servable directory: "
                f"{directory} and {directories[name]}"
            )
        check_location(directory, name)
        version = config.version_number or max(versions(directory, name), default=0)
        fresh = Deployment(Location(directory, name, version), config.num_parallel_workers, config.dec_key, config.dec_mode, LOGS)
        wanted = found.setdefault((name, version), Wanted(fresh, set()))
        own = wanted.deployment
        if (own.key, own.mode) != (config.dec_key, config.dec_mode):
            raise RuntimeError(f"The dec key or dec mode of servable name {name} is different in multiple configurations.")
        own.workers = max(own.workers, config.num_parallel_workers)
        wanted.devices |= set(config.device_ids)
    return list(found.values())


class SSLConfig:
    """Files for encrypted connections; with `verify_client` clients need a certificate of the authority `custom_ca`."""

    def __init__(self, certificate: str, private_key: str, custom_ca: str | None = None, verify_client: bool = False) -> None:
        check_str("certificate", certificate)
        check_str("private_key", private_key)
        check_bool("verify_client", verify_client)
        if verify_client:
            check_str("custom_ca", custom_ca)
        self.certificate = certificate
        self.private_key = private_key
        self.custom_ca = custom_ca
        self.verify_client = verify_client

    def files(self) -> tuple[bytes, bytes, bytes | None]:
        """(key, certificate, authority of clients)."""
        authority = Path(self.custom_ca).read_bytes() if self.verify_client and self.custom_ca else None
        return Path(self.private_key).read_bytes(), Path(self.certificate).read_bytes(), authority


def check_ssl(ssl_config: Any) -> None:
    if ssl_config is not None and not isinstance(ssl_config, SSLConfig):
        raise RuntimeError("The type of ssl_config should be type of SSLConfig")


def split_address(title: str, address: str) -> tuple[str, int]:
    """(host, port) of 'host:port'; RuntimeError with the official words otherwise."""
    host, colon, port = address.rpartition(":")
    if not colon or not host or not port.isdigit():
        raise RuntimeError(f"Serving Error: The format of the {title} address '{address}' is illegal")
    if not 1 <= int(port) <= 65535:
        raise RuntimeError(f"Serving Error: The port of the {title} address '{address}' is out of legal range [1 ~ 65535]")
    return host, int(port)
