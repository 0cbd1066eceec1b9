"""Ten times as many requests as a servable can answer: how long those that are accepted take, and what the others get.

    python benchmarks/serving/overload.py [--seconds 20] [--times 10] [--waiting 32]

The servable's stage sleeps for 5 ms, so that its capacity does not depend on what else the machine does. The capacity is measured
first, by few clients that ask again when they have an answer. Then requests come at random moments (a Poisson process), `--times` as
many as that, whatever becomes of the earlier ones. Exits with 1 if a request gets anything but an answer or 429 with Retry-After, or
if of the accepted ones more than one in a hundred took longer than twice what a full queue takes, and 0.1 s.
"""

import argparse
import asyncio
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import orjson
from echo import free_port, wait_for

CONFIGURATION = """
import time

from mindspore_serving.server import register


def slow(x):
    time.sleep(0.005)
    return x


@register.register_method(output_names=["y"])
def run(x):
    return register.add_stage(slow, x, outputs_count=1)
"""
BODY = orjson.dumps({"inputs": [{"name": "x", "shape": [1], "datatype": "INT32", "data": [7]}]})
HEAD = "POST /v2/models/slow/infer HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n"


async def ask(port, free):
    """(what came, seconds); connections that are free are used again."""
    reader, writer = free.pop() if free else await asyncio.open_connection("127.0.0.1", port)
    begin = time.perf_counter()
    writer.write(HEAD.format(len(BODY)).encode() + BODY)
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    body = await reader.readexactly(int(head.split(b"content-length:")[1].split(b"\r\n")[0]))
    seconds = time.perf_counter() - begin
    free.append((reader, writer))
    status = int(head.split()[1])
    if status == 200:
        return ("answered" if orjson.loads(body)["outputs"][0]["data"] == [7] else "wrong"), seconds
    return ("refused" if status == 429 and b"retry-after:" in head else f"status {status}"), seconds


async def capacity(port, clients, seconds, free):
    """Answers per second that so many clients get."""
    end, counts = time.perf_counter() + seconds, [0] * clients

    async def again(number):
        while time.perf_counter() < end:
            counts[number] += (await ask(port, free))[0] == "answered"

    await asyncio.gather(*(again(number) for number in range(clients)))
    return sum(counts) / seconds


async def flood(port, rate, seconds, free):
    """What became of `rate` requests a second, each with the seconds it took."""
    moments, at, begin = random.Random(0), 0.0, time.perf_counter()
    asked = []
    while at < seconds:
        at += moments.expovariate(rate)
        await asyncio.sleep(max(begin + at - time.perf_counter(), 0))
        asked.append(asyncio.ensure_future(ask(port, free)))
    return await asyncio.gather(*asked)


async def measure(port, options):
    free = []
    await capacity(port, 4, 1.0, free)  # warm up
    can = await capacity(port, 8, min(options.seconds, 5.0), free)
    alone = await flood(port, can / 2, min(options.seconds, 5.0), free)
    print(f"capacity {can:.0f} requests/s; at half of it 99 % within {quantile(alone, 0.99) * 1e3:.0f} ms", flush=True)
    found = await flood(port, can * options.times, options.seconds, free)
    became = Counter(what for what, _ in found)
    answered = [one for one in found if one[0] == "answered"]
    refused = [one for one in found if one[0] == "refused"]
    full = options.waiting / can
    print(
        f"{options.times:g} times as many, {len(found) / options.seconds:.0f} requests/s: {dict(became)}; answered "
        f"{len(answered) / options.seconds / can:.0%} of the capacity, median {quantile(answered, 0.5) * 1e3:.0f} ms, 99 % within "
        f"{quantile(answered, 0.99) * 1e3:.0f} ms (a full queue takes {full * 1e3:.0f} ms); refusals 99 % within "
        f"{quantile(refused, 0.99) * 1e3:.0f} ms",
        flush=True,
    )
    bounded = quantile(answered, 0.99) < 2 * full + 0.1
    return bounded and set(became) <= {"answered", "refused"} and bool(refused)


def quantile(found, share):
    return statistics.quantiles([seconds for _, seconds in found], n=1000, method="inclusive")[round(share * 1000) - 1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--times", type=float, default=10)
    parser.add_argument("--waiting", type=int, default=32, help="requests that may wait or run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent, "slow")
        folder.mkdir()
        (folder / "servable_config.py").write_text(CONFIGURATION)
        http, rpc = free_port(), free_port()
        command = [sys.executable, "-m", "mindspore_serving.cli", "serve", str(folder), "--max-waiting", str(options.waiting)]
        server = subprocess.Popen([*command, "--http", f"127.0.0.1:{http}", "--grpc", f"127.0.0.1:{rpc}"], cwd=parent)
        try:
            wait_for(http)
            good = asyncio.run(measure(http, options))
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(30)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
