"""Servers in processes of their own, for a browser to look at."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def serving(base, work, *options):
    """A server of its own process over a folder of runs; its address."""
    port = free_port()
    environment = os.environ | {"XDG_CACHE_HOME": str(work), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "mindinsight", "start", "--port", str(port), "--workspace", str(work), "--summary-base-dir", str(base),
               "--foreground", *options]  # fmt: skip
    process = subprocess.Popen(command, env=environment)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(200):
            try:
                with urllib.request.urlopen(address, timeout=5):
                    break
            except OSError:
                time.sleep(0.1)
        yield address
    finally:
        subprocess.run([sys.executable, "-m", "mindinsight", "stop", "--port", str(port)], env=environment, check=False)
        process.wait(20)
