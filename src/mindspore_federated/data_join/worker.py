"""FLDataWorker: one party of a data join.

The leader's bucket number, shard number, join type and primary key hold for both. Keys are spread over buckets by a hash,
each bucket is intersected and exported by itself.
"""
from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from typing import Any

from mindspore_federated import log
from mindspore_federated.common.check_type import check_str
from mindspore_federated.data_join.io import CsvSource, export_mindrecord
from mindspore_federated.data_join.psi import plain_intersection, private_intersection
from mindspore_federated.startup.server_config import ServerConfig
from mindspore_federated.startup.ssl_config import SSLConfig
from mindspore_federated.startup.vertical_federated_local import VerticalFederatedCommunicator

_SHARED = ("primary_key", "bucket_num", "shard_num", "join_type")
_SSL = ("server_password", "client_password", "server_cert_path", "client_cert_path", "ca_cert_path", "crl_path",
        "cipher_list", "cert_expire_warning_time_in_day")


class FLDataWorker:
    """Joins this party's data with the other's; `config` holds the keys of the data join's YAML file."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._config = dict(config)
        self._communicator: VerticalFederatedCommunicator | None = None

    def communicator(self) -> VerticalFederatedCommunicator | None:
        """The link to the other party, for training after the join."""
        return self._communicator

    def do_worker(self) -> None:
        """Agree on the settings, read, intersect, export."""
        if self._config["role"] not in ("leader", "follower"):
            raise ValueError('role must be "leader" or "follower"')
        if self._config["role"] == "leader":
            self._check()
        self._connect()
        self._agree()
        self._check()
        source = self._source()
        exported = 0
        for number, keys in enumerate(_buckets(source.keys(), self._config["bucket_num"])):
            common = self._join(keys, number)
            if common:
                self._export(number, source, common)
                exported += 1
        if not exported:
            raise ValueError("The intersection_keys of all buckets is empty")

    def _connect(self) -> None:
        config = self._config
        ssl_config = SSLConfig(*(config[name] for name in _SSL)) if config["enable_ssl"] is True else None
        self._communicator = VerticalFederatedCommunicator(
            ServerConfig(config["server_name"], config["http_server_address"]),
            ServerConfig(config["remote_server_name"], config["remote_server_address"]),
            enable_ssl=config["enable_ssl"], ssl_config=ssl_config)
        self._communicator.launch()

    def _agree(self) -> None:
        assert self._communicator is not None
        peer = self._config["remote_server_name"]
        if self._config["role"] == "leader":
            self._communicator.send_message(peer, {name: self._config[name] for name in _SHARED})
        else:
            decided = self._communicator.receive_message(peer)
            self._config.update({name: decided[name] for name in _SHARED})

    def _check(self) -> None:
        config = self._config
        if config["join_type"] not in ("psi", "plain"):
            raise ValueError(f"The 'join_type' should be str and must be one of ['psi', 'plain'], but got "
                             f"{config['join_type']!r}.")
        for name, low, high in (("bucket_num", 1, 1000000), ("shard_num", 1, 1000)):
            if isinstance(config[name], bool) or not isinstance(config[name], int):
                raise TypeError(f"The '{name}' should be int, but got {type(config[name]).__name__}.")
            if not low <= config[name] <= high:
                raise ValueError(f"The '{name}' must be in the range of [{low}, {high}], but got {config[name]}.")
        if config["store_type"] == "mysql":
            raise ValueError("The 'store_type' mysql needs a database driver, which is not built in: export the table "
                             "as csv")
        if config["store_type"] != "csv":
            raise ValueError(f"The 'store_type' should be str and must be one of ['csv', 'mysql'], but got "
                             f"{config['store_type']!r}.")
        if isinstance(config["thread_num"], bool) or not isinstance(config["thread_num"], int):
            raise TypeError(f"The 'thread_num' should be int, but got {type(config['thread_num']).__name__}.")
        if config["thread_num"] < 0:
            raise ValueError(f"The 'thread_num' must be at least 0, but got {config['thread_num']}.")
        check_str("primary_key", config["primary_key"])
        check_str("output_dir", config["output_dir"])
        if not os.path.isdir(config["output_dir"]):
            raise ValueError(f"output_dir: {config['output_dir']} is not a directory.")
        if config["shard_num"] * config["bucket_num"] > 4096:
            log.warning("a MindDataset reads up to 4096 files, shard_num * bucket_num is %d",
                        config["shard_num"] * config["bucket_num"])

    def _source(self) -> CsvSource:
        import yaml

        with open(self._config["data_schema_path"], encoding="utf-8") as source:
            schema = yaml.safe_load(source)
        return CsvSource(self._config["main_table_files"], self._config["primary_key"], schema)

    def _join(self, keys: list[str], bucket: int) -> list[str]:
        assert self._communicator is not None
        peer = self._config["remote_server_name"]
        if self._config["join_type"] == "plain":
            return plain_intersection(self._communicator, peer, keys, bucket)
        threads = self._config["thread_num"] or os.cpu_count() or 1
        return private_intersection(self._communicator, peer, keys, threads, bucket)

    def _export(self, number: int, source: CsvSource, keys: list[str]) -> None:
        shards = self._config["shard_num"]
        name = os.path.join(self._config["output_dir"], f"mindrecord_{number}")
        if shards == 1:
            export_mindrecord(name, source, keys)
            return
        for shard in range(shards):
            part = keys[len(keys) * shard // shards:len(keys) * (shard + 1) // shards]
            if part:
                export_mindrecord(f"{name}_{shard}", source, part)


def _buckets(keys: list[str], count: int) -> list[list[str]]:
    buckets: list[list[str]] = [[] for _ in range(count)]
    for key in keys:
        digest = hashlib.sha256(key.encode()).digest()
        buckets[int.from_bytes(digest[:8], "little") % count].append(key)
    return buckets
