"""The server of a process: an event loop in a thread of its own, with the dispatcher, the gRPC and the HTTP side."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import signal
import socket
import ssl
import threading
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import grpc
import uvicorn
import uvloop

from mindspore.version import __version__ as VERSION
from mindspore_serving import log
from mindspore_serving.engine.dispatcher import Dispatcher
from mindspore_serving.engine.signals import Handlers
from mindspore_serving.llm.language_models import LanguageModels
from mindspore_serving.protocols import (
    http,
    metrics,
    official_grpc,
    official_rest,
    openai,
    openapi,
    responses,
    status_page,
    v2_grpc,
    v2_rest,
)
from mindspore_serving.protocols.access import Access, GrpcKeys
from mindspore_serving.protocols.direct import DirectProtocol
from mindspore_serving.protocols.tracing import GrpcTracing, Tracing
from mindspore_serving.server.config import SSLConfig, Wanted, split_address

if TYPE_CHECKING:
    from mindspore_serving.llm.language_model import LanguageModel, TextEncoder

T = TypeVar("T")
_GRPC, _REST = "Serving gRPC", "RESTful server"


@dataclass(frozen=True)
class Options:
    """`admin`: all clients may load and unload models. `keys`: clients need one of them. `admin_keys`: of those who may load and unload."""

    admin: bool = False
    keys: frozenset[str] = frozenset()
    admin_keys: frozenset[str] = frozenset()


class Host:
    """Made by the first start, gone with `stop`. Its thread keeps the process alive while it serves."""

    def __init__(self, options: Options | None = None) -> None:
        options = options or Options()
        self._access = Access(options.keys, options.admin_keys, options.admin)
        self._loop = uvloop.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="serving")
        self._thread.start()
        self.dispatcher = Dispatcher(self._loop, self._all_workers_ended)
        self.language_models = LanguageModels()
        self._grpc: grpc.aio.Server | None = None
        self._http: _HttpServer | None = None
        self._admin: _HttpServer | None = None
        self._asgi: http.Application | None = None
        self._stopping = threading.Lock()
        self._stopped = False
        self._signals = Handlers((signal.SIGINT, signal.SIGTERM), self._on_signal)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        self._loop.close()

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        if self._stopped:
            work.close()
            raise RuntimeError("Serving Error: the server was stopped while it was starting")
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    # -- starting

    def deploy(self, wanted: list[Wanted]) -> None:
        for item in wanted:
            pool = self.dispatcher.deploy(item.deployment, sorted(item.devices) or [0])
            log.info(f"servable {item.deployment.location.name} runs with worker processes {pool.pids}")

    def deploy_on_demand(self, wanted: list[Wanted], megabytes: int) -> None:
        """Let these be loaded when they are asked for, as far as so much memory goes."""
        self._wait(self._know(wanted, megabytes << 20))

    async def _know(self, wanted: list[Wanted], limit: int) -> None:
        residency = self.dispatcher.limit_memory(limit)
        for item in wanted:
            load = functools.partial(self.dispatcher.deploy, item.deployment, sorted(item.devices) or [0])
            residency.know(item.deployment.location, load)

    def add_language_model(self, model: LanguageModel) -> None:
        self.language_models.add(model)
        self.dispatcher.conditions.append(lambda: model.engine.available)

    def add_encoder(self, model: TextEncoder) -> None:
        self.language_models.add_encoder(model)
        self.dispatcher.conditions.append(lambda: model.engine.available)

    def start_grpc(self, address: str, limit: int, ssl_config: SSLConfig | None) -> None:
        if self._grpc is not None:
            raise RuntimeError("Serving Error: Serving gRPC server is already running")
        if address.startswith("unix:"):
            if address == "unix:":
                raise RuntimeError("Serving Error: Empty grpc server unix domain socket address")
            os.makedirs(os.path.dirname(os.path.abspath(address[len("unix:") :])), exist_ok=True)
        else:
            _check_host(address, _GRPC, f"Serving Error: Serving gRPC server start failed, create server failed, address {address}")
        self._grpc = self._wait(self._open_grpc(address, limit, ssl_config))

    async def _open_grpc(self, address: str, limit: int, ssl_config: SSLConfig | None) -> grpc.aio.Server:
        size = limit << 20
        options = [("grpc.max_send_message_length", size), ("grpc.max_receive_message_length", size), ("grpc.so_reuseport", 0)]
        tracing = Tracing.if_set_up()
        interceptors = [GrpcKeys(self._access)] if self._access.needs_keys else []
        server = grpc.aio.server(options=options, interceptors=[*interceptors, *([GrpcTracing(tracing)] if tracing else [])])
        modern = v2_grpc.handler(self.dispatcher, VERSION, self._access)
        server.add_generic_rpc_handlers((official_grpc.handler(self.dispatcher), modern))
        failed = f"Serving Error: Serving gRPC server start failed, create server failed, address {address}"
        try:
            port = (
                server.add_secure_port(address, _grpc_credentials(ssl_config)) if ssl_config else server.add_insecure_port(address)
            )
        except RuntimeError as error:
            raise RuntimeError(f"{failed}: {error}") from None
        if not port and not address.startswith("unix:"):
            raise RuntimeError(failed)
        await server.start()
        return server

    def start_http(self, address: str, limit: int, ssl_config: SSLConfig | None) -> None:
        if self._http is not None:
            raise RuntimeError("Serving Error: RESTful server is already running")
        self._http = self._open_http(address, limit, ssl_config, self._access)

    def start_admin(self, address: str, limit: int, ssl_config: SSLConfig | None) -> None:
        """Another HTTP side, for operators: those who may ask there may load and unload models."""
        self._admin = self._open_http(address, limit, ssl_config, self._access.of_operators())

    def _open_http(self, address: str, limit: int, ssl_config: SSLConfig | None, access: Access) -> _HttpServer:
        if address.startswith("unix:"):
            raise RuntimeError("Serving Error: RESTful server does not support binding to unix domain socket")
        failed = f"Serving Error: RESTful server start failed, bind to the socket address {address} failed"
        host, port = _check_host(address, _REST, failed)
        secure = _ssl_context(ssl_config) if ssl_config else None
        try:
            listening = _listen(host, port)
        except OSError as error:
            raise RuntimeError(f"{failed}: {error.strerror}") from None
        application = self.application(limit << 20, access)
        protocol = DirectProtocol.made_for(self.dispatcher, access, limit << 20, application.traces)
        opened = _HttpServer(application, protocol, listening, secure)
        self._wait(opened.start())
        return opened

    @property
    def names(self) -> list[str]:
        """All that can be asked for by name."""
        known = self.dispatcher.residency.names if self.dispatcher.residency is not None else []
        return [*dict.fromkeys([*self.dispatcher.names(), *known]), *self.language_models.names]

    async def answer(self, scope: dict[str, Any], receive: Any, send: Any, limit: int) -> None:
        """Answer one ASGI request of another event loop, whose `receive` and `send` are called there."""
        if self._asgi is None:
            self._asgi = self.application(limit, self._access)
        caller = asyncio.get_running_loop()

        async def received() -> Any:
            return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(receive(), caller))

        async def sent(message: Any) -> None:
            await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(send(message), caller))

        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._asgi(scope, received, sent), self._loop))

    def application(self, limit: int, access: Access) -> http.Application:
        """The HTTP side; a request may have so many bytes."""
        model = official_rest.handler(self.dispatcher)
        routes = {
            "": status_page.handler(),
            "status": status_page.data_handler(self.dispatcher, self.language_models),
            "openapi.json": openapi.handler(self.dispatcher, self.language_models, VERSION),
            "metrics": metrics.handler(self.dispatcher, self.language_models),
            "model": model,
            "v1": openai.handler(self.language_models, {"/v1/responses": responses.generate}),
            "health": v2_rest.health(self.dispatcher),
            "v2": v2_rest.handler(self.dispatcher, VERSION),
        }
        return http.Application(routes, model, limit, access)

    # -- stopping

    def _on_signal(self, number: int) -> None:
        log.warning(f"Serving server begin to exit: receive exit signal {number}")
        threading.Thread(target=self.stop, name="stopping").start()

    def _all_workers_ended(self) -> None:
        log.warning("Serving server begin to exit: all worker processes have exited")
        threading.Thread(target=self.stop, name="stopping").start()

    @property
    def stopped(self) -> bool:
        return self._stopped

    def stop(self) -> None:
        """Refuse new requests, answer those that wait, end the workers."""
        with self._stopping:
            if not self._stopped:
                self.dispatcher.stop()
                self.language_models.stop()
                self._wait(self._close())
                self._loop.call_soon_threadsafe(self._loop.stop)
                self._stopped = True
        if self._thread is not threading.current_thread():
            self._thread.join()
        self._signals.end()

    async def _close(self) -> None:
        for side in (self._http, self._admin):
            if side is not None:
                await side.stop()
        if self._grpc is not None:
            await self._grpc.stop(1)


def _check_host(address: str, title: str, failed: str) -> tuple[str, int]:
    host, port = split_address(title, address)
    try:
        socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        raise RuntimeError(failed) from None
    return host, port


def _listen(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(place)
        listening.listen(2048)
    except OSError:
        listening.close()
        raise
    return listening


def _grpc_credentials(config: SSLConfig) -> grpc.ServerCredentials:
    key, certificate, authority = config.files()
    return grpc.ssl_server_credentials([(key, certificate)], authority, config.verify_client)


def _ssl_context(config: SSLConfig) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(config.certificate, config.private_key)
    except (ssl.SSLError, OSError):
        raise RuntimeError(f"Serving Error: load private_key from {config.private_key} failed") from None
    if config.verify_client and config.custom_ca:
        try:
            context.load_verify_locations(config.custom_ca)
        except (ssl.SSLError, OSError):
            raise RuntimeError(f"Serving Error: load root certificate from {config.custom_ca} failed") from None
        context.verify_mode = ssl.CERT_REQUIRED
    return context


class _HttpServer:
    """uvicorn on a socket that is bound already."""

    def __init__(
        self, application: http.Application, protocol: Any, listening: socket.socket, secure: ssl.SSLContext | None
    ) -> None:
        config = uvicorn.Config(
            application,
            http=protocol,
            lifespan="off",
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=75,
            timeout_graceful_shutdown=5,
            backlog=2048,
        )
        config.load()
        config.ssl = secure
        self._server = uvicorn.Server(config)
        self._server.capture_signals = contextlib.nullcontext  # type: ignore[assignment, method-assign]
        self._listening = listening
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._server.serve([self._listening]))
        while not self._server.started and not self._task.done():
            await asyncio.sleep(0.005)

    async def stop(self) -> None:
        self._server.should_exit = True
        if self._task is not None:
            await self._task
