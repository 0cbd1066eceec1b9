"""Minimisation of functions of tensors, line search and assignment. They run step by step, outside graphs."""

from mindspore.scipy.optimize.assignment import linear_sum_assignment
from mindspore.scipy.optimize.minimize import OptimizeResults, line_search, minimize

__all__ = ["OptimizeResults", "line_search", "linear_sum_assignment", "minimize"]
