"""A training run of a network of the zoo: its recipe, checkpoints, summaries, resuming."""

from __future__ import annotations

import contextlib
import dataclasses
import zlib
from pathlib import Path
from typing import Any

from mindspore import nn, ops
from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.registry import Entry
from mindspore.model_zoo.resuming import noted
from mindspore.model_zoo.tasks import TASKS
from mindspore.model_zoo.tasks.control import Control
from mindspore.nn.cell import Cell
from mindspore.train import ExactResume, LossMonitor, Model, SummaryCollector
from mindspore.train.amp import auto_mixed_precision
from mindspore.train.serialization import load_checkpoint, load_param_into_net, save_checkpoint


@dataclasses.dataclass(frozen=True)
class Run:
    """What a run is asked for beyond the recipe.

    Attributes:
        out: the folder of weights, summaries and the state to resume from; "" writes nothing.
        amp: the level of mixed precision, "O0" to "O3" or "auto".
        limit: train on so many rows at most; 0: all.
    """

    place: str
    out: str = ""
    amp: str = "O0"
    limit: int = 0
    every: int = 0


class ClippedStep(nn.TrainOneStepCell):
    """A step whose gradients together have at most a certain norm."""

    def __init__(self, network: Cell, optimizer: Any, norm: float):
        super().__init__(network, optimizer)
        self.norm = norm

    def construct(self, *inputs: Any) -> Any:
        loss = self.network(*inputs)
        grads = self.grad(self.network, self.weights)(*inputs, ops.ones_like(loss))
        grads = ops.clip_by_global_norm(self.grad_reducer(grads), self.norm)
        return ops.depend(loss, self.optimizer(grads))


class RivalStep(nn.Cell):
    """One step of several players: each follows its own loss with its own weights, all at once."""

    def __init__(self, net: Cell, optimizers: list[Any]):
        super().__init__(auto_prefix=False)
        self.net, self.optimizers = net, nn.CellList(optimizers, auto_prefix=False)
        known = {p.name for p in net.get_parameters()}
        for i, optimizer in enumerate(optimizers):  # their states must differ in name; the weights keep theirs
            for state in optimizer.get_parameters():
                if state.name not in known:
                    state.name = f"player{i}.{state.name}"
        self.grads = [ops.value_and_grad(LossOf(net, i), None, player.parameters) for i, player in enumerate(optimizers)]

    def construct(self, *columns: Any) -> Any:
        found = [grad(*columns) for grad in self.grads]
        total = sum(loss for loss, _ in found)
        for (_, grads), optimizer in zip(found, self.optimizers):
            total = ops.depend(total, optimizer(grads))
        return total


class LossOf(nn.Cell):
    """The loss of one player."""

    def __init__(self, net: Cell, player: int):
        super().__init__(auto_prefix=False)
        self.net, self.player = net, player

    def construct(self, *columns: Any) -> Any:
        return self.net.losses(*columns)[self.player]


def _model(net: Cell, with_loss: Cell, recipe: Recipe, amp: str, steps: int) -> Model:
    """The step of a network: of its players if it has some, clipped if the recipe says so."""
    players = getattr(net, "players", None)
    if players is None and not recipe.clip:
        return Model(with_loss, optimizer=recipe.make_optimizer(with_loss.trainable_params(), steps), amp_level=amp)
    if amp != "O0":  # bfloat16 reaches as far as float32, so that these steps need no scaled losses
        auto_mixed_precision(net, amp, mstype.bfloat16)
    if players is None:
        return Model(ClippedStep(with_loss, recipe.make_optimizer(with_loss.trainable_params(), steps), recipe.clip))
    weights = [[p for name in player for p in getattr(net, name).trainable_params()] for player in players]
    return Model(RivalStep(net, [recipe.make_optimizer(own, steps) for own in weights]))


def train(entry: Entry, net: Cell, recipe: Recipe, run: Run) -> float:
    """Train a network in place; returns the figure of its task on the data for testing."""
    task = TASKS[entry.task]
    data = task.data(run.place, net, recipe.batch, True, run.limit)
    steps = data.get_dataset_size()
    if not steps:
        raise ValueError(f"The data at '{run.place}' has fewer rows than a batch, {recipe.batch}. Take a smaller one (--batch).")
    net.set_train(True)
    model = _model(net, task.training_network(net, recipe), recipe, run.amp, steps * recipe.epochs)
    callbacks: list[Any] = [LossMonitor(run.every or steps)]
    with contextlib.ExitStack() as stack:
        if run.out:
            if stack.enter_context(noted(Path(run.out) / "resume", _described(entry, net, recipe, run, steps))):
                print(f"going on with the interrupted run in '{run.out}'", flush=True)
            callbacks.append(SummaryCollector(f"{run.out}/summary"))
        if isinstance(task, Control):
            _practise(task, net, model, recipe, run, callbacks)
        else:
            if run.out:
                callbacks.append(ExactResume(f"{run.out}/resume", save_steps=steps))
            model.train(recipe.epochs, data, callbacks=callbacks, dataset_sink_mode=False)
        if run.out:
            save_checkpoint(net, f"{run.out}/{entry.name}.ckpt")
    return task.evaluate(net, task.data(run.place, net, recipe.batch, False, run.limit))


def _described(entry: Entry, net: Cell, recipe: Recipe, run: Run, steps: int) -> dict[str, str]:
    """What must be the same for a run to go on; its data may have moved."""
    weights = list(net.get_parameters())
    shapes = zlib.crc32(repr([(p.name, p.shape) for p in weights]).encode())
    return {
        "network": entry.name, "parameters": f"{sum(p.size for p in weights):,} (shapes {shapes:08x})", "recipe": str(recipe),
        "steps an epoch": str(steps), "mixed precision": run.amp,
    }  # fmt: skip


def _practise(task: Control, net: Cell, model: Model, recipe: Recipe, run: Run, callbacks: list[Any]) -> None:
    """Rounds of practice and training. An interrupted run goes on with the round it was in, its weights and its optimizer; games
    and the memory of them begin anew."""
    file = Path(run.out) / "resume" / "rounds.ckpt"
    done = 0
    if run.out:
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.exists():
            stored = load_checkpoint(str(file))
            done = int(stored.pop("__rounds__").asnumpy())  # type: ignore[union-attr]
            load_param_into_net(model.train_network, stored, strict_load=True)
    for i, data in enumerate(task.rounds(run.place, net, recipe.batch, recipe.epochs, run.limit, done), done + 1):
        model.train(1, data, callbacks=callbacks, dataset_sink_mode=False)
        if run.out:
            save_checkpoint(model.train_network, str(file), append_dict={"__rounds__": Tensor(i)})
    file.unlink(missing_ok=True)
