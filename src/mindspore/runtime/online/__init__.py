"""A training under the online debugger: `ENABLE_MS_DEBUGGER=1`, `MS_DEBUGGER_HOST`, `MS_DEBUGGER_PORT`.

Training steps run node by node (`graphs.py`) and wait for commands of the debugger (`client.py`) before the first step, after each step
and at the nodes it is told to run to. The protocol (`messages.py`) is the official one, so that MindInsight of either kind may listen.
"""
