"""ONNX's TreeEnsemble: decision trees as tables.

Nodes and leaves are numbered together, leaves behind the nodes and leading to themselves. All samples walk all trees at once: a step
looks up each one's feature, compares it and moves on; after as many steps as the deepest tree has, everyone stands on a leaf.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore.formats.onnx.registry import P, operator, tensor

_LEQ, _LT, _GTE, _GT, _EQ, _NEQ, _MEMBER = range(7)
_AVERAGE, _SUM, _MIN, _MAX = range(4)
_COMPARED = {_LEQ: "LessEqual", _LT: "Less", _GTE: "GreaterEqual", _GT: "Greater", _EQ: "Equal", _NEQ: "NotEqual"}


@operator("ai.onnx.ml.TreeEnsemble")
def _tree_ensemble(
    x: Any, nodes_splits: Any, nodes_featureids: Any, nodes_modes: Any, nodes_truenodeids: Any, nodes_falsenodeids: Any,
    nodes_trueleafs: Any, nodes_falseleafs: Any, leaf_targetids: Any, leaf_weights: Any, tree_roots: Any, post_transform: int = 0,
    aggregate_function: int = _SUM, nodes_hitrates: Any = None, nodes_missing_value_tracks_true: Any = None, membership_values: Any = None,
    n_targets: int = 1,
) -> Any:  # fmt: skip
    count, leaves = len(nodes_splits), len(leaf_weights)
    ends = np.arange(count, count + leaves)
    yes, no = (
        np.concatenate([np.where(np.asarray(leaf, bool), count + np.asarray(to), to), ends]).astype(np.int32)
        for to, leaf in ((nodes_truenodeids, nodes_trueleafs), (nodes_falsenodeids, nodes_falseleafs))
    )
    if any(((table < 0) | (table >= count + leaves)).any() for table in (yes, no)):
        raise ValueError("The ONNX operator 'TreeEnsemble' has a branch to a node that is not there.")
    wide = _Tables(count + leaves, nodes_splits, nodes_featureids, nodes_modes, nodes_missing_value_tracks_true, membership_values)
    at = tensor(np.broadcast_to(np.asarray(tree_roots, np.int32), (x.shape[0], len(tree_roots))).copy())
    for _ in range(_depth(yes, no, tree_roots, count)):
        at = P.Select()(wide.holds(x, at), _look(yes, at), _look(no, at))
    place = at - count
    return _gathered(place, np.asarray(leaf_weights), np.asarray(leaf_targetids), n_targets, aggregate_function, post_transform)


def _look(table: np.ndarray, at: Any) -> Any:
    return P.Gather()(tensor(table), at, 0)


def _depth(yes: np.ndarray, no: np.ndarray, roots: Any, count: int) -> int:
    """Steps until everyone stands on a leaf; ValueError where a tree is none."""
    level, steps = np.unique(np.asarray(roots)), 0
    while (level := level[level < count]).size:
        level, steps = np.unique(np.concatenate([yes[level], no[level]])), steps + 1
        if steps > count:
            raise ValueError("The ONNX operator 'TreeEnsemble' has a branch that leads back to itself.")
    return steps


class _Tables:
    """What nodes compare, in tables as long as there are nodes and leaves."""

    def __init__(self, size: int, splits: Any, features: Any, modes: Any, missing: Any, members: Any):
        def padded(values: Any, dtype: Any) -> np.ndarray:
            table = np.zeros(size, dtype)
            table[: len(values)] = values
            return table

        self.splits, self.features = padded(splits, np.asarray(splits).dtype), padded(features, np.int32)
        self.modes, self.missing = padded(modes, np.int32), padded(missing if missing is not None else (), bool)
        self.used = sorted(set(np.asarray(modes).tolist()))
        self.members = _member_table(size, np.asarray(modes), members) if _MEMBER in self.used else None

    def holds(self, x: Any, at: Any) -> Any:
        """Whether each sample's node sends it to the true side."""
        value = P.GatherD()(x, 1, _look(self.features, at))
        split, mode = _look(self.splits, at), _look(self.modes, at)
        found = P.LogicalAnd()(_look(self.missing, at), P.IsNan()(value))
        for kind in self.used:
            met = self._is_member(value, at) if kind == _MEMBER else getattr(P, _COMPARED[kind])()(value, split)
            found = P.LogicalOr()(found, P.LogicalAnd()(P.Equal()(mode, kind), met))
        return found

    def _is_member(self, value: Any, at: Any) -> Any:
        assert self.members is not None
        same = P.Equal()(P.ExpandDims()(value, -1), P.Gather()(tensor(self.members), at, 0))
        return P.ReduceAny()(same, (-1,))


def _member_table(size: int, modes: np.ndarray, members: Any) -> np.ndarray:
    """The sets, one row a node; in the file each ends with NaN, which nothing equals."""
    values = np.asarray(members if members is not None else ())
    sets = np.split(values, np.flatnonzero(np.isnan(values)) + 1)[:-1]
    nodes = np.flatnonzero(modes == _MEMBER)
    if len(sets) != len(nodes):
        raise ValueError("The ONNX operator 'TreeEnsemble' needs a set of members for each node that asks for one.")
    table = np.full((size, max(len(s) for s in sets)), np.nan, values.dtype)
    for node, given in zip(nodes, sets):
        table[node, : len(given)] = given
    return table


def _gathered(place: Any, weights: np.ndarray, targets: np.ndarray, count: int, how: int, after: int) -> Any:
    """The trees' leaves brought together, target by target."""
    weight = P.ExpandDims()(_look(weights, place), -1)
    mine = P.Equal()(P.ExpandDims()(_look(targets.astype(np.int32), place), -1), tensor(np.arange(count, dtype=np.int32)))
    if how in (_MIN, _MAX):
        far = tensor(np.array(np.inf if how == _MIN else -np.inf, weights.dtype))
        kept = P.Select()(mine, weight, far)
        found = (P.ReduceMin() if how == _MIN else P.ReduceMax())(kept, (1,))
    else:
        found = P.ReduceSum()(P.Select()(mine, weight, tensor(np.zeros((), weights.dtype))), (1,))
        found = found / place.shape[1] if how == _AVERAGE else found
    if after not in (0, 1, 2):
        raise ValueError(f"The ONNX operator 'TreeEnsemble' with post_transform {after} is not supported; 0, 1 and 2 are.")
    return found if not after else P.Softmax(-1)(found) if after == 1 else P.Sigmoid()(found)
