"""Whatever clients send is answered or refused with ServingError: no other exception leaves the parsers."""

import contextlib
import json
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mindspore_serving.engine.errors import ServingError
from mindspore_serving.engine.pool import MethodInfo
from mindspore_serving.llm.language_models import LanguageModels
from mindspore_serving.protocols import official, official_json, official_rest, openai, responses, v2, v2_grpc, v2_rest

NUMBERS = st.integers(-(2**70), 2**70) | st.floats() | st.booleans()
KEYS = st.sampled_from(["b64", "type", "shape", "x", "name", "data", "datatype", "parameters", "binary_data_size"])
JSON = st.recursive(
    st.none() | NUMBERS | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
METHOD = MethodInfo(("x",), ("y",), 1, False, {"x": ("float32", (2,))})


def refused():
    return contextlib.suppress(ServingError)


@settings(deadline=None, max_examples=300)
@given(JSON, st.booleans())
def test_official_json(value, wrapped):
    with refused():
        official_json.instances_of({"instances": [{"x": value}]} if wrapped else value, ("x",), "here")


@settings(deadline=None, max_examples=100)
@given(st.text(max_size=30))
def test_official_paths(path):
    with refused():
        official_rest.spec_of("/" + path)
    with refused():
        official_rest.spec_of("/model/a/version/" + path + ":m")


TENSOR = st.fixed_dictionaries({}, optional={
    "name": st.sampled_from(["x", "y", ""]) | JSON, "datatype": st.sampled_from(["FP32", "BYTES", "INT8", "BOOL", "UINT64"]) | JSON,
    "shape": st.lists(st.integers(-1, 4), max_size=3) | JSON, "data": st.lists(NUMBERS | st.text(max_size=3), max_size=6) | JSON,
    "parameters": st.fixed_dictionaries({"binary_data_size": st.integers(-1, 20)}) | JSON})  # fmt: skip


@settings(deadline=None, max_examples=300)
@given(st.lists(TENSOR, max_size=3) | JSON, st.binary(max_size=24))
def test_v2_json(inputs, data):
    head = json.dumps({"inputs": inputs}).encode()
    with refused():
        _, tensors = v2_rest._request(head + data, str(len(head)).encode())
        v2.instances_of(METHOD, tensors)


@settings(deadline=None, max_examples=300)
@given(st.binary(max_size=80))
def test_messages(data):
    for schema, name, parse in (
        (official.schema(), "PredictRequest", lambda request: official.instances_of(request, ("x",))),
        (v2_grpc.schema(), "ModelInferRequest", v2_grpc._tensors),
    ):
        try:
            message = schema[name].FromString(data)
        except Exception:
            continue  # the library's own refusal
        with refused():
            parse(message)


@settings(deadline=None, max_examples=200)
@given(
    st.sampled_from(["FP32", "BYTES", "INT64", "FP16", "no"]), st.lists(st.integers(-2, 2**40), max_size=4), st.binary(max_size=40)
)
def test_raw_tensors(datatype, shape, data):
    request = v2_grpc.schema()["ModelInferRequest"](
        inputs=[{"name": "x", "datatype": datatype, "shape": shape}], raw_input_contents=[data]
    )
    with refused():
        v2.instances_of(METHOD, v2_grpc._tensors(request))
    tensor = official.schema()["Tensor"](dtype=len(data) % 16, data=data, bytes_val=[data])
    tensor.shape.dims.extend(shape)
    with refused():
        official.read(tensor)


FIELDS = st.sampled_from(
    ["prompt", "messages", "n", "stop", "seed", "max_tokens", "temperature", "top_p", "logprobs", "logit_bias", "stream_options", "tools",
     "top_logprobs", "max_completion_tokens"]
)  # fmt: skip


TOKENIZER = SimpleNamespace(encode=lambda text, most: list(text.encode()), chat=lambda messages, tools, most, options: [1])
MODELS = LanguageModels()
MODELS.by_name["m"] = SimpleNamespace(
    name="m", tokenizer=TOKENIZER, engine=SimpleNamespace(shape=SimpleNamespace(positions=64), longest=64)
)


@settings(deadline=None, max_examples=300)
@given(st.dictionaries(FIELDS, JSON | NUMBERS, max_size=5), st.booleans())
def test_openai(body, chat):
    with refused():
        request = openai.parsed(MODELS, {"prompt": "a", "messages": [{"role": "user"}], **body, "model": "m"}, chat)
        assert all(sampling.max_tokens >= 1 and sampling.temperature >= 0 for sampling in request.samplings)


RESPONSES = st.sampled_from(["input", "instructions", "tools", "tool_choice", "text", "max_output_tokens", "metadata", "stream", "top_p"])
PARTS = st.fixed_dictionaries({}, optional={
    "type": st.sampled_from(["message", "function", "function_call", "function_call_output", "input_text", "json_schema"]) | JSON,
    "role": st.text(max_size=4) | JSON, "content": JSON, "name": JSON, "output": JSON, "format": JSON, "schema": JSON, "parameters": JSON,
})  # fmt: skip


@settings(deadline=None, max_examples=300)
@given(st.dictionaries(RESPONSES, JSON | PARTS | st.lists(PARTS, max_size=3) | st.fixed_dictionaries({"format": PARTS}), max_size=5))
def test_responses(body):
    with refused():
        asked = responses._chat({"input": "a", **body})
        responses._Answer(openai.parsed(MODELS, {**asked, "model": "m"}, True), body).described("in_progress")


def test_an_unknown_name():
    with pytest.raises(ServingError, match="does not exist"):
        openai.parsed(LanguageModels(), {"model": ["m"]}, False)
