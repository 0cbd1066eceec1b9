"""The tables of the protocol, as `field:type` in the order of their FlatBuffers slots.

Slots that are ours stand at the end of a table (`PWParams` from `clip` on, `ClientPublicKeys.data_size`, `reason` in answers), where other
readers pass over them.

Types: `int` and `float` (32 bits), `bool` and `byte` (8 bits, also enums), `string`, `[T]` a vector, any other word a table.
"""
from __future__ import annotations

from dataclasses import dataclass

_ASK = "fl_id:string iteration:int timestamp:string signature:[byte]"
_ANSWER = "retcode:int reason:string next_req_time:string iteration:int"

_TABLES = {
    "Aggregation": "type:byte weights:[float] iid_rate:float total_client_num:int",
    "EarlyStop": "early_stop_type:byte weight:float rounds:int",
    "FeatureMap": "weight_fullname:string data:[float]",
    "UnsupervisedEvalItem": "eval_name:string eval_data:[float]",
    "UnsupervisedEvalItems": "eval_items:[UnsupervisedEvalItem]",
    "CompressFeatureMap": "weight_fullname:string compress_data:[byte] min_val:float max_val:float",
    "RequestFLJob": "fl_name:string fl_id:string iteration:int data_size:int timestamp:string sign_data:[byte] "
                    "key_attestation:string equip_cert:string equip_ca_cert:string root_cert:string "
                    "download_compress_types:[byte] eval_data_size:int",
    "ResponseFLJob": "retcode:int reason:string iteration:int is_selected:bool next_req_time:string "
                     "fl_plan_config:FLPlan feature_map:[FeatureMap] timestamp:string upload_compress_type:byte "
                     "upload_sparse_rate:float download_compress_type:byte compress_feature_map:[CompressFeatureMap] "
                     "unsupervised_eval_flg:string",
    "FLPlan": "server_mode:string fl_name:string iterations:int epochs:int early_stop:EarlyStop mini_batch:int "
              "shuffle:bool lr:float aggregation:Aggregation metrics:[byte] cipher:CipherPublicParams",
    "RequestUpdateModel": "fl_name:string fl_id:string iteration:int feature_map:[FeatureMap] timestamp:string "
                          "signature:[byte] upload_loss:float sign:int index_array:[int] "
                          "compress_feature_map:[CompressFeatureMap] upload_compress_type:byte "
                          "upload_sparse_rate:float name_vec:[string] upload_accuracy:float "
                          "unsupervised_eval_items:UnsupervisedEvalItems signds_b_hat:string",
    "ResponseUpdateModel": "retcode:int reason:string feature_map:[FeatureMap] next_req_time:string timestamp:string",
    "RequestAsyncUpdateModel": "fl_name:string fl_id:string iteration:int data_size:int feature_map:[FeatureMap]",
    "ResponseAsyncUpdateModel": "retcode:int reason:string iteration:int",
    "RequestPushWeight": "iteration:int feature_map:[FeatureMap]",
    "ResponsePushWeight": "retcode:int reason:string iteration:int",
    "RequestGetModel": "fl_name:string iteration:int timestamp:string download_compress_types:[byte]",
    "ResponseGetModel": "retcode:int reason:string iteration:int feature_map:[FeatureMap] timestamp:string "
                        "download_compress_type:byte compress_feature_map:[CompressFeatureMap]",
    "RequestGetResult": "fl_name:string iteration:int timestamp:string",
    "ResponseGetResult": "retcode:int reason:string iteration:int timestamp:string",
    "RequestAsyncGetModel": "fl_name:string iteration:int",
    "ResponseAsyncGetModel": "retcode:int reason:string iteration:int feature_map:[FeatureMap]",
    "RequestPullWeight": "iteration:int weight_names:[string]",
    "ResponsePullWeight": "retcode:int reason:string iteration:int feature_map:[FeatureMap]",
    "FeatureMapList": "feature_map:[FeatureMap]",
    "RequestPushMetrics": "loss:float accuracy:float",
    "ResponsePushMetrics": "retcode:int",
    "PWParams": "t:int p:[byte] g:int prime:[byte] clip:float neighbours:int noise:float norm_clip:float least:int",
    "DPParams": "dp_eps:float dp_delta:float dp_norm_clip:float",
    "DSParams": "sign_k:float sign_eps:float sign_thr_ratio:float sign_global_lr:float sign_dim_out:int "
                "signds_r_est:float signds_is_reached:int",
    "CipherPublicParams": "encrypt_type:string pw_params:PWParams dp_params:DPParams ds_params:DSParams "
                          "laplace_params:float",
    "ClientPublicKeys": "fl_id:string c_pk:[byte] s_pk:[byte] pw_iv:[byte] pw_salt:[byte] timestamp:string "
                        "iteration:int signature:[byte] certificate_chain:[string] data_size:int",
    "ClientShare": "fl_id:string share:[byte] index:int",
    "RequestExchangeKeys": "fl_id:string c_pk:[byte] s_pk:[byte] iteration:int timestamp:string ind_iv:[byte] "
                           "pw_iv:[byte] pw_salt:[byte] signature:[byte] certificate_chain:[string]",
    "ResponseExchangeKeys": _ANSWER,
    "GetExchangeKeys": _ASK,
    "ReturnExchangeKeys": "retcode:int iteration:int remote_publickeys:[ClientPublicKeys] next_req_time:string "
                          "reason:string",
    "RequestShareSecrets": "fl_id:string encrypted_shares:[ClientShare] iteration:int timestamp:string "
                           "signature:[byte]",
    "ResponseShareSecrets": _ANSWER,
    "GetShareSecrets": _ASK,
    "ReturnShareSecrets": "retcode:int iteration:int encrypted_shares:[ClientShare] next_req_time:string reason:string",
    "GetClientList": _ASK,
    "ReturnClientList": "retcode:int reason:string clients:[string] iteration:int next_req_time:string",
    "ClientListSign": "fl_id:string signature:[byte]",
    "SendClientListSign": "fl_id:string iteration:int timestamp:string signature:[byte] req_signature:[byte]",
    "ResponseClientListSign": "retcode:int reason:string iteration:int next_req_time:string",
    "RequestAllClientListSign": _ASK,
    "ReturnAllClientListSign": "retcode:int reason:string client_list_sign:[ClientListSign] iteration:int "
                               "next_req_time:string",
    "SendReconstructSecret": "fl_id:string reconstruct_secret_shares:[ClientShare] iteration:int timestamp:string "
                             "signature:[byte]",
    "ReconstructSecret": "retcode:int reason:string iteration:int next_req_time:string",
}


@dataclass(frozen=True)
class Field:
    """One slot of a table; `kind` is the type without its brackets."""
    name: str
    kind: str
    vector: bool


def _field(text: str) -> Field:
    name, kind = text.split(":")
    return Field(name, kind.strip("[]"), kind.startswith("["))


TABLES: dict[str, tuple[Field, ...]] = {name: tuple(map(_field, text.split())) for name, text in _TABLES.items()}


class Code:
    """Values of `retcode`."""
    SUCCEED = 200
    NOT_READY = 201
    OUT_OF_TIME = 300
    REQUEST_ERROR = 400
    SYSTEM_ERROR = 500


COMPRESS_TYPES = {"NO_COMPRESS": 0, "DIFF_SPARSE_QUANT": 1, "QUANT": 2}
AGGREGATION_TYPES = {"FedAvg": 0, "FedProx": 1, "Scaffold": 2, "FedNova": 3, "qffl": 4, "FedCM": 5}
