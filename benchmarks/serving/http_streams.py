"""Tokens per second and time to the first token over HTTP: a server of a LLaMA of 100M (random weights), clients that stream.

    python benchmarks/serving/http_streams.py [--clients 16] [--tokens 64] [--weights int8] [--device GPU --weights bfloat16]

Server and clients share the machine. Tokens are counted by `usage`; prompts have about 70 tokens.
"""

import argparse
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--weights", default="int8")
    parser.add_argument("--device", default="CPU")
    options = parser.parse_args()
    ports = []
    for _ in range(2):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            ports.append(probe.getsockname()[1])
    with tempfile.TemporaryDirectory() as parent:
        folder = os.path.join(parent, "model")
        os.mkdir(folder)
        write(folder, *llama())
        tokenizer(folder)
        command = [sys.executable, "-m", "mindspore_serving.cli", "serve", folder, "--weights", options.weights, "--device", options.device]
        begin = time.perf_counter()
        server = subprocess.Popen(
            [*command, "--http", f"127.0.0.1:{ports[0]}", "--grpc", f"127.0.0.1:{ports[1]}"], stdout=subprocess.PIPE
        )
        try:
            server.stdout.readline()
            address = f"http://127.0.0.1:{ports[0]}"
            stream(address, 9999, 1, [])
            print(f"from the start to a first token: {time.perf_counter() - begin:.1f} s", flush=True)
            measure(address, options.clients, 8, 0)  # compile
            turns = [measure(address, options.clients, options.tokens, turn) for turn in range(1, options.turns + 1)]
            rate, first = (statistics.median(column) for column in zip(*turns))
            print(
                f"{options.clients} clients: {rate:.0f} tok/s in all, first token after {first * 1e3:.0f} ms (median)"
            )
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(30)


if __name__ == "__main__":
    main()
