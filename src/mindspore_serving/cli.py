"""`mindspore-serving serve PATH`: a server for a model file, a servable's folder, or a folder of servables."""

from __future__ import annotations

import argparse
import atexit
import os
import sys
import tempfile

from mindspore_serving.engine.dispatcher import Deployment
from mindspore_serving.engine.location import Location, versions
from mindspore_serving.server import checkpoints
from mindspore_serving.server.config import SSLConfig, Wanted
from mindspore_serving.server.host import Host, Options

_MODELS = (".mindir", ".onnx")
_WEIGHTS = (".safetensors", ".gguf")
#: (rows, of a prompt) that language models compile first, while nobody asks
_WARM = ((1, False), (64, True), (16, False), (2, False), (4, False), (8, False), (32, True), (32, False), (128, True), (256, True),
         (16, True), (12, False), (24, False), (48, True), (96, True), (192, True))  # fmt: skip

_WARM_ON_GPU = ((1, False), (64, True), (256, True), (1024, True))


def locations(path: str) -> list[Location]:
    """What a path holds; ValueError if nothing can be served."""
    path = os.path.realpath(path)
    directory, name = os.path.split(path)
    if os.path.isfile(path) and path.endswith(_MODELS):
        return [Location(directory, os.path.splitext(name)[0], 0, name)]
    if os.path.isfile(os.path.join(path, "servable_config.py")):
        return [Location(directory, name, max(versions(directory, name), default=0))]
    if os.path.isdir(path):
        found = [entry for entry in sorted(os.listdir(path)) if os.path.isfile(os.path.join(path, entry, "servable_config.py"))]
        places = [Location(path, entry, max(versions(path, entry), default=0)) for entry in found]
        places += [
            Location(path, os.path.splitext(entry)[0], 0, entry) for entry in sorted(os.listdir(path)) if entry.endswith(_MODELS)
        ]
        if places:
            return places
    if not os.path.exists(path):
        raise ValueError(f"there is no file or folder {path}")
    if path.endswith(_WEIGHTS):
        raise ValueError(f"a language model is served by its folder, with tokenizer.json in it: serve {directory}")
    if os.path.isdir(path) and any(entry.endswith(_WEIGHTS) for entry in os.listdir(path)):
        raise ValueError(f"{path} holds a language model, but no tokenizer.json")
    raise ValueError(f"{path} is no .mindir or .onnx file, no folder with servable_config.py, and no folder of those")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="mindspore-serving", description="Serve models over HTTP and gRPC.")
    serve = parser.add_subparsers(dest="command", required=True).add_parser("serve", help="start a server")
    serve.add_argument(
        "path",
        help="a model file, a checkpoint (with --network and --input), a servable's folder, a folder of servables, "
        "or of a language model (safetensors, tokenizer.json), or its GGUF file",
    )
    serve.add_argument("--network", default="", help="FILE.py:NAME of a checkpoint's network: a class, or a function that makes it")
    serve.add_argument(
        "--input", action="append", default=[], help="type and sizes of an input of the network, such as float32:-1,3,224,224"
    )
    serve.add_argument("--http", default="127.0.0.1:8000", help="address of the HTTP side (default %(default)s)")
    serve.add_argument("--grpc", default="127.0.0.1:8001", help="address of the gRPC side (default %(default)s)")
    serve.add_argument("--workers", type=int, default=1, help="worker processes for each servable")
    serve.add_argument(
        "--memory-mb",
        type=int,
        default=0,
        help="memory for servables: each is loaded when it is asked for, those unused for longest leave (default: all are loaded)",
    )
    serve.add_argument("--max-waiting", type=int, default=10000, help="requests that may wait or run for each servable")
    serve.add_argument("--max-seconds", type=float, default=0.0, help="time that a request may take (default: any)")
    serve.add_argument("--max-mb", type=int, default=100, help="largest request in MB")
    serve.add_argument("--cache-mb", type=int, default=512, help="memory for keys and values of a language model")
    serve.add_argument(
        "--weights",
        default="float32",
        choices=("float32", "int8", "int4", "bfloat16"),
        help="how a language model's matrices are held (default %(default)s); bfloat16 is for a GPU",
    )
    serve.add_argument("--device", default="CPU", choices=("CPU", "GPU"), help="where a language model runs (default %(default)s)")
    serve.add_argument("--tensor-parallel", type=int, default=1, help="processes that share every layer of a language model")
    serve.add_argument(
        "--pipeline-parallel", type=int, default=1, help="stages that share the layers; each has as many processes as --tensor-parallel"
    )
    serve.add_argument(
        "--guesses", type=int, default=0, help="tokens that are guessed in each step of a language model; answers stay the same"
    )
    serve.add_argument("--draft", default="", help="folder of a smaller language model that guesses (default: repetitions of the text)")
    serve.add_argument(
        "--adapter",
        action="append",
        default=[],
        metavar="NAME=FOLDER",
        help="a LoRA adapter of the language model, as PEFT saves them; requests name it as their model",
    )
    serve.add_argument("--admin", action="store_true", help="let all clients load and unload models")
    serve.add_argument("--admin-http", help="an address of its own, HTTP, where models can be loaded and unloaded")
    serve.add_argument("--admin-key-file", help="file of keys, one a line, of clients that may load and unload models")
    serve.add_argument("--key-file", help="file of keys, one a line; clients need one (Authorization: Bearer …, HTTP and gRPC)")
    serve.add_argument("--certificate", help="PEM file; with --private-key: encrypted connections")
    serve.add_argument("--private-key")
    serve.add_argument("--client-ca", help="PEM file: clients need a certificate of this authority")
    return parser


def main(arguments: list[str] | None = None) -> None:
    options = _parser().parse_args(arguments)
    try:
        _serve(options)
    except (ValueError, RuntimeError, OSError) as error:
        sys.exit(f"mindspore-serving: {error}")


def prepared(arguments: list[str]) -> Host:
    """A server with the models that a command line names, which does not listen yet."""
    return _prepared(_parser().parse_args(arguments))


def _prepared(options: argparse.Namespace) -> Host:
    if options.path.endswith(".ckpt"):
        made = tempfile.TemporaryDirectory(prefix="mindspore-serving-")
        atexit.register(made.cleanup)
        options.path = checkpoints.to_model(options.path, options.network, options.input, made.name)
    folder = is_language_model(options.path)
    places = [] if folder else locations(options.path)
    host = Host(Options(options.admin, _keys(options.key_file), _keys(options.admin_key_file)))
    try:
        host.dispatcher.max_enqueued, host.dispatcher.max_seconds = options.max_waiting, options.max_seconds
        wanted = [Wanted(Deployment(place, options.workers), set(range(options.workers))) for place in places]
        if options.memory_mb:
            host.deploy_on_demand(wanted, options.memory_mb)
        else:
            host.deploy(wanted)
        if folder:
            _add_language_model(host, options)
    except BaseException:
        host.stop()
        raise
    return host


def _serve(options: argparse.Namespace) -> None:
    secure = None
    if options.certificate:
        secure = SSLConfig(options.certificate, options.private_key, options.client_ca, options.client_ca is not None)
    host = _prepared(options)
    try:
        host.start_grpc(options.grpc, options.max_mb, secure)
        host.start_http(options.http, options.max_mb, secure)
        if options.admin_http:
            host.start_admin(options.admin_http, options.max_mb, secure)
    except BaseException:
        host.stop()
        raise
    scheme = "https" if secure else "http"
    print(f"serving {', '.join(host.names)} at {scheme}://{options.http} and grpc {options.grpc}", flush=True)


def is_language_model(path: str) -> bool:
    """A folder as Hugging Face writes them, with `tokenizer.json`, or a GGUF file, or its folder."""
    if os.path.isfile(path):
        return path.endswith(".gguf")
    names = os.listdir(path) if os.path.isdir(path) else []
    return any(name.endswith(".gguf") for name in names) or {"tokenizer.json", "config.json"} <= {*names}


def _add_language_model(host: Host, options: argparse.Namespace) -> None:
    import mindspore as ms
    from mindspore_serving.llm.encoder_weights import is_encoder
    from mindspore_serving.llm.engine import Limits
    from mindspore_serving.llm.language_model import LanguageModel, TextEncoder

    on_gpu = options.device == "GPU"
    if on_gpu != (options.weights == "bfloat16"):
        raise ValueError("--device GPU and --weights bfloat16 go together")
    if is_encoder(options.path):
        if on_gpu:
            raise ValueError("models that only make embeddings run on --device CPU")
        host.add_encoder(TextEncoder(os.path.realpath(options.path), kind=options.weights, waiting=min(options.max_waiting, 10000)))
        return
    if on_gpu:
        ms.set_context(device_target="GPU")
    limits = Limits(
        cache_megabytes=options.cache_mb,
        waiting=min(options.max_waiting, 10000),
        guesses=options.guesses,
        draft=options.draft,
        weights=options.weights,
        parts=_positive("--tensor-parallel", options.tensor_parallel),
        stages=_positive("--pipeline-parallel", options.pipeline_parallel),
        seconds=options.max_seconds,
        warm=_WARM_ON_GPU if on_gpu else _WARM,
        sequences=256 if on_gpu else Limits.sequences,
        tokens_per_step=1024 if on_gpu else Limits.tokens_per_step,
    )
    host.add_language_model(LanguageModel(os.path.realpath(options.path), limits=limits, adapters=_adapters(options.adapter)))


def _positive(name: str, given: int) -> int:
    if given < 1:
        raise ValueError(f"{name} must be at least 1, but is {given}")
    return given


def _adapters(given: list[str]) -> dict[str, str]:
    found = {}
    for text in given:
        name, _, folder = text.partition("=")
        if not name or not os.path.isfile(os.path.join(folder, "adapter_config.json")):
            raise ValueError(f"--adapter must be NAME=FOLDER with adapter_config.json in the folder, but is {text!r}")
        found[name] = os.path.realpath(folder)
    return found


def _keys(path: str | None) -> frozenset[str]:
    if path is None:
        return frozenset()
    with open(path, encoding="utf-8") as file:
        keys = frozenset(line.strip() for line in file if line.strip())
    if not keys:
        raise ValueError(f"{path} holds no keys")
    return keys


if __name__ == "__main__":
    main()
