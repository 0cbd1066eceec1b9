"""The YAML file of a horizontal job: every key, its type, range and default, in one table.

The file is read with `safe_load`: it can hold data only. A key that is unknown, missing, of another type or out of its
range is named in the error.
"""
from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

Value = int | float | str | bool

_UINT32 = 0xFFFFFFFF
DEFAULT_CIPHERS = ("ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES256-GCM-SHA384:"
                   "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-CHACHA20-POLY1305:ECDHE-ECDSA-CHACHA20-POLY1305")
SERVER_MODES = ("FEDERATED_LEARNING", "HYBRID_TRAINING", "CLOUD_TRAINING")
AGGREGATIONS = ("FedAvg", "FedProx", "Scaffold", "FedNova", "FedCM", "FedAdam", "FedYogi", "FedMedian", "TrimmedMean",
                "Krum", "MultiKrum")
MASKED_AGGREGATIONS = ("FedAvg", "FedProx", "FedAdam", "FedYogi")          # those that need only the sum of the changes
ENCRYPT_TYPES = ("NOT_ENCRYPT", "DP_ENCRYPT", "PW_ENCRYPT", "STABLE_PW_ENCRYPT", "SIGNDS")
EVAL_TYPES = ("NOT_EVAL", "SILHOUETTE_SCORE", "CALINSKI_HARABASZ_SCORE", "DAVIES_BOULDIN_SCORE")


@dataclass(frozen=True)
class Key:
    """One setting: its type, its default (None: it must be given), and what values are allowed."""
    kind: type
    default: Value | None
    allowed: str = ""
    check: Callable[[Any], bool] = lambda value: True
    choices: tuple[str, ...] = ()
    when: tuple[str, tuple[Value, ...]] | None = None      # the key is looked at only if another has such a value


def _whole(default: int | None, low: int, high: int = _UINT32, **more: Any) -> Key:
    return Key(int, default, f"[{low}, {high}]", lambda value: low <= value <= high, **more)


def _number(default: float | None, allowed: str, check: Callable[[float], bool], **more: Any) -> Key:
    return Key(float, default, allowed, check, **more)


def _ratio(default: float | None, **more: Any) -> Key:
    return _number(default, "(0, 1]", lambda value: 0 < value <= 1, **more)


def _positive(default: float | None, **more: Any) -> Key:
    return _number(default, "(0, inf)", lambda value: value > 0, **more)


def _word(default: str | None, choices: tuple[str, ...] = (), **more: Any) -> Key:
    return Key(str, default, choices=choices, **more)


def _ascending(parts: list[str]) -> bool:
    return len(parts) == 2 and all(part.strip().isdecimal() for part in parts) and 0 < int(parts[0]) < int(parts[1])


_PW: dict[str, Any] = {"when": ("encrypt.encrypt_train_type", ("PW_ENCRYPT", "STABLE_PW_ENCRYPT"))}
_DP: dict[str, Any] = {"when": ("encrypt.encrypt_train_type", ("DP_ENCRYPT",))}
_SIGN: dict[str, Any] = {"when": ("encrypt.encrypt_train_type", ("SIGNDS",))}
_SSL: dict[str, Any] = {"when": ("enable_ssl", (True,))}

KEYS: dict[str, Key] = {
    "fl_name": _word(None),
    "fl_iteration_num": _whole(None, 1),
    "server_mode": _word(None, SERVER_MODES),
    "enable_ssl": Key(bool, None),
    "checkpoint_dir": _word("./fl_ckpt/"),
    "aggregation.aggregation_type": _word("FedAvg", AGGREGATIONS),
    "aggregation.iid_rate": _ratio(0.2),
    "aggregation.total_client_num": _whole(1, 1),
    "aggregation.server_learning_rate": _positive(0.1),
    "aggregation.client_momentum": _number(0.9, "[0, 1)", lambda value: 0 <= value < 1),
    "aggregation.byzantine_num": _whole(0, 0),
    "aggregation.trim_ratio": _number(0.1, "[0, 0.5)", lambda value: 0 <= value < 0.5),
    "distributed_cache.type": _word("redis", ("redis", "local")),
    "distributed_cache.address": _word(None, when=("distributed_cache.type", ("redis",))),
    "distributed_cache.plugin_lib_path": _word(""),
    "distributed_cache.cacert_filename": _word(""),
    "distributed_cache.capath": _word(""),
    "distributed_cache.cert_filename": _word(""),
    "distributed_cache.private_key_filename": _word(""),
    "distributed_cache.server_name": _word(""),
    "round.start_fl_job_threshold": _whole(None, 1),
    "round.start_fl_job_time_window": _whole(None, 1),
    "round.update_model_ratio": _ratio(None),
    "round.update_model_time_window": _whole(None, 1),
    "round.global_iteration_time_window": _whole(None, 1),
    "round.over_selection_ratio": _number(1.0, "[1, 10]", lambda value: 1 <= value <= 10),
    "round.deadline_quantile": _number(0.0, "[0, 1]", lambda value: 0 <= value <= 1),
    "round.async_buffer_size": _whole(0, 0),
    "round.max_staleness": _whole(0, 0),
    "summary.metrics_file": _word("metrics.json"),
    "summary.failure_event_file": _word("event.txt"),
    "summary.continuous_failure_times": _whole(10, 1),
    "summary.data_rate_dir": _word(""),                     # where traffic is recorded; nowhere unless given
    "summary.participation_time_level": Key(str, "5,15", "two whole numbers of minutes, the smaller one first",
                                            lambda value: _ascending(value.split(","))),
    "encrypt.encrypt_train_type": _word("NOT_ENCRYPT", ENCRYPT_TYPES),
    "encrypt.pw_encrypt.share_secrets_ratio": _ratio(None, **_PW),
    "encrypt.pw_encrypt.cipher_time_window": _whole(None, 1, **_PW),
    "encrypt.pw_encrypt.reconstruct_secrets_threshold": _whole(None, 1, **_PW),
    "encrypt.pw_encrypt.update_clip": _positive(8.0, **_PW),
    "encrypt.pw_encrypt.neighbours": Key(int, 0, "0 (everybody) or the even numbers from 2",
                                         lambda value: value >= 0 and value % 2 == 0, **_PW),
    "encrypt.pw_encrypt.noise_multiplier": _number(0.0, "[0, inf)", lambda value: value >= 0, **_PW),
    "encrypt.pw_encrypt.norm_clip": _positive(1.0, **_PW),
    "encrypt.dp_encrypt.dp_eps": _positive(50.0, **_DP),
    "encrypt.dp_encrypt.dp_delta": _number(0.01, "(0, 1)", lambda value: 0 < value < 1, **_DP),
    "encrypt.dp_encrypt.dp_norm_clip": _positive(1.0, **_DP),
    "encrypt.signds.sign_k": _number(0.01, "(0, 0.25]", lambda value: 0 < value <= 0.25, **_SIGN),
    "encrypt.signds.sign_eps": _number(100.0, "(0, 100]", lambda value: 0 < value <= 100, **_SIGN),
    "encrypt.signds.sign_thr_ratio": _number(0.6, "[0.5, 1]", lambda value: 0.5 <= value <= 1, **_SIGN),
    "encrypt.signds.sign_global_lr": _positive(1.0, **_SIGN),
    "encrypt.signds.sign_dim_out": _whole(0, 0, 50, **_SIGN),
    "encrypt.privacy_eval_type": _word("NOT_ENCRYPT", ("NOT_ENCRYPT", "LAPLACE")),
    "encrypt.laplace_eval.laplace_eval_eps": _number(
        230260.0, "(0, 500000]", lambda value: 0 < value <= 500000, when=("encrypt.privacy_eval_type", ("LAPLACE",))),
    "compression.upload_compress_type": _word("NO_COMPRESS", ("NO_COMPRESS", "DIFF_SPARSE_QUANT")),
    "compression.upload_sparse_rate": _ratio(0.4),
    "compression.download_compress_type": _word("NO_COMPRESS", ("NO_COMPRESS", "QUANT")),
    "ssl.server_cert_path": _word(None, **_SSL),
    "ssl.client_cert_path": _word(None, **_SSL),
    "ssl.ca_cert_path": _word(None, **_SSL),
    "ssl.crl_path": _word(""),
    "ssl.cipher_list": _word(DEFAULT_CIPHERS),
    "ssl.mutual": Key(bool, False),
    "ssl.cert_expire_warning_time_in_day": _whole(90, 7, 180),
    "client_verify.pki_verify": Key(bool, False),
    "client_verify.root_first_ca_path": _word(""),
    "client_verify.root_second_ca_path": _word(""),
    "client_verify.equip_crl_path": _word(""),
    "client_verify.replay_attack_time_diff": _whole(600000, 0),
    "client.http_url_prefix": _word(""),
    "client.client_epoch_num": _whole(25, 1),
    "client.client_batch_size": _whole(32, 1),
    "client.client_learning_rate": _positive(0.001),
    "client.connection_num": _whole(10000, 1),
    "client.requests_per_second": _number(0.0, "[0, inf)", lambda value: value >= 0),
    "unsupervised.cluster_client_num": _whole(1, 1),
    "unsupervised.eval_type": _word("NOT_EVAL", EVAL_TYPES),
}


_OLD_NAMES = {"encrypt.encrypt_type": "encrypt.encrypt_train_type"}         # of files written for earlier releases


class Settings:
    """The checked settings of a job, by their dotted keys."""

    def __init__(self, values: Mapping[str, Value]) -> None:
        self._values = dict(values)

    def whole(self, key: str) -> int:
        """The integer at `key`."""
        return int(self._values[key])

    def number(self, key: str) -> float:
        """The number at `key`."""
        return float(self._values[key])

    def word(self, key: str) -> str:
        """The text at `key`."""
        return str(self._values[key])

    def flag(self, key: str) -> bool:
        """The switch at `key`."""
        return bool(self._values[key])

    def changed(self, values: Mapping[str, Value], source: str) -> Settings:
        """These settings with some replaced, checked again."""
        return _checked({**self._values, **values}, source)

    def as_dict(self) -> dict[str, Value]:
        """All settings."""
        return dict(self._values)

    @property
    def update_threshold(self) -> int:
        """How many updates end a round."""
        wanted = self.whole("round.start_fl_job_threshold") * self.number("round.update_model_ratio")
        return max(1, -int(-wanted // 1))

    @property
    def masked(self) -> bool:
        """Whether clients mask their updates pairwise."""
        return self.word("encrypt.encrypt_train_type") in ("PW_ENCRYPT", "STABLE_PW_ENCRYPT")


def load_settings(yaml_config: str) -> Settings:
    """The settings in a YAML file."""
    import yaml

    path = Path(yaml_config)
    if not path.is_file():
        raise RuntimeError(f"The yaml config file '{yaml_config}' does not exist or is no file")
    try:
        tree = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise RuntimeError(f"Failed to read the yaml config file '{yaml_config}': {error}") from None
    if not isinstance(tree, dict):
        raise RuntimeError(f"The yaml config file '{yaml_config}' should hold a mapping, but got {type(tree).__name__}")
    if "distributed_cache" not in tree:
        tree["distributed_cache"] = {"type": "local"}
    return _checked({_OLD_NAMES.get(key, key): value for key, value in _flat("", tree)}, yaml_config)


def _flat(prefix: str, tree: Mapping[Any, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in tree.items():
        key = f"{prefix}{name}"
        if isinstance(value, dict) and key not in KEYS:
            yield from _flat(key + ".", value)
        elif value is not None:
            yield key, value


def _checked(given: Mapping[str, Any], source: str) -> Settings:
    for key in given:
        if key not in KEYS:
            near = difflib.get_close_matches(key, KEYS, 1)
            hint = f", did you mean '{near[0]}'?" if near else ""
            raise RuntimeError(f"The parameter '{key}' is unknown{hint}, yaml config file: {source}")
    values: dict[str, Value] = {}
    for key, rule in KEYS.items():
        if rule.when and values.get(rule.when[0]) not in rule.when[1]:
            if rule.default is not None:
                values[key] = rule.default
            continue
        value: Any = given.get(key, rule.default)
        if value is None:
            raise RuntimeError(f"The parameter '{key}' is missing, yaml config file: {source}")
        values[key] = _check_value(key, rule, value, source)
    _check_together(values, source)
    return Settings(values)


def _check_value(key: str, rule: Key, value: Any, source: str) -> Value:
    if rule.kind is float and type(value) is int:
        value = float(value)
    if type(value) is not rule.kind:
        raise RuntimeError(f"The parameter '{key}' is expected to be type {rule.kind.__name__}, actually "
                           f"{type(value).__name__}, yaml config file: {source}")
    if rule.kind is str and rule.default is None and not value:
        raise RuntimeError(f"The parameter '{key}' is missing, yaml config file: {source}")
    if rule.choices and value not in rule.choices:
        raise RuntimeError(f"The value of parameter '{key}' can be only one of [{', '.join(rule.choices)}], but got "
                           f"{value}, yaml config file: {source}")
    if not rule.check(value):
        raise RuntimeError(f"Failed to check value of parameter '{key}': it should be in {rule.allowed}, but got "
                           f"{value}, yaml config file: {source}")
    return cast(Value, value)


def _check_together(values: Mapping[str, Value], source: str) -> None:
    kind = values["encrypt.encrypt_train_type"]
    if kind not in ("PW_ENCRYPT", "STABLE_PW_ENCRYPT"):
        return
    kept = float(values["round.start_fl_job_threshold"]) * float(values["round.update_model_ratio"])
    needed = int(values["encrypt.pw_encrypt.reconstruct_secrets_threshold"])
    if needed >= kept:
        raise RuntimeError(
            f"cipher init fail. encrypt.pw_encrypt.reconstruct_secrets_threshold ({needed}) should be less than "
            f"round.start_fl_job_threshold * round.update_model_ratio ({kept:g}), yaml config file: {source}")
    neighbours = int(values["encrypt.pw_encrypt.neighbours"])
    if neighbours and (needed > neighbours or kind != "PW_ENCRYPT"):
        raise RuntimeError(
            f"cipher init fail. encrypt.pw_encrypt.neighbours ({neighbours}) should be at least "
            f"encrypt.pw_encrypt.reconstruct_secrets_threshold ({needed}), with PW_ENCRYPT, yaml config file: {source}")
    modes = ("FEDERATED_LEARNING", "HYBRID_TRAINING") if kind == "PW_ENCRYPT" else SERVER_MODES
    for key, allowed in (("aggregation.aggregation_type", MASKED_AGGREGATIONS), ("round.async_buffer_size", (0,)),
                         ("compression.upload_compress_type", ("NO_COMPRESS",)), ("server_mode", modes)):
        if values[key] not in allowed:
            raise RuntimeError(f"With encrypt_train_type {kind} the server sees only sums: '{key}' can be only one of "
                               f"{list(allowed)}, but got {values[key]}, yaml config file: {source}")
