"""`mindspore.utils._pytree`."""

from collections import OrderedDict, namedtuple

import pytest

from mindspore import Tensor
from mindspore.utils import _pytree as tree

Point = namedtuple("Point", "x y")
NESTED = {"a": [1, (2, 3)], "b": Point(4, {"c": 5}), "d": None, "e": OrderedDict(f=6)}


def test_a_tree_is_put_together_from_its_leaves():
    leaves, form = tree.tree_flatten(NESTED)
    assert leaves == [1, 2, 3, 4, 5, 6] and form.num_leaves == 6
    again = tree.tree_unflatten(form, leaves)
    assert again == NESTED and type(again["b"]) is Point and type(again["e"]) is OrderedDict
    assert tree.tree_structure(again) == form != tree.tree_structure([1])
    with pytest.raises(ValueError, match="6 leaves, but got 5"):
        tree.tree_unflatten(form, leaves[1:])


def test_functions_of_leaves():
    assert tree.tree_map(lambda a, b: a + b, [1, {"k": 2}], [10, {"k": 20}]) == [11, {"k": 22}]
    assert tree.tree_map(len, [(1, 2), (3,)], is_leaf=lambda v: isinstance(v, tuple)) == [2, 1]
    with pytest.raises(ValueError, match="same form"):
        tree.tree_map(max, [1, 2], [1])


def test_leaves_that_are_no_tensors_may_belong_to_the_form():
    value = Tensor(2.0)
    leaves, form = tree.tree_flatten({"a": 1, "b": [value, "text"]}, tensors_only_leaf=True)
    assert leaves == [value]
    assert tree.tree_unflatten(form, ["new"]) == {"a": 1, "b": ["new", "text"]}


def test_registered_classes_are_nodes():
    @tree.register_pytree_node_class
    class Pair:
        def __init__(self, *parts):
            self.parts = parts

        def tree_flatten(self):
            return self.parts, "note"

        @classmethod
        def tree_unflatten(cls, note, children):
            assert note == "note"
            return cls(*children)

    assert tree.tree_map(lambda v: v * 2, Pair(1, [2])).parts == (2, [4])
    with pytest.raises(ValueError, match="is a node already"):
        tree.register_pytree_node_class(Pair)
