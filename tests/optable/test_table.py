"""Every row of the table of operations, run in every way."""

import dataclasses

import engine
import pytest
from rows import ROWS

from mindspore import Tensor

BACKENDS = ("interp", "xla", "cpu")
MAPPED = [r for r in ROWS if r.vmap and r.graph]  # what cannot be compiled cannot be mapped as a whole
IDS = [f"{r.family}-{r}" for r in ROWS]


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_eager(row):
    engine.check_eager(row)


def same_named_methods():
    """(row, method) of Tensor methods that are called like the function of their name and stand in no row themselves."""
    spelt = {s for r in ROWS for s in r.spellings}
    for row in ROWS:
        for name in row.spellings:
            method = f"Tensor.{name}"
            if (
                row.call is None
                and name.isidentifier()
                and method not in spelt
                and callable(getattr(Tensor, name, None))
            ):
                yield row, method


METHODS = [(r, m) for r, m in same_named_methods() if m not in ("Tensor.where", "Tensor.select", "Tensor.unique")]


@pytest.mark.parametrize("row,method", METHODS, ids=[m for _, m in METHODS])
def test_method_of_the_same_name(row, method):
    engine.check_eager(dataclasses.replace(row, spellings=(method,)))


@pytest.mark.parametrize("row", [r for r in ROWS if r.family != "sparse"], ids=str)
def test_other_element_types(row):
    engine.check_other_types(row)


@pytest.mark.parametrize("row", [r for r in ROWS if r.grad], ids=[f"{r.family}-{r}" for r in ROWS if r.grad])
def test_gradient(row):
    engine.check_gradient(row)


COMPLEX = [r for r in ROWS if "D" in r.dtypes.split()]


@pytest.mark.parametrize("row", COMPLEX, ids=[f"{r.family}-{r}" for r in COMPLEX])
def test_complex_gradient(row):
    engine.check_complex_gradient(row)


@pytest.mark.parametrize("row", MAPPED, ids=[f"{r.family}-{r}" for r in MAPPED])
def test_vmap(row):
    engine.check_vmap(row)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("row", [r for r in ROWS if r.graph], ids=[f"{r.family}-{r}" for r in ROWS if r.graph])
def test_compiled(row, backend):
    engine.check_compiled(row, backend)


PLAIN = [r for r in ROWS if r.graph and r.family not in ("other", "rare", "attention")]


@pytest.mark.parametrize("row", PLAIN, ids=[f"{r.family}-{r}" for r in PLAIN])
def test_mistakes_are_the_same_in_both_modes(row):
    engine.check_mistakes(row)
