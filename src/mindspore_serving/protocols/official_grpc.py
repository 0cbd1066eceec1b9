"""`MSService.Predict` over gRPC."""

from __future__ import annotations

import time
from typing import Any

import grpc

from mindspore_serving.engine.dispatcher import Dispatcher, Spec
from mindspore_serving.engine.errors import ServingError
from mindspore_serving.protocols.official import SERVICE, instances_of, refusal, reply_of, schema


def handler(dispatcher: Dispatcher) -> Any:
    async def predict(request: Any, context: grpc.aio.ServicerContext[Any, Any]) -> Any:
        spec = Spec(request.servable_spec.name, request.servable_spec.method_name, request.servable_spec.version_number)
        left = context.time_remaining()
        try:
            await dispatcher.wake(spec.servable)
            _, method = dispatcher.find(spec)
            answers = await dispatcher.infer(spec, instances_of(request, method.inputs), time.monotonic() + left if left else None)
            reply = reply_of(answers, method.outputs)
        except ServingError as error:
            reply = refusal(error)
        reply.servable_spec.CopyFrom(request.servable_spec)
        return reply

    messages = schema()
    method = grpc.unary_unary_rpc_method_handler(
        predict, messages["PredictRequest"].FromString, messages["PredictReply"].SerializeToString
    )
    return grpc.method_handlers_generic_handler(SERVICE, {"Predict": method})
