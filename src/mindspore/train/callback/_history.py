"""History: keeps the outputs and metrics of every epoch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mindspore.common.tensor import Tensor
from mindspore.train.callback._callback import Callback

if TYPE_CHECKING:
    from mindspore.train.callback._callback import RunContext


class History(Callback):
    """After training, `history` maps "net_output" and each metric's name to its values per epoch.

    Examples:
        >>> net = nn.Dense(1, 1, weight_init="zeros", bias_init="zeros")
        >>> x = np.ones((2, 1), "float32")
        >>> data = ds.NumpySlicesDataset((x, x), shuffle=False).batch(1)
        >>> model = train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.25))
        >>> record = train.History()
        >>> model.train(2, data, callbacks=record, dataset_sink_mode=False)
        >>> len(record.history["net_output"])
        2
    """

    def __init__(self) -> None:
        super().__init__()
        self.history: dict[str, list] = {}
        self.epoch: dict[str, list[int]] = {"epoch": []}

    def begin(self, run_context: RunContext) -> None:
        self.epoch = {"epoch": []}

    def epoch_end(self, run_context: RunContext) -> None:
        params = run_context.original_args()
        self.epoch["epoch"].append(params.get("cur_epoch_num", 1))
        output = params.net_outputs
        if isinstance(output, (tuple, list)) and output and isinstance(output[0], Tensor):
            output = output[0]
        if isinstance(output, Tensor):
            output = np.mean(output.asnumpy())
        for name, value in {"net_output": output, **(params.get("metrics") or {})}.items():
            self.history.setdefault(name, []).append(value)
