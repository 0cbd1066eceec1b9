"""The online debugger: a training that waits for commands, and what is known of it.

    training ──gRPC──▶ listener.py ──▶ session.py ◀── server/debugger.py ◀──REST── browser, scripts

The protocol (`messages.py`) and the REST routes are the official ones.
"""
