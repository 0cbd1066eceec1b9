"""Arguments by keyword: every public function and class accepts the names its documentation gives them.

keywords.txt holds one line per name: the name, then its parameters in order.
"""

import inspect
from functools import reduce
from pathlib import Path

import pytest

import mindspore as ms

LINES = [line.split() for line in (Path(__file__).parent / "keywords.txt").read_text().splitlines()]
FAMILIES = sorted({name.partition(".")[0] for name, *_ in LINES})


def accepts(target, wanted):
    parameters = inspect.signature(target).parameters.values()
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return True
    names = {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    return set(wanted) <= names


@pytest.mark.parametrize("family", FAMILIES)
def test_keywords(family):
    wrong = [
        f"{name}({', '.join(wanted)})"
        for name, *wanted in LINES
        if name.partition(".")[0] == family and not accepts(reduce(getattr, name.split("."), ms), wanted)
    ]
    assert not wrong, "not accepted by keyword: " + "; ".join(wrong)
