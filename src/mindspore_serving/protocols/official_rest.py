"""`POST /model/{servable}[/version/{n}]:{method}`. Errors are answered with status 200 and {"error_msg": …}, as official."""

from __future__ import annotations

from typing import Any

from mindspore_serving.engine.dispatcher import Dispatcher, Spec
from mindspore_serving.engine.errors import Kind, ServingError
from mindspore_serving.protocols.http import Exchange, Handler, retry_after
from mindspore_serving.protocols.official_json import MissingInput, instances_of, reply_of

_PARSE = "Parser request failed, "


def handler(dispatcher: Dispatcher) -> Handler:
    async def answer(exchange: Exchange) -> None:
        try:
            if exchange.method != "POST":
                raise ServingError(f"{_PARSE}http message only support POST right now")
            reply = await _predict(dispatcher, exchange)
        except ServingError as error:
            status = error.kind.http if error.kind in (Kind.OVERLOADED, Kind.UNAVAILABLE) else 200
            await exchange.answer_json({"error_msg": error.message}, status, retry_after(error))
            return
        await exchange.answer_json(reply)

    return answer


async def _predict(dispatcher: Dispatcher, exchange: Exchange) -> dict[str, Any]:
    try:
        message = await exchange.json()
        spec = spec_of(exchange.path)
    except ServingError as error:
        raise ServingError(_PARSE + error.message) from None
    await dispatcher.wake(spec.servable)
    _, method = dispatcher.find(spec)
    try:
        instances = instances_of(message, method.inputs, f"servable {spec.servable}, method {spec.method}")
    except MissingInput:
        raise
    except ServingError as error:
        raise ServingError(_PARSE + error.message) from None
    return reply_of(await exchange.while_there(dispatcher.infer(spec, instances)), method.outputs)


def spec_of(path: str) -> Spec:
    """What a path asks for."""
    place, _, method = path.partition(":")
    parts = place.strip("/").split("/")
    named = dict(zip(parts[::2], parts[1::2]))  # in any order
    if not named.get("model"):
        raise ServingError("please check url, the keyword:[model] must contain.")
    version = _version(named["version"]) if "version" in named else 0
    if not method:
        raise ServingError("please check url, the keyword:[service method] must contain.")
    return Spec(named["model"], method, version)


def _version(text: str) -> int:
    try:
        version = int(text)
    except ValueError:
        raise ServingError(f"please check url, the keyword:[version] value invalid, request version number {text}") from None
    if not 0 <= version < 2**32 - 1:
        raise ServingError(f"please check url, version number range failed, request version number {text}")
    return version
