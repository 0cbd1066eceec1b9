"""A span of OpenTelemetry for each request, HTTP and gRPC, if that is set up before the server starts (`opentelemetry-instrument`).

A request that carries `traceparent` continues its sender's trace.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

import grpc


class Tracing:
    """Spans by the process's tracer provider."""

    def __init__(self, propagate: Any, trace: Any) -> None:
        self._extract: Callable[[Mapping[str, str]], Any] = propagate.extract
        self._kind = trace.SpanKind.SERVER
        self._error = trace.StatusCode.ERROR
        self._tracer = trace.get_tracer("mindspore_serving")

    @classmethod
    def if_set_up(cls) -> Tracing | None:
        """None where nobody would see spans: without the library, or without a provider in this process."""
        try:
            from opentelemetry import propagate, trace
        except ImportError:
            return None
        return None if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider) else cls(propagate, trace)

    def span(self, name: str, headers: Mapping[str, str], attributes: dict[str, str]) -> AbstractContextManager[Any]:
        return self._tracer.start_as_current_span(name, self._extract(headers), self._kind, attributes)  # type: ignore[no-any-return]

    def end_http(self, span: Any, status: int) -> None:
        span.set_attribute("http.response.status_code", status)
        if status >= 500:
            span.set_status(self._error)


class GrpcTracing(grpc.aio.ServerInterceptor):  # type: ignore[misc]  # the library has no types
    def __init__(self, tracing: Tracing) -> None:
        self._tracing = tracing

    async def intercept_service(self, continuation: Any, details: Any) -> Any:
        found = await continuation(details)
        if found is None or not found.unary_unary:
            return found
        service, _, method = details.method.strip("/").partition("/")
        headers = {key: value for key, value in details.invocation_metadata or () if isinstance(value, str)}
        attributes = {"rpc.system": "grpc", "rpc.service": service, "rpc.method": method}

        async def traced(request: Any, context: Any) -> Any:
            with self._tracing.span(details.method.strip("/"), headers, attributes):
                return await found.unary_unary(request, context)

        return grpc.unary_unary_rpc_method_handler(traced, found.request_deserializer, found.response_serializer)


__all__ = ["GrpcTracing", "Tracing"]
