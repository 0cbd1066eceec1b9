"""Accumulated gradients, grouped parameters, boost settings."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, boost, nn


def _step(mode, **settings):
    net = nn.Dense(2, 1, weight_init="ones", has_bias=False)
    loss = nn.WithLossCell(net, nn.MSELoss())
    config = boost.AutoBoost("O1", settings) if settings else None
    return net, boost.BoostTrainOneStepCell(loss, nn.SGD(net.trainable_params(), 0.1), auto_boost=config)


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_two_halves_accumulate_to_the_whole(mode):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(4, 2)).astype(np.float32), rng.normal(size=(4, 1)).astype(np.float32)
    ms.set_context(mode=mode)
    try:
        whole, step = _step(mode)
        step(Tensor(x), Tensor(y))
        parts, step = _step(
            mode, boost={"mode": "manual", "grad_accumulation": True}, grad_accumulation={"grad_accumulation_step": 2}
        )
        start = parts.weight.asnumpy().copy()
        step(Tensor(x[:2]), Tensor(y[:2]))
        np.testing.assert_array_equal(parts.weight.asnumpy(), start)
        step(Tensor(x[2:]), Tensor(y[2:]))
        np.testing.assert_allclose(parts.weight.asnumpy(), whole.weight.asnumpy(), rtol=1e-5)
        step(Tensor(x[:2]), Tensor(y[:2]))  # starts again from zero
        np.testing.assert_allclose(parts.weight.asnumpy(), whole.weight.asnumpy(), rtol=1e-5)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_settings_of_levels_and_modes():
    assert not any(boost.AutoBoost("O0").boost_config.values())
    assert boost.AutoBoost("O2").boost_config["adasum"]
    assert all(boost.AutoBoost("O1", {"boost": {"mode": "enable_all"}}).boost_config.values())
    with pytest.raises(ValueError, match="boost mode"):
        boost.AutoBoost("O1", {"boost": {"mode": "some"}})
    with pytest.raises(ValueError, match="at least 1 step"):
        boost.GradientAccumulation(0, None)


def test_groups_with_centralised_gradients():
    net = nn.SequentialCell(nn.Conv2d(2, 4, 3, has_bias=True), nn.Conv2d(4, 4, 3, group=4), nn.BatchNorm2d(4))
    params = net.trainable_params()
    groups = boost.OptimizerProcess.build_gc_params_group(
        boost.OptimizerProcess.build_params_dict(net), [{"params": params, "lr": 0.1}]
    )
    assert [g.get("grad_centralization", False) for g in groups] == [True, False]
    assert [p.name for p in groups[0]["params"]] == ["0.weight"] and len(groups[1]["params"]) == len(params) - 1
    assert all(g["lr"] == 0.1 for g in groups)


def test_groups_follow_new_parameters():
    first, second = nn.Dense(2, 2), nn.Dense(2, 2)
    old, new = first.trainable_params(), second.trainable_params()
    groups = boost.ParameterProcess.generate_group_params(new, [{"params": old[:1], "lr": 0.5}])
    assert [[p is q for p in g["params"] for q in new] for g in groups] == [[True, False], [False, True]]
    assert groups[1]["lr"] == 0.5
    assert boost.ParameterProcess.generate_group_params(new, old) == [{"params": new}]
    with pytest.raises(ValueError, match="empty"):
        boost.ParameterProcess.generate_group_params(new, [])
    boost.ParameterProcess().assign_parameter_group(new)
    assert [p.comm_fusion for p in new] == [1, 2]


def test_an_optimizer_made_again_centralises():
    net = nn.Conv2d(2, 4, 3)
    momentum = nn.Momentum([{"params": net.trainable_params(), "lr": 0.2}], 0.1, 0.9)
    for optimizer in (momentum, nn.LARS(momentum, coefficient=0.02)):
        process = boost.OptimizerProcess(optimizer)
        process.add_grad_centralization(net)
        made = process.generate_new_optimizer()
        assert type(made) is type(optimizer)
        inner = made.opt if isinstance(made, nn.LARS) else made
        assert inner.grad_centralization and inner.init_args["momentum"] == 0.9


def test_what_is_not_carried_out_says_so():
    with pytest.warns(UserWarning, match="'dim_reduce'"):
        boost.AutoBoost("O0", {"boost": {"mode": "manual", "dim_reduce": True}})
    with pytest.raises(NotImplementedError, match="AdaSumByGradWrapCell"):
        boost.AdaSum()
    with pytest.raises(NotImplementedError, match="TrainOneStepCell"):
        boost.DimReduce()
    with pytest.warns(UserWarning, match="'boost_level' 'O1' has no effect"):
        ms.Model(nn.Dense(2, 2), nn.MSELoss(), boost_level="O1")
