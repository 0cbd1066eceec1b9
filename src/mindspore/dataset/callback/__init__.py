"""Callbacks of the pipeline: `DSCallback` follows a map row by row, `WaitedDSCallback` also waits for the training."""

from mindspore.dataset.callback.ds_callback import DSCallback, DSRunContext, WaitedDSCallback

__all__ = ["DSCallback", "DSRunContext", "WaitedDSCallback"]
