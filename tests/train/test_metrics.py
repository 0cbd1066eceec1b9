"""Metrics: the answers of official MindSpore (recorded), bad input, the life cycle."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from metric_cases import cases, run

from mindspore import Tensor, nn, train

RECORDED = json.loads((Path(__file__).parents[1] / "data" / "official" / "metrics.json").read_text())
CASES = cases()


@pytest.mark.parametrize("name", sorted(CASES))
def test_same_as_official(name):
    ours, expected = run(train, Tensor, CASES[name]), RECORDED[name]
    if name.startswith("roc classes"):
        for a, b in zip(ours, expected):
            for x, y in zip(a, b):
                np.testing.assert_allclose(x, y, rtol=1e-6)
    else:
        np.testing.assert_allclose(np.squeeze(ours), np.squeeze(expected), rtol=1e-6, atol=1e-12)


def test_every_case_was_recorded():
    assert set(CASES) == set(RECORDED)


@pytest.mark.parametrize("name", sorted(set(train.names()) - {"auc"}))
def test_factory_gives_metrics_that_need_samples(name):
    arguments = {"topk": (2,), "confusion_matrix": (3,)}.get(name, ())
    metric = train.get_metric_fn(name, *arguments)
    assert isinstance(metric, train.Metric)
    if name != "confusion_matrix_metric":
        with pytest.raises(RuntimeError):
            metric.eval()
    with pytest.raises((ValueError, TypeError)):
        metric.update()


def test_unknown_name():
    with pytest.raises(KeyError):
        train.get_metric_fn("best")


def test_indexes_choose_inputs():
    metric = train.MAE().set_indexes([0, 2])
    x, wrong, y = Tensor([1.0, 2.0]), Tensor([9.0, 9.0]), Tensor([1.0, 3.0])
    metric.update(x, wrong, y)
    assert metric.eval() == pytest.approx(0.5)
    assert metric.indexes == [0, 2]
    with pytest.raises(ValueError):
        metric.set_indexes("02")


def test_clear_forgets():
    metric = train.Accuracy()
    metric.update(Tensor([[0.1, 0.9]]), Tensor([0]))
    metric.clear()
    metric.update(Tensor([[0.1, 0.9]]), Tensor([1]))
    assert metric.eval() == 1.0


def test_auc_against_numpy():
    x = np.sort(np.random.default_rng(0).random(20))
    y = np.random.default_rng(1).random(20)
    expected = np.trapezoid(y, x) if hasattr(np, "trapezoid") else np.trapz(y, x)
    assert train.auc(x, y) == pytest.approx(expected)
    assert train.auc(x[::-1], y[::-1]) == pytest.approx(expected)
    shuffled = np.random.default_rng(2).permutation(20)
    assert train.auc(x[shuffled], y[shuffled], reorder=True) == pytest.approx(expected)
    with pytest.raises(ValueError):
        train.auc(x[shuffled], y[shuffled])
    with pytest.raises(TypeError):
        train.auc([0, 1], [0, 1])


@pytest.mark.parametrize(
    "metric, inputs",
    [
        (train.Accuracy(), ([[0.1, 0.9]], [0, 1])),
        (train.Accuracy("multilabel"), ([[0.5, 1]], [[0, 1]])),
        (train.Precision(), ([[0.1, 0.9]], [5])),
        (train.Dice(), ([[1.0]], [[1.0, 2.0]])),
        (train.ConfusionMatrix(2), ([[[[1]]]], [1])),
        (train.HausdorffDistance(), ([[1, 2]], [[1, 2]], 9)),
        (train.HausdorffDistance(), ([[1, 2]], [[1]], 1)),
        (train.BleuScore(), ([["a"]], [[["a"]], [["b"]]])),
    ],
)
def test_inputs_that_do_not_fit(metric, inputs):
    with pytest.raises(ValueError):
        metric.update(*inputs)


@pytest.mark.parametrize(
    "make",
    [
        lambda: train.Accuracy("classes"),
        lambda: train.OcclusionSensitivity(margin=True),
        lambda: train.BleuScore(n_gram=2.0),
        lambda: train.ConfusionMatrixMetric(skip_channel=1),
        lambda: train.TopKCategoricalAccuracy(1.5),
        lambda: train.MeanSurfaceDistance(symmetric=1),
        lambda: train.MAE().update(1, 2),
    ],
)
def test_wrong_types(make):
    with pytest.raises(TypeError):
        make()


def test_occlusion_sensitivity_of_a_linear_model():
    class Sum(nn.Cell):
        def construct(self, x):
            return x * 2

    metric = train.OcclusionSensitivity(margin=1)
    image = np.array([[0.5, 1.0, 2.0]], np.float32)
    metric.update(Sum(), image, np.array(1))
    # covering reaches [i - 1, i + 1): the score 2 * x[1] falls to 0 at places 1 and 2 only
    np.testing.assert_allclose(metric.eval(), [0.0, 2.0, 2.0])
