"""Tools around training: exchanging tensors with other libraries, dry runs, watching operations. Façade: re-exports only."""

from mindspore.utils import dryrun
from mindspore.utils.dispatch_mode import MsDispatchMode
from mindspore.utils.dlpack import from_dlpack, to_dlpack
from mindspore.utils.exit_by_request import ExitByRequest
from mindspore.utils.hardware import (
    get_sdc_detect_result,
    sdc_detect_start,
    sdc_detect_stop,
    stress_detect,
)
from mindspore.utils.runtime_execution_order_check import comm_exec_order_check, runtime_execution_order_check

__all__ = [
    "ExitByRequest", "MsDispatchMode", "comm_exec_order_check", "dryrun", "from_dlpack", "get_sdc_detect_result",
    "runtime_execution_order_check", "sdc_detect_start",
    "sdc_detect_stop", "stress_detect", "to_dlpack",
]  # fmt: skip
