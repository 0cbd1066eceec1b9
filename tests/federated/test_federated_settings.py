"""The YAML file: what is wrong is named."""
import pytest
import yaml
from federated_processes import write_yaml

from mindspore_federated.common.settings import load_settings


def _error(tmp_path, **changes):
    with pytest.raises(RuntimeError) as caught:
        load_settings(write_yaml(tmp_path / "job.yaml", **changes))
    return str(caught.value)


def test_defaults(tmp_path):
    settings = load_settings(write_yaml(tmp_path / "job.yaml"))
    assert settings.word("aggregation.aggregation_type") == "FedAvg"
    assert settings.word("distributed_cache.type") == "local"
    assert settings.whole("client.client_epoch_num") == 25


def test_update_threshold_is_rounded_up(tmp_path):
    settings = load_settings(write_yaml(tmp_path / "job.yaml", round__start_fl_job_threshold=7,
                                        round__update_model_ratio=0.5))
    assert settings.update_threshold == 4


@pytest.mark.parametrize("key, value, words", [
    ("round__start_fl_job_threshold", "1", "'round.start_fl_job_threshold' is expected to be type int, actually str"),
    ("round__start_fl_job_threshold", 0, "Failed to check value of parameter 'round.start_fl_job_threshold'"),
    ("round__start_fl_job_threshold", 2 ** 32, "Failed to check value of parameter 'round.start_fl_job_threshold'"),
    ("round__start_fl_job_threshold", True, "expected to be type int, actually bool"),
    ("round__update_model_ratio", 1.01, "Failed to check value of parameter 'round.update_model_ratio'"),
    ("round__global_iteration_time_window", {"a": 1}, "'round.global_iteration_time_window' is expected to be type int"),
    ("server_mode", "NO_MODE", "The value of parameter 'server_mode' can be only one of"),
    ("encrypt__encrypt_train_type", "X", "The value of parameter 'encrypt.encrypt_train_type' can be only one of"),
    ("round__start_job_threshold", 3, "'round.start_job_threshold' is unknown, did you mean "
                                      "'round.start_fl_job_threshold'?"),
    ("compression__upload_compress_type", "QUANT", "'compression.upload_compress_type' can be only one of"),
    ("summary__participation_time_level", "15,5", "'summary.participation_time_level': it should be in two whole numbers"),
])
def test_wrong_values_are_named(tmp_path, key, value, words):
    assert words in _error(tmp_path, **{key: value})


def test_missing_values_are_named(tmp_path):
    assert "The parameter 'encrypt.pw_encrypt.share_secrets_ratio' is missing" in _error(
        tmp_path, encrypt__encrypt_train_type="PW_ENCRYPT")
    assert "The parameter 'round.update_model_ratio' is missing" in _error(tmp_path, round__update_model_ratio=None)


def test_too_few_clients_for_masking(tmp_path):
    pw = {"share_secrets_ratio": 1.0, "cipher_time_window": 3000, "reconstruct_secrets_threshold": 2}
    assert "cipher init fail." in _error(tmp_path, encrypt__encrypt_train_type="PW_ENCRYPT", encrypt__pw_encrypt=pw,
                                         round__start_fl_job_threshold=2)


def test_yaml_holds_data_only(tmp_path):
    path = tmp_path / "evil.yaml"
    path.write_text("fl_name: !!python/object/apply:os.system ['touch pwned']\n")
    with pytest.raises(RuntimeError, match="Failed to read"):
        load_settings(str(path))
    path.write_text("- a\n- list\n")
    with pytest.raises(RuntimeError, match="should hold a mapping"):
        load_settings(str(path))
    with pytest.raises(RuntimeError, match="does not exist"):
        load_settings(str(tmp_path / "none.yaml"))


# key: (a value that is allowed, one that is not), as the official page of the YAML file says
_OFFICIAL = {
    "fl_name": ("Lenet", 3), "fl_iteration_num": (20, 0), "server_mode": ("CLOUD_TRAINING", "CLOUD"), "enable_ssl": (True, "no"),
    "checkpoint_dir": ("./fl_ckpt/", 1),
    "aggregation": {"aggregation_type": ("FedNova", "FedMax"), "iid_rate": (0.2, 1.5), "total_client_num": (2, 0)},
    "distributed_cache": {"type": ("redis", "memcached"), "address": ("127.0.0.1:2345", 2345), "plugin_lib_path": ("lib.so", 1),
                          "cacert_filename": ("ca.crt", 1), "capath": ("certs", 1), "cert_filename": ("client.crt", 1),
                          "private_key_filename": ("client.key", 1), "server_name": ("redis", 1)},
    "round": {"start_fl_job_threshold": (4, 0), "start_fl_job_time_window": (300000, 0), "update_model_ratio": (1.0, 0.0),
              "update_model_time_window": (300000, 0), "global_iteration_time_window": (3000000, 0)},
    "summary": {"metrics_file": ("metrics.json", 1), "failure_event_file": ("event.txt", 1), "continuous_failure_times": (10, 0),
                "data_rate_dir": ("..", 1), "participation_time_level": ("5,15", "15")},
    "encrypt": {"encrypt_train_type": ("NOT_ENCRYPT", "NONE"), "privacy_eval_type": ("LAPLACE", "GAUSS"),
                "laplace_eval": {"laplace_eval_eps": (230260, 500001)}},
    "compression": {"upload_compress_type": ("DIFF_SPARSE_QUANT", "ZIP"), "upload_sparse_rate": (0.4, 0.0),
                    "download_compress_type": ("QUANT", "ZIP")},
    "ssl": {"server_cert_path": ("server.p12", 1), "client_cert_path": ("client.p12", 1), "ca_cert_path": ("ca.crt", 1),
            "crl_path": ("ca.crl", 1), "cipher_list": ("ECDHE-RSA-AES128-GCM-SHA256", 1),
            "cert_expire_warning_time_in_day": (90, 6)},
    "client_verify": {"pki_verify": (False, 1), "root_first_ca_path": ("first.crt", 1), "root_second_ca_path": ("second.crt", 1),
                      "equip_crl_path": ("equip.crl", 1), "replay_attack_time_diff": (600000, -1)},
    "client": {"http_url_prefix": ("fl", 1), "client_epoch_num": (25, 0), "client_batch_size": (32, 0),
               "client_learning_rate": (0.001, 0.0), "connection_num": (10000, 0)},
    "unsupervised": {"cluster_client_num": (2, 0), "eval_type": ("SILHOUETTE_SCORE", "GUESS")},
}
_BY_TYPE = {
    "PW_ENCRYPT": ("pw_encrypt", {"share_secrets_ratio": (1.0, 1.1), "cipher_time_window": (300000, 0),
                                  "reconstruct_secrets_threshold": (2, 0)}),
    "DP_ENCRYPT": ("dp_encrypt", {"dp_eps": (50.0, 0.0), "dp_delta": (0.01, 1.0), "dp_norm_clip": (1.0, 0.0)}),
    "SIGNDS": ("signds", {"sign_k": (0.01, 0.3), "sign_eps": (100, 101), "sign_thr_ratio": (0.6, 0.4), "sign_global_lr": (1, 0),
                          "sign_dim_out": (0, 51)}),
}


def _with(tree, wrong, prefix=""):
    """The allowed values, but for the key `wrong`."""
    return {name: _with(value, wrong, f"{prefix}{name}.") if isinstance(value, dict) else value[f"{prefix}{name}" == wrong]
            for name, value in tree.items()}


def _keys(tree, prefix=""):
    for name, value in tree.items():
        yield from _keys(value, f"{prefix}{name}.") if isinstance(value, dict) else [f"{prefix}{name}"]


def test_every_official_key_is_known_and_checked(tmp_path):
    path = tmp_path / "job.yaml"

    def load(tree, wrong=""):
        path.write_text(yaml.safe_dump(_with(tree, wrong)))
        return load_settings(str(path))

    for kind, (group, keys) in {"": ("", {}), **_BY_TYPE}.items():
        tree = {**_OFFICIAL, "encrypt": {**_OFFICIAL["encrypt"], **({"encrypt_train_type": (kind, "NONE"), group: keys} if kind else {})}}
        if kind == "PW_ENCRYPT":                            # whose server sees sums only
            tree.update(compression={}, aggregation={}, server_mode=("FEDERATED_LEARNING", ""))
        load(tree)
        for key in _keys(tree):
            with pytest.raises(RuntimeError, match=key.replace(".", r"\.")):
                load(tree, key)


def test_files_of_earlier_releases(tmp_path):
    assert load_settings(write_yaml(tmp_path / "job.yaml", encrypt__encrypt_type="SIGNDS")).word(
        "encrypt.encrypt_train_type") == "SIGNDS"
