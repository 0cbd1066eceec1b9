"""Work for a thread, awaited.

asyncio's own executors refuse work once the program's main thread has ended, and a script that starts a server ends right after:
the server's thread keeps the process alive, and must be able to load models until the end.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What `work` gives, run in a thread of its own while the event loop goes on."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(method: Callable[..., None], value: object) -> None:
        if not done.done():  # nobody waits any more
            method(value)

    def run() -> None:
        try:
            found = work(*args, **kwargs)
        except BaseException as error:  # raised where it is awaited
            loop.call_soon_threadsafe(settle, done.set_exception, error)
        else:
            loop.call_soon_threadsafe(settle, done.set_result, found)

    threading.Thread(target=run, name=getattr(work, "__name__", "work"), daemon=True).start()
    return await done
