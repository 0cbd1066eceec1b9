"""The YAML file: what is wrong is named."""
import pytest
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
