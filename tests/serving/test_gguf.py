"""GGUF files: blocks by their definition, models as from safetensors, damaged files refused."""

import os
import struct
import threading

import numpy as np
import pytest
import tiny_models

from mindspore_serving.llm import gguf
from mindspore_serving.llm.checkpoint import read_shape, read_weights
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


def half(block, at):
    return float(np.frombuffer(block[at : at + 2].tobytes(), np.float16)[0])


def sixes(block, run):
    q = block[4:16].astype(int)
    if run < 4:
        return q[run] & 63, q[run + 4] & 63
    return q[run + 4] & 15 | q[run - 4] >> 6 << 4, q[run + 4] >> 4 | q[run] >> 6 << 4


def slow_q4_k(block):
    out = []
    for run in range(8):
        scale, offset = sixes(block, run)
        for byte in block[16 + run // 2 * 32 :][:32].astype(int):
            out.append(half(block, 0) * scale * (byte >> 4 if run % 2 else byte & 15) - half(block, 2) * offset)
    return out


def slow_q5_k(block):
    out = []
    for place in range(256):
        run, lane = divmod(place, 32)
        scale, offset = sixes(block, run)
        four = int(block[48 + run // 2 * 32 + lane]) >> run % 2 * 4 & 15
        fifth = int(block[16 + lane]) >> run & 1
        out.append(half(block, 0) * scale * (four + 16 * fifth) - half(block, 2) * offset)
    return out


def two(block, begin, place):
    """Two bits of a number, and the number of its run of 32."""
    half_, within = divmod(place, 128)
    quarter, lane = divmod(within, 32)
    return int(block[begin + half_ * 32 + lane]) >> 2 * quarter & 3, half_ * 4 + quarter, lane


def slow_q2_k(block):
    scales = block[:16].astype(int)
    return [
        half(block, 80) * (scales[place // 16] & 15) * two(block, 16, place)[0] - half(block, 82) * (scales[place // 16] >> 4)
        for place in range(256)
    ]


def slow_q3_k(block):
    packed, out = block[96:108].astype(int), []
    for place in range(256):
        low, run, lane = two(block, 32, place)
        part = place // 16
        scale = packed[part % 8] >> (4 if part > 7 else 0) & 15 | (packed[8 + part % 4] >> part // 4 * 2 & 3) << 4
        out.append(half(block, 108) * (scale - 32) * (low - (0 if block[lane] >> run & 1 else 4)))
    return out


UNEVEN = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113]


def slow_iq4_xs(block):
    out = []
    for place in range(256):
        run, lane = divmod(place, 32)
        low = int(block[4 + run // 2]) >> run % 2 * 4 & 15
        high = (int(block[2]) | int(block[3]) << 8) >> 2 * run & 3
        byte = int(block[8 + run * 16 + lane % 16])
        out.append(half(block, 0) * ((low | high << 4) - 32) * UNEVEN[byte >> 4 if lane > 15 else byte & 15])
    return out


def slow_iq4_nl(block):
    codes = [byte >> shift & 15 for shift in (0, 4) for byte in block[2:].astype(int)]
    return [half(block, 0) * UNEVEN[code] for code in codes]


def fives(block, begin):
    bits = int.from_bytes(block[begin : begin + 4].tobytes(), "little")
    fours = [byte >> shift & 15 for shift in (0, 4) for byte in block[begin + 4 :].astype(int)]
    return [four + (bits >> place & 1) * 16 for place, four in enumerate(fours)]


def slow_q5_0(block):
    return [half(block, 0) * (five - 16) for five in fives(block, 2)]


def slow_q5_1(block):
    return [half(block, 0) * five + half(block, 2) for five in fives(block, 4)]


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


@pytest.mark.parametrize(("kind", "slow", "numbers", "nbytes", "halves"), [
    (Q4_K, slow_q4_k, 256, 144, (0, 2)), (Q6_K, slow_q6_k, 256, 210, (208,)), (13, slow_q5_k, 256, 176, (0, 2)),
    (10, slow_q2_k, 256, 84, (80, 82)), (11, slow_q3_k, 256, 110, (108,)), (23, slow_iq4_xs, 256, 136, (0,)),
    (20, slow_iq4_nl, 32, 18, (0,)), (6, slow_q5_0, 32, 22, (0,)), (7, slow_q5_1, 32, 24, (0, 2)),
])  # fmt: skip
def test_blocks(kind, slow, numbers, nbytes, halves, tmp_path):
    blocks = np.random.default_rng(0).integers(0, 256, (3, nbytes)).astype(np.uint8)
    for at in halves:
        blocks[:, at : at + 2] = np.array([[0.5], [-1.25], [3.0]], np.float16).view(np.uint8)
    write(tmp_path / "a.gguf", {}, {"w": ((3, numbers), kind, blocks.tobytes())})
    np.testing.assert_allclose(gguf.File(str(tmp_path / "a.gguf")).read("w"), [slow(block) for block in blocks], rtol=1e-5, atol=1e-4)


def test_four_bits(tmp_path):
    block = np.concatenate([np.array([2.0], np.float16).view(np.uint8), np.arange(16, dtype=np.uint8) * 17])
    write(tmp_path / "a.gguf", {}, {"w": ((32,), Q4_0, block.tobytes())})
    want = [2.0 * (n - 8) for n in range(16)] * 2
    assert gguf.File(str(tmp_path / "a.gguf")).read("w").tolist() == want


def side_by_side(array, heads):
    return array.reshape(heads, 2, -1, *array.shape[1:]).swapaxes(1, 2).reshape(array.shape)


def converted(folder, family, target, kind=F32, described=None, more=None):
    """The tiny model of a folder as a GGUF file; `described`: more settings; `more`: tensors."""
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
    settings |= {"general.architecture": family, "tokenizer.ggml.tokens": tokens, **(described or {})}
    write(target / "model.gguf", settings, made | (more or {}))


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


@pytest.mark.parametrize("family", ("gpt2", "llama", "qwen2", "qwen3"))
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


def test_a_format_that_is_not_read_is_named(tmp_path):
    write(tmp_path / "a.gguf", {}, {"w": ((256,), 17, bytes(74))})
    with pytest.raises(ValueError, match="'w' has the type IQ2_XS, which is not supported"):
        gguf.File(str(tmp_path / "a.gguf"))


def test_frequencies_of_the_file(tmp_path):
    """LLaMA 3.1's files have factors of the frequencies, and no word of them among the settings."""
    factors = np.array([1.0, 1.0, 3.5, 8.0], np.float32)
    tiny_models.write(tmp_path / "folder", "llama")
    converted(tmp_path / "folder", "llama", tmp_path / "file", more={"rope_freqs.weight": ((4,), F32, factors.tobytes())})
    plain, found = (read_shape(str(tmp_path / name)).rotation.frequencies for name in ("folder", "file"))
    np.testing.assert_allclose(found, np.array(plain) / factors, rtol=1e-6)
    described = {"llama.rope.scaling.type": "linear", "llama.rope.scaling.factor": 2.0}
    converted(tmp_path / "folder", "llama", tmp_path / "linear", described=described)
    np.testing.assert_allclose(read_shape(str(tmp_path / "linear")).rotation.frequencies, np.array(plain) / 2, rtol=1e-6)
    converted(tmp_path / "folder", "llama", tmp_path / "partly", described={"llama.rope.dimension_count": 4})
    with pytest.raises(ValueError, match="only heads that are rotated whole"):
        read_shape(str(tmp_path / "partly"))


def test_unknown(tmp_path):
    write(tmp_path / "a.gguf", {"general.architecture": "other"}, {})
    with pytest.raises(ValueError, match="architecture 'other'"):
        Engine(str(tmp_path))
    os.rename(tmp_path / "a.gguf", tmp_path / "b.gguf")
    write(tmp_path / "a.gguf", {}, {})
    with pytest.raises(ValueError, match=r"several GGUF files, name one of them: a\.gguf, b\.gguf"):
        Engine(str(tmp_path))
