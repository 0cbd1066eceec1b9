"""What operators see: spans, the status page's counts, the OpenAPI document."""

import json
import re
import time

import numpy as np
import pytest
import requests

from conftest import ADD
from mindspore_serving.client import Client


@pytest.fixture(scope="module")
def spans():
    """Finished spans; a process has one tracer provider."""
    trace = pytest.importorskip("opentelemetry.sdk.trace")
    from opentelemetry import trace as api
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    provider = trace.TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    api.set_tracer_provider(provider)
    return exporter


def test_spans_continue_the_senders_trace(spans, start):
    grpc, http = start("add", ADD, {1: {"add.mindir": {}}})
    parent = "0af7651916cd43dd8448eb211c80319c"
    spans.clear()
    requests.get(f"{http}/v2/models/add", headers={"traceparent": f"00-{parent}-b7ad6b7169203331-01"}, timeout=20)
    requests.get(f"{http}/v2/models/none", timeout=20)
    x = np.ones(2, np.float32)
    Client(grpc, "add", "add").infer([{"x1": x, "x2": x}])
    end = time.monotonic() + 20
    while len(spans.get_finished_spans()) < 3 and time.monotonic() < end:
        time.sleep(0.02)
    first, second, third = spans.get_finished_spans()
    assert f"{first.context.trace_id:032x}" == parent and first.attributes["http.response.status_code"] == 200
    assert second.attributes["http.response.status_code"] == 404 and third.attributes["rpc.method"] == "Predict"


def test_status_and_openapi(service):
    body = {"model": "tiny", "prompt": "Hello", "max_tokens": 5, "ignore_eos": True}
    assert requests.post(f"{service.address}/v1/completions", json=body, timeout=60).status_code == 200
    page = requests.get(f"{service.address}/", timeout=20)
    assert "text/html" in page.headers["content-type"] and "/status" in page.text
    found = requests.get(f"{service.address}/status", timeout=20).json()
    assert found["ready"] and found["language_models"][0]["made_tokens"] == 5
    document = requests.get(f"{service.address}/openapi.json", timeout=20).json()
    used = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(document)))
    assert used <= set(document["components"]["schemas"]) and document["openapi"] == "3.1.0"
    assert document["components"]["schemas"]["CompletionRequest"]["properties"]["model"]["enum"] == ["tiny"]
