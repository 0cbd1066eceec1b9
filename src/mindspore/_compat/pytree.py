"""Trees of Python containers, as `mindspore.utils._pytree` has them: taken apart into leaves and put together again.

Lists, tuples, named tuples, dicts (in the order of their keys' insertion) and registered classes are nodes; None has no leaves;
everything else is a leaf. A `PyTreeDef` is the tree without its leaves, equal to that of any tree of the same form.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from mindspore.common.tensor import Tensor

IsLeaf = Callable[[Any], bool] | None


class PyTreeDef(NamedTuple):
    """The form of a tree: the type of its root (None: a leaf), what the type adds to the children, and the children's forms."""

    node_type: type | None
    context: Any
    children: tuple[PyTreeDef, ...]

    @property
    def num_leaves(self) -> int:
        """How many leaves a tree of this form has."""
        return 1 if self.node_type is None else sum(child.num_leaves for child in self.children)


_LEAF = PyTreeDef(None, None, ())


class _Node(NamedTuple):
    """How a type of node is taken apart and made."""

    flatten: Callable[[Any], tuple]  # the children, and what else there is to know
    unflatten: Callable[[Any, Any], Any]  # (what else, the children) → the node


def _flatten_dict(tree: dict) -> tuple:
    return tuple(tree.values()), tuple(tree)


_NODES: dict[type, _Node] = {
    list: _Node(lambda tree: (tree, None), lambda _, children: list(children)),
    tuple: _Node(lambda tree: (tree, None), lambda _, children: tuple(children)),
    dict: _Node(_flatten_dict, lambda keys, children: dict(zip(keys, children, strict=True))),
    OrderedDict: _Node(_flatten_dict, lambda keys, children: OrderedDict(zip(keys, children, strict=True))),
    type(None): _Node(lambda _: ((), None), lambda _, children: None),
}
_NAMED_TUPLE = _Node(lambda tree: (tree, type(tree)), lambda kind, children: kind(*children))


def _node_of(tree: Any, is_leaf: IsLeaf) -> _Node | None:
    if is_leaf is not None and is_leaf(tree):
        return None
    if isinstance(tree, tuple) and hasattr(tree, "_fields") and type(tree) not in _NODES:
        return _NAMED_TUPLE
    return _NODES.get(type(tree))


def _take_apart(tree: Any, is_leaf: IsLeaf, leaves: list[Any]) -> PyTreeDef:
    node = _node_of(tree, is_leaf)
    if node is None:
        leaves.append(tree)
        return _LEAF
    children, context = node.flatten(tree)
    return PyTreeDef(type(tree), context, tuple(_take_apart(child, is_leaf, leaves) for child in children))


def _put_together(form: PyTreeDef, leaves: Iterator[Any]) -> Any:
    if form.node_type is None:
        return next(leaves)
    node = _NODES.get(form.node_type, _NAMED_TUPLE)
    return node.unflatten(form.context, [_put_together(child, leaves) for child in form.children])


def tree_flatten(tree: Any, is_leaf: IsLeaf = None, tensors_only_leaf: bool = False) -> tuple[list[Any], PyTreeDef]:
    """The leaves, and the form. With `tensors_only_leaf` leaves that are no tensors belong to the form."""
    leaves: list[Any] = []
    form = _take_apart(tree, is_leaf, leaves)
    if not tensors_only_leaf:
        return leaves, form
    kept = iter(leaves)
    return [leaf for leaf in leaves if isinstance(leaf, Tensor)], _with_values(form, kept)


class _Value:
    """The type of a node that stands for a leaf which is no tensor."""


_NODES[_Value] = _Node(lambda tree: ((), tree), lambda value, children: value)


def _with_values(form: PyTreeDef, leaves: Iterator[Any]) -> PyTreeDef:
    if form.node_type is None:
        leaf = next(leaves)
        return _LEAF if isinstance(leaf, Tensor) else PyTreeDef(_Value, leaf, ())
    return form._replace(children=tuple(_with_values(child, leaves) for child in form.children))


def tree_unflatten(treedef: PyTreeDef, leaves: Iterable[Any]) -> Any:
    """The tree of this form with these leaves."""
    given = list(leaves)
    if len(given) != treedef.num_leaves:
        raise ValueError(f"For 'tree_unflatten', the tree has {treedef.num_leaves} leaves, but got {len(given)}.")
    return _put_together(treedef, iter(given))


def tree_leaves(tree: Any, is_leaf: IsLeaf = None, tensors_only_leaf: bool = False) -> list[Any]:
    """The leaves, from left to right."""
    return tree_flatten(tree, is_leaf, tensors_only_leaf)[0]


def tree_structure(tree: Any, is_leaf: IsLeaf = None, tensors_only_leaf: bool = False) -> PyTreeDef:
    """The form alone."""
    return tree_flatten(tree, is_leaf, tensors_only_leaf)[1]


def tree_map(
    func: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf = None, tensors_only_leaf: bool = False
) -> Any:
    """The tree of func(leaf, …), where the other trees have the same form."""
    leaves, form = tree_flatten(tree, is_leaf, tensors_only_leaf)
    others = []
    for other in rest:
        more, other_form = tree_flatten(other, is_leaf, tensors_only_leaf)
        if other_form != form:
            raise ValueError(f"For 'tree_map', all trees must have the same form, but got {form} and {other_form}.")
        others.append(more)
    return tree_unflatten(form, [func(*together) for together in zip(leaves, *others, strict=True)])


def register_pytree_node(
    node_type: type, flatten_func: Callable[[Any], tuple], unflatten_func: Callable[[Any, Any], Any]
) -> None:
    """Make a class a node: flatten_func(node) -> (children, context), unflatten_func(context, children) -> node."""
    if node_type in _NODES:
        raise ValueError(f"For 'register_pytree_node', {node_type.__name__} is a node already.")
    _NODES[node_type] = _Node(flatten_func, unflatten_func)


def register_pytree_node_class(cls: type) -> type:
    """Decorator: a class with `tree_flatten(self)` and `tree_unflatten(context, children)` becomes a node."""
    register_pytree_node(cls, vars(cls)["tree_flatten"], cls.tree_unflatten)  # type: ignore[attr-defined]
    return cls


__all__ = [
    "PyTreeDef", "register_pytree_node", "register_pytree_node_class", "tree_flatten", "tree_leaves", "tree_map", "tree_structure",
    "tree_unflatten",
]  # fmt: skip
