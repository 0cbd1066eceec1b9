"""A process that keeps the index up to date: `python -m mindinsight.index.worker BASE INDEX first|second INTERVAL`.

The first worker watches the folder for as long as its parent lives. The second helps with a big backlog, from its other
end, and leaves when they meet. They need not talk: the index knows how far each file has been read.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import sys
import time
from pathlib import Path

from mindinsight.index.folder import Folder
from mindinsight.index.store import Store

_SLICE = 16  # files between two looks at what others have done


def catch_up(folder: Folder, backwards: bool) -> int:
    """Read all there is to read; the number of files."""
    wanted = folder.compare()
    if backwards:
        wanted.reverse()
    for first in range(0, len(wanted), _SLICE):
        folder.index(wanted[first : first + _SLICE])
    return len(wanted)


def watch(folder: Folder, interval: float, parent: int) -> None:
    """Keep the index up to date while `parent` lives."""
    wait = interval
    while os.getppid() == parent:
        try:
            catch_up(folder, backwards=False)
            wait = interval
        except sqlite3.OperationalError as error:
            # a full disk or a lock held too long: what was read is not lost, it will be read again
            print(f"index: {error}; trying again", file=sys.stderr, flush=True)
            wait = min(2 * wait, 30.0)
        if not interval:
            return
        time.sleep(wait)


def main() -> None:
    """Run a worker."""
    base, index, role, interval = sys.argv[1:5]
    parent = os.getppid()
    folder = Folder(Path(base), Store(Path(index)))
    if role == "second":
        catch_up(folder, backwards=True)
        return
    with open(f"{index}.watch", "w") as lock:
        while os.getppid() == parent:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(1.0)  # another server watches this folder; this one takes over when that ends
                continue
            watch(folder, float(interval), parent)
            return


if __name__ == "__main__":
    main()
