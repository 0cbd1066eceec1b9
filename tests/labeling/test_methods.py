"""Choosing, spreading, voting and finding mistakes, against independent computations."""

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import entropy

from mindspore import labeling
from mindspore.labeling.choosing import badge, core_set
from mindspore.labeling.spreading import nearest

RNG = np.random.default_rng(7)


def blobs(count=60, classes=3, size=4, far=4.0):
    labels = RNG.integers(0, classes, count)
    centres = RNG.standard_normal((classes, size)) * far
    return (centres[labels] + RNG.standard_normal((count, size)) * 0.5).astype(np.float32), labels


def test_the_least_sure_come_first():
    p = softmax(RNG.standard_normal((40, 5)) * 2, axis=1)
    two = np.sort(p, axis=1)
    for strategy, score in (("entropy", entropy(p, axis=1)), ("margin", two[:, -2] - two[:, -1]), ("least_confident", -p.max(1))):
        assert labeling.choose(strategy, 40, probabilities=p).tolist() == np.argsort(-score, kind="stable").tolist()


def test_core_set_is_the_greedy_cover():
    x, _ = blobs()
    chosen = core_set(x, 6, x[:2]).tolist()
    have = [0, 1]
    for at in chosen:
        distances = np.linalg.norm(x[:, None] - x[have], axis=2).min(1)
        assert distances[at] == pytest.approx(distances.max(), rel=1e-4)
        have.append(at)


def test_badge_never_takes_items_alike_while_others_are_left():
    """Gradients written out: the distances by which it draws are those of the outer products."""
    p = softmax(RNG.standard_normal((30, 4)), axis=1)
    x = RNG.standard_normal((30, 6))
    p, x = np.concatenate([p, p]), np.concatenate([x, x])  # every item twice
    chosen = badge(p, x, 30, np.random.default_rng(0))
    assert len(set(chosen.tolist())) == 30 and len({i % 30 for i in chosen.tolist()}) == 30
    guess = np.eye(4)[p.argmax(1)]
    gradients = np.einsum("nc,nf->ncf", p - guess, x).reshape(60, -1)
    assert chosen[0] % 30 == np.argmax((gradients**2).sum(1)) % 30


def test_typical_items_stand_for_every_cluster():
    x, labels = blobs(200, 5, far=8.0)
    chosen = labeling.choose("typical", 5, features=x)
    assert set(labels[chosen]) == set(labels)


@pytest.mark.parametrize("strategy", labeling.STRATEGIES)
def test_every_strategy_gives_different_items_and_repeats_itself(strategy):
    x, _ = blobs()
    p = softmax(x[:, :3], axis=1)
    chosen = [labeling.choose(strategy, 10, probabilities=p, features=x, seed=3).tolist() for _ in range(2)]
    assert chosen[0] == chosen[1] and len(set(chosen[0])) == 10
    assert len(labeling.choose(strategy, 1000, probabilities=p, features=x)) == len(x)


def test_choosing_says_what_is_missing():
    with pytest.raises(ValueError, match="one of entropy"):
        labeling.choose("best", 1)
    with pytest.raises(ValueError, match="needs 'features'"):
        labeling.choose("core_set", 1, probabilities=np.ones((2, 2)))
    with pytest.raises(ValueError, match="not finite"):
        labeling.choose("entropy", 1, probabilities=np.full((2, 2), np.nan))


def test_nearest_neighbours_are_the_nearest():
    x, _ = blobs(300)
    places, distances = nearest(x, 5)
    true = ((x[:, None] - x) ** 2).sum(2)
    np.fill_diagonal(true, np.inf)
    np.testing.assert_allclose(np.sort(distances, 1), np.sort(true, 1)[:, :5], rtol=1e-3, atol=1e-4)
    assert (places != np.arange(300)[:, None]).all()


def test_spreading_rests_at_the_solution_of_its_equation():
    """(I - αS) F = (1 - α) Y, solved directly."""
    from mindspore.labeling.spreading import _graph

    x, labels = blobs(80)
    known = np.full(80, -1)
    for k in range(3):
        known[np.flatnonzero(labels == k)[0]] = k
    graph = _graph(x, 8).toarray()
    start = np.eye(4)[known][:, :3]
    exact = np.linalg.solve(np.eye(80) - 0.9 * graph, 0.1 * start)
    exact = np.where(exact.sum(1, keepdims=True) > 1e-9, exact / np.maximum(exact.sum(1, keepdims=True), 1e-9), 1 / 3)
    found = labeling.spread_labels(x, known, 3, neighbours=8, alpha=0.9, steps=200)
    np.testing.assert_allclose(found[known < 0], exact[known < 0], atol=1e-3)
    assert (found.argmax(1) == labels).mean() > 0.95


def test_spreading_without_a_way_or_a_label_knows_nothing():
    x, _ = blobs(20)
    np.testing.assert_allclose(labeling.spread_labels(x, np.full(20, -1), 4), 0.25)
    with pytest.raises(ValueError, match="below 3"):
        labeling.spread_labels(x, np.full(20, 5), 3)


def test_the_label_model_learns_whom_to_believe():
    truth = RNG.integers(0, 3, 4000)
    accuracy = (0.9, 0.85, 0.4, 0.4, 0.4)
    given = np.stack([np.where(RNG.random(4000) < a, truth, RNG.integers(0, 3, 4000)) for a in accuracy], 1)
    given[RNG.random(given.shape) < 0.2] = labeling.ABSTAIN
    model = labeling.LabelModel(3).fit(given)
    believed = model.predict(given).argmax(1)
    counts = np.stack([(given == k).sum(1) for k in range(3)], 1)
    assert (believed == truth).mean() > (counts.argmax(1) == truth).mean() + 0.03
    right = [model.confusion[m].trace() / 3 for m in range(5)]
    np.testing.assert_allclose(right, [a + (1 - a) / 3 for a in accuracy], atol=0.05)


def test_functions_vote_and_are_summed_up():
    @labeling.labeling_function(name="long words")
    def long(text):
        return 1 if len(text) > 4 else None

    given = labeling.votes([long, lambda text: 0 if "a" in text else -1], ["apple", "fig", "pear", "cherry"])
    assert given.tolist() == [[1, 0], [-1, -1], [-1, 0], [1, -1]]
    first = labeling.summary(given)[0]
    assert (long.name, first.coverage, first.overlaps, first.conflicts) == ("long words", 0.5, 0.25, 0.25)
    with pytest.raises(ValueError, match="no function has voted"):
        labeling.LabelModel(2).fit(np.full((3, 2), -1))
    with pytest.raises(RuntimeError, match="fit"):
        labeling.LabelModel(2).predict(given)


def test_planted_mistakes_come_first():
    labels = RNG.integers(0, 4, 500)
    p = softmax(np.eye(4)[labels] * 3 + RNG.standard_normal((500, 4)) * 0.5, axis=1)
    planted = RNG.choice(500, 25, replace=False)
    wrong = labels.copy()
    wrong[planted] = (labels[planted] + 1) % 4
    found = labeling.find_mistakes(wrong, p)
    assert len(set(found.items[:30]) & set(planted)) >= 24
    assert len(set(found.flagged) & set(planted)) >= 12 and set(found.flagged) <= set(planted)
    assert (found.suggested[planted] == labels[planted]).mean() > 0.9
    with pytest.raises(ValueError, match="below 4"):
        labeling.find_mistakes(labels + 1, p)
