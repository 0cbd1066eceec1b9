"""The client rounds over HTTP: each function reads one request and writes one answer."""
from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from mindspore_federated import log
from mindspore_federated.common.settings import Settings
from mindspore_federated.compression import decode_diff_sparse_quant, quantize
from mindspore_federated.privacy.distributed_dp import DistributedDP
from mindspore_federated.privacy.signds import apply_signds
from mindspore_federated.server.attestation import Attestation
from mindspore_federated.server.features import Arrays, Floats
from mindspore_federated.server.http import Route
from mindspore_federated.server.rounds import Refused, Rounds, Update
from mindspore_federated.server.store import StoreError
from mindspore_federated.server.uploads import Reply
from mindspore_federated.wire.flat import Laid, Message, WireError, decode, encode_parts, lay_out
from mindspore_federated.wire.schema import AGGREGATION_TYPES, COMPRESS_TYPES, TABLES, Code

_SAFE_MODE = b"The cluster is in safemode."
_KEPT_LAYOUTS = 4
Served = tuple[str, str, Callable[[Message], Message]]


class Handlers:
    """The routes of one server."""

    def __init__(self, rounds: Rounds, attestation: Attestation | None = None) -> None:
        self.rounds = rounds
        self._attestation = attestation
        self._layouts: tuple[tuple[Arrays, str, str, Laid], ...] = ()

    def rounds_by_name(self) -> dict[str, Served]:
        """The tables of each round's request and answer, and the function between them."""
        return {
            "startFLJob": ("RequestFLJob", "ResponseFLJob", self.start_job),
            "updateModel": ("RequestUpdateModel", "ResponseUpdateModel", self.update_model),
            "getModel": ("RequestGetModel", "ResponseGetModel", self.get_model),
            "getResult": ("RequestGetResult", "ResponseGetResult", self.get_result),
            "pullWeight": ("RequestPullWeight", "ResponsePullWeight", self.pull_weight),
            "pushWeight": ("RequestPushWeight", "ResponsePushWeight", self.push_weight),
            "pushMetrics": ("RequestPushMetrics", "ResponsePushMetrics", self.push_metrics),
        }

    def routes(self) -> dict[str, Route]:
        """Path to function."""
        prefix = self.rounds.settings.word("client.http_url_prefix").strip("/")
        return {f"/{prefix}/{name}" if prefix else f"/{name}": self._route(name, *parts)
                for name, parts in self.rounds_by_name().items()}

    def _route(self, name: str, asked: str, answered: str, function: Callable[[Message], Message]) -> Route:
        reading = name in ("getModel", "getResult", "pullWeight", "pushWeight", "pushMetrics")
        fields = {field.name for field in TABLES[answered]}

        def answer(body: memoryview) -> Reply:
            try:
                closed = self.rounds.check_open(reading)
                if closed:
                    return Reply(closed.encode(), kind="text/plain")
                request = decode(asked, body)
                if self._attestation is not None:
                    self._attestation.check(name, request)
                reply = function(request)
                self.rounds.visits.asked(name, accepted=True)
            except WireError as error:
                reply = {"retcode": Code.REQUEST_ERROR, "reason": f"The schema of {asked} is invalid: {error}"}
            except Refused as refusal:
                self.rounds.visits.asked(name, accepted=False)
                reply = {"retcode": refusal.code, "reason": refusal.reason}
            except StoreError as error:
                log.debug("%s: %s", name, error)             # the round's clock tells of safe mode once
                return Reply(_SAFE_MODE, kind="text/plain")
            now = str(int(time.time() * 1000))
            common = {"iteration": self.rounds.instance.iteration, "timestamp": now, "next_req_time": now}
            return Reply(*encode_parts(answered, {key: value for key, value in {**common, **reply}.items() if key in fields}))

        return answer

    # ---- training

    def start_job(self, asked: Message) -> Message:
        """A client asks for a place, the plan and the model."""
        settings = self.rounds.settings
        instance, model = self.rounds.start_job(asked["fl_id"], asked["data_size"], asked["eval_data_size"])
        if self._attestation is not None:
            self._attestation.started(asked)
        part = "all"
        if settings.word("server_mode") == "CLOUD_TRAINING" and not settings.masked:     # what is masked is a change of it
            part = "controls"
        return {
            "retcode": Code.SUCCEED, "reason": "success", "iteration": instance.iteration, "is_selected": True,
            "fl_plan_config": _plan(settings),
            "upload_compress_type": COMPRESS_TYPES[settings.word("compression.upload_compress_type")],
            "upload_sparse_rate": settings.number("compression.upload_sparse_rate"),
            "unsupervised_eval_flg": settings.word("unsupervised.eval_type"),
            **self._model_fields(model, part, asked["download_compress_types"]),
        }

    def update_model(self, asked: Message) -> Message:
        """A client uploads."""
        evaluation = None
        if asked["unsupervised_eval_items"] and asked["unsupervised_eval_items"]["eval_items"]:
            evaluation = asked["unsupervised_eval_items"]["eval_items"][0]["eval_data"]
            if not np.isfinite(evaluation).all():
                raise Refused(Code.REQUEST_ERROR, "The upload unsupervised eval data is nan or inf, client fl id is "
                                                  f"{asked['fl_id']}")
        update = Update(asked["fl_id"], asked["iteration"], self._uploaded(asked), asked["upload_loss"],
                        asked["upload_accuracy"], evaluation)
        self.rounds.update(update)
        return {"retcode": Code.SUCCEED, "reason": "success not ready"}

    def _uploaded(self, asked: Message) -> Arrays:
        settings = self.rounds.settings
        try:
            if settings.word("encrypt.encrypt_train_type") == "SIGNDS" and asked["sign"]:
                size = self.rounds.data_size(asked["fl_id"])
                return apply_signds(self.rounds.model, self.rounds.fixed, asked["sign"], asked["index_array"],
                                    settings.number("encrypt.signds.sign_global_lr"), size)
            if asked["upload_compress_type"] == COMPRESS_TYPES["DIFF_SPARSE_QUANT"]:
                size = self.rounds.data_size(asked["fl_id"])
                return decode_diff_sparse_quant(
                    asked["compress_feature_map"], asked["name_vec"], self.rounds.model,
                    settings.number("compression.upload_sparse_rate"), asked["iteration"], size)
        except ValueError as error:
            raise Refused(Code.REQUEST_ERROR, f"Verify model feature map failed: {error}") from None
        return _arrays(asked["feature_map"])

    def get_model(self, asked: Message) -> Message:
        """A client asks for the result of a round."""
        model = self.rounds.model_of(asked["iteration"])
        return {"retcode": Code.SUCCEED, "reason": f"Get model for iteration {asked['iteration']}",
                **self._model_fields(model, "aggregated", asked["download_compress_types"])}

    def get_result(self, asked: Message) -> Message:
        """A client asks whether a round is over."""
        self.rounds.model_of(asked["iteration"])
        return {"retcode": Code.SUCCEED, "reason": f"Get result for iteration {asked['iteration']}"}

    def _model_fields(self, model: Arrays, part: str, known: Any) -> Message:
        kind = self.rounds.settings.word("compression.download_compress_type")
        if kind == "QUANT" and COMPRESS_TYPES[kind] in known:
            return {"download_compress_type": COMPRESS_TYPES[kind],
                    "compress_feature_map": self._laid_out(model, part, "compress_feature_map")}
        return {"download_compress_type": 0, "feature_map": self._laid_out(model, part, "feature_map")}

    def _laid_out(self, model: Arrays, part: str, field: str) -> Laid:
        """A part of a model as it stands in answers, made once for all clients that ask."""
        for known_model, known_part, known_field, laid in self._layouts:
            if known_model is model and (known_part, known_field) == (part, field):
                return laid
        chosen = {name: value for name, value in model.items()
                  if part == "all" or (name not in self.rounds.fixed if part == "aggregated" else name.startswith("control."))}
        items = _features(chosen) if field == "feature_map" else [quantize(name, value) for name, value in chosen.items()]
        laid = lay_out("ResponseGetModel", field, items)
        self._layouts = (*self._layouts[1 - _KEPT_LAYOUTS:], (model, part, field, laid))
        return laid

    # ---- workers of hybrid training

    def pull_weight(self, asked: Message) -> Message:
        """A worker asks for the sum of the round."""
        weights = self.rounds.pull()
        names = asked["weight_names"] or list(weights)
        unknown = [name for name in names if name not in weights]
        if unknown:
            raise Refused(Code.REQUEST_ERROR, f"The weight {unknown[0]} is none of the model's.")
        return {"retcode": Code.SUCCEED, "reason": "success",
                "feature_map": _features({name: weights[name] for name in names})}

    def push_weight(self, asked: Message) -> Message:
        """A worker brings the weights it trained."""
        self.rounds.push(_arrays(asked["feature_map"]))
        return {"retcode": Code.SUCCEED, "reason": "success"}

    def push_metrics(self, asked: Message) -> Message:
        """A worker brings loss and accuracy."""
        self.rounds.push_metrics(asked["loss"], asked["accuracy"])
        return {"retcode": Code.SUCCEED}


def _features(arrays: Mapping[str, Floats]) -> list[Message]:
    return [{"weight_fullname": name, "data": value} for name, value in arrays.items()]


def _arrays(features: list[Message]) -> Arrays:
    return {feature["weight_fullname"]: feature["data"] for feature in features}


def _plan(settings: Settings) -> Message:
    kind = settings.word("aggregation.aggregation_type")
    return {
        "server_mode": settings.word("server_mode"), "fl_name": settings.word("fl_name"),
        "iterations": settings.whole("fl_iteration_num"), "epochs": settings.whole("client.client_epoch_num"),
        "mini_batch": settings.whole("client.client_batch_size"), "lr": settings.number("client.client_learning_rate"),
        "aggregation": {"type": AGGREGATION_TYPES.get(kind, 0), "iid_rate": settings.number("aggregation.iid_rate"),
                        "total_client_num": settings.whole("aggregation.total_client_num")},
        "cipher": _cipher(settings),
    }


def _cipher(settings: Settings) -> Message:
    kind = settings.word("encrypt.encrypt_train_type")
    params: Message = {"encrypt_type": kind}
    if kind in ("PW_ENCRYPT", "STABLE_PW_ENCRYPT"):
        params["pw_params"] = {"t": settings.whole("encrypt.pw_encrypt.reconstruct_secrets_threshold"),
                               "clip": settings.number("encrypt.pw_encrypt.update_clip"),
                               "neighbours": settings.whole("encrypt.pw_encrypt.neighbours")}
        noised = DistributedDP.of(settings)
        if noised is not None:
            params["pw_params"].update(asdict(noised))
    elif kind == "DP_ENCRYPT":
        params["dp_params"] = {name: settings.number(f"encrypt.dp_encrypt.{name}")
                               for name in ("dp_eps", "dp_delta", "dp_norm_clip")}
    elif kind == "SIGNDS":
        params["ds_params"] = {name: settings.number(f"encrypt.signds.{name}")
                               for name in ("sign_k", "sign_eps", "sign_thr_ratio", "sign_global_lr")}
        params["ds_params"]["sign_dim_out"] = settings.whole("encrypt.signds.sign_dim_out")
    if settings.word("encrypt.privacy_eval_type") == "LAPLACE":
        params["laplace_params"] = settings.number("encrypt.laplace_eval.laplace_eval_eps")
    return params
