"""The package's logger. `GLOG_v` chooses the level (0 debug, 1 info, 2 warning, 3 error), as in the framework.

`GLOG_logtostderr=0` with `GLOG_log_dir` writes to a file of the process instead of the console; errors go to both.
"""

from __future__ import annotations

import functools
import logging
import logging.handlers
import os
import sys

_LEVELS = {"0": logging.DEBUG, "1": logging.INFO, "2": logging.WARNING, "3": logging.ERROR}
_FORMAT = "[%(levelname)s] SERVING(%(process)d:%(thread)d,%(processName)s):%(asctime)s [%(pathname)s:%(lineno)d] %(message)s"


def _setting(variable: str, default: str = "") -> str:
    return os.environ.get(variable, "").strip() or default


def _level(variable: str) -> str:
    level = _setting(variable, "2")
    if level not in _LEVELS:
        raise ValueError(f"Incorrect log level:{level}, {variable} must be one of {sorted(_LEVELS)}.")
    return level


@functools.cache
def _logger() -> logging.Logger:
    logger = logging.getLogger("mindspore_serving")
    logger.setLevel(_LEVELS[_level("GLOG_v")])
    logger.propagate = False
    for handler in _handlers():
        handler.setFormatter(logging.Formatter(_FORMAT))
        logger.addHandler(handler)
    return logger


def _handlers() -> list[logging.Handler]:
    console = logging.StreamHandler(sys.stderr)
    if _setting("GLOG_logtostderr", "1") != "0":
        return [console]
    folder = _setting("GLOG_log_dir")
    if not os.path.isdir(folder):
        raise ValueError(f"With GLOG_logtostderr=0, GLOG_log_dir must be a folder that exists, but is {folder!r}.")
    console.setLevel(_LEVELS[_level("GLOG_stderrthreshold")])
    path = os.path.join(os.path.realpath(folder), f"mindspore_serving.log.{os.getpid()}")
    size, count = int(_setting("logger_maxBytes", "52428800")), int(_setting("logger_backupCount", "30"))
    return [logging.handlers.RotatingFileHandler(path, maxBytes=size, backupCount=count), console]


def debug(message: object, *args: object) -> None:
    _logger().debug(message, *args, stacklevel=2)


def info(message: object, *args: object) -> None:
    _logger().info(message, *args, stacklevel=2)


def warning(message: object, *args: object) -> None:
    _logger().warning(message, *args, stacklevel=2)


def error(message: object, *args: object) -> None:
    _logger().error(message, *args, stacklevel=2)


def get_level() -> str:
    """The level in force, as GLOG_v spells it."""
    return {value: name for name, value in _LEVELS.items()}[_logger().level]


__all__ = ["debug", "error", "get_level", "info", "warning"]
