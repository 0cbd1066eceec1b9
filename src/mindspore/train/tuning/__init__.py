"""Auto-tuning: measure one's own training step under several settings, keep what is quicker, remember it.

    ms.auto_tune(model, dataset)
    model.train(10, dataset)

`settings`  what is tuned, and what came out
`memory`    which batch, and which blocks to compute again, keep a step within a limit of memory
`search`    what is tried, and what is kept
`turns`     which of two ways is quicker, on a machine that others use, too
`store`     what was found earlier, beside the compile cache
"""

from __future__ import annotations

from mindspore.train.tuning.search import auto_tune
from mindspore.train.tuning.settings import Settings, Trial, Tuning

__all__ = ["Settings", "Trial", "Tuning", "auto_tune"]
