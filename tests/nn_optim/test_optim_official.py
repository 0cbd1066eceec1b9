"""Optimizers make the same steps, and keep the same state under the same names, as MindSpore 2.10."""

import optim_cases as cases
import pytest
from optim_cases import OFFICIAL, check_against_official, parameters

from mindspore import nn
from mindspore.experimental import optim


@pytest.mark.parametrize("case", cases.NN)
def test_nn_optimizers(case, mode):
    name, settings = cases.NN[case]
    params = parameters()
    check_against_official(getattr(nn, name)(list(params.values()), **settings), params, OFFICIAL["nn"][case])


@pytest.mark.parametrize("case", cases.GROUPS)
def test_parameter_groups_and_changing_rates(case, mode):
    params = parameters()
    check_against_official(cases.GROUPS[case](*params.values()), params, OFFICIAL["groups"][case])


@pytest.mark.parametrize("case", cases.EXPERIMENTAL)
def test_experimental_optimizers(case, mode):
    name, settings = cases.EXPERIMENTAL[case]
    params = parameters()
    optimizer = getattr(optim, name)(list(params.values()), **settings)
    check_against_official(optimizer, params, OFFICIAL["experimental"][case])
