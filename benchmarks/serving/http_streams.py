"""Tokens per second and time to the first token over HTTP: a server of a LLaMA of 100M (random weights), clients that stream.

    python benchmarks/serving/http_streams.py [--clients 16] [--tokens 64] [--weights int8] [--device GPU --weights bfloat16]
        [--llama-server PATH --python RIVALS/bin/python]

Server and clients share the machine. Tokens are counted by `usage`; prompts have about 70 tokens.
"""

import argparse
import contextlib
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import orjson
import requests
from llm import llama, tokenizer, write


def stream(address, number, tokens, found):
    body = {"model": "model", "prompt": f"{number:04d} " + "words " * 11, "max_tokens": tokens, "temperature": 0, "ignore_eos": True,
            "stream": True, "stream_options": {"include_usage": True}}  # fmt: skip
    begin = time.perf_counter()
    first = made = 0
    with requests.post(f"{address}/v1/completions", json=body, stream=True, timeout=300) as answer:
        for line in answer.iter_lines():
            if not line.startswith(b"data: {"):
                continue
            first = first or time.perf_counter() - begin
            usage = orjson.loads(line[6:]).get("usage")
            made = usage["completion_tokens"] if usage else made
    found.append((first, made))


def measure(address, clients, tokens, turn):
    found = []
    threads = [
        threading.Thread(target=stream, args=(address, turn * clients + n, tokens, found)) for n in range(clients)
    ]
    begin = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - begin
    return sum(made for _, made in found) / seconds, statistics.median(first for first, _ in found)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def ours(folder, options, port):
    """The command of our server."""
    return [sys.executable, "-m", "mindspore_serving.cli", "serve", folder, "--weights", options.weights, "--device", options.device,
            "--http", f"127.0.0.1:{port}", "--grpc", f"127.0.0.1:{free_port()}"]  # fmt: skip


def llama_server(folder, options, port):
    """The command of llama.cpp's server, with a slot for each client. It gets the model as `llm_rivals.py` writes it."""
    script = "import sys, llm_rivals; print(llm_rivals.gguf_of(*sys.argv[1:]))"
    made = subprocess.run(
        [options.python, "-c", script, folder, options.weights], cwd=Path(__file__).parent, check=True, stdout=subprocess.PIPE, text=True
    )
    settings = {"--parallel": options.clients, "--ctx-size": options.clients * 256, "--threads": os.cpu_count(), "--port": port}
    return [options.llama_server, "--model", made.stdout.splitlines()[-1], *(str(x) for pair in settings.items() for x in pair)]


class Server:
    """A server that runs, and how long it took to a first token."""

    def __init__(self, command, port):
        self.address = f"http://127.0.0.1:{port}"
        begin = time.perf_counter()
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not self._answers():
            if self._process.poll() is not None:
                raise RuntimeError(f"{' '.join(command)} has ended")
            time.sleep(0.01)
        stream(self.address, 9999, 1, [])
        self.seconds = time.perf_counter() - begin

    def _answers(self):
        try:
            return requests.get(f"{self.address}/health", timeout=10).status_code == 200
        except requests.ConnectionError:
            return False

    def stop(self):
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(30)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--weights", default="int8")
    parser.add_argument("--device", default="CPU")
    parser.add_argument("--llama-server", help="llama.cpp's server, which takes turns with ours")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has llama_cpp and gguf")
    options = parser.parse_args()
    commands = {"ours": ours} | ({"llama-server": llama_server} if options.llama_server else {})
    with tempfile.TemporaryDirectory() as parent, contextlib.ExitStack() as stack:
        folder = os.path.join(parent, "model")
        os.mkdir(folder)
        write(folder, *llama())
        tokenizer(folder)
        servers = {}
        for name, command in commands.items():
            port = free_port()
            servers[name] = Server(command(folder, options, port), port)
            stack.callback(servers[name].stop)
            print(f"{name}: from the start to a first token {servers[name].seconds:.1f} s", flush=True)
            measure(servers[name].address, options.clients, 8, 0)  # compile
        turns = [
            [measure(server.address, options.clients, options.tokens, turn) for server in servers.values()]
            for turn in range(1, options.turns + 1)
        ]
        for name, found in zip(servers, zip(*turns)):
            rate, first = (statistics.median(column) for column in zip(*found))
            print(f"{name}, {options.clients} clients: {rate:.0f} tok/s in all, first token after {first * 1e3:.0f} ms (median)")


if __name__ == "__main__":
    main()
