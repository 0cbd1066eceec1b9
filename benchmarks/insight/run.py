"""The dashboard beside TensorBoard: many runs read, first chart, memory, live tail, frames in the browser.

    python benchmarks/insight/run.py [--runs 1000] [--tags 20] [--steps 1000] [--folder DIR] [--tensorboard PATH/TO/tensorboard]
                                     [--only read,drawn,tensorboard,frames,live,graph]

`--tensorboard` is the program of an environment of its own (pip install tensorboard). Times are wall seconds from the start of
the process; CPU is user + system of the process and its children; memory is the sum of the resident sets, at its highest.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

import numpy as np

from mindinsight.events.framing import frame

API = "/v1/mindinsight/"


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out) + bytes([number])


def event(wall, step, tag, value):
    inner = b"\x0a" + varint(len(tag)) + tag + b"\x15" + struct.pack("<f", value)
    inner = b"\x0a" + varint(len(inner)) + inner
    return frame(b"\x09" + struct.pack("<d", wall) + b"\x10" + varint(step) + b"\x2a" + varint(len(inner)) + inner)


def make(folder, runs, tags, steps):
    """Runs as TensorBoard's writers write them: one record for each point."""
    names = [f"m/{i:02d}".encode() for i in range(tags)]
    for run in range(runs):
        place = folder / f"run{run:04d}"
        path = place / f"events.out.tfevents.1700000000.host.{run}"
        if path.exists():
            continue
        place.mkdir(parents=True, exist_ok=True)
        values = np.cumsum(np.random.default_rng(run).standard_normal((steps, tags)), 0).astype("f4")
        head = frame(b"\x09" + struct.pack("<d", 1.7e9) + b"\x1a\x0dbrain.Event:2")
        path.write_bytes(head + b"".join(event(1.7e9 + s, s, name, values[s, t]) for s in range(steps) for t, name in enumerate(names)))


class Watched:
    """A server and the memory and CPU of its processes."""

    def __init__(self, command):
        self.begun = time.perf_counter()
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        self.peak, self._on = 0, True
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def pids(self):
        """The process and those of its session."""
        found = []
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                try:
                    stat = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()
                except OSError:
                    continue
                if int(stat[3]) == self.process.pid:
                    found.append((int(entry), stat))
        return found

    def _watch(self):
        while self._on:
            self.peak = max(self.peak, sum(int(stat[21]) * os.sysconf("SC_PAGE_SIZE") for _, stat in self.pids()))
            time.sleep(0.05)

    def cpu(self):
        ticks = sum(sum(int(stat[i]) for i in range(11, 15)) for _, stat in self.pids())
        return ticks / os.sysconf("SC_CLK_TCK")

    def seconds(self):
        return time.perf_counter() - self.begun

    def stop(self):
        self._on = False
        self.process.terminate()
        self.process.wait(20)
        self._thread.join()


def port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def ask(address, body=None, patience=300):
    end = time.monotonic() + patience
    while True:
        try:
            request = urllib.request.Request(address, body, {"Content-Type": "application/json"})
            with urllib.request.urlopen(request, timeout=120) as reply:
                return reply.read()
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.01)


def serve(folder, work):
    number = port()
    settings = {"summary_base_dir": str(folder), "workspace": str(work), "port": number}
    return Watched([sys.executable, "-m", "mindinsight.server", json.dumps(settings)]), f"http://127.0.0.1:{number}{API}"


def first_chart(base):
    runs = json.loads(ask(base + "board/runs"))["runs"]
    name = runs[0]["name"].replace("/", "%2F")
    points = json.loads(ask(base + f"datavisual/scalars?train_id={name}&tag=m%2F03"))["scalars"][0]["values"]
    return len(points)


def read_all(folder, points):
    work = Path(tempfile.mkdtemp())
    server, base = serve(folder, work)
    count = first_chart(base)
    first, first_cpu = server.seconds(), server.cpu()
    while True:
        state = json.loads(ask(base + "board/state"))
        if state["size"] and state["read"] >= state["size"]:
            break
        time.sleep(0.2)
    done, cpu = server.seconds(), server.cpu()
    total = sum(run["points"] for run in json.loads(ask(base + "board/runs"))["runs"])
    assert total == points, f"{total:,} points of {points:,}"
    runs = [run["id"] for run in json.loads(ask(base + "board/runs"))["runs"]][:500]
    begun = time.perf_counter()
    ask(base + "board/points", json.dumps({"tag": "m/03", "runs": runs, "most": 400}).encode())
    chart = time.perf_counter() - begun
    server.stop()
    size = sum(path.stat().st_size for path in work.rglob("*.db*")) / 1e6
    print(f"mindinsight: first chart ({count} points) {first:.2f} s ({first_cpu:.2f} s CPU), all indexed {done:.1f} s ({cpu:.1f} s CPU)")
    print(f"mindinsight: memory {server.peak / 1e6:.0f} MB, index {size:.0f} MB, 500 runs of a tag {chart * 1e3:.0f} ms")
    server, base = serve(folder, work)
    first_chart(base)
    print(f"mindinsight, warm: first chart {server.seconds():.2f} s ({server.cpu():.2f} s CPU)")
    server.stop()
    shutil.rmtree(work)


@contextlib.contextmanager
def browsing():
    """A page of headless Chromium without a GPU."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"])
        yield browser.new_page(viewport={"width": 1440, "height": 900})
        browser.close()


def drawn(folder):
    """The first chart on the screen, from the start of a server, cold and warm; the browser is open already."""
    work = Path(tempfile.mkdtemp())
    lines = "() => [...document.querySelectorAll('.card')].some(card => card.chart && card.chart.lines.length > 0 && card.chart.frame > 0)"
    with browsing() as page:
        page.goto("about:blank")
        for state in ("cold", "warm"):
            server, base = serve(folder, work)
            ask(base + "ui-config")
            page.goto(base.replace(API, "/#/scalars?runs=run0000$"))
            page.wait_for_function(lines, timeout=60_000)
            print(f"mindinsight, {state}: first chart drawn in the browser {server.seconds():.2f} s after the start")
            page.goto("about:blank")
            while state == "cold" and (found := json.loads(ask(base + "board/state")))["read"] < found["size"]:
                time.sleep(0.2)
            server.stop()
    shutil.rmtree(work)


def tensorboard(program, folder, runs):
    number = port()
    server = Watched([program, "--logdir", str(folder), "--port", str(number), "--load_fast", "auto"])
    base = f"http://127.0.0.1:{number}/data/plugin/scalars/"
    first = None
    while True:
        tags = json.loads(ask(base + "tags"))
        if tags and first is None:
            name = next(iter(tags))
            ask(f"{base}scalars?run={name}&tag=m%2F03")
            first = server.seconds()
        if len(tags) >= runs and all(len(found) for found in tags.values()):
            last = sorted(tags)[-1]
            points = json.loads(ask(f"{base}scalars?run={last}&tag=m%2F19"))
            if points and points[-1][1] >= 999:
                break
        if server.seconds() > 900:
            break
        time.sleep(0.2)
    print(f"TensorBoard: first chart {first:.2f} s, all runs read {server.seconds():.1f} s ({server.cpu():.1f} s CPU), "
          f"memory {server.peak / 1e6:.0f} MB")  # fmt: skip
    server.stop()


def frames(folder):
    """500 runs in one chart: the time of a frame after zooming and smoothing, in headless Chromium without a GPU."""
    work = Path(tempfile.mkdtemp())
    server, base = serve(folder, work)
    first_chart(base)
    while (state := json.loads(ask(base + "board/state")))["read"] < state["size"]:
        time.sleep(0.2)
    with browsing() as page:
        page.goto(base.replace(API, "/#/scalars?runs=run0[0-4]&tag=m/03$"))
        ready = "() => { const card = document.querySelector('.card'); return card && card.chart.lines.length >= 500; }"
        page.wait_for_function(ready, timeout=60_000)
        script = """() => { const chart = document.querySelector('.card').chart, times = [];
            for (let i = 0; i < 20; i++) {
              if (i % 2) chart.options.smooth = 0.5 + i / 50; else chart.view = { x0: i * 10, x1: 1000 - i * 20 };
              if (i % 2) chart.cache.clear();
              const begun = performance.now(); chart.stage.paint(); chart.canvas.getContext('2d').getImageData(0, 0, 1, 1);
              times.push(performance.now() - begun);
            } return times; }"""
        times = np.array(page.evaluate(script))
    server.stop()
    shutil.rmtree(work)
    print(f"a chart of 500 runs: median frame {np.median(times):.1f} ms, slowest {times.max():.1f} ms (zooming and smoothing in turn)")


def large_graph(nodes):
    """A network of blocks of ten operations in layers of ten blocks: a message as MindSpore's writer puts it into a summary."""
    scope = [f"Default/network-Net/layer{i // 100}-Layer/block{i // 10}-Block".encode() for i in range(nodes)]
    kinds = (b"MatMul", b"Add", b"ReLU", b"Mul", b"LayerNorm")

    def field(number, data):
        return varint(number << 3 | 2) + varint(len(data)) + data

    graph = b"".join(
        field(1, (field(1, field(1, str(i).encode())) if i else b"") + field(2, str(i + 1).encode()) + field(3, kinds[i % 5])
              + field(4, scope[i]) + field(8, scope[i] + f"/{kinds[i % 5].decode()}-op{i}".encode()))
        for i in range(nodes)
    )  # fmt: skip
    return frame(b"\x09" + struct.pack("<d", 1.7e9) + field(4, graph))


def graph(nodes=50_000):
    """A large graph in the browser: to the first picture, then unfolding, moving, finding, a path from one end to the other."""
    folder, work = Path(tempfile.mkdtemp()), Path(tempfile.mkdtemp())
    (folder / "run").mkdir()
    (folder / "run" / "events.out.events.summary.1.h_MS").write_bytes(
        frame(b"\x09" + struct.pack("<d", 1.7e9) + b"\x1a\x11Mindspore.Event:1") + large_graph(nodes)
    )
    server, base = serve(folder, work)
    first = json.loads(ask(base + "board/runs"))["runs"][0]["name"]
    ask(base + f"datavisual/plugins?train_id={first.replace('/', '%2F')}")
    with browsing() as page:
        page.goto(base.replace(API, "/"))
        begun = time.perf_counter()
        page.goto(base.replace(API, f"/#/graph?run={first}"))
        page.wait_for_function("() => { const box = document.querySelector('.graph'); return box && box.view && box.view.nodes.length; }",
                               timeout=60_000)  # fmt: skip
        shown = time.perf_counter() - begun
        script = """() => { const view = document.querySelector('.graph').view, times = {};
            const timed = (name, act) => { const begun = performance.now(); act(); view.stage.paint();
              view.canvas.getContext('2d').getImageData(0, 0, 1, 1); times[name] = performance.now() - begun; };
            const leaves = view.holder, last = leaves[leaves.length - 1];
            timed('moving', () => { view.camera.x += 40; });
            timed('zooming', () => { view.camera.k *= 0.8; });
            timed('unfolding', () => view.reveal(leaves[Math.floor(leaves.length / 2)]));
            timed('a path through all', () => { view.join(leaves[0], last); });
            timed('folding all', () => view.foldAll());
            return times; }"""
        times = page.evaluate(script)
        page.locator("#tag-filter").fill("op49999")
        begun = time.perf_counter()
        page.wait_for_selector("text=op49999")
        times["finding (with 120 ms of waiting for more letters)"] = 1e3 * (time.perf_counter() - begun)
    server.stop()
    shutil.rmtree(folder)
    shutil.rmtree(work)
    print(f"a graph of {nodes:,} nodes: shown after {shown:.2f} s; " + ", ".join(f"{name} {ms:.0f} ms" for name, ms in times.items()))


def live(runs=100, rate=1000, seconds=10):
    """Runs that are being written: how long until a point can be asked for, and what watching costs."""
    folder, work = Path(tempfile.mkdtemp()), Path(tempfile.mkdtemp())
    files = []
    for run in range(runs):
        (folder / f"live{run:03d}").mkdir()
        files.append(open(folder / f"live{run:03d}" / "events.out.tfevents.1.h", "ab", buffering=0))  # noqa: SIM115
    server, base = serve(folder, work)
    ask(base + "board/state")
    delays, step = [], 0
    time.sleep(1.5)
    begun, used = time.perf_counter(), server.cpu()
    block = rate // 10
    for beat in range(seconds * 10):
        data = b"".join(event(1.7e9 + step + i, step + i, b"m/03", float(i)) for i in range(1, block + 1))
        step += block
        for file in files:
            file.write(data)
        if beat % 20 == 10:
            written = time.perf_counter()
            while True:
                found = json.loads(ask(base + "datavisual/scalars?train_id=.%2Flive050&tag=m%2F03"))["scalars"]
                if found and found[0]["values"][-1]["step"] >= step:
                    break
                time.sleep(0.05)
            delays.append(time.perf_counter() - written)
        rest = begun + (beat + 1) / 10 - time.perf_counter()
        time.sleep(max(0.0, rest))
    wall = time.perf_counter() - begun
    print(f"live tail of {runs} runs, {rate} points/s each: delay at most {max(delays):.2f} s, "
          f"{100 * (server.cpu() - used) / wall:.0f} % of a core, {100 * seconds / wall:.0f} % of the wanted rate")  # fmt: skip
    server.stop()
    for file in files:
        file.close()
    shutil.rmtree(folder)
    shutil.rmtree(work)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--tags", type=int, default=20)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--tensorboard")
    parser.add_argument("--only", default="read,drawn,tensorboard,frames,live,graph")
    given = parser.parse_args()
    folder = given.folder or Path(tempfile.mkdtemp())
    wanted = given.only.split(",")
    if {"read", "drawn", "tensorboard", "frames"} & set(wanted):
        make(folder, given.runs, given.tags, given.steps)
        size = sum(path.stat().st_size for path in folder.rglob("events*"))
        points = given.runs * given.tags * given.steps
        print(f"{given.runs:,} runs x {given.tags} tags x {given.steps:,} steps: {points:,} points, {size / 1e6:.0f} MB", flush=True)
    if "read" in wanted:
        read_all(folder, given.runs * given.tags * given.steps)
    if "drawn" in wanted:
        drawn(folder)
    if "tensorboard" in wanted and given.tensorboard:
        tensorboard(given.tensorboard, folder, given.runs)
    if "frames" in wanted:
        frames(folder)
    if "live" in wanted:
        live()
    if "graph" in wanted:
        graph()
    if not given.folder:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
