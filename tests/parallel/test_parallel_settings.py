"""Settings of parallel training: wrong ones are refused, those that change nothing here say so; the others are quiet."""

import warnings

import pytest

import mindspore as ms
from mindspore.runtime import parallel_settings


@pytest.mark.parametrize("name", sorted(parallel_settings.WITHOUT_EFFECT))
def test_a_setting_without_effect_says_so(name):
    default = parallel_settings.DEFAULTS[name]
    text = "no_group_parallel" if name == "communi_parallel_mode" else "elsewhere"
    other = not default if isinstance(default, bool) else text if isinstance(default, str) else default + 3
    with pytest.warns(UserWarning, match=f"'{name}' has no effect here"):
        ms.set_auto_parallel_context(**{name: other})
    assert ms.get_auto_parallel_context(name) == other
    ms.reset_auto_parallel_context()


def test_settings_that_act_and_defaults_are_quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ms.set_auto_parallel_context(gradients_mean=True, **{n: parallel_settings.DEFAULTS[n] for n in parallel_settings.WITHOUT_EFFECT})
    ms.reset_auto_parallel_context()


WRONG = {
    "gradients_mean": (1, TypeError, "must be bool, but got 1 of type int"),
    "search_mode": ("best", ValueError, "must be one of .*sharding_propagation"),
    "pipeline_stages": (0, ValueError, "at least 1, but got 0"),
    "dataset_strategy": ("half", ValueError, "'full_batch', 'data_parallel' or a tuple"),
    "all_reduce_fusion_config": ([3, 1], ValueError, "ascend"),
    "parallel_optimizer_config": ({"threshold": 3}, ValueError, "may have the entries"),
    "strategy_ckpt_config": ({"load_file": 1}, TypeError, "'load_file' must be str"),
    "pipeline_config": ({"pipeline_scheduler": "2f2b"}, ValueError, "one of .*1f1b"),
    "comm_fusion": ({"allreduce": {"mode": "size", "config": "30"}}, TypeError, "a size in MB"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_settings_are_refused_and_change_nothing(name):
    value, kind, words = WRONG[name]
    before = ms.get_auto_parallel_context(name)
    with pytest.raises(kind, match=words):
        ms.set_auto_parallel_context(device_num=4, **{name: value})
    assert ms.get_auto_parallel_context(name) == before and ms.get_auto_parallel_context("device_num") == 1


def test_what_is_left_out_of_a_setting_keeps_its_first_value():
    ms.set_auto_parallel_context(comm_fusion={"allreduce": {"mode": "size", "config": 32}})
    found = ms.get_auto_parallel_context("comm_fusion")
    assert found["allreduce"] == {"mode": "size", "config": 32} and found["allgather"] == {"mode": "auto", "config": None}
    ms.reset_auto_parallel_context()
    assert ms.get_auto_parallel_context("comm_fusion")["allreduce"] == {"mode": "auto", "config": None}
