"""Settings of parallel training that change nothing here say so, and why; the others are quiet."""

import warnings

import pytest

import mindspore as ms
from mindspore import context


@pytest.mark.parametrize("name", sorted(context._PARALLEL_WITHOUT_EFFECT))
def test_a_setting_without_effect_says_so(name):
    default = context._PARALLEL_DEFAULTS[name]
    other = not default if isinstance(default, bool) else "elsewhere" if isinstance(default, str) else default + 3
    with pytest.warns(UserWarning, match=f"'{name}' has no effect here"):
        ms.set_auto_parallel_context(**{name: other})
    assert ms.get_auto_parallel_context(name) == other
    ms.reset_auto_parallel_context()


def test_settings_that_act_and_defaults_are_quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ms.set_auto_parallel_context(gradients_mean=True, **{n: context._PARALLEL_DEFAULTS[n] for n in context._PARALLEL_WITHOUT_EFFECT})
    ms.reset_auto_parallel_context()
