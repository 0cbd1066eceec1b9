"""`/`: a page that shows what the server does, with charts of the last minutes; `/status`: the counts it draws, as JSON."""

from __future__ import annotations

import importlib.resources
import time
from typing import Any

from mindspore_serving.engine.dispatcher import Dispatcher
from mindspore_serving.engine.pool import Pool
from mindspore_serving.llm.language_models import LanguageModels
from mindspore_serving.protocols.http import Exchange, Handler


def handler() -> Handler:
    page = importlib.resources.files("mindspore_serving.protocols").joinpath("status.html").read_bytes()

    async def answer(exchange: Exchange) -> None:
        await exchange.answer(page, 200, b"text/html; charset=utf-8")

    return answer


def data_handler(dispatcher: Dispatcher, models: LanguageModels) -> Handler:
    async def answer(exchange: Exchange) -> None:
        rows = [_row(pool, method) for pool in dispatcher.pools for method in pool.methods]
        language = [_language_row(name, models) for name, model in models.by_name.items() if not model.parent]
        encoders = [
            {"name": name, "waiting": found.engine.waiting, "tokens": found.engine.tokens, "texts": found.engine.texts}
            for name, found in models.encoders.items()
        ]
        await exchange.answer_json(
            {"time": time.time(), "ready": dispatcher.ready, "servables": rows, "language_models": language, "encoders": encoders}
        )

    return answer


def _row(pool: Pool, method: str) -> dict[str, Any]:
    found = pool.statistics.of(method)
    return {
        "name": pool.location.name, "version": pool.location.version or 1, "method": method, "workers": pool.alive,
        "waiting": pool.queue.unfinished, "requests": found.requests, "failures": found.failures, "seconds": found.total_s,
        "batches": found.executions, "instances": found.instances, "restarts": pool.statistics.worker_restarts,
    }  # fmt: skip


def _language_row(name: str, models: LanguageModels) -> dict[str, Any]:
    engine = models.by_name[name].engine
    return {
        "name": name, "running": engine.running, "waiting": engine.waiting, "cache": engine.pages.used / engine.pages.count,
        "prompt_tokens": engine.counts.prompt_tokens, "made_tokens": engine.counts.made_tokens,
        "first_tokens": engine.counts.first_tokens, "first_token_seconds": engine.counts.first_token_seconds,
    }  # fmt: skip


__all__ = ["data_handler", "handler"]
