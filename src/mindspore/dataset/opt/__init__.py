"""Rewrite rules over the pipeline tree."""

RULES: dict = {}


def optimise(tree):
    return tree
