"""Tools for finding faults. Façade: re-exports only."""

from mindspore.common.dump import set_dump
from mindspore.utils import get_sdc_detect_result, sdc_detect_start, sdc_detect_stop

__all__ = ["get_sdc_detect_result", "sdc_detect_start", "sdc_detect_stop", "set_dump"]
