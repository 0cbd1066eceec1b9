"""Losses against their formulas, with gradients of first and second order."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.special as sp
from nn_harness import both_namespaces, in_both_modes

import mindspore as ms
from gradcheck import check_gradients
from mindspore import Tensor, nn, ops
from mindspore.prims import ctc
from mindspore.prims import loss as prims

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(3, 4)), RNG.normal(size=(3, 4))
P, Q = RNG.uniform(0.05, 0.95, (3, 4)), RNG.uniform(0.05, 0.95, (3, 4))
SIGNS = np.where(RNG.random((3, 4)) > 0.5, 1.0, -1.0)
LABELS = np.array([2, 0, 3])
WEIGHT = RNG.uniform(0.5, 2, 4)


def reduced(values, how):
    return {"none": values, "mean": values.mean(), "sum": values.sum()}[how]


FUNCTIONS = {
    "mse": (ops.mse_loss, X, Y, (X - Y) ** 2),
    "l1": (ops.l1_loss, X, Y, np.abs(X - Y)),
    "smooth": (lambda x, y, reduction: ops.smooth_l1_loss(x, y, 0.7, reduction), X, Y,
               np.where(np.abs(X - Y) < 0.7, 0.5 * (X - Y) ** 2 / 0.7, np.abs(X - Y) - 0.35)),
    "huber": (lambda x, y, reduction: ops.huber_loss(x, y, reduction, 0.7), X, Y,
              np.where(np.abs(X - Y) <= 0.7, 0.5 * (X - Y) ** 2, 0.7 * (np.abs(X - Y) - 0.35))),
    "bce": (lambda x, y, reduction: ops.binary_cross_entropy(x, y, None, reduction), P, Q,
            -(Q * np.log(P) + (1 - Q) * np.log(1 - P))),
    "logits": (lambda x, y, reduction: ops.binary_cross_entropy_with_logits(x, y, None, None, reduction), X, Q,
               -(Q * np.log(sp.expit(X)) + (1 - Q) * np.log(1 - sp.expit(X)))),
    "kl": (ops.kl_div, X, Q, Q * (np.log(Q) - X)),
    "soft margin": (ops.soft_margin_loss, X, SIGNS, np.log(1 + np.exp(-SIGNS * X))),
    "hinge": (lambda x, y, reduction: ops.hinge_embedding_loss(x, y, 1.0, reduction), X, SIGNS,
              np.where(SIGNS == 1, X, np.maximum(0, 1 - X))),
    "poisson": (lambda x, y, reduction: ops.poisson_nll_loss(x, y, reduction=reduction), X, Q, np.exp(X) - Q * X),
    "multilabel soft": (lambda x, y, reduction: ops.multilabel_soft_margin_loss(x, y, None, reduction), X, Q,
                        -(Q * np.log(sp.expit(X)) + (1 - Q) * np.log(sp.expit(-X))).mean(-1)),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("how", ["none", "mean", "sum"])
def test_elementwise_losses(name, how):
    function, x, y, expected = FUNCTIONS[name]
    found = function(Tensor(x), Tensor(y), reduction=how).asnumpy()
    np.testing.assert_allclose(found, reduced(expected, how), rtol=1e-10)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients(name):
    function, x, y, _ = FUNCTIONS[name]
    fixed = Tensor(y[:2, :2])
    check_gradients(lambda t: function(t, fixed, reduction="mean"), x[:2, :2])


def test_large_logits_stay_finite():
    x = Tensor(np.array([[-1000.0, 1000.0]], np.float32))
    for loss in (ops.binary_cross_entropy_with_logits(x, Tensor(np.array([[1.0, 0.0]], np.float32)), reduction="sum"),
                 ops.cross_entropy(x, Tensor(np.array([0])), reduction="sum")):  # fmt: skip
        assert np.isfinite(loss.asnumpy())
    assert ops.binary_cross_entropy(Tensor([0.0, 1.0]), Tensor([1.0, 0.0])).asnumpy() == 100


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("how", ["none", "mean", "sum"])
def test_cross_entropy_with_indices(weighted, smoothing, how):
    labels = np.array([2, -100, 3])
    weight = WEIGHT if weighted else np.ones(4)
    log_p = sp.log_softmax(X, -1)
    scale = np.where(labels >= 0, weight[labels % 4], 0)
    chosen = -log_p[np.arange(3), labels % 4] * scale
    spread = -(log_p * weight).sum(-1) * (labels >= 0)
    losses = (1 - smoothing) * chosen + smoothing / 4 * spread
    expected = {"none": losses, "sum": losses.sum(), "mean": losses.sum() / scale.sum()}[how]
    given = Tensor(WEIGHT) if weighted else None
    function = lambda t: ops.cross_entropy(t, Tensor(labels), given, -100, how, smoothing)
    np.testing.assert_allclose(function(Tensor(X)).asnumpy(), expected)
    check_gradients(function, X)


def test_cross_entropy_of_images_and_probabilities():
    x, y = RNG.normal(size=(2, 4, 3)), RNG.integers(0, 4, (2, 3))
    log_p = sp.log_softmax(x, 1)
    expected = -np.mean([log_p[n, y[n, i], i] for n in range(2) for i in range(3)])
    np.testing.assert_allclose(ops.cross_entropy(Tensor(x), Tensor(y)).asnumpy(), expected)
    probabilities = sp.softmax(RNG.normal(size=(2, 4, 3)), 1)
    found = ops.cross_entropy(Tensor(x), Tensor(probabilities), reduction="sum").asnumpy()
    np.testing.assert_allclose(found, -(probabilities * log_p).sum())
    found = ops.cross_entropy(Tensor(x[0, :, 0]), Tensor(np.array(1))).asnumpy()
    np.testing.assert_allclose(found, -sp.log_softmax(x[0, :, 0])[1])


@pytest.mark.parametrize("compiled", [False, True])
def test_soft_labels_are_data_and_may_add_up_to_anything(compiled):
    """As in official MindSpore the gradient is softmax(logits) - labels, also of a row without a label; labels have none."""
    hot = np.array([[0, 1, 1, 0], [0, 0, 0, 0], [0.5, 0.5, 0, 0]])
    loss = nn.SoftmaxCrossEntropyWithLogits(reduction="sum")
    gradient = ms.grad(loss, (0, 1))
    by_logits, by_labels = (ms.jit(gradient) if compiled else gradient)(Tensor(X), Tensor(hot))
    np.testing.assert_allclose(by_logits.asnumpy(), sp.softmax(X, -1) - hot)
    assert not by_labels.asnumpy().any()


def test_fused_cross_entropies():
    loss, grad = both_namespaces(prims.SoftmaxCrossEntropyWithLogits(), X, Q)
    np.testing.assert_allclose(loss, -(Q * sp.log_softmax(X, -1)).sum(-1))
    np.testing.assert_allclose(grad, sp.softmax(X, -1) - Q)
    whole = sp.softmax(Q, -1)
    check_gradients(lambda a: prims.SoftmaxCrossEntropyWithLogits()(a, Tensor(whole))[0], X)
    sparse = both_namespaces(prims.SparseCrossEntropy(), X, LABELS)
    np.testing.assert_allclose(sparse, -sp.log_softmax(X, -1)[np.arange(3), LABELS])
    with pytest.raises(ValueError, match="range"):
        prims.SparseCrossEntropy()(Tensor(X), Tensor(np.array([0, 4, 1])))


def test_margin_losses():
    x = RNG.normal(size=(2, 4))
    target = np.array([1, 3])
    expected = []
    for row, t in zip(x, target):
        terms = [WEIGHT[t] * max(0, 0.5 - row[t] + row[c]) ** 2 for c in range(4) if c != t]
        expected.append(sum(terms) / 4)
    found = ops.multi_margin_loss(Tensor(x), Tensor(target), 2, 0.5, Tensor(WEIGHT), "none").asnumpy()
    np.testing.assert_allclose(found, expected)
    labels = np.array([[1, 2, -1, 0], [0, -1, 1, 1]])
    expected = []
    for row, wanted in zip(x, ([1, 2], [0])):
        others = [c for c in range(4) if c not in wanted]
        expected.append(sum(max(0, 1 - (row[w] - row[o])) for w in wanted for o in others) / 4)
    function = lambda t: ops.multilabel_margin_loss(t, Tensor(labels), "none")
    np.testing.assert_allclose(function(Tensor(x)).asnumpy(), expected)
    check_gradients(function, x)


def test_embedding_losses():
    a, b, c = (RNG.normal(size=(3, 5)) for _ in range(3))
    cosine = (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    target = np.array([1, -1, 1])
    expected = np.where(target == 1, 1 - cosine, np.maximum(0, cosine - 0.1))
    found = ops.cosine_embedding_loss(Tensor(a), Tensor(b), Tensor(target), 0.1, "none").asnumpy()
    np.testing.assert_allclose(found, expected)
    near, far, other = (np.linalg.norm(u - v + 1e-6, axis=1) for u, v in ((a, b), (a, c), (b, c)))
    for swap in (False, True):
        expected = np.maximum(0, near - (np.minimum(far, other) if swap else far) + 1).mean()
        found = ops.triplet_margin_loss(Tensor(a), Tensor(b), Tensor(c), 1.0, 2, 1e-6, swap).asnumpy()
        np.testing.assert_allclose(found, expected)


def test_ctc_sums_over_all_alignments():
    log_p = np.log(RNG.dirichlet(np.ones(3), size=(5, 2)))
    targets, inputs, lengths = np.array([[1, 2], [1, 1]]), np.array([5, 4]), np.array([2, 2])

    def brute(n):
        total = 0.0
        for path in itertools.product(range(3), repeat=inputs[n]):
            merged = [s for s, _ in itertools.groupby(path) if s != 0]
            if merged == list(targets[n]):
                total += np.exp(sum(log_p[t, n, s] for t, s in enumerate(path)))
        return -np.log(total)

    losses, _ = both_namespaces(ctc.CTC(0), log_p, targets, inputs, lengths)
    np.testing.assert_allclose(losses, [brute(0), brute(1)])
    others = [Tensor(v) for v in (targets, inputs, lengths)]
    check_gradients(lambda p: ctc.CTC(0)(p, *others)[0], log_p)
    both_namespaces(
        ctc.CTCCurvature(0), log_p, targets, inputs, lengths, np.sin(np.arange(log_p.size)).reshape(log_p.shape)
    )


def ctc_by_probabilities(p, target):
    """The probability of a labelling by dynamic programming on probabilities, no logarithms (Graves et al. 2006, eq. 6)."""
    places = np.zeros(2 * len(target) + 1, int)
    places[1::2] = target
    alpha = np.zeros(len(places))
    alpha[:2] = p[0, places[:2]]
    for step in p[1:]:
        new = alpha.copy()
        new[1:] += alpha[:-1]
        jumps = (places[2:] != 0) & (places[2:] != places[:-2])
        new[2:] += alpha[:-2] * jumps
        alpha = new * step[places]
    return alpha[-2:].sum() if len(target) else alpha[-1]


def test_ctc_with_symbols_that_cannot_be():
    """Probabilities of 0 are logarithms of -inf; lengths differ, one target is empty."""
    rng = np.random.default_rng(5)
    p = rng.dirichlet(np.ones(5), (12, 4))
    p[3, :, 2] = p[7, 1] = 0.0
    targets, steps, sizes = rng.integers(1, 5, (4, 3)), [12, 9, 7, 12], [3, 3, 2, 0]
    with np.errstate(divide="ignore"):
        log_p = np.log(p)
        expected = [-np.log(ctc_by_probabilities(p[:t, n], targets[n, :s])) for n, (t, s) in enumerate(zip(steps, sizes))]
    arguments = Tensor(targets, ms.int32), Tensor(steps, ms.int32), Tensor(sizes, ms.int32), 0, "none"
    call = lambda x: ops.ctc_loss(x, *arguments)[0]
    assert np.isinf(expected[1])
    for run in (call, ms.jit(call)):
        np.testing.assert_allclose(run(Tensor(log_p, ms.float32)).asnumpy(), expected, rtol=2e-5)


def test_impossible_ctc_labelling():
    log_p = Tensor(np.log(np.full((2, 1, 3), 1 / 3, np.float32)))
    arguments = Tensor(np.array([[1, 1]])), Tensor(np.array([2])), Tensor(np.array([2]))
    assert np.isinf(ops.ctc_loss(log_p, *arguments, reduction="none")[0].asnumpy()).all()
    assert (ops.ctc_loss(log_p, *arguments, reduction="none", zero_infinity=True)[0].asnumpy() == 0).all()


LAYERS = {
    "MSE": (lambda: nn.MSELoss(), (X, Y)), "L1": (lambda: nn.L1Loss("sum"), (X, Y)), "RMSE": (lambda: nn.RMSELoss(), (X, Y)),
    "SmoothL1": (lambda: nn.SmoothL1Loss(), (X, Y)), "Huber": (lambda: nn.HuberLoss(), (X, Y)),
    "BCE": (lambda: nn.BCELoss(), (P, Q)), "BCEWithLogits": (lambda: nn.BCEWithLogitsLoss(), (X, Q)),
    "CrossEntropy": (lambda: nn.CrossEntropyLoss(label_smoothing=0.1), (X, LABELS)),
    "Softmax": (lambda: nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"), (X, LABELS)),
    "NLL": (lambda: nn.NLLLoss(), (X, LABELS)), "KL": (lambda: nn.KLDivLoss("batchmean"), (X, Q)),
    "Dice": (lambda: nn.DiceLoss(), (P, Q)), "Focal": (lambda: nn.FocalLoss(), (X, LABELS)),
    "Cosine": (lambda: nn.CosineEmbeddingLoss(), (X, Y, np.array([1, -1, 1]))),
    "Triplet": (lambda: nn.TripletMarginLoss(), (X, Y, P)), "Gaussian": (lambda: nn.GaussianNLLLoss(), (X, Y, P)),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_layers_in_both_modes(name):
    make, arrays = LAYERS[name]
    net = make()
    tensors = [Tensor(a.astype(np.float32) if a.dtype.kind == "f" else a.astype(np.int32)) for a in arrays]
    assert np.isfinite(in_both_modes(lambda: net(*tensors))).all()


@pytest.mark.parametrize(
    "call,error",
    [
        (lambda: nn.MSELoss(reduction="all"), ValueError),
        (lambda: ops.cross_entropy(Tensor(X), Tensor(LABELS), reduction="max"), ValueError),
        (lambda: ops.cross_entropy(Tensor(X), Tensor(LABELS), label_smoothing=2.0), ValueError),
        (lambda: ops.nll_loss(Tensor(X), Tensor(np.zeros(2, np.int64))), ValueError),
        (lambda: ops.nll_loss(Tensor(X), Tensor(np.zeros(3))), TypeError),
        (lambda: ops.mse_loss([1.0], Tensor([1.0])), TypeError),
        (lambda: nn.SoftmaxCrossEntropyWithLogits(sparse="yes"), TypeError),
        (lambda: nn.SoftmaxCrossEntropyWithLogits()(Tensor(X), Tensor(Q[:2])), ValueError),
    ],
)
def test_bad_arguments(call, error):
    with pytest.raises(error):
        call()


def test_ctc_alignments_are_the_forward_variables():
    """Against a sum over all alignments, written out."""
    rng = np.random.default_rng(3)
    log_probs = np.log(rng.dirichlet(np.ones(3), (4, 2))).astype(np.float32)
    targets, lengths, sizes = np.array([[1, 1], [2, 0]]), [4, 3], [2, 1]
    call = lambda x: ops.ctc_loss(x, Tensor(targets, ms.int32), Tensor(lengths, ms.int32), Tensor(sizes, ms.int32), 0, "none")
    expected = np.full((2, 4, 5), -np.inf)
    for n in range(2):
        symbols = [0, *(s for t in targets[n][: sizes[n]] for s in (t, 0))]
        probability = np.zeros((lengths[n], len(symbols)))
        for path in itertools.product(range(len(symbols)), repeat=lengths[n]):
            steps = [b - a for a, b in itertools.pairwise(path)]
            allowed = path[0] < 2 and all(
                d in (0, 1) or (d == 2 and symbols[b] != 0 and symbols[b] != symbols[b - 2]) for d, b in zip(steps, path[1:])
            )
            for end in range(lengths[n]):  # each beginning counts once: what comes after it stays in its place
                if allowed and all(p == path[end] for p in path[end:]):
                    probability[end, path[end]] += np.exp(sum(log_probs[t, n, symbols[path[t]]] for t in range(end + 1)))
        with np.errstate(divide="ignore"):
            expected[n, : lengths[n], : len(symbols)] = np.log(probability)
    for run in (call, ms.jit(call)):
        losses, alignments = run(Tensor(log_probs))
        np.testing.assert_allclose(alignments.asnumpy(), expected, rtol=1e-4)
        ends = [np.logaddexp(*expected[n, lengths[n] - 1, 2 * sizes[n] - 1 : 2 * sizes[n] + 1]) for n in range(2)]
        np.testing.assert_allclose(losses.asnumpy(), -np.array(ends), rtol=1e-4)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_labels_to_ignore_may_appear_in_any_call(reduction):
    """A call without labels to ignore, one with some, and a graph whose labels change from call to call agree with the formula."""
    logits = RNG.normal(size=(6, 5)).astype(np.float32)
    labels = ms.Parameter(Tensor(np.zeros(6, np.int32)), name="labels", requires_grad=False)
    log_p = sp.log_softmax(logits.astype(np.float64), 1)

    def loss(x):
        return ops.cross_entropy(x, labels, ignore_index=3, reduction=reduction)

    compiled = ms.jit(ms.value_and_grad(lambda x: loss(x).sum()))
    for given in ([0, 1, 2, 4, 0, 1], [0, 3, 2, 3, 0, 1], [4, 4, 4, 4, 4, 4]):
        counts = np.array(given) != 3
        factor = counts / (counts.sum() if reduction == "mean" else 1)
        terms = -log_p[np.arange(6), given] * factor
        expected = terms if reduction == "none" else terms.sum()
        slope = (np.exp(log_p) - np.eye(5)[given]) * factor[:, None]
        labels.set_data(Tensor(np.array(given, np.int32)))
        with ms.context.local_context(mode=ms.PYNATIVE_MODE):
            np.testing.assert_allclose(loss(Tensor(logits)).asnumpy(), expected, rtol=1e-5, atol=1e-6)
            eager = ms.value_and_grad(lambda x: loss(x).sum())(Tensor(logits))
        for value, grad in (eager, compiled(Tensor(logits))):
            np.testing.assert_allclose(value.asnumpy(), terms.sum(), rtol=1e-5)
            np.testing.assert_allclose(grad.asnumpy(), slope, atol=1e-6)


@pytest.mark.parametrize(
    ("settings", "logits", "labels", "error", "words"),
    [
        ({"activation": "www"}, (3, 2), (3, 2), ValueError, "'activation' must be one of"),
        ({"activation": "elu"}, (3, 2), (3, 2), ValueError, "'activation' must be one of"),
        ({"activation": len}, (3, 2), (3, 2), TypeError, "a str or a Cell"),
        ({}, (3, 2), (2, 2), ValueError, "one shape"),
        ({}, (3,), (3,), ValueError, "2 dimensions or more"),
        ({"weights": (3, 1)}, (3, 2), (3, 2), ValueError, "each of the 2 classes"),
    ],
)
def test_multi_class_dice_loss_refuses(settings, logits, labels, error, words):
    if "weights" in settings:
        settings = {"weights": Tensor(np.ones(settings["weights"], np.float32))}
    with pytest.raises(error, match=words):
        nn.MultiClassDiceLoss(**settings)(Tensor(np.ones(logits, np.float32)), Tensor(np.ones(labels, np.float32)))


def test_dice_and_focal_losses_of_official_mindspore():
    """Dice is smoothed below alone, and a focal loss of class numbers has one value a sample."""
    x, y = np.array([[0.2, 0.5]]), np.array([[0.0, 1.0]])
    expected = 1 - 2 * (x * y).sum() / ((x * x).sum() + (y * y).sum() + 0.7)
    np.testing.assert_allclose(nn.DiceLoss(0.7)(Tensor(x), Tensor(y)).asnumpy(), expected)
    p = sp.softmax(X, 1)[np.arange(len(X)), LABELS]
    found = nn.FocalLoss(gamma=2.0, reduction="none")(Tensor(X), Tensor(LABELS[:, None])).asnumpy()
    np.testing.assert_allclose(found, -((1 - p) ** 2) * np.log(p), rtol=1e-6)
