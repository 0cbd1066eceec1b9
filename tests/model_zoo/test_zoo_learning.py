"""Small networks learn in seconds: rivals, players and readers; those that take longer are in `make zoo`."""

import dataclasses

import numpy as np
import pytest

import mindspore as ms
from mindspore import model_zoo
from mindspore.model_zoo.recipe import QUICK
from mindspore.model_zoo.tasks import TASKS
from mindspore.model_zoo.tasks.control import CartPole
from mindspore.model_zoo.training import LossOf, Run, train


@pytest.fixture(autouse=True)
def graph_mode():
    with ms.context.local_context(mode=ms.GRAPH_MODE):
        yield


def learned(name, rows, out="", **recipe):
    ms.set_seed(1)
    net = model_zoo.create(name, tiny=True)
    figure = train(model_zoo.entry(name), net, dataclasses.replace(QUICK, **recipe), Run("synthetic", out, limit=rows, every=10**9))
    return figure, net


def test_a_pole_is_balanced_for_longer_than_by_chance():
    game = CartPole(0, 64)
    lasted, moves = [], np.zeros(64)
    while len(lasted) < 64:
        moves += 1
        _, lost, _ = game.step(game.rng.integers(0, 2, 64))
        lasted += moves[lost].tolist()
        moves[lost] = 0
    figure, _ = learned("ppo", 2048, epochs=12, batch=128, rate=3e-3, clip=0.5)
    assert np.mean(lasted) < 40
    assert figure > 3 * np.mean(lasted)


def test_practice_goes_on_where_it_was_interrupted(tmp_path, monkeypatch):
    from mindspore.model_zoo import training

    saved = []
    real = training.save_checkpoint

    def stop_after_two(net, file, **options):
        real(net, file, **options)
        saved.append(file)
        if len(saved) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(training, "save_checkpoint", stop_after_two)
    with pytest.raises(KeyboardInterrupt):
        learned("dqn", 128, str(tmp_path), epochs=4, batch=32)
    assert (tmp_path / "resume" / "rounds.ckpt").exists()
    learned("dqn", 128, str(tmp_path), epochs=4, batch=32)
    assert len(saved) == 5  # two before, two rounds after, the result
    assert not (tmp_path / "resume" / "rounds.ckpt").exists()
    assert (tmp_path / "dqn.ckpt").exists()


def test_each_player_moves_by_its_own_loss_only():
    """Adam's first step goes against the sign of the gradient, so it shows whose loss a weight followed."""
    ms.set_seed(1)
    net = model_zoo.create("cyclegan", tiny=True, depth=0).set_train(True)
    columns = next(iter(TASKS["image translation"].data("synthetic", net, 4, True, 4)))
    before = {p.name: p.asnumpy().copy() for p in net.trainable_params()}
    own = {}
    for i, player in enumerate(net.players):
        weights = [p for name in player for p in getattr(net, name).trainable_params()]
        _, grads = ms.value_and_grad(LossOf(net, i), None, weights)(*columns)
        own.update({p.name: g.asnumpy() for p, g in zip(weights, grads)})
    recipe = dataclasses.replace(QUICK, epochs=1, batch=4, rate=1e-3, warmup=0.0, schedule="constant")
    train(model_zoo.entry("cyclegan"), net, recipe, Run("synthetic", limit=4))
    assert set(own) == set(before)  # names of weights are those of the network
    for p in net.trainable_params():
        clear = np.abs(own[p.name]) > 1e-4
        assert (np.sign(before[p.name] - p.asnumpy())[clear] == np.sign(own[p.name])[clear]).all(), p.name


def test_a_bayesian_network_knows_where_it_does_not_know():
    figure, net = learned("bayesian_mlp", 1024, epochs=6, batch=32, rate=3e-3)
    assert figure > 0.8
    (usual, _) = next(iter(TASKS["images"].data("synthetic", net, 64, False, 64)))
    strange = ms.Tensor(np.random.default_rng(0).uniform(-3, 3, usual.shape).astype(np.float32))
    _, at_home = net.spread(usual)
    _, abroad = net.spread(strange)
    assert abroad.asnumpy().mean() > at_home.asnumpy().mean()
