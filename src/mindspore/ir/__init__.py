"""L1: MindIR, the functional graph representation.

A `FuncGraph` owns `Parameter` nodes and one output; every other node is a `CNode` (an application of a primitive to
argument nodes) or a `ValueNode` (a constant, which may itself be a `FuncGraph`: graphs are values). Nodes carry an
abstract value (type, shape, maybe constant) and the user's source location. This layer knows nothing about which
primitives exist: a primitive is an opaque value with a `name` and `attrs`.
"""

from mindspore.ir.abstract import (
    Abstract,
    AbstractFunction,
    AbstractNone,
    AbstractOther,
    AbstractScalar,
    AbstractTensor,
    AbstractTuple,
)
from mindspore.ir.graph import CNode, FuncGraph, Node, Parameter, ValueNode
from mindspore.ir.location import Location

__all__ = [
    "Abstract",
    "AbstractFunction",
    "AbstractNone",
    "AbstractOther",
    "AbstractScalar",
    "AbstractTensor",
    "AbstractTuple",
    "CNode",
    "FuncGraph",
    "Location",
    "Node",
    "Parameter",
    "ValueNode",
]
