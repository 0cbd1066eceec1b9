"""GGUF files: blocks by their definition, models as from safetensors, damaged files refused."""

import os
import struct
import threading

import numpy as np
import pytest
import tiny_models

from mindspore_serving.llm import gguf
from mindspore_serving.llm.checkpoint import read_weights
from mindspore_serving.llm.engine import Engine, Limits
from mindspore_serving.llm.sampling import Sampling

F32, F16, Q4_0, Q8_0, Q4_K, Q6_K = 0, 1, 2, 8, 12, 14


def text(value):
    return struct.pack("<Q", len(value.encode())) + value.encode()


def setting(name, value):
    if isinstance(value, str):
        return text(name) + struct.pack("<I", 8) + text(value)
    if isinstance(value, bool):
        return text(name) + struct.pack("<I?", 7, value)
    if isinstance(value, np.ndarray):
        return text(name) + struct.pack("<IIQ", 9, {"int32": 5, "float32": 6}[value.dtype.name], len(value)) + value.tobytes()
    if isinstance(value, list):
        return text(name) + struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(text, value))
    return text(name) + (struct.pack("<If", 6, value) if isinstance(value, float) else struct.pack("<II", 4, value))


def write(path, settings, tensors):
    """tensors: name → (shape, type, bytes)."""
    header = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(settings))
    header += b"".join(setting(name, value) for name, value in settings.items())
    body = b""
    for name, (shape, kind, data) in tensors.items():
        header += text(name) + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *reversed(shape))
        header += struct.pack("<IQ", kind, len(body))
        body += data + b"\0" * (-len(data) % 32)
    path.write_bytes(header + b"\0" * (-len(header) % 32) + body)


def eights(array):
    """Blocks of 32 numbers of 8 bits."""
    blocks = array.reshape(-1, 32)
    scales = (np.abs(blocks).max(1, keepdims=True) / 127).astype(np.float16)
    return np.concatenate([scales.view(np.uint8), np.rint(blocks / scales.astype(np.float32)).astype(np.int8).view(np.uint8)], 1)


def slow_q4_k(block):
    d, lowest = (float(np.frombuffer(block[at : at + 2].tobytes(), np.float16)[0]) for at in (0, 2))
    q = block[4:16].astype(int)
    out = []
    for run in range(8):
        if run < 4:
            scale, offset = q[run] & 63, q[run + 4] & 63
        else:
            scale, offset = q[run + 4] & 15 | q[run - 4] >> 6 << 4, q[run + 4] >> 4 | q[run] >> 6 << 4
        for byte in block[16 + run // 2 * 32 :][:32].astype(int):
            out.append(d * scale * (byte >> 4 if run % 2 else byte & 15) - lowest * offset)
    return out


def slow_q6_k(block):
    d = float(np.frombuffer(block[208:210].tobytes(), np.float16)[0])
    out = []
    for place in range(256):
        half, within = divmod(place, 128)
        quarter, lane = divmod(within, 32)
        four = int(block[half * 64 + quarter % 2 * 32 + lane]) >> (4 if quarter > 1 else 0) & 15
        two = int(block[128 + half * 32 + lane]) >> 2 * quarter & 3
        scale = int(block[192 + half * 8 + quarter * 2 + lane // 16].view(np.int8))
        out.append(d * scale * ((four | two << 4) - 32))
    return out


@pytest.mark.parametrize(("kind", "slow", "nbytes", "halves"), [(Q4_K, slow_q4_k, 144, (0, 2)), (Q6_K, slow_q6_k, 210, (208,))])
def test_blocks(kind, slow, nbytes, halves, tmp_path):
    blocks = np.random.default_rng(0).integers(0, 256, (3, nbytes)).astype(np.uint8)
    for at in halves:
        blocks[:, at : at + 2] = np.array([[0.5], [-1.25], [3.0]], np.float16).view(np.uint8)
    write(tmp_path / "a.gguf", {}, {"w": ((3, 256), kind, blocks.tobytes())})
    np.testing.assert_allclose(gguf.File(str(tmp_path / "a.gguf")).read("w"), [slow(block) for block in blocks], rtol=1e-5, atol=1e-4)


def test_four_bits(tmp_path):
    block = np.concatenate([np.array([2.0], np.float16).view(np.uint8), np.arange(16, dtype=np.uint8) * 17])
    write(tmp_path / "a.gguf", {}, {"w": ((32,), Q4_0, block.tobytes())})
    want = [2.0 * (n - 8) for n in range(16)] * 2
    assert gguf.File(str(tmp_path / "a.gguf")).read("w").tolist() == want


def side_by_side(array, heads):
    return array.reshape(heads, 2, -1, *array.shape[1:]).swapaxes(1, 2).reshape(array.shape)


def converted(folder, family, target, kind=F32, described=None):
    """The tiny model of a folder as a GGUF file; `described`: more settings."""
    arrays = {name: np.array(array) for name, array in read_weights(str(folder)).items()}
    tokens = [f"t{n}" for n in range(tiny_models.VOCABULARY)]
    made = {}
    if family == "gpt2":
        settings = {"embedding_length": 32, "feed_forward_length": 128, "block_count": 3, "attention.head_count": 4, "context_length": 256,
                    "attention.layer_norm_epsilon": 1e-5}  # fmt: skip
        names = {"transformer.": "", "wte": "token_embd", "wpe": "position_embd", "h.": "blk.", "ln_1": "attn_norm", "ln_2": "ffn_norm",
                 "attn.c_attn": "attn_qkv", "attn.c_proj": "attn_output", "mlp.c_fc": "ffn_up", "mlp.c_proj": "ffn_down",
                 "ln_f": "output_norm"}  # fmt: skip
    else:
        settings = {"embedding_length": 32, "feed_forward_length": 64, "block_count": 2, "attention.head_count": 4,
                    "attention.head_count_kv": 2 if family == "llama"
                    else 1, "context_length": 256, "attention.layer_norm_rms_epsilon": 1e-6, "rope.freq_base": 10000.0}  # fmt: skip
        names = {"model.layers.": "blk.", "model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output",
                 "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm", "self_attn.o_proj": "attn_output",
                 "self_attn.": "attn_", "mlp.": "ffn_", "_proj": ""}  # fmt: skip
    for name, array in arrays.items():
        if family == "gpt2" and name.split(".")[-2].startswith("c_") and array.ndim == 2:
            array = np.ascontiguousarray(array.T)
        if family == "llama" and name.split(".")[-2] in ("q_proj", "k_proj"):
            array = side_by_side(array, 4 if "q_proj" in name else 2)
        for old, new in names.items():
            name = name.replace(old, new)
        packs = kind == Q8_0 and array.ndim == 2 and array.shape[1] % 32 == 0
        made[name] = (array.shape, Q8_0 if packs else F32, (eights(array) if packs else np.ascontiguousarray(array)).tobytes())
    settings = {f"{family}.{name}": value for name, value in settings.items()}
    target.mkdir()
    write(target / "model.gguf", {"general.architecture": family, **settings, "tokenizer.ggml.tokens": tokens, **(described or {})}, made)


def first_tokens(folder, length=40):
    engine = Engine(str(folder), Limits(cache_megabytes=2))
    found, end = [], threading.Event()

    def receive(event):
        if event.choice is None:
            end.set()
        else:
            found.append((event.choice.token, event.choice.logprob))

    engine.submit(tiny_models.prompt(length), Sampling(temperature=0.0, max_tokens=6, ignore_end=True), receive)
    assert end.wait(60)
    engine.stop()
    return found


@pytest.mark.parametrize("family", tiny_models.FAMILIES)
def test_models(family, tmp_path):
    tiny_models.write(tmp_path / "folder", family)
    converted(tmp_path / "folder", family, tmp_path / "file")
    wanted = first_tokens(tmp_path / "folder")
    assert first_tokens(tmp_path / "file") == wanted
    converted(tmp_path / "folder", family, tmp_path / "eight", Q8_0)
    assert first_tokens(tmp_path / "eight")[0][1] == pytest.approx(wanted[0][1], abs=0.1)


def test_damage(tmp_path):
    """Whatever is cut or changed, a file is read or refused in words, quickly."""
    good = tmp_path / "a.gguf"
    write(good, {"general.architecture": "llama", "tokens": ["a", "b"]}, {"w": ((2, 32), Q8_0, bytes(68)), "v": ((3,), F32, bytes(12))})
    data = good.read_bytes()
    random = np.random.default_rng(0)
    refused = 0
    for number in range(400):
        damaged = bytearray(data[: random.integers(len(data))] if number % 2 else data)
        for place in random.integers(0, max(len(damaged), 1), 3 if damaged and not number % 2 else 0):
            damaged[place] = random.integers(256)
        path = tmp_path / "b.gguf"
        path.write_bytes(damaged or b"G")
        try:
            file = gguf.File(str(path))
            for name in file.names:
                file.read(name)
        except ValueError as error:
            refused += 1
            assert "GGUF" in str(error)
    assert 200 < refused < 400


def test_unknown(tmp_path):
    write(tmp_path / "a.gguf", {"general.architecture": "other"}, {})
    with pytest.raises(ValueError, match="architecture 'other'"):
        Engine(str(tmp_path))
    os.rename(tmp_path / "a.gguf", tmp_path / "b.gguf")
    write(tmp_path / "a.gguf", {}, {})
    with pytest.raises(ValueError, match=r"several GGUF files, name one of them: a\.gguf, b\.gguf"):
        Engine(str(tmp_path))
