"""Callbacks that bring a run back after a failure: BackupAndRestore and TrainFaultTolerance."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from mindspore import log as logger
from mindspore.train._checkpoint.load import load_checkpoint
from mindspore.train._checkpoint.save import save_checkpoint
from mindspore.train.callback._callback import Callback
from mindspore.train.callback._checkpoint import make_directory
from mindspore.train.callback._monitored import check_bool

if TYPE_CHECKING:
    from mindspore.train.callback._callback import RunContext


class BackupAndRestore(Callback):
    """Back the training network up after epochs, and start from the backup when there is one.

    Args:
        backup_dir: the folder of `backup.ckpt`.
        save_freq: "epoch", or every so many epochs.
        delete_checkpoint: remove the backup when training has ended well.

    Examples:
        >>> train.BackupAndRestore("backup", save_freq="epoch").save_freq
        1
    """

    def __init__(self, backup_dir: str, save_freq: str | int = "epoch", delete_checkpoint: bool = True):
        super().__init__()
        check_bool("BackupAndRestore", "delete_checkpoint", delete_checkpoint)
        frequency = 1 if save_freq == "epoch" else save_freq
        if not isinstance(frequency, int) or isinstance(frequency, bool) or frequency <= 0:
            raise ValueError(
                f"For 'BackupAndRestore', 'save_freq' must be 'epoch' or an int > 0, but got {save_freq!r}."
            )
        self.backup_file = os.path.join(make_directory(backup_dir), "backup.ckpt")
        self.save_freq = frequency
        self.delete_checkpoint = delete_checkpoint

    def on_train_begin(self, run_context: RunContext) -> None:
        if os.path.exists(self.backup_file):
            load_checkpoint(self.backup_file, net=run_context.original_args().train_network)

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        params = run_context.original_args()
        if params.cur_epoch_num % self.save_freq == 0:
            save_checkpoint(params.train_network, self.backup_file)

    def on_train_end(self, run_context: RunContext) -> None:
        if self.delete_checkpoint and os.path.exists(self.backup_file):
            os.remove(self.backup_file)


class TrainFaultTolerance(Callback):
    """When training fails, save the state of the last good step; a later run with the same folder starts from it.

    Args:
        ckpt_save_path: the folder of the saved state.

    Examples:
        >>> train.TrainFaultTolerance.__mro__[1].__name__
        'Callback'
    """

    def __init__(self, ckpt_save_path: str | None = None, **kwargs: Any):
        super().__init__()
        self.save_file = os.path.join(make_directory(ckpt_save_path), "tft_saved.ckpt")
        self._params: Any = None
        self._last_step = -1

    @staticmethod
    def get_optimizer_wrapper(origin_opt_cls: type) -> type:
        """The optimizer class to use under fault tolerance; here optimizers need no change."""
        return origin_opt_cls

    def on_train_begin(self, run_context: RunContext) -> None:
        self._params = run_context.original_args()
        if os.path.exists(self.save_file):
            load_checkpoint(self.save_file, net=self._params.train_network)
            logger.warning("Training goes on from the state saved in %s.", self.save_file)

    def on_train_step_end(self, run_context: RunContext) -> None:
        self._last_step = run_context.original_args().cur_step_num

    def end(self, run_context: RunContext) -> None:
        self._params = None
        if os.path.exists(self.save_file):
            os.remove(self.save_file)

    def __exit__(self, *err: Any) -> None:
        failed = bool(err) and err[0] is not None and issubclass(err[0], Exception)
        if failed and self._params is not None and self._last_step >= 0:
            counters = {"epoch_num": self._params.cur_epoch_num, "step_num": self._last_step}
            save_checkpoint(self._params.train_network, self.save_file, append_dict=counters)
