"""Products of float32 on XLA ask for all bits, unless the user has allowed fewer."""

import numpy as np
import pytest

from mindspore.device_context.gpu import op_precision
from mindspore.prims import precision


def asked(dtype):
    jax = pytest.importorskip("jax")
    a = jax.ShapeDtypeStruct((2, 3), dtype), jax.ShapeDtypeStruct((3, 4), dtype)
    text = jax.jit(lambda x, y: precision.product(jax.numpy, x, y)).lower(*a).as_text()
    return "HIGHEST" in text


@pytest.fixture
def own_setting():
    jax = pytest.importorskip("jax")
    before = jax.config.jax_default_matmul_precision
    yield
    jax.config.update("jax_default_matmul_precision", before)


def test_float32_keeps_its_bits():
    assert asked(np.float32)


def test_halves_are_left_alone():
    assert not asked(np.float16)


def test_the_users_word_counts(own_setting):
    op_precision.matmul_allow_tf32(True)
    assert not asked(np.float32)
    op_precision.matmul_allow_tf32(False)
    assert asked(np.float32)
