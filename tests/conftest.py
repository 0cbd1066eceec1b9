"""Makes the helpers in this folder (gradcheck.py) importable from every test folder, keeps settings from leaking, and luck out."""

import signal
import zlib

import numpy as np
import pytest

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # the suite runs in a shell's background; its programs would ignore Ctrl-C, too
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def settings_as_before():
    """Settings of the default context that a test changes are put back when it ends."""
    from mindspore.runtime import context

    before = context.DEFAULT.snapshot()
    yield
    context.DEFAULT.restore(before)


@pytest.fixture(autouse=True)
def nothing_is_left_behind():
    """A test leaves nothing in its process that decides how others end: Ctrl-C's handler, tapes, watchers of operations."""
    from mindspore.prims import primitive
    from mindspore.prims.active import ACTIVE

    names = [name for name in vars(type(ACTIVE)) if not name.startswith("_")]
    handler, layers, active = signal.getsignal(signal.SIGINT), primitive._Dispatch.layers, {name: getattr(ACTIVE, name) for name in names}
    yield
    left = [name for name in names if getattr(ACTIVE, name) != active[name]]
    left += ["Ctrl-C"] * (signal.getsignal(signal.SIGINT) is not handler) + ["layers"] * (primitive._Dispatch.layers != layers)
    if left:  # and others are not to suffer
        vars(ACTIVE).update(active)
        primitive._Dispatch.layers = layers
        primitive._settle()
        signal.signal(signal.SIGINT, handler)
    assert not left, f"left behind: {left}"


@pytest.fixture(autouse=True)
def same_numbers_in_every_run(request):
    """Weights and samples that a test draws without a seed are its own, whatever ran before it: what passes once passes always."""
    from mindspore.common import random

    seed = zlib.crc32(request.node.nodeid.encode())
    np.random.seed(seed)
    random.default_generator.manual_seed(seed)
    random.host_generator().bit_generator.state = np.random.default_rng(seed).bit_generator.state
