"""OnRequestExit: stop cleanly when a signal asks for it."""

from __future__ import annotations

import json
import os
import signal
import threading
from typing import TYPE_CHECKING, Any

from mindspore import log as logger
from mindspore.train._checkpoint.load import load_checkpoint
from mindspore.train._checkpoint.save import save_checkpoint
from mindspore.train.callback._callback import Callback
from mindspore.train.callback._checkpoint import make_directory
from mindspore.train.callback._monitored import check_bool

if TYPE_CHECKING:
    from mindspore.train.callback._callback import RunContext


class OnRequestExit(Callback):
    """At a signal (default SIGTERM) end the run after the current step and save the network; the next run loads it.

    Args:
        save_ckpt: save a checkpoint.
        save_mindir: export the network as MindIR.
        file_name: the start of the file names.
        directory: the folder.
        config_file: a JSON file; `{"GracefulExit": 1}` in it asks to stop like the signal.
        sig: the signal.

    Examples:
        >>> import signal
        >>> train.OnRequestExit(save_mindir=False, file_name="net", sig=signal.SIGUSR1).__class__.__name__
        'OnRequestExit'
    """

    def __init__(
        self,
        save_ckpt: bool = True,
        save_mindir: bool = True,
        file_name: str = "Net",
        directory: str | None = "./",
        config_file: str | None = None,
        sig: int = signal.SIGTERM,
    ):
        super().__init__()
        check_bool("OnRequestExit", "save_ckpt", save_ckpt)
        check_bool("OnRequestExit", "save_mindir", save_mindir)
        if not isinstance(sig, int):
            raise TypeError(f"For 'OnRequestExit', 'sig' must be a signal number, but got {type(sig).__name__}.")
        if sig == getattr(signal, "SIGKILL", None):
            raise ValueError("For 'OnRequestExit', SIGKILL cannot be caught; choose another signal.")
        self.save_ckpt = save_ckpt
        self.save_mindir = save_mindir
        self.sig = sig
        self.exit = False
        self.remote_config_file = config_file
        folder = make_directory(os.path.join(directory or os.getcwd(), "rank_0"))
        self.train_name = os.path.join(folder, f"{file_name}_train")
        self.eval_name = os.path.join(folder, f"{file_name}_eval")
        self._previous: Any = None

    # -- training -------------------------------------------------------------------------------------------------
    def on_train_begin(self, run_context: RunContext) -> None:
        self._listen()
        if self.save_ckpt and os.path.isfile(f"{self.train_name}.ckpt"):
            load_checkpoint(f"{self.train_name}.ckpt", net=run_context.original_args().train_network)

    def on_train_step_end(self, run_context: RunContext) -> None:
        self._check(run_context)

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        self._check(run_context)

    def on_train_end(self, run_context: RunContext) -> None:
        self._ignore()
        if self.exit:
            params = run_context.original_args()
            counters = {"epoch_num": params.get("cur_epoch_num", 0), "step_num": params.get("cur_step_num", 0)}
            self._save(params.train_network, self.train_name, params.get("train_dataset_element"), counters)

    # -- evaluation -----------------------------------------------------------------------------------------------
    def on_eval_begin(self, run_context: RunContext) -> None:
        self._listen()
        for name in (self.eval_name, self.train_name):
            if self.save_ckpt and os.path.isfile(f"{name}.ckpt"):
                load_checkpoint(f"{name}.ckpt", net=run_context.original_args().eval_network)
                return

    def on_eval_step_end(self, run_context: RunContext) -> None:
        self._check(run_context)

    def on_eval_end(self, run_context: RunContext) -> None:
        self._ignore()
        if self.exit:
            params = run_context.original_args()
            self._save(params.eval_network, self.eval_name, params.get("eval_dataset_element"), None)

    # -- inside ---------------------------------------------------------------------------------------------------
    def _listen(self) -> None:
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(self.sig, self._handle_signal)

    def _ignore(self) -> None:
        if self._previous is not None and threading.current_thread() is threading.main_thread():
            signal.signal(self.sig, self._previous)
            self._previous = None

    def _handle_signal(self, signum: int, frame: Any) -> None:
        self.exit = True

    def _check(self, run_context: RunContext) -> None:
        if not self.exit and self.remote_config_file is not None:
            self.exit = self._asked_by_file()
        if self.exit:
            run_context.request_stop()

    def _asked_by_file(self) -> bool:
        try:
            with open(str(self.remote_config_file), encoding="utf-8") as stream:
                asked = json.load(stream)
        except FileNotFoundError:
            return False
        except (OSError, ValueError) as error:
            logger.warning("The file %s cannot be read as JSON: %s", self.remote_config_file, error)
            return False
        return isinstance(asked, dict) and asked.get("GracefulExit") == 1

    def _save(self, network: Any, name: str, inputs: Any, counters: dict | None) -> None:
        if self.save_ckpt:
            save_checkpoint(network, name, append_dict=counters)
        if self.save_mindir and inputs:
            from mindspore.train.serialization import export

            export(network, *inputs, file_name=name, file_format="MINDIR")
