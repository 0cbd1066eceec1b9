"""`/openapi.json`: the HTTP side as an OpenAPI document, for client generators and API testers."""

from __future__ import annotations

from typing import Any

from mindspore_serving.engine.dispatcher import Dispatcher
from mindspore_serving.llm.language_models import LanguageModels
from mindspore_serving.protocols import v2
from mindspore_serving.protocols.http import Exchange, Handler

Json = dict[str, Any]


def handler(dispatcher: Dispatcher, models: LanguageModels, version: str) -> Handler:
    async def answer(exchange: Exchange) -> None:
        await exchange.answer_json(document(v2.models(dispatcher), models.names, version))

    return answer


def _ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def _content(schema: Json, kind: str = "application/json") -> Json:
    return {"content": {kind: {"schema": schema}}}


def _operation(summary: str, answer: Json, body: Json | None = None, errors: str = "Error", **more: Any) -> Json:
    statuses = ("400", "404", "429", "500", "503", "504")
    found: Json = {"summary": summary, "responses": {"200": {"description": "the answer", **answer}}, **more}
    found["responses"] |= {status: {"description": "refused", **_content(_ref(errors))} for status in statuses}
    if body is not None:
        found["requestBody"] = {"required": True, **_content(body)}
    return found


def _parameter(name: str, allowed: list[str]) -> Json:
    """A part of a path."""
    schema: Json = {"type": "string", "pattern": "^[^/:?#%]+$"}
    return {"name": name, "in": "path", "required": True, "schema": {**schema, "examples": allowed} if allowed else schema}


def _object(required: str = "", **properties: Any) -> Json:
    found: Json = {"type": "object", "properties": properties}
    return {**found, "required": required.split()} if required else found


_TEXT, _NUMBER, _WHOLE, _FLAG = {"type": "string"}, {"type": "number"}, {"type": "integer"}, {"type": "boolean"}
_SAMPLING: Json = {
    "max_tokens": {"type": "integer", "minimum": 1}, "temperature": {"type": "number", "minimum": 0, "maximum": 100},
    "top_p": {"type": "number", "minimum": 0, "maximum": 1}, "top_k": {"type": "integer", "minimum": -1},
    "min_p": {"type": "number", "minimum": 0, "maximum": 1}, "n": {"type": "integer", "minimum": 1, "maximum": 16},
    "seed": {"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1}, "stream": _FLAG, "ignore_eos": _FLAG,
    "presence_penalty": {"type": "number", "minimum": -2, "maximum": 2},
    "frequency_penalty": {"type": "number", "minimum": -2, "maximum": 2},
    "repetition_penalty": {"type": "number", "minimum": 0.01, "maximum": 100},
    "stop": {"anyOf": [_TEXT, {"type": "array", "items": _TEXT, "maxItems": 16}]},
}  # fmt: skip


def _schemas(names: list[str]) -> Json:
    model = {"type": "string", "enum": names} if names else _TEXT
    tensor = _object("name datatype shape data", name=_TEXT, datatype={"enum": [*v2.DATATYPES, "BYTES"]},
                     shape={"type": "array", "items": {"type": "integer", "minimum": 0}}, data={"type": "array"})  # fmt: skip
    message = _object("role content", role=_TEXT, content=_TEXT)
    usage = _object("prompt_tokens total_tokens", prompt_tokens=_WHOLE, completion_tokens=_WHOLE, total_tokens=_WHOLE)
    text = {"type": "string", "minLength": 1}

    def texts(most: int) -> Json:
        return {"anyOf": [text, {"type": "array", "items": text, "minItems": 1, "maxItems": most}]}

    return {
        "Error": _object("error", error=_TEXT),
        "OpenAIError": _object("error", error=_object("message type", message=_TEXT, type=_TEXT)),
        "OfficialError": _object("error_msg", error_msg=_TEXT),
        "Tensor": tensor,
        "InferRequest": _object(
            "inputs", id=_TEXT, parameters={"type": "object"}, inputs={"type": "array", "items": _ref("Tensor")},
            outputs={"type": "array", "items": _object("name", name=_TEXT, parameters={"type": "object"})},
        ),
        "InferResponse": _object(
            "model_name model_version outputs", model_name=_TEXT, model_version=_TEXT, id=_TEXT,
            outputs={"type": "array", "items": _ref("Tensor")},
        ),
        "Instances": _object(instances={"anyOf": [{"type": "object"}, {"type": "array", "items": {"type": "object"}}]}),
        "Answers": {"anyOf": [_object("instances", instances={"type": "array"}), _ref("OfficialError")]},
        "CompletionRequest": _object("model prompt", model=model, prompt=texts(512), **_SAMPLING),
        "ChatRequest": _object("model messages", model=model, messages={"type": "array", "items": message, "minItems": 1}, **_SAMPLING),
        "ResponseRequest": _object("model input", model=model, input={"anyOf": [text, {"type": "array", "items": message, "minItems": 1}]},
                                   max_output_tokens=_SAMPLING["max_tokens"], temperature=_SAMPLING["temperature"],
                                   top_p=_SAMPLING["top_p"], instructions=_TEXT, stream=_FLAG),
        "Response": _object("id object created_at model output status", id=_TEXT, object=_TEXT, created_at=_WHOLE, model=_TEXT,
                            output={"type": "array", "items": {"type": "object"}}, status=_TEXT),
        "EmbeddingRequest": _object(
            "model input", model=model, input=texts(2048), encoding_format={"enum": ["float", "base64"]}, dimensions=_WHOLE
        ),
        "Completion": _object("id object created model choices", id=_TEXT, object=_TEXT, created=_WHOLE, model=_TEXT,
                              choices={"type": "array", "items": {"type": "object"}}, usage=usage),
        "Embeddings": _object("object data model usage", object=_TEXT, data={"type": "array", "items": {"type": "object"}}, model=_TEXT,
                              usage=usage),
        "Models": _object("object data", object=_TEXT, data={"type": "array", "items": _object("id object", id=_TEXT, object=_TEXT)}),
    }  # fmt: skip


def document(servables: list[tuple[str, int]], names: list[str], version: str) -> Json:
    """The whole document for a server that has these models of protocol v2 and these language models."""
    model = _parameter("model", sorted({name for name, _ in servables}))
    chunks: Json = {"text/event-stream": {}}

    def generation(summary: str, request: str) -> Json:
        answer = _content(_ref("Completion"))
        answer["content"] |= chunks
        return {"post": _operation(summary, answer, _ref(request), "OpenAIError")}

    info = _content({"type": "object"})
    paths: Json = {
        "/v2": {"get": _operation("the server", info)},
        "/v2/health/live": {"get": _operation("whether the server runs", info)},
        "/v2/health/ready": {"get": _operation("whether all models can answer", info)},
        "/v2/models/{model}": {"get": _operation("inputs and outputs of a model", info, parameters=[model])},
        "/v2/models/{model}/config": {"get": _operation("configuration of a model", info, parameters=[model])},
        "/v2/models/{model}/ready": {"get": _operation("whether a model can answer", info, parameters=[model])},
        "/v2/models/{model}/stats": {"get": _operation("counts and times of a model", info, parameters=[model])},
        "/v2/models/{model}/infer": {
            "post": _operation("run a model", _content(_ref("InferResponse")), _ref("InferRequest"), parameters=[model])
        },
        "/v2/repository/index": {"get": _operation("all models", _content({"type": "array"}))},
        "/model/{servable}:{method}": {
            "post": _operation(
                "run a method of a servable", _content(_ref("Answers")), _ref("Instances"), "OfficialError",
                parameters=[_parameter("servable", []), _parameter("method", [])],
            )
        },
        "/v1/models": {"get": _operation("language models", _content(_ref("Models")), errors="OpenAIError")},
        "/v1/completions": generation("continue texts", "CompletionRequest"),
        "/v1/chat/completions": generation("answer a conversation", "ChatRequest"),
        "/v1/responses": {"post": _operation(
            "answer a conversation, in other words", {"content": {**_content(_ref("Response"))["content"], **chunks}},
            _ref("ResponseRequest"), "OpenAIError")},
        "/v1/embeddings": {"post": _operation("vectors of texts", _content(_ref("Embeddings")), _ref("EmbeddingRequest"), "OpenAIError")},
        "/health": {"get": _operation("whether all models can answer", info)},
        "/metrics": {"get": _operation("counts for Prometheus", _content(_TEXT, "text/plain"))},
    }  # fmt: skip
    key = {"key": {"type": "http", "scheme": "bearer"}}
    return {
        "openapi": "3.1.0", "info": {"title": "MindSpore Serving", "version": version}, "paths": paths,
        "components": {"schemas": _schemas(names), "securitySchemes": key}, "security": [{}, {"key": []}],
    }  # fmt: skip


__all__ = ["document", "handler"]
