"""The offline debugger: look into a dump folder, check tensors against conditions, follow values through the graph.

    >>> from mindinsight.debugger import DumpAnalyzer, TensorOverflowCondition, Watchpoint
    >>> run = DumpAnalyzer("dump")                                        # doctest: +SKIP
    >>> watch = Watchpoint(run.select_tensors("Conv2D"), TensorOverflowCondition())   # doctest: +SKIP
    >>> for hit in run.check_watchpoints([watch]): print(hit)             # doctest: +SKIP
"""

from mindinsight.debugger.analyzer import DumpAnalyzer
from mindinsight.debugger.compare import Difference, compare
from mindinsight.debugger.conditions import (
    ConditionBase,
    OperatorOverflowCondition,
    TensorAllZeroCondition,
    TensorChangeAboveThresholdCondition,
    TensorChangeBelowThresholdCondition,
    TensorOverflowCondition,
    TensorRangeCondition,
    TensorTooLargeCondition,
    TensorTooSmallCondition,
    TensorUnchangedCondition,
    Watchpoint,
    WatchpointHit,
)
from mindinsight.debugger.nodes import DebuggerTensor, Node

__all__ = [
    "ConditionBase",
    "DebuggerTensor",
    "Difference",
    "DumpAnalyzer",
    "Node",
    "OperatorOverflowCondition",
    "TensorAllZeroCondition",
    "TensorChangeAboveThresholdCondition",
    "TensorChangeBelowThresholdCondition",
    "TensorOverflowCondition",
    "TensorRangeCondition",
    "TensorTooLargeCondition",
    "TensorTooSmallCondition",
    "TensorUnchangedCondition",
    "Watchpoint",
    "WatchpointHit",
    "compare",
]
