"""The package's log: `from mindspore_federated import log as logger`."""
from __future__ import annotations

import logging
import os

_LEVELS = {"0": logging.DEBUG, "1": logging.INFO, "2": logging.WARNING, "3": logging.ERROR, "4": logging.CRITICAL}

logger = logging.getLogger("mindspore_federated")
logger.setLevel(_LEVELS.get(os.environ.get("GLOG_v", "2"), logging.WARNING))  # noqa: SIM112 (the framework's name)

debug = logger.debug
info = logger.info
warning = logger.warning
error = logger.error
critical = logger.critical
exception = logger.exception
