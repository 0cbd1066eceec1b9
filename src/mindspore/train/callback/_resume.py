"""ExactResume: a run that was killed goes on as if nothing had happened.

Besides the training network (model, optimizer, loss scale) the state of random numbers and the place in the data are
stored, so that a resumed run gives the same losses to the bit as one that was never interrupted.

In a run of several processes each stores its own state and keeps the one before: a process that was killed may have missed
the last save. All begin with the newest step that everybody has.

Another number of processes may go on: all of them begin with the newest step that a whole run has stored, and processes that this
run did not have take over the state of one that it had. If the processes share a batch of the same size as before, losses are those of
the run before but for the order of sums; random numbers of the new processes are those of the process they take over from.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore.common import random as streams
from mindspore.common.tensor import Tensor
from mindspore.communication.comm_func import all_reduce, barrier, broadcast
from mindspore.communication.management import get_group_size, get_rank
from mindspore.train._checkpoint.load import load_checkpoint, load_param_into_net
from mindspore.train._checkpoint.save import save_checkpoint, wait_async_saves
from mindspore.train.callback._callback import Callback
from mindspore.train.callback._checkpoint import make_directory

if TYPE_CHECKING:
    from mindspore.train.callback._callback import RunContext

_PREFIX = "__resume__."
_FILES = ("resume.ckpt", "resume_before.ckpt")
_SCALE_FIELDS = ("loss_scale", "cur_iter", "last_overflow_iter", "bad_step")


class ExactResume(Callback):
    """Store the whole state of training every so many steps, and start from it when there is one.

    Args:
        directory: the folder of `resume.ckpt`; of several processes each has a folder `rank_<n>` in it.
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
        self.together = get_group_size() > 1
        self.directory = directory
        own = self._folder(get_rank()) if self.together else directory
        self.file, self.older = (os.path.join(make_directory(own), name) for name in _FILES)
        self.save_steps = save_steps
        self.async_save = async_save
        self.keep = keep

    def _folder(self, rank: int) -> str:
        return os.path.join(self.directory, f"rank_{rank}")

    def on_train_begin(self, run_context: RunContext) -> None:
        stored = self._stored()
        if stored is None:
            return
        params = run_context.original_args()
        state = {name.removeprefix(_PREFIX): value for name, value in stored.items() if name.startswith(_PREFIX)}
        weights = {name: value for name, value in stored.items() if not name.startswith(_PREFIX)}
        missing, _ = load_param_into_net(params.train_network, weights, strict_load=True)
        if missing:
            raise RuntimeError(f"The state in {self.file} belongs to another network: it lacks {missing}.")
        _restore(state, params)
        params.resume_step = int(state["step"].asnumpy())  # type: ignore[union-attr]

    def _stored(self) -> dict | None:
        """The newest state; of several processes, of the newest step that all of them have."""
        if self.together or os.path.isdir(self._folder(0)):
            step, processes = self._newest_of_a_run()
            if step:
                folder = self._folder(get_rank() % processes)
                return next(s for s in _states_in(folder) if _header(s) == (step, processes))
        found = list(_states_in(os.path.dirname(self.file)))
        by_step = {int(state[f"{_PREFIX}step"].asnumpy()): state for state in found}  # type: ignore[union-attr]
        step = max(by_step, default=0)
        if self.together:
            step = int(all_reduce(Tensor(np.array([step], np.int64)), "min")[0][0])
        if step and step not in by_step:
            raise RuntimeError(f"Other processes can resume at step {step} only, and {self.file} has {sorted(by_step)}.")
        return by_step.get(step)

    def _newest_of_a_run(self) -> tuple[int, int]:
        """(step, processes) of the newest step that all processes of a run have stored, as rank 0 sees it; (0, 0) for none."""
        newest = (0, 0)
        if get_rank() == 0 and os.path.isdir(self.directory):
            have: dict[tuple[int, int], set[int]] = {}
            for name in os.listdir(self.directory):
                if name.startswith("rank_") and name.removeprefix("rank_").isdigit():
                    for state in _states_in(os.path.join(self.directory, name), headers=True):
                        have.setdefault(_header(state), set()).add(int(name.removeprefix("rank_")))
            newest = max((kind for kind, ranks in have.items() if ranks >= set(range(kind[1]))), default=newest)
        if self.together:
            newest = tuple(broadcast(Tensor(np.array(newest, np.int64)), 0).asnumpy().tolist())
        return newest

    def on_train_step_end(self, run_context: RunContext) -> None:
        params = run_context.original_args()
        if params.cur_step_num % self.save_steps == 0:
            state = {_PREFIX + name: value for name, value in _state(params).items()}
            if self.together and os.path.exists(self.file):
                wait_async_saves()
                os.replace(self.file, self.older)
            save_checkpoint(params.train_network, self.file, async_save=self.async_save, append_dict=state)

    def on_train_end(self, run_context: RunContext) -> None:
        if self.async_save:
            wait_async_saves()
        if self.together:
            barrier()  # nobody needs them any more
        if self.keep or run_context.get_stop_requested():
            return
        folders = [os.path.dirname(self.file)]
        if get_rank() == 0 and os.path.isdir(self.directory):  # those of processes that are no longer there, too
            folders += [f.path for f in os.scandir(self.directory) if f.name.startswith("rank_") and f.is_dir()]
        for file in (os.path.join(folder, name) for folder in folders for name in _FILES):
            with contextlib.suppress(FileNotFoundError):
                os.remove(file)


def _states_in(folder: str, headers: bool = False) -> Iterator[dict]:
    """The states stored in a folder; `headers`: without weights."""
    for file in (os.path.join(folder, name) for name in _FILES):
        if os.path.exists(file):
            yield load_checkpoint(file, choice_func=lambda name: name.startswith(_PREFIX)) if headers else load_checkpoint(file)


def _header(state: dict) -> tuple[int, int]:
    """The step of a state, and how many processes the run had that stored it."""
    step, processes = state[f"{_PREFIX}step"], state.get(f"{_PREFIX}processes")
    return int(step.asnumpy()), int(processes.asnumpy()) if processes is not None else 1


def _state(params: Any) -> dict[str, Any]:
    """Everything besides Parameters that the next step depends on."""
    state: dict[str, Any] = {
        "step": params.cur_step_num, "processes": get_group_size(), "random": streams.get_rng_state(),
    }  # fmt: skip
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
