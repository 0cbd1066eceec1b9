"""Choosing a plan."""

from __future__ import annotations

from mindspore.compiler.shard.plan import Options, Plan, make_plan
from mindspore.ir import FuncGraph


def find_plan(graph: FuncGraph, options: Options) -> Plan:
    """The plan for a graph: by propagation from what the user said."""
    return make_plan(graph, options)
