"""`python -m mindspore.model_zoo`: see `command.py`."""

import sys

from mindspore.model_zoo.command import main

sys.exit(main())
