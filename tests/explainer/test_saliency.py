"""Saliency maps and their measures: networks whose maps are known by hand, and what MindInsight makes of a run."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn
from mindspore.explainer import ImageClassificationRunner
from mindspore.explainer.benchmark import ClassSensitivity, Faithfulness, Localization, Robustness
from mindspore.explainer.explanation import RISE, Deconvolution, GradCAM, Gradient, GuidedBackprop, Occlusion


def linear(weights):
    """A network whose two outputs are sums of weighted pixels: weights (2, C, H, W)."""
    dense = nn.Dense(weights[0].size, 2, weight_init=Tensor(weights.reshape(2, -1).astype(np.float32)), has_bias=False)
    return nn.SequentialCell(nn.Flatten(), dense)


@pytest.fixture(params=[ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def mode(request):
    before = ms.get_context("mode")
    ms.set_context(mode=request.param)
    yield request.param
    assert ms.get_context("mode") == request.param
    ms.set_context(mode=before)


def test_gradient_of_a_linear_network(mode):
    weights = np.random.default_rng(0).standard_normal((2, 3, 4, 5))
    images = Tensor(np.random.default_rng(1).standard_normal((3, 3, 4, 5)).astype(np.float32))
    maps = Gradient(linear(weights))(images, [0, 1, 1])
    np.testing.assert_allclose(maps.asnumpy(), np.abs(weights[[0, 1, 1]]).max(1, keepdims=True), rtol=1e-6)


def test_modified_gradients_of_relu(mode):
    # y = w · relu(x): the plain gradient is w where x > 0, guided max(w, 0) there, deconvolution max(w, 0) everywhere
    x, w = np.array([1.0, -1.0, 2.0, -2.0], np.float32), np.array([3.0, 5.0, -7.0, -9.0], np.float32)
    net = nn.SequentialCell(nn.ReLU(), *linear(np.stack([w, w]).reshape(2, 1, 2, 2)))
    image = Tensor(x.reshape(1, 1, 2, 2))
    for method, expected in ((Gradient, [3, 0, 7, 0]), (GuidedBackprop, [3, 0, 0, 0]), (Deconvolution, [3, 5, 0, 0])):
        np.testing.assert_array_equal(method(net)(image, 0, ret="numpy").ravel(), expected, err_msg=method.__name__)
    assert type(net[0]) is nn.ReLU  # the user's network is as it was


def test_gradcam_by_hand(mode):
    rng = np.random.default_rng(2)
    kernel, head = rng.standard_normal((3, 2, 1, 1)).astype(np.float32), rng.standard_normal((2, 3)).astype(np.float32)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(2, 3, 1, weight_init=Tensor(kernel))
            self.head = nn.Dense(3, 2, weight_init=Tensor(head), has_bias=False)

        def construct(self, x):
            return self.head(self.conv(x).mean((2, 3)))

    images = rng.standard_normal((2, 2, 4, 4)).astype(np.float32)
    activation = np.einsum("oc,nchw->nohw", kernel[:, :, 0, 0], images)
    expected = np.maximum(0, np.einsum("no,nohw->nhw", head[[1, 0]] / 16, activation))
    np.testing.assert_allclose(GradCAM(Net(), "conv")(Tensor(images), [1, 0]).asnumpy()[:, 0], expected, rtol=1e-4, atol=1e-6)
    with pytest.raises(ValueError, match="layers are conv, head"):
        GradCAM(Net(), "convolution")


def square(side=16):
    """A network for which the upper left quarter speaks for class 0 and the rest against it, an image, and that quarter."""
    inside = np.zeros((side, side), bool)
    inside[: side // 2, : side // 2] = True
    weights = 16 * np.stack([inside / inside.sum(), ~inside / (~inside).sum()])[:, None]
    return linear(weights), Tensor(np.random.default_rng(0).uniform(0.5, 1.5, (1, 1, side, side)).astype(np.float32)), inside


@pytest.mark.parametrize("make", [lambda net: RISE(net, nn.Softmax(), num_masks=800, seed=1), lambda net: Occlusion(net, nn.Softmax())])
def test_perturbations_find_what_the_network_sees(make):
    net, image, inside = square()
    saliency = make(net)(image, 0, ret="numpy")[0, 0]
    assert saliency.shape == (16, 16) and saliency[inside].mean() > saliency[~inside].mean()
    assert inside.ravel()[saliency.argmax()]


def test_measures_prefer_the_true_map():
    net, image, inside = square()
    gradient = Gradient(net)
    good, bad = (Tensor(m[None, None].astype(np.float32)) for m in (inside, ~inside))
    for metric in Faithfulness.METRICS:
        measure = Faithfulness(2, nn.Softmax(), metric)
        assert measure.evaluate(gradient, image, 0, good)[0] > measure.evaluate(gradient, image, 0, bad)[0], metric
    for metric in Localization.METRICS:
        measure = Localization(2, metric)
        scores = [measure.evaluate(gradient, image, 0, m, mask=good)[0] for m in (good, bad)]
        assert scores == [1, 0]
    measure.aggregate(np.array([1.0, 0.0]), [0, 0])
    assert measure.performance == 0.5 and np.isnan(measure.class_performances[1])
    assert Robustness(2).evaluate(gradient, image, 0)[0] == 1  # the gradient of a linear network is the same everywhere
    both = linear(np.stack([inside, inside])[:, None].astype(np.float64))
    assert ClassSensitivity().evaluate(Gradient(both), image)[0] == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("call, error", [
    (lambda net, x: Gradient(3), TypeError), (lambda net, x: Gradient(net)(np.ones((1, 1, 16, 16)), 0), TypeError),
    (lambda net, x: Gradient(net)(x, 2), ValueError), (lambda net, x: Gradient(net)(x, [0, 1]), ValueError),
    (lambda net, x: Gradient(net)(x, 0.5), TypeError), (lambda net, x: RISE(net, None), TypeError),
    (lambda net, x: Occlusion(net, nn.Softmax(), 0), ValueError), (lambda net, x: Faithfulness(2, nn.Softmax(), "Other"), ValueError),
    (lambda net, x: Localization(2).evaluate(Gradient(net), x, 0), ValueError),
])  # fmt: skip
def test_wrong_arguments_are_refused(call, error):
    net, image, _ = square()
    with pytest.raises(error, match="'"):
        call(net, image)


def test_a_run_is_shown_by_the_dashboard(tmp_path):
    pytest.importorskip("httpx")
    pytest.importorskip("PIL")
    from starlette.testclient import TestClient

    from mindinsight.server.app import create_app
    from mindinsight.server.workspace import Settings

    net, image, _ = square()
    images = Tensor(np.concatenate([image.asnumpy(), -image.asnumpy()]))
    runner = ImageClassificationRunner(str(tmp_path / "runs" / "one"), ([(images, Tensor([0, 1]))], ["square", "none"]), net, nn.Softmax())
    with pytest.raises(RuntimeError, match="register_saliency"):
        runner.run()
    runner.register_saliency([Gradient(net), Occlusion(net, nn.Softmax())], [Faithfulness(2, nn.Softmax()), ClassSensitivity()])
    runner.run()
    (tmp_path / "work").mkdir()
    settings = Settings(tmp_path / "runs", tmp_path / "work")
    with TestClient(create_app(settings, workers=False), base_url="http://127.0.0.1:8080") as client:

        def ask(route, **query):
            reply = client.get(f"/v1/mindinsight/explainer/{route}", params={"train_id": "./one", **query})
            assert reply.status_code == 200, reply.text
            return reply

        job = ask("explain-job").json()
        assert job["sample_count"] == 2 and job["saliency"]["explainers"] == ["Gradient", "Occlusion"]
        samples = client.post("/v1/mindinsight/explainer/saliency", json={"train_id": "./one"}).json()["samples"]
        assert [[m["explainer"] for m in s["inferences"][0]["saliency_maps"]] for s in samples] == [["Gradient", "Occlusion"]] * 2
        overlay = client.get(samples[0]["inferences"][0]["saliency_maps"][0]["overlay"]).content
        written = next((tmp_path / "runs" / "one").glob("*/0_0_Gradient.png")).read_bytes()
        assert overlay == written and overlay[1:4] == b"PNG" and overlay[25] == 6  # with an alpha channel: shown as it is
        scores = ask("evaluation").json()["explainer_scores"]
        assert {e["metric"] for e in scores[0]["evaluations"]} == {"Faithfulness", "ClassSensitivity"}


def test_the_official_package_has_the_same_classes():
    from mindspore_xai import benchmark, explainer, runner

    assert explainer.GradCAM is GradCAM and benchmark.Faithfulness is Faithfulness
    assert runner.ImageClassificationRunner is ImageClassificationRunner


def test_the_examples(tmp_path, monkeypatch):
    import doctest

    from mindspore import explainer, ops

    monkeypatch.chdir(tmp_path)
    names = {"nn": nn, "np": np, "ms": ms, "Tensor": Tensor, "ops": ops}
    for module in (explainer, explainer.explanation, explainer.benchmark, explainer.runner):
        found = doctest.testmod(module, globs=dict(names))
        assert found.attempted and not found.failed
