"""A ring of the last steps of a training on disk, from which any of them can be run again.

    step      0        1   2   3   4   5        6   7   …
    file      ■ state  ▪   ▪   ▪   ▪   ■ state  ▪   ▪        ▪: what the step was called with, and states changed from outside

Steps are deterministic, so the state of step 4 is what steps 0 to 3 make of the state of step 0. A file holds all states at every
K-th step only; what lies before the last K steps' own start is deleted. Files are written by a thread, whole or not at all, and have a
checksum for each array (`ring.py`). `record.py` stands around compiled graphs,
`mindspore.debug.eager_steps` around steps of PyNative mode; running a step again is `mindspore.debug.Replay`.
"""
