"""Makes the helpers in this folder (gradcheck.py) importable from every test folder, and keeps settings from leaking."""

import pytest


@pytest.fixture(autouse=True)
def settings_as_before():
    """Settings of the default context that a test changes are put back when it ends."""
    from mindspore.runtime import context

    before = context.DEFAULT.snapshot()
    yield
    context.DEFAULT.restore(before)
