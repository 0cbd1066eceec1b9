"""The FlatBuffers reader and writer against the official runtime, and against damaged bytes."""
import flatbuffers
import numpy as np
import pytest
from flatbuffers import number_types, table

from mindspore_federated.wire.flat import WireError, decode, encode


def _request(names_and_values, fl_id="phone-7"):
    """A RequestUpdateModel built by the flatbuffers runtime."""
    builder = flatbuffers.Builder(64)
    items = []
    for name, values in names_and_values.items():
        text = builder.CreateString(name)
        data = builder.CreateNumpyVector(values)
        builder.StartObject(2)
        builder.PrependUOffsetTRelativeSlot(0, text, 0)
        builder.PrependUOffsetTRelativeSlot(1, data, 0)
        items.append(builder.EndObject())
    builder.StartVector(4, len(items), 4)
    for item in reversed(items):
        builder.PrependUOffsetTRelative(item)
    vector = builder.EndVector()
    text = builder.CreateString(fl_id)
    builder.StartObject(16)
    builder.PrependUOffsetTRelativeSlot(1, text, 0)
    builder.PrependInt32Slot(2, 5, 0)
    builder.PrependUOffsetTRelativeSlot(3, vector, 0)
    builder.PrependFloat32Slot(6, 2.5, 0.0)
    builder.Finish(builder.EndObject())
    return bytes(builder.Output())


def test_reads_what_the_runtime_writes():
    sent = {"a": np.arange(6, dtype=np.float32), "b": np.array([1.5], np.float32)}
    message = decode("RequestUpdateModel", _request(sent))
    assert (message["fl_id"], message["iteration"], message["upload_loss"]) == ("phone-7", 5, 2.5)
    got = {item["weight_fullname"]: item["data"] for item in message["feature_map"]}
    assert list(got) == ["a", "b"]
    for name, value in sent.items():
        np.testing.assert_array_equal(got[name], value)
    assert message["fl_name"] == "" and message["sign"] == 0 and message["unsupervised_eval_items"] is None


def test_the_runtime_reads_what_we_write():
    values = np.linspace(-1, 1, 7, dtype=np.float32)
    body = encode("ResponseGetModel", {"retcode": 200, "reason": "grün", "iteration": 9,
                                       "feature_map": [{"weight_fullname": "w", "data": values}]})
    root = table.Table(body, int.from_bytes(body[:4], "little"))

    def at(slot):
        return root.Offset(4 + 2 * slot)

    assert root.Get(number_types.Int32Flags, root.Pos + at(0)) == 200
    assert root.String(root.Pos + at(1)) == "grün".encode()
    assert root.VectorLen(at(3)) == 1
    inner = table.Table(body, root.Indirect(root.Vector(at(3))))
    assert inner.String(inner.Pos + inner.Offset(4)) == b"w"
    np.testing.assert_array_equal(inner.GetVectorAsNumpy(number_types.Float32Flags, inner.Offset(6)), values)


def test_round_trip_of_nested_tables():
    plan = {"lr": 0.5, "shuffle": True, "metrics": [1, 2], "cipher": {"encrypt_type": "PW_ENCRYPT",
                                                                      "pw_params": {"t": 3, "p": b"\x01\xff"}}}
    message = decode("ResponseFLJob", encode("ResponseFLJob", {"is_selected": True, "fl_plan_config": plan}))
    got = message["fl_plan_config"]
    assert message["is_selected"] and got["lr"] == 0.5 and got["shuffle"] and got["metrics"].tolist() == [1, 2]
    assert got["cipher"]["encrypt_type"] == "PW_ENCRYPT" and got["cipher"]["pw_params"]["t"] == 3
    assert got["cipher"]["pw_params"]["p"].tobytes() == b"\x01\xff"


def test_damaged_messages_are_refused_or_read_but_never_worse():
    body = _request({"a": np.arange(6, dtype=np.float32), "b": np.ones(3, np.float32)})
    random = np.random.default_rng(0)
    refusals = 0
    for _ in range(2000):
        broken = bytearray(body[:random.integers(0, len(body) + 1)])
        for _ in range(random.integers(1, 4)):
            if broken:
                broken[random.integers(len(broken))] = random.integers(256)
        try:
            decode("RequestUpdateModel", bytes(broken))
        except WireError:
            refusals += 1
    assert refusals > 500


def test_unknown_fields_are_named():
    with pytest.raises(KeyError, match="nonsense"):
        encode("ResponsePushMetrics", {"nonsense": 1})
