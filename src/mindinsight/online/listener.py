"""The gRPC service that trainings connect to. Messages are read by hand, so no generated code is needed."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from mindinsight.events.wire import Malformed
from mindinsight.online import messages
from mindinsight.online.session import Session

_SERVICE = "debugger.EventListener"
_LOGGER = logging.getLogger("mindinsight")
_LARGEST_MESSAGE = 64 << 20


def serve(session: Session, host: str, port: int) -> Any:
    """Begin to listen; the result has `stop(grace)`."""
    import grpc  # an optional package, needed by the online debugger alone

    one, many = grpc.unary_unary_rpc_method_handler, grpc.stream_unary_rpc_method_handler
    handlers = {
        "WaitCMD": one(_answering(grpc, lambda data, context: session.wait(data, context.is_active))),
        "SendMetadata": one(_answering(grpc, lambda data, context: session.hello(data, _peer(context)))),
        "SendHeartbeat": one(_answering(grpc, lambda data, context: messages.OK)),
        "SendGraph": many(_answering(grpc, lambda pieces, _: session.receive_graphs(_all(pieces)))),
        "SendMultiGraphs": many(_answering(grpc, lambda pieces, _: session.receive_graphs(_all(pieces)))),
        "SendTensors": many(_answering(grpc, lambda pieces, _: session.receive_tensors(_all(pieces)))),
        "SendTensorBase": many(_answering(grpc, lambda pieces, _: _passed_over(pieces))),
        "SendTensorStats": many(_answering(grpc, lambda pieces, _: _passed_over(pieces))),
        "SendWatchpointHits": many(_answering(grpc, lambda pieces, _: session.receive_hits(_all(pieces)))),
    }
    server = grpc.server(ThreadPoolExecutor(8, "debugger"), options=[("grpc.max_receive_message_length", _LARGEST_MESSAGE)])
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(_SERVICE, handlers),))
    if not server.add_insecure_port(f"{host}:{port}"):
        raise OSError(f"The debugger's port {port} is taken.")
    server.start()
    return server


def _peer(context: Any) -> str:
    return str(context.peer()).removeprefix("ipv4:").removeprefix("ipv6:")


def _passed_over(pieces: Iterator[bytes]) -> bytes:
    """Messages that say less than those we ask for."""
    for _ in pieces:
        pass
    return messages.OK


def _all(pieces: Iterator[bytes]) -> list[bytes]:
    return list(pieces)


def _answering(grpc: Any, answer: Callable[[Any, Any], bytes]) -> Callable[[Any, Any], bytes]:
    """Bytes that are no message are refused; the training is told so."""

    @functools.wraps(answer)
    def run(given: Any, context: Any) -> bytes:
        try:
            return answer(given, context)
        except Malformed as error:
            _LOGGER.warning("debugger: %s", error)
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
            raise

    return run
