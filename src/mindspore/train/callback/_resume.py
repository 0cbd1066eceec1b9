"""ExactResume: a run that was killed goes on as if nothing had happened.

Besides the training network (model, optimizer, loss scale) the state of random numbers and the place in the data are
stored, so that a resumed run gives the same losses to the bit as one that was never interrupted.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from mindspore.common import random as streams
from mindspore.common.tensor import Tensor
from mindspore.train._checkpoint.load import load_checkpoint, load_param_into_net
from mindspore.train._checkpoint.save import save_checkpoint, wait_async_saves
from mindspore.train.callback._callback import Callback
from mindspore.train.callback._checkpoint import make_directory

_PREFIX = "__resume__."
_SCALE_FIELDS = ("loss_scale", "cur_iter", "last_overflow_iter", "bad_step")


class ExactResume(Callback):
    """Store the whole state of training every so many steps, and start from it when there is one.

    Args:
        directory: the folder of `resume.ckpt`.
        save_steps: steps between two saves.
        async_save: write in the background.
        keep: keep the file when training has come to its end.

    Examples:
        >>> from mindspore.train import ExactResume
        >>> callback = ExactResume("doc_resume", save_steps=100)
    """

    def __init__(self, directory: str, save_steps: int = 1, async_save: bool = False, keep: bool = False):
        super().__init__()
        if not isinstance(save_steps, int) or isinstance(save_steps, bool) or save_steps <= 0:
            raise ValueError(f"For 'ExactResume', 'save_steps' must be a positive int, but got {save_steps!r}.")
        self.file = os.path.join(make_directory(directory), "resume.ckpt")
        self.save_steps = save_steps
        self.async_save = async_save
        self.keep = keep

    def on_train_begin(self, run_context: Any) -> None:
        if not os.path.exists(self.file):
            return
        params = run_context.original_args()
        stored = load_checkpoint(self.file)
        state = {name.removeprefix(_PREFIX): value for name, value in stored.items() if name.startswith(_PREFIX)}
        weights = {name: value for name, value in stored.items() if not name.startswith(_PREFIX)}
        missing, _ = load_param_into_net(params.train_network, weights, strict_load=True)
        if missing:
            raise RuntimeError(f"The state in {self.file} belongs to another network: it lacks {missing}.")
        _restore(state, params)
        params.resume_step = int(state["step"].asnumpy())  # type: ignore[union-attr]

    def on_train_step_end(self, run_context: Any) -> None:
        params = run_context.original_args()
        if params.cur_step_num % self.save_steps == 0:
            state = {_PREFIX + name: value for name, value in _state(params).items()}
            save_checkpoint(params.train_network, self.file, async_save=self.async_save, append_dict=state)

    def on_train_end(self, run_context: Any) -> None:
        if self.async_save:
            wait_async_saves()
        if not self.keep and not run_context.get_stop_requested() and os.path.exists(self.file):
            os.remove(self.file)


def _state(params: Any) -> dict[str, Any]:
    """Everything besides Parameters that the next step depends on."""
    state: dict[str, Any] = {"step": params.cur_step_num, "random": streams.get_rng_state()}
    for seed, stream in streams._streams().by_seed.items():
        state[f"random.{seed}"] = stream.get_state()
    manager = params.get("loss_scale_mananger")
    for name in _SCALE_FIELDS:
        if hasattr(manager, name):
            state[f"scale.{name}"] = Tensor(np.asarray(getattr(manager, name), np.float64))
    return state


def _restore(state: dict[str, Any], params: Any) -> None:
    streams.set_rng_state(state["random"])
    manager = params.get("loss_scale_mananger")
    for name, value in state.items():
        kind, _, rest = name.partition(".")
        if kind == "random" and rest:
            stream = streams._streams().by_seed.setdefault(int(rest), streams.Generator())
            stream.set_state(value)
        elif kind == "scale" and manager is not None:
            old = getattr(manager, rest)
            setattr(manager, rest, type(old)(value.asnumpy().item()))
