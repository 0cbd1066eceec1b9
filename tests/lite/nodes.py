"""All ONNX node tests through Converter and Model: `python tests/lite/nodes.py [part of a name …]` lists what does not pass, and counts."""

import contextlib
import io
import sys
import tempfile
import warnings
from pathlib import Path

from test_lite_onnx_nodes import run


def main(parts):
    from onnx.backend.test.loader import load_model_tests

    warnings.simplefilter("ignore")
    cases = [c for c in load_model_tests(kind="node") if c.model is not None and (not parts or any(p in c.name for p in parts))]
    passed = 0
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    run(case, Path(folder))
                passed += 1
            except (RuntimeError, TypeError, AssertionError) as error:  # refused, or wrong
                print(f"{case.name}: {type(error).__name__}: {' '.join(str(error).split())[:160]}")
    print(f"{passed} of {len(cases)} pass")


if __name__ == "__main__":
    main(sys.argv[1:])
