"""A table of cases for the processes of a run: each is done by all, and the report says what went wrong on whom."""

import json
import sys
import traceback
from pathlib import Path

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def run(rank):
    """Do all cases; write errors to the folder that the command line names."""
    errors = {}
    for name, function in CASES.items():
        try:
            function()
            errors[name] = ""
        except Exception:
            errors[name] = traceback.format_exc()
    Path(sys.argv[1], f"report_{rank}.json").write_text(json.dumps(errors))
