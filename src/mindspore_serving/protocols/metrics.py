"""`/metrics` in Prometheus' text format."""

from __future__ import annotations

from collections.abc import Iterator

from mindspore_serving.engine.dispatcher import Dispatcher
from mindspore_serving.engine.statistics import BUCKETS
from mindspore_serving.llm.language_models import LanguageModels
from mindspore_serving.protocols.http import Exchange, Handler


def handler(dispatcher: Dispatcher, models: LanguageModels) -> Handler:
    async def answer(exchange: Exchange) -> None:
        await exchange.answer(
            "\n".join([*lines(dispatcher), *_residency_lines(dispatcher), *_language_lines(models)]).encode() + b"\n",
            200,
            b"text/plain; version=0.0.4; charset=utf-8",
        )

    return answer


_COUNTERS = (
    ("requests_total", "requests answered", "requests"),
    ("failures_total", "requests with an error", "failures"),
    ("instances_total", "instances answered", "instances"),
    ("batches_total", "batches run", "executions"),
    ("queue_seconds_total", "seconds spent waiting", "queue_s"),
    ("compute_seconds_total", "seconds spent computing", "compute_s"),
)


def lines(dispatcher: Dispatcher) -> Iterator[str]:
    rows = [
        (f'servable="{pool.location.name}",version="{pool.location.version or 1}",method="{method}"', found)
        for pool in dispatcher.pools
        for method, found in list(pool.statistics.methods.items())
    ]
    for name, text, field in _COUNTERS:
        yield from (f"# HELP ms_serving_{name} {text}", f"# TYPE ms_serving_{name} counter")
        yield from (f"ms_serving_{name}{{{labels}}} {getattr(found, field)}" for labels, found in rows)
    yield from ("# HELP ms_serving_latency_seconds from arrival to answer", "# TYPE ms_serving_latency_seconds histogram")
    for labels, found in rows:
        total = 0
        for bound, count in zip((*BUCKETS, "+Inf"), found.buckets):
            total += count
            yield f'ms_serving_latency_seconds_bucket{{{labels},le="{bound}"}} {total}'
        yield f"ms_serving_latency_seconds_sum{{{labels}}} {found.total_s}"
        yield f"ms_serving_latency_seconds_count{{{labels}}} {total}"
    gauges = (
        ("workers", "worker processes"),
        ("waiting", "requests that wait or run"),
        ("worker_restarts", "workers that were replaced"),
    )
    for name, text in gauges:
        yield from (f"# HELP ms_serving_{name} {text}", f"# TYPE ms_serving_{name} gauge")
        for pool in dispatcher.pools:
            value = {"workers": pool.alive, "waiting": pool.queue.unfinished, "worker_restarts": pool.statistics.worker_restarts}[
                name
            ]
            yield f'ms_serving_{name}{{servable="{pool.location.name}",version="{pool.location.version or 1}"}} {value}'


def _residency_lines(dispatcher: Dispatcher) -> Iterator[str]:
    found = dispatcher.residency
    if found is not None:
        values = {"memory_bytes": found.used, "memory_limit_bytes": found.limit, "loads_total": found.loads}
        for name, value in {**values, "evictions_total": found.evictions}.items():
            yield f"ms_serving_{name} {value}"


def _language_lines(models: LanguageModels) -> Iterator[str]:
    for name, model in models.by_name.items():
        if model.parent:
            continue  # an adapter, on its parent's engine
        engine = model.engine
        values = {
            "requests_running": engine.running,
            "requests_waiting": engine.waiting,
            "kv_cache_usage": engine.pages.used / engine.pages.count,
            "prefix_cache_queries_total": engine.pages.queries,
            "prefix_cache_hits_total": engine.pages.hits,
            "prompt_tokens_total": engine.counts.prompt_tokens,
            "generation_tokens_total": engine.counts.made_tokens,
            "preemptions_total": engine.counts.preemptions,
            "guessed_tokens_total": engine.counts.guessed,
            "guessed_right_tokens_total": engine.counts.guessed_right,
            "time_to_first_token_seconds_sum": engine.counts.first_token_seconds,
            "time_to_first_token_seconds_count": engine.counts.first_tokens,
        }
        for key, value in values.items():
            yield f'ms_serving_llm_{key}{{model="{name}"}} {value}'
    for name, encoder in models.encoders.items():
        own = encoder.engine
        for key, value in {"requests_waiting": own.waiting, "texts_total": own.texts, "prompt_tokens_total": own.tokens}.items():
            yield f'ms_serving_encoder_{key}{{model="{name}"}} {value}'
