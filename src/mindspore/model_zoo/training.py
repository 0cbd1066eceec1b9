"""A training run of a network of the zoo: its recipe, checkpoints, summaries, resuming."""

from __future__ import annotations

import dataclasses
from typing import Any

from mindspore import nn, ops
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.registry import Entry
from mindspore.model_zoo.tasks import TASKS
from mindspore.nn.cell import Cell
from mindspore.train import ExactResume, LossMonitor, Model, SummaryCollector
from mindspore.train.serialization import save_checkpoint


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


def train(entry: Entry, net: Cell, recipe: Recipe, run: Run) -> float:
    """Train a network in place; returns the figure of its task on the data for testing."""
    task = TASKS[entry.task]
    data = task.data(run.place, net, recipe.batch, True, run.limit)
    steps = data.get_dataset_size()
    if not steps:
        raise ValueError(f"The data at '{run.place}' has fewer rows than a batch, {recipe.batch}.")
    net.set_train(True)
    with_loss = task.training_network(net, recipe)
    optimizer = recipe.make_optimizer(with_loss, steps * recipe.epochs)
    if recipe.clip and run.amp == "O0":
        model = Model(ClippedStep(with_loss, optimizer, recipe.clip))
    else:
        model = Model(with_loss, optimizer=optimizer, amp_level=run.amp)
    callbacks: list[Any] = [LossMonitor(run.every or steps)]
    if run.out:
        callbacks += [SummaryCollector(f"{run.out}/summary"), ExactResume(f"{run.out}/resume", save_steps=steps)]
    model.train(recipe.epochs, data, callbacks=callbacks, dataset_sink_mode=False)
    if run.out:
        save_checkpoint(net, f"{run.out}/{entry.name}.ckpt")
    return task.evaluate(net, task.data(run.place, net, recipe.batch, False, run.limit))
