"""Checkpoint files: round trips, files of official MindSpore, bad files, atomic and asynchronous writing."""

from __future__ import annotations

import contextlib
import io
import os
import struct
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mindspore as ms
from mindspore import Parameter, Tensor, nn
from mindspore.formats.checkpoint import records

KEY = b"0123456789ABCDEF"
NUMBERS = (
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64",
    "complex64", "complex128",
)  # fmt: skip


class Net(nn.Cell):
    def __init__(self, size=3):
        super().__init__()
        self.weight = Parameter(Tensor(np.arange(size * 2, dtype=np.float32).reshape(size, 2)), name="weight")
        self.bias = Parameter(Tensor(np.ones(2, np.float32)), name="bias")

    def construct(self, x):
        return x @ self.weight + self.bias


def expected_arrays():
    out = {}
    for name in NUMBERS:
        values = np.arange(-2, 4).reshape(2, 3)
        array = (np.abs(values) if name.startswith("u") else values).astype(name)
        if name.startswith(("float", "complex")):
            array[0] = [np.nan, np.inf, -0.0]
        out[name] = array
    out["scalar"] = np.array(2.5, np.float32)
    out["bfloat16"] = np.array([1.5, np.nan, -3.0], ms.bfloat16.np)
    return out


def same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


# -- official files ---------------------------------------------------------------------------------------------------
def test_official_file_with_every_type(official):
    found = ms.load_checkpoint(str(official / "every_type.ckpt"))
    for name, array in expected_arrays().items():
        assert same_bits(found[name].asnumpy(), array), name
    assert found["text"] == "héllo"
    assert found["epoch_num"].asnumpy() == 3 and found["flag"].dtype == ms.bool_


@pytest.mark.parametrize(
    "name, options",
    [
        ("checked.ckpt", {"crc_check": True}),
        ("gcm.ckpt", {"dec_key": KEY}),
        ("cbc.ckpt", {"dec_key": KEY, "dec_mode": "AES-CBC"}),
        ("checked.safetensors", {"format": "safetensors", "crc_check": True}),
        ("plain.safetensors", {"format": "safetensors"}),
    ],
)
def test_other_official_files(official, name, options):
    arrays = expected_arrays()
    found = ms.load_checkpoint(str(official / name), **options)
    assert len(found) >= 3
    for key, value in found.items():
        assert same_bits(value.asnumpy(), arrays[key]), key


def test_official_file_encrypted_with_sm4(tmp_path):
    """What official MindSpore 2.10 wrote for q = [0, 1, 2, 3]."""
    content = (
        "da5e3a7f4800000010000000e23b390156b8ef90786d0f0421baa4c3300000001a1f54b340354c6cb1880d1c0e98aff735657db558e465e2"
        "b74dd36a5b81c50fc3066719748c5f166f96c051e6142ff8"
    )
    path = tmp_path / "sm4.ckpt"
    path.write_bytes(bytes.fromhex(content))
    found = ms.load_checkpoint(str(path), dec_key=b"0123456789ABCDEF", dec_mode="SM4-CBC")
    np.testing.assert_array_equal(found["q"].asnumpy(), [0, 1, 2, 3])
    with pytest.raises(ValueError, match="AES-CBC"):
        ms.load_checkpoint(str(path), dec_key=b"0123456789ABCDEF", dec_mode="AES-CBC")
    with pytest.raises(ValueError, match="must have 16 bytes for SM4-CBC, but got 24"):
        ms.load_checkpoint(str(path), dec_key=b"0123456789ABCDEF01234567", dec_mode="SM4-CBC")


@pytest.mark.parametrize("format", ["ckpt", "safetensors"])
def test_texts_in_tensors_are_refused_when_saved(tmp_path, format):
    with pytest.raises(TypeError, match="cannot hold 'q' of type String"):
        ms.save_checkpoint({"q": Tensor(np.array(["a", "b"]))}, str(tmp_path / "x"), format=format)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("format", ["ckpt", "safetensors"])
def test_official_file_with_packed_numbers(official, format):
    """Four-bit numbers lie in pairs in bytes, and come as bytes."""
    found = ms.load_checkpoint(str(official / f"int4.{format}"), format=format)
    assert found["p"].dtype == ms.int8 and found["q"].asnumpy() == 1
    np.testing.assert_array_equal(found["p"].asnumpy(), np.array([[1, -2], [3, 4]], np.int8))


def test_official_bytes_are_reproduced(official):
    """Our writer gives byte for byte what the official one gives."""
    content = (official / "every_type.ckpt").read_bytes()
    entries = records.decode(memoryview(content), lambda name: True)
    assert b"".join(records.encode(entries.items())) == content


# -- round trips ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "options, reading",
    [
        ({}, {}),
        ({"crc_check": True}, {"crc_check": True}),
        ({"enc_key": KEY}, {"dec_key": KEY}),
        ({"enc_key": KEY, "crc_check": True}, {"dec_key": KEY, "crc_check": True}),
        ({"enc_key": KEY * 2, "enc_mode": "AES-CBC"}, {"dec_key": KEY * 2, "dec_mode": "AES-CBC"}),
        ({"enc_key": KEY[:16], "enc_mode": "SM4-CBC"}, {"dec_key": KEY[:16], "dec_mode": "SM4-CBC"}),
        ({"format": "safetensors", "crc_check": True}, {"format": "safetensors", "crc_check": True}),
    ],
)
def test_round_trip_of_every_type(tmp_path, options, reading):
    arrays = expected_arrays()
    if options.get("format") == "safetensors":
        arrays.pop("complex128")
    path = str(tmp_path / "x")
    ms.save_checkpoint(
        {k: Parameter(Tensor.from_numpy(v)) for k, v in arrays.items()},
        path,
        append_dict={"note": "ä", "n": 7},
        **options,
    )
    found = ms.load_checkpoint(f"{path}.{options.get('format', 'ckpt')}", **reading)
    assert set(found) == {*arrays, "note", "n"}
    assert found["note"] == "ä"
    for name, array in arrays.items():
        assert same_bits(found[name].asnumpy(), array), name


@settings(max_examples=30, deadline=None)
@given(
    st.dictionaries(
        st.text(min_size=1, max_size=8).filter(str.strip),
        st.lists(st.integers(0, 3), max_size=3),
        min_size=1,
        max_size=4,
    ),
    st.integers(1, 40),
)
def test_slices_join_again(shapes, slice_bytes):
    entries = {n: np.arange(int(np.prod(s)), dtype=np.float32).reshape(s) for n, s in shapes.items()}
    content = b"".join(records.encode(entries.items(), slice_bytes))
    found = records.decode(memoryview(content), lambda name: True)
    assert set(found) == set(entries)
    for name, array in entries.items():
        assert same_bits(found[name], array)


def test_network_round_trip(tmp_path):
    net, path = Net(), str(tmp_path / "net.ckpt")
    ms.save_checkpoint(net, path)
    other = Net()
    other.weight.set_data(Tensor(np.zeros((3, 2), np.float32)))
    assert ms.load_param_into_net(other, ms.load_checkpoint(path)) == ([], [])
    np.testing.assert_array_equal(other.weight.asnumpy(), net.weight.asnumpy())
    ms.load_checkpoint(path, net=other)


def test_lists_and_choices(tmp_path):
    path = str(tmp_path / "a.ckpt")
    ms.save_checkpoint([{"name": "a", "data": Tensor(1.0)}, {"name": "b", "data": Tensor([2])}], path)
    assert set(ms.load_checkpoint(path)) == {"a", "b"}
    ms.save_checkpoint(list(Net().get_parameters()), path, choice_func=lambda n: n != "bias")
    assert list(ms.load_checkpoint(path)) == ["weight"]


def test_selection_when_loading(tmp_path):
    path = str(tmp_path / "a.ckpt")
    ms.save_checkpoint({n: Parameter(Tensor(1.0)) for n in ("fc.w", "fc.b", "bn.w")}, path)
    assert set(ms.load_checkpoint(path, filter_prefix="fc")) == {"bn.w"}
    assert set(ms.load_checkpoint(path, specify_prefix=["fc"])) == {"fc.w", "fc.b"}
    assert set(ms.load_checkpoint(path, choice_func=lambda n: n.endswith("w"))) == {"fc.w", "bn.w"}
    with pytest.raises(ValueError):
        ms.load_checkpoint(path, choice_func=lambda n: False)
    with pytest.raises(ValueError):
        ms.load_checkpoint(path, choice_func=lambda n: n + 1)


def test_conversion(tmp_path):
    path = str(tmp_path / "net.ckpt")
    ms.save_checkpoint(Net(), path)
    ms.ckpt_to_safetensors(path, str(tmp_path / "out"), name_map={"bias": "b"})
    target = str(tmp_path / "out" / "net.safetensors")
    assert set(ms.load_checkpoint(target, format="safetensors")) == {"weight", "b"}
    ms.safetensors_to_ckpt(target, str(tmp_path / "back"))
    back = ms.load_checkpoint(str(tmp_path / "back" / "net.ckpt"))
    np.testing.assert_array_equal(back["weight"].asnumpy(), Net().weight.asnumpy())
    os.makedirs(tmp_path / "all" / "rank_0")
    os.rename(path, tmp_path / "all" / "rank_0" / "net.ckpt")
    ms.ckpt_to_safetensors(str(tmp_path / "all"))
    assert (tmp_path / "all" / "rank_0" / "net.safetensors").exists()


def test_safetensors_package_reads_ours_and_we_its(tmp_path):
    library = pytest.importorskip("safetensors.numpy")
    arrays = {k: v for k, v in expected_arrays().items() if not k.startswith(("complex", "bf"))}
    ms.save_checkpoint(
        {k: Parameter(Tensor.from_numpy(v)) for k, v in arrays.items()}, str(tmp_path / "a"), format="safetensors"
    )
    theirs = library.load_file(str(tmp_path / "a.safetensors"))
    library.save_file(arrays, str(tmp_path / "b.safetensors"))
    ours = ms.load_checkpoint(str(tmp_path / "b.safetensors"), format="safetensors")
    for name, array in arrays.items():
        assert same_bits(theirs[name], array)
        assert same_bits(ours[name].asnumpy(), array)
    in_memory = ms.load_checkpoint(io.BytesIO((tmp_path / "b.safetensors").read_bytes()), format="safetensors")
    assert set(in_memory) == set(arrays)


# -- into a network ---------------------------------------------------------------------------------------------------
def test_names_with_a_common_prefix_fit():
    given_ = {f"model.{n}": p for n, p in Net().parameters_dict().items()}
    net = Net()
    net.bias.set_data(Tensor(np.zeros(2, np.float32)))
    assert ms.load_param_into_net(net, given_) == ([], [])
    np.testing.assert_array_equal(net.bias.asnumpy(), np.ones(2))
    missing, unused = ms.load_param_into_net(net, given_, strict_load=True)
    assert missing == ["weight", "bias"] and unused == list(given_)


def test_nothing_is_loaded_when_something_does_not_fit():
    net = Net()
    given_ = {
        "bias": Parameter(Tensor(np.zeros(2, np.float32))),
        "weight": Parameter(Tensor(np.zeros((9, 9), np.float32))),
    }
    with pytest.raises(RuntimeError, match="shape"):
        ms.load_param_into_net(net, given_)
    np.testing.assert_array_equal(net.bias.asnumpy(), np.ones(2))


def test_types_are_converted_within_their_kind():
    net = Net()
    half = Parameter(Tensor(np.full(2, 0.5, np.float16)))
    missing, _ = ms.load_param_into_net(net, {"bias": half})
    assert missing == ["weight"] and net.bias.dtype == ms.float32 and net.bias.asnumpy()[0] == 0.5
    with pytest.raises(RuntimeError, match="type"):
        ms.load_param_into_net(net, {"bias": half}, strict_load=True)
    with pytest.raises(RuntimeError):
        ms.load_param_into_net(net, {"bias": Parameter(Tensor(np.ones(2, np.int32)))})


@pytest.mark.parametrize("net, given_", [("net", {}), (Net(), []), (Net(), {"bias": 1}), (Net(), {1: Net().bias})])
def test_wrong_arguments_of_load_param_into_net(net, given_):
    with pytest.raises(TypeError):
        ms.load_param_into_net(net, given_)


# -- bad input --------------------------------------------------------------------------------------------------------
def test_bad_arguments(tmp_path):
    path = str(tmp_path / "a.ckpt")
    for bad in (
        lambda: ms.save_checkpoint("net", path),
        lambda: ms.save_checkpoint(Net(), 1),
        lambda: ms.save_checkpoint(Net(), path, enc_key="text"),
        lambda: ms.save_checkpoint(Net(), path, append_dict={"a": object()}),
        lambda: ms.save_checkpoint([1], path),
        lambda: ms.load_checkpoint(1),
        lambda: ms.load_checkpoint(path, filter_prefix=1),
    ):
        with pytest.raises(TypeError):
            bad()
    for bad in (
        lambda: ms.save_checkpoint(Net(), path, format="pickle"),
        lambda: ms.save_checkpoint(Net(), path, enc_key=b"short"),
        lambda: ms.save_checkpoint(Net(), path, enc_key=KEY, enc_mode="ROT13"),
        lambda: ms.load_checkpoint(str(tmp_path / "missing.ckpt")),
        lambda: ms.load_checkpoint(str(tmp_path / "a.txt")),
        lambda: ms.load_checkpoint(path, filter_prefix=""),
    ):
        with pytest.raises(ValueError):
            bad()
    with pytest.raises(IsADirectoryError):
        ms.save_checkpoint(Net(), str(tmp_path))
    assert not os.path.exists(path)


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    path = tmp_path_factory.mktemp("c") / "a.ckpt"
    ms.save_checkpoint(Net(), str(path), append_dict={"text": "x"})
    return path.read_bytes()


@pytest.mark.parametrize(
    "data", [b"", b"not a checkpoint at all", b"\x80\x04\x95\x0b\x00", bytes(100), b"PK\x03\x04" * 9]
)
def test_foreign_files(tmp_path, data):
    path = tmp_path / "a.ckpt"
    path.write_bytes(data)
    with pytest.raises(ValueError):
        ms.load_checkpoint(str(path))


def test_every_truncation_is_noticed_or_ends_between_entries(tmp_path, content):
    path = tmp_path / "a.ckpt"
    whole = set(records.decode(memoryview(content), lambda n: True))
    for size in range(len(content)):
        path.write_bytes(content[:size])
        with contextlib.suppress(ValueError):
            assert set(ms.load_checkpoint(str(path))) < whole


def test_a_checksum_notices_every_changed_byte(tmp_path):
    path = tmp_path / "a.ckpt"
    ms.save_checkpoint(Net(), str(path), crc_check=True)
    data = path.read_bytes()
    path.chmod(0o600)
    for place in range(0, len(data) - 17):
        path.write_bytes(data[:place] + bytes((data[place] ^ 0x40,)) + data[place + 1 :])
        with pytest.raises(ValueError):
            ms.load_checkpoint(str(path), crc_check=True)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_damaged_content_never_crashes(content, data):
    damaged = bytearray(content)
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(records.DecodeError):
        records.decode(memoryview(bytes(damaged)), lambda n: True)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_damaged_safetensors_never_crash(official, data):
    content = bytearray((official / "plain.safetensors").read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(ValueError):
        ms.load_checkpoint(io.BytesIO(bytes(content)), format="safetensors")


def test_a_huge_promised_size_uses_no_memory(tmp_path):
    path = tmp_path / "a.safetensors"
    path.write_bytes(struct.pack("<Q", 1 << 60) + b"{}")
    with pytest.raises(ValueError):
        ms.load_checkpoint(str(path), format="safetensors")
    header = b'{"a":{"dtype":"F32","shape":[1099511627776],"data_offsets":[0,4398046511104]}}'
    path.write_bytes(struct.pack("<Q", len(header)) + header)
    with pytest.raises(ValueError):
        ms.load_checkpoint(str(path), format="safetensors")


def test_wrong_keys(tmp_path):
    path = str(tmp_path / "a.ckpt")
    ms.save_checkpoint(Net(), path, enc_key=KEY)
    for options in ({}, {"dec_key": KEY[::-1]}, {"dec_key": KEY, "dec_mode": "AES-CBC"}):
        with pytest.raises(ValueError):
            ms.load_checkpoint(path, **options)


# -- writing ----------------------------------------------------------------------------------------------------------
def test_a_failed_save_leaves_the_old_file(tmp_path):
    path = str(tmp_path / "a.safetensors")
    ms.save_checkpoint(Net(), path, format="safetensors")
    before = Path(path).read_bytes()
    with pytest.raises(TypeError):
        ms.save_checkpoint({"c": Parameter(Tensor(np.ones(2, np.complex128)))}, path, format="safetensors")
    assert Path(path).read_bytes() == before
    assert os.listdir(tmp_path) == ["a.safetensors"]


def test_a_killed_save_leaves_the_old_file(tmp_path):
    path = str(tmp_path / "a.ckpt")
    ms.save_checkpoint(Net(), path)
    before = Path(path).read_bytes()
    script = f"""
        import os, numpy as np, mindspore as ms
        from mindspore.formats.checkpoint import records
        real = records.encode
        def stop(entries, size=0):
            for number, part in enumerate(real(entries)):
                yield part[: len(part) // 2]
                os.kill(os.getpid(), 9)
        records.encode = stop
        ms.save_checkpoint({{"a": ms.Parameter(ms.Tensor(np.ones(1000, np.float32)))}}, {path!r})
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, timeout=60)
    assert done.returncode == -9
    assert Path(path).read_bytes() == before


def test_asynchronous_save_stores_the_values_of_the_call(tmp_path):
    net, path = Net(), str(tmp_path / "a.ckpt")
    ms.save_checkpoint(net, path, async_save=True)
    net.bias.asnumpy()[:] = 9
    from mindspore.train._checkpoint.save import wait_async_saves

    wait_async_saves()
    assert not ms.async_ckpt_thread_status()
    np.testing.assert_array_equal(ms.load_checkpoint(path)["bias"].asnumpy(), np.ones(2))
    assert set(ms.load_checkpoint_async(path).result()) == {"weight", "bias"}


def test_asynchronous_failures_are_reported(tmp_path):
    from mindspore.train._checkpoint.save import wait_async_saves

    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    ms.save_checkpoint(Net(), str(blocked / "a.ckpt"), async_save="thread")
    with pytest.raises(RuntimeError):
        wait_async_saves()


def test_a_file_made_shorter_while_it_is_looked_at(tmp_path):
    path = tmp_path / "net.ckpt"
    ms.save_checkpoint(nn.Dense(300, 300), str(path))
    script = (
        "import os, sys\nfrom mindspore._base.files import read_file\n"
        "data = read_file(sys.argv[1])\nos.truncate(sys.argv[1], 0)\nprint(len(bytes(data)))"
    )
    size = path.stat().st_size
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, str(size))


def test_two_parameters_of_one_name_are_neither_saved_nor_loaded(tmp_path):
    net = nn.SequentialCell(nn.Dense(2, 1), nn.Dense(2, 1))
    net[0].weight.name = net[1].weight.name
    with pytest.raises(ValueError, match=r"two Parameters called '1\.weight'.*name of its own"):
        ms.save_checkpoint(net, str(tmp_path / "net.ckpt"))
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match=r"two Parameters called '1\.weight'"):
        ms.load_param_into_net(net, {})
