"""Watchpoints: training looks at its own numbers while it runs, and says where the first bad one was made.

What is watched (`rules.py`) becomes statistics that the compiled graph computes beside its results (`graphs.py`,
prims/statistics.py): nothing but those few numbers is looked at by the host. In PyNative mode the dispatch of primitives is
watched (`eager.py`). A hit (`hits.py`) names the tensor, the step, the value, the threshold and the user's line; the arguments
of the first bad operation of a step are computed again from that step's own inputs, which are kept until it is judged.
"""
