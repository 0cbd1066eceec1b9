"""Memory that PyNative mode's results leave is used again by later ones."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("resource")

#: in a process of its own: how much is kept at the end of the heap depends on what else a process holds
PROGRAM = """
import resource
import numpy as np
from mindspore import Tensor

x = Tensor(np.ones(3 << 18, np.float32))  # 3 MB: too small for huge pages

def many():
    kept = [x + 1.0]
    for _ in range(39):
        kept.append(kept[-1] + 1.0)
    return float(kept[-1].asnumpy()[0])

def fresh_pages():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    assert many() == 41.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

fresh_pages()
print(min(fresh_pages(), fresh_pages()))
"""


def _c_library():
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or ""
    except ValueError:
        return ""


@pytest.mark.skipif(not hasattr(os, "confstr") or "glibc" not in _c_library(), reason="about GNU's C library")
def test_results_reuse_the_pages_of_earlier_ones():
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, env=environment)
    assert int(done.stdout) < 5000  # 120 MB are 30 000 pages
