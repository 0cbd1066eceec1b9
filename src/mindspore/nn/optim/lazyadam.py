"""LazyAdam: Adam that, given a sparse gradient, updates only the rows it names."""

from __future__ import annotations

from mindspore.nn.optim.adam import PlainAdam


class LazyAdam(PlainAdam):
    """Adam for sparse gradients. Gradients are dense here, and for these its steps are those of Adam.

    Examples:
        >>> from mindspore import nn
        >>> optimizer = nn.LazyAdam(nn.Dense(2, 1).trainable_params(), learning_rate=0.1)
        >>> len(optimizer.parameters)
        2
    """


__all__ = ["LazyAdam"]
