"""Makes the helpers in this folder (gradcheck.py) importable from every test folder, keeps settings from leaking, and luck out."""

import zlib

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def settings_as_before():
    """Settings of the default context that a test changes are put back when it ends."""
    from mindspore.runtime import context

    before = context.DEFAULT.snapshot()
    yield
    context.DEFAULT.restore(before)


@pytest.fixture(autouse=True)
def same_numbers_in_every_run(request):
    """Weights and samples that a test draws without a seed are its own, whatever ran before it: what passes once passes always."""
    from mindspore.common import random

    seed = zlib.crc32(request.node.nodeid.encode())
    np.random.seed(seed)
    random.default_generator.manual_seed(seed)
    random.host_generator().bit_generator.state = np.random.default_rng(seed).bit_generator.state
