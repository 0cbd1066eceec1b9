"""Log messages: `from mindspore import log as logger; logger.warning("...")`.

The environment decides, once, at the first message:

| variable | meaning |
| --- | --- |
| `GLOG_v` | lowest level shown: 0 debug, 1 info, 2 warning (default), 3 error, 4 critical |
| `GLOG_logtostderr` | 1 (default): standard error; 0: files under `GLOG_log_dir` |
| `GLOG_log_dir` | folder of log files; each process writes `rank_<RANK_ID>/logs/mindspore.log.<pid>` in it |
| `GLOG_stderrthreshold` | with files: from this level on, messages are printed as well |
| `VLOG_v` | `1`: what is compiled, and how long it took, on standard error; `(1,9)` means levels 1 to 9 |
| `logger_maxBytes`, `logger_backupCount` | size at which a log file is rotated, and how many old ones are kept |
"""

from __future__ import annotations

import functools
import logging
import os
import re
import sys
import threading
import time
from collections.abc import Callable
from logging.handlers import RotatingFileHandler
from typing import Any

from mindspore._base import flags

__ms_treatment__ = "refused"  # by the compiler: see compiler/parse/source.py

__all__ = ["get_level", "get_log_config"]

_LEVELS = {
    "0": logging.DEBUG,
    "1": logging.INFO,
    "2": logging.WARNING,
    "3": logging.ERROR,
    "4": logging.CRITICAL,
}
_DEFAULT_LEVEL = "2"
_MAX_BYTES = 50 * 1024 * 1024
_BACKUPS = 30


def debug(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log at level DEBUG; `args` fill the `%` fields of `msg`."""
    _emit(logging.DEBUG, msg, args, kwargs)


def info(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log at level INFO."""
    _emit(logging.INFO, msg, args, kwargs)


def warning(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log at level WARNING."""
    _emit(logging.WARNING, msg, args, kwargs)


def error(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log at level ERROR."""
    _emit(logging.ERROR, msg, args, kwargs)


def critical(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log at level CRITICAL."""
    _emit(logging.CRITICAL, msg, args, kwargs)


def verbose(level: int, message: str) -> None:
    """Print a message of a kind that `VLOG_v` asks for."""
    wanted = [int(number) for number in re.findall(r"\d+", flags.text("VLOG_v"))]
    if wanted and wanted[0] <= level <= wanted[-1]:
        print(f"[V{level}] {message}", file=sys.stderr, flush=True)


def get_level() -> str:
    """The level in force, as `GLOG_v` spells it: "0" (debug) to "4" (critical).

    Examples:
        >>> ms.get_level() in ("0", "1", "2", "3", "4")
        True
    """
    return _settings()["GLOG_v"]


def get_log_config() -> dict[str, Any]:
    """The settings in force; those of files only when messages go to files.

    Examples:
        >>> isinstance(ms.get_log_config(), dict)
        True
    """
    return dict(_settings())


class _LogActionOnce:
    """Decorator: warnings logged through `logger` while the function runs are shown in its first call only.

    Functions share their first call by `key`; with `no_warning` they are never shown.
    """

    is_logged: dict[str, bool] = {}

    def __init__(self, logger: Any, key: str, no_warning: bool = False):
        self.logger, self.key, self.no_warning = logger, key, no_warning

    def __call__(self, function: Callable) -> Callable:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            silent = self.no_warning or self.is_logged.get(self.key, False)
            self.is_logged[self.key] = True
            if not silent:
                return function(*args, **kwargs)
            original, self.logger.warning = self.logger.warning, lambda *a, **k: None
            try:
                return function(*args, **kwargs)
            finally:
                self.logger.warning = original

        return wrapper


# ---------------------------------------------------------------------------------------------------------------------
class _State:
    """The logger of this process, made at the first message; a forked child makes its own."""

    lock = threading.Lock()
    pid = -1
    logger: logging.Logger | None = None
    settings: dict[str, Any] = {}


def _emit(level: int, msg: Any, args: tuple, kwargs: dict[str, Any]) -> None:
    logger = _get_logger()
    if logger.isEnabledFor(level):
        kwargs["stacklevel"] = kwargs.get("stacklevel", 1) + 2  # past this function and the public one
        logger.log(level, msg, *args, **kwargs)


def _get_logger() -> logging.Logger:
    """The `logging.Logger` behind the functions of this module."""
    if _State.logger is not None and _State.pid == os.getpid():
        return _State.logger
    with _State.lock:
        if _State.logger is None or _State.pid != os.getpid():
            settings = _read_environment()
            _State.logger = _make_logger(settings)
            _State.settings, _State.pid = settings, os.getpid()
    return _State.logger


def _settings() -> dict[str, Any]:
    _get_logger()
    return _State.settings


def _read_environment() -> dict[str, Any]:
    settings: dict[str, Any] = {
        "GLOG_v": _level("GLOG_v", _DEFAULT_LEVEL),
        "GLOG_logtostderr": flags.text("GLOG_logtostderr", "1") or "1",
    }
    if settings["GLOG_logtostderr"] not in ("0", "1"):
        raise ValueError(f"GLOG_logtostderr must be 0 or 1, but got {settings['GLOG_logtostderr']!r}.")
    if settings["GLOG_logtostderr"] == "1":
        return settings
    folder = flags.text("GLOG_log_dir")
    if not folder:
        raise ValueError(
            "When GLOG_logtostderr is set to 0, GLOG_log_dir must name the folder of log files, but it is empty."
        )
    rank = flags.text("RANK_ID", "0") or "0"
    settings["GLOG_log_dir"] = os.path.join(os.path.realpath(folder), f"rank_{rank}", "logs")
    settings["logger_maxBytes"] = _count("logger_maxBytes", _MAX_BYTES)
    settings["logger_backupCount"] = _count("logger_backupCount", _BACKUPS)
    if flags.text("GLOG_stderrthreshold"):
        settings["GLOG_stderrthreshold"] = _level("GLOG_stderrthreshold", _DEFAULT_LEVEL)
    return settings


def _level(variable: str, default: str) -> str:
    value = flags.text(variable, default).strip() or default
    if value not in _LEVELS:
        raise ValueError(
            f"Incorrect log level: {variable} must be 4 (CRITICAL), 3 (ERROR), 2 (WARNING), 1 (INFO) or 0 (DEBUG), "
            f"but got {value}."
        )
    return value


def _count(variable: str, default: int) -> int:
    raw = flags.text(variable, str(default))
    if not raw.isdigit():
        raise ValueError(f"{variable} must be a whole number and not negative, but got {raw!r}.")
    return int(raw)


def _make_logger(settings: dict[str, Any]) -> logging.Logger:
    logger = logging.getLogger(f"ME.mindspore.log.{os.getpid()}")
    logger.setLevel(_LEVELS[settings["GLOG_v"]])
    logger.propagate = False
    logger.handlers.clear()
    if settings["GLOG_logtostderr"] == "1":
        logger.addHandler(_with_format(_StderrHandler()))
        return logger
    folder = settings["GLOG_log_dir"]
    os.makedirs(folder, mode=0o700, exist_ok=True)
    path = os.path.join(folder, f"mindspore.log.{os.getpid()}")
    rotation = {"maxBytes": settings["logger_maxBytes"], "backupCount": settings["logger_backupCount"]}
    logger.addHandler(_with_format(RotatingFileHandler(path, encoding="utf-8", delay=True, **rotation)))
    if "GLOG_stderrthreshold" in settings:
        echo = _with_format(_StderrHandler())
        echo.setLevel(_LEVELS[settings["GLOG_stderrthreshold"]])
        logger.addHandler(echo)
    return logger


def _with_format(handler: logging.Handler) -> logging.Handler:
    handler.setFormatter(_Formatter())
    return handler


class _StderrHandler(logging.StreamHandler):
    """Writes to what `sys.stderr` is now, not to what it was when the handler was made."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> Any:
        return sys.stderr


class _Formatter(logging.Formatter):
    """`[WARNING] ME(pid:thread,process):2026-01-31-12:00:00.123.456 [file:line] text`."""

    def __init__(self) -> None:
        super().__init__(
            "[%(levelname)s] ME(%(process)d:%(thread)d,%(processName)s):%(asctime)s "
            "[%(pathname)s:%(lineno)d] %(message)s"
        )

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:
        seconds = time.strftime("%Y-%m-%d-%H:%M:%S", time.localtime(record.created))
        millis, micros = divmod(int(record.created * 1e6) % 1_000_000, 1000)
        return f"{seconds}.{millis:03d}.{micros:03d}"
