"""Makes the helpers in this folder (gradcheck.py) importable from every test folder, keeps settings from leaking, and luck out."""

import signal
import threading
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
def process_as_before():
    """What a test leaves behind in its process must not decide how others end: Ctrl-C's handler, tapes, watches."""
    handler = signal.getsignal(signal.SIGINT)
    yield
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is not handler:
        signal.signal(signal.SIGINT, handler)
    from mindspore.prims import primitive
    from mindspore.prims.active import ACTIVE
    from mindspore.runtime.watch import eager

    ACTIVE.tapes, ACTIVE.gather, ACTIVE.suspended = (), None, ()
    eager.uninstall()
    if primitive._Dispatch.observed:
        primitive.set_dispatch(primitive._Dispatch.call, observed=False)


@pytest.fixture(autouse=True)
def same_numbers_in_every_run(request):
    """Weights and samples that a test draws without a seed are its own, whatever ran before it: what passes once passes always."""
    from mindspore.common import random

    seed = zlib.crc32(request.node.nodeid.encode())
    np.random.seed(seed)
    random.default_generator.manual_seed(seed)
    random.host_generator().bit_generator.state = np.random.default_rng(seed).bit_generator.state
