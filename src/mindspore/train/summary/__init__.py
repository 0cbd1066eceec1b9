"""Summaries of runs for the dashboard. Façade: re-exports only."""

from mindspore.train.summary.landscape import SummaryLandscape
from mindspore.train.summary.summary_record import SummaryRecord

__all__ = ["SummaryLandscape", "SummaryRecord"]
