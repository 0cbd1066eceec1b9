"""ExactResume: a run that was killed goes on as if nothing had happened.

Besides the training network (model, optimizer, loss scale) the state of random numbers and the place in the data are
stored, so that a resumed run gives the same losses to the bit as one that was never interrupted.

Of several processes each writes a share of it (`_checkpoint/sharded.py`); the newest step that was stored completely counts.

Another number of processes may go on: all of them begin with that step, and processes that the run before did not have take over the
state of one that it had. If the processes share a batch of the same size as before, losses are those of
the run before but for the order of sums; random numbers of the new processes are those of the process they take over from.

With `last_checkpoint` a copy of the state is kept after each step. When training ends by an error, or a process of the run is lost,
one of those that are left stores the newest step that it has completed. Its own values (random numbers, running statistics) are
those of all processes afterwards: the ones of the process that was lost are gone.
"""

from __future__ import annotations

import contextlib
import os
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore import log
from mindspore.common import random as streams
from mindspore.common.tensor import Tensor
from mindspore.communication.comm_func import barrier, broadcast
from mindspore.communication.management import get_group_size, get_rank
from mindspore.runtime.transports import watchdog
from mindspore.train._checkpoint import sharded
from mindspore.train._checkpoint.load import load_checkpoint, load_param_into_net
from mindspore.train._checkpoint.save import save_checkpoint, wait_async_saves
from mindspore.train.callback._callback import Callback
from mindspore.train.callback._checkpoint import make_directory

if TYPE_CHECKING:
    from mindspore.train.callback._callback import RunContext

_PREFIX = "__resume__."
_FILE = "resume.ckpt"
_KEPT = 2  # of several processes: a damaged checkpoint is not the end
_SCALE_FIELDS = ("loss_scale", "cur_iter", "last_overflow_iter", "bad_step")


class ExactResume(Callback):
    """Store the whole state of training every so many steps, and start from it when there is one.

    Args:
        directory: the folder of `resume.ckpt`; of several processes, of folders `step_<n>` to which each has written a part.
        save_steps: steps between two saves.
        async_save: write in the background.
        keep: keep the file when training has come to its end.
        last_checkpoint: when training fails, store the newest complete step. It costs a copy of the weights and states in each step.

    Examples:
        >>> from mindspore.train import ExactResume
        >>> callback = ExactResume("doc_resume", save_steps=100)
    """

    def __init__(
        self, directory: str, save_steps: int = 1, async_save: bool = False, keep: bool = False, last_checkpoint: bool = False
    ):
        super().__init__()
        if not isinstance(save_steps, int) or isinstance(save_steps, bool) or save_steps <= 0:
            raise ValueError(f"For 'ExactResume', 'save_steps' must be a positive int, but got {save_steps!r}.")
        self.together = get_group_size() > 1
        self.directory = make_directory(directory)
        self.file = os.path.join(self.directory, _FILE)
        self.save_steps = save_steps
        self.async_save = async_save
        self.keep = keep
        self.last_checkpoint = last_checkpoint
        self._newest: sharded.Snapshot | None = None
        self._storing = threading.Lock()
        self._open = contextlib.ExitStack()

    def __enter__(self) -> ExactResume:
        if self.last_checkpoint:
            self._open.enter_context(watchdog.before_the_end(self._store_newest))
        return self

    def __exit__(self, *err: Any) -> None:
        if err[0] is not None:
            self._store_newest()
        self._open.close()  # not before: news of a lost process would end this one while it stores
        self._newest = None

    def _store_newest(self) -> None:
        """The state after the last step that this process has completed, if it is not stored yet."""
        with self._storing:
            newest, self._newest = self._newest, None
            if newest is not None and sharded.save_alone(newest, self.directory):
                log.warning(f"ExactResume: stored step {newest.step}, the last one that is complete, in {self.directory}.")

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
        """The newest state, of this process or of a run of several."""
        of_several, of_one = self._newest_steps()
        if of_several and of_several >= of_one:
            return sharded.load_sharded_checkpoint(self.directory, of_several)
        return load_checkpoint(self.file) if of_one else None

    def _newest_steps(self) -> tuple[int, int]:
        """The newest step that several processes have stored, and that of one; 0 for none. All go by what rank 0 sees."""
        of_one = 0
        if os.path.exists(self.file):
            header = load_checkpoint(self.file, choice_func=lambda name: name == f"{_PREFIX}step")
            of_one = int(header[f"{_PREFIX}step"].asnumpy())  # type: ignore[union-attr]
        steps = np.array([max(sharded.complete_steps(self.directory), default=0), of_one], np.int64)
        if self.together:
            steps = broadcast(Tensor(steps), 0).asnumpy()
        return int(steps[0]), int(steps[1])

    def on_train_step_end(self, run_context: RunContext) -> None:
        params = run_context.original_args()
        wanted = params.cur_step_num % self.save_steps == 0
        state = {_PREFIX + name: value for name, value in _state(params).items()} if wanted or self.last_checkpoint else {}
        if self.last_checkpoint:
            self._newest = sharded.Snapshot.of(params.train_network, params.cur_step_num, state)
        if wanted:
            if self.together:
                sharded.save_sharded_checkpoint(
                    params.train_network, self.directory, params.cur_step_num, self.async_save, state, keep=_KEPT
                )
            else:
                save_checkpoint(params.train_network, self.file, async_save=self.async_save, append_dict=state)

    def on_train_end(self, run_context: RunContext) -> None:
        if self.async_save:
            wait_async_saves()
        if self.together:
            barrier()  # nobody needs them any more
        if self.keep or run_context.get_stop_requested() or get_rank() != 0:
            return
        sharded.remove_all(self.directory)
        with contextlib.suppress(FileNotFoundError):
            os.remove(self.file)


def _state(params: Any) -> dict[str, Any]:
    """Everything besides Parameters that the next step depends on."""
    state: dict[str, Any] = {
        "step": params.cur_step_num, "random": streams.get_rng_state(),
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
