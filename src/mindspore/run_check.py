"""`mindspore.run_check()`: is the installation in order?"""

from __future__ import annotations

import numpy as np

from mindspore import context
from mindspore.common.tensor import Tensor
from mindspore.prims.elementwise import Mul
from mindspore.version import __version__


def run_check() -> None:
    """Print the version and compute a small product on the device in use.

    >>> import mindspore
    >>> mindspore.run_check()  # doctest: +SKIP
    MindSpore version:  2.10.0
    The result of multiplication calculation is correct, MindSpore has been installed on platform [CPU] successfully!
    """
    print(f"MindSpore version:  {__version__}")
    target = context.get_context("device_target")
    try:
        got = Mul()(Tensor(np.full((2, 3), 3.0, np.float32)), Tensor(np.full((2, 3), 2.0, np.float32))).asnumpy()
        problem = "" if np.array_equal(got, np.full((2, 3), 6.0)) else "the result of multiplication is wrong"
    except Exception as error:  # whatever is wrong with an installation is what is asked for
        problem = str(error)
    if problem:
        print(f"MindSpore running check failed.\n{problem}")
        return
    print(
        "The result of multiplication calculation is correct, "
        f"MindSpore has been installed on platform [{target}] successfully!"
    )
