"""Memory that PyNative mode's results leave is used again by later ones."""

import os

import numpy as np
import pytest

from mindspore import Tensor

_resource = pytest.importorskip("resource")


def _c_library():
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or ""
    except ValueError:
        return ""


@pytest.mark.skipif(not hasattr(os, "confstr") or "glibc" not in _c_library(), reason="about GNU's C library")
@pytest.mark.skipif(any(name.startswith("MALLOC_") for name in os.environ), reason="the environment says how memory is kept")
def test_results_reuse_the_pages_of_earlier_ones():
    x = Tensor(np.ones(3 << 18, np.float32))  # 3 MB: too small for huge pages

    def many():
        kept = [x + 1.0]
        for _ in range(39):
            kept.append(kept[-1] + 1.0)
        return float(kept[-1].asnumpy()[0])

    def fresh_pages():
        before = _resource.getrusage(_resource.RUSAGE_SELF).ru_minflt
        assert many() == 41.0
        return _resource.getrusage(_resource.RUSAGE_SELF).ru_minflt - before

    fresh_pages()
    assert min(fresh_pages(), fresh_pages()) < 5000  # 120 MB are 30 000 pages
