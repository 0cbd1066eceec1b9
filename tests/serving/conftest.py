"""Servables in a temporary folder, and servers for them on free ports."""

import socket
import textwrap

import numpy as np
import pytest
import tiny_models
import tokenizers

import mindspore as ms
from mindspore import nn
from mindspore_serving import server
from mindspore_serving.llm.language_model import LanguageModel, TextEncoder
from mindspore_serving.server.host import Host


class Add(nn.Cell):
    def construct(self, x1, x2):
        return x1 + x2


def export(path, *, batch=2, scale=1.0, key=None):
    class Scaled(nn.Cell):
        def construct(self, x1, x2):
            return (x1 + x2) * scale

    x = ms.Tensor(np.ones((batch, 2), np.float32))
    secret = {"enc_key": key, "enc_mode": "AES-GCM"} if key else {}
    ms.export(Scaled() if scale != 1.0 else Add(), x, x, file_name=str(path), file_format="MINDIR", **secret)


@pytest.fixture
def free_port():
    def find():
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return probe.getsockname()[1]

    return find


@pytest.fixture
def servables(tmp_path, monkeypatch):
    """write(name, configuration, versions={number: files}): a servable's folder."""
    monkeypatch.chdir(tmp_path)  # log files of workers

    def write(name, configuration, versions=None):
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        (folder / "servable_config.py").write_text(
            "from mindspore_serving.server import register\n" + textwrap.dedent(configuration)
        )
        for number, models in (versions or {}).items():
            (folder / str(number)).mkdir()
            for file, settings in models.items():
                export(folder / str(number) / file, **settings)
        return str(tmp_path)

    yield write
    server.stop()


@pytest.fixture
def start(servables, free_port):
    """start(name, configuration, versions, **settings of ServableStartConfig) → (gRPC address, HTTP address)."""

    def run(name, configuration, versions=None, **settings):
        directory = servables(name, configuration, versions)
        server.start_servables(server.ServableStartConfig(directory, name, **settings))
        grpc, http = f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"
        server.start_grpc_server(grpc)
        server.start_restful_server(http)
        return grpc, f"http://{http}"

    return run


CHAT = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"


def write_tokenizer(folder):
    """Tokens are bytes."""
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {letter: number for number, letter in enumerate([*letters, "<end>", "<begin>"])}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, []))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "chat_template.jinja").write_text(CHAT)


@pytest.fixture
def serve_model(tmp_path, free_port):
    """serve(family, **settings of LanguageModel): a server of a tiny model named 'tiny'; `address` is its HTTP side."""
    hosts = []

    def serve(family, **settings):
        folder = tmp_path / "tiny"
        tiny_models.write(folder, family)
        write_tokenizer(folder)
        host = Host()
        hosts.append(host)
        if family == "bert":
            host.add_encoder(TextEncoder(str(folder)))
        else:
            host.add_language_model(LanguageModel(str(folder), **settings))
        address = f"127.0.0.1:{free_port()}"
        host.start_http(address, 4, None)
        host.address = f"http://{address}"
        return host

    yield serve
    for host in hosts:
        host.stop()


@pytest.fixture
def service(serve_model):
    """A server of a tiny language model."""
    return serve_model("llama")


ADD = """
    import numpy as np
    add_model = register.declare_model(model_file="add.mindir", model_format="MindIR")

    def cast(x1, x2):
        return x1.astype(np.float32), x2.astype(np.float32)

    def fail_on_negative(x):
        if (x < 0).any():
            raise ValueError("negative")
        return x

    def sums(instances):
        for x1, x2 in instances:
            yield x1 + x2

    def both(x1, x2):
        return add_model.call(x1, x2) + add_model.call([[x1, x2], [x1, x1]])[1][0]

    def texts(text, data):
        return text + "!", data.tobytes()[::-1]

    @register.register_method(output_names=["y"])
    def add(x1, x2):
        return register.add_stage(add_model, x1, x2, outputs_count=1)

    @register.register_method(output_names=["y"])
    def add_cast(x1, x2):
        x1, x2 = register.add_stage(cast, x1, x2, outputs_count=2)
        x1 = register.add_stage(fail_on_negative, x1, outputs_count=1)
        return register.add_stage(add_model, x1, x2, outputs_count=1)

    @register.register_method(output_names="y")
    def batched(x1, x2):
        return register.add_stage(sums, x1, x2, outputs_count=1, batch_size=2)

    @register.register_method(output_names="y")
    def called(x1, x2):
        return register.add_stage(both, x1, x2, outputs_count=1)

    @register.register_method(output_names=["text", "data"])
    def words(text, data):
        text, data = register.add_stage(texts, text, data, outputs_count=2)
        return text, data
"""
