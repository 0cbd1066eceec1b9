"""The optimiser: named rules over the pipeline tree, applied in order, each of which can be switched off.

ds.explain(data)                                         # the tree before and after, and the rules that fired
ds.config.set_optimizer_rule("fuse_maps", False)
"""

from __future__ import annotations

from mindspore.dataset.ir.node import Node
from mindspore.dataset.opt.rules import RULES
from mindspore.dataset.settings import settings

__all__ = ["RULES", "applied", "optimise"]


def optimise(tree: Node) -> Node:
    """The tree after all rules that are switched on."""
    return applied(tree)[0]


def applied(tree: Node) -> tuple[Node, list[str]]:
    """The tree after the rules, and the names of those that changed it."""
    fired = []
    for name, rule in RULES.items():
        if name in settings().disabled_rules or rule is None:
            continue
        after = rule(tree)
        if after is not tree:
            fired.append(name)
            tree = after
    return tree, fired
