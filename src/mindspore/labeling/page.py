"""The page on which people label: a small server of this machine's own, for one project.

`serve(project)` answers a browser on the loopback address only. Other web pages must not reach it through that browser, so
the Host header must name this machine and whatever changes something must come from the page itself. Training runs in a
thread beside the answers; every answer is on disk before it is acknowledged.
"""

from __future__ import annotations

import io
import json
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from mindspore import log
from mindspore._base.optional import require
from mindspore.labeling.project import Project

WEB = Path(__file__).parent / "web"
FILES = {"/": ("index.html", "text/html"), "/app.js": ("app.js", "text/javascript"), "/style.css": ("style.css", "text/css")}
#: the largest body that is read
LIMIT = 1 << 20
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


class Refused(ValueError):
    """A request that is not answered, and why."""

    def __init__(self, status: HTTPStatus, reason: str):
        super().__init__(reason)
        self.status = status


class LabelServer:
    """The server of a project's page.

    Args:
        port: 0 takes a free one.
        batch: how many items are asked for at a time.
        steps: training steps each time the network learns.
    """

    def __init__(self, project: Project, port: int = 0, batch: int = 20, steps: int = 600):
        self.project = project
        self.batch = batch
        self.steps = steps
        self.queue: list[int] = []
        self.strategy = ""
        self._lock = threading.RLock()
        self._training: threading.Thread | None = None
        self.message = ""
        server = self

        class Handler(_Handler):
            owner = server

        self._http = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._http.daemon_threads = True
        self.port = self._http.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/"

    def start(self) -> LabelServer:
        """Answer in a thread of its own."""
        threading.Thread(target=self._http.serve_forever, name="labeling page", daemon=True).start()
        return self

    def run(self) -> None:
        """Answer until interrupted."""
        try:
            self._http.serve_forever()
        except KeyboardInterrupt:
            pass
        finally:
            self._http.server_close()

    def stop(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        if self._training is not None:
            self._training.join()

    # -- what the page asks ---------------------------------------------------------------------------------------------
    def state(self) -> dict[str, Any]:
        labels = self.project.store.labels()
        people = [label for label in labels if label.source == "human"]
        counts = [0] * len(self.project.classes)
        for label in people:
            for kind in [box[4] for box in label.value or []] if self.project.kind == "boxes" else [label.value]:
                if kind is not None:
                    counts[kind] += 1
        return {
            "classes": self.project.classes, "kind": self.project.kind, "items": len(self.project),
            "labelled": len(people), "by_machine": len(labels) - len(people), "counts": counts,
            "learning": self._training is not None and self._training.is_alive(), "message": self.message,
            "can_learn": self.project.learner is not None, "strategy": self.strategy,
        }  # fmt: skip

    def next_item(self) -> dict[str, Any]:
        """The item to look at, with what is proposed for it."""
        with self._lock:
            answered = {label.item for label in self.project.store.labels("human")}
            self.queue = [item for item in self.queue if item not in answered]
            if not self.queue:
                self.queue = self.project.ask(self.batch, self.strategy)
            if not self.queue:
                return {"item": None}
            return self.item(self.queue[0])

    def item(self, number: int) -> dict[str, Any]:
        if not 0 <= number < len(self.project):
            raise Refused(HTTPStatus.NOT_FOUND, f"there is no item {number}.")
        found = self.project.suggest(number)
        given = self.project.store.get(number)
        out: dict[str, Any] = {
            "item": number,
            "suggestion": None if found is None else {"value": found.value, "confidence": found.confidence},
            "label": None if given is None or given.source != "human" else given.value,
        }
        if self.project.kind in ("text", "table"):
            out["content"] = self.project.show[number] if self.project.show is not None else str(self._row(number))
        return out

    def answer(self, given: dict[str, Any]) -> dict[str, Any]:
        item = given.get("item")
        if not isinstance(item, int) or isinstance(item, bool):
            raise Refused(HTTPStatus.BAD_REQUEST, "'item' must be a number.")
        try:
            self.project.answer(item, given.get("value"))
        except (ValueError, IndexError, TypeError) as error:
            raise Refused(HTTPStatus.BAD_REQUEST, str(error)) from None
        return self.state()

    def undo(self, given: dict[str, Any]) -> dict[str, Any]:
        item = self.project.store.undo()
        if item is not None:
            with self._lock:
                self.queue.insert(0, item)
        return {"item": item}

    def learn(self, given: dict[str, Any]) -> dict[str, Any]:
        with self._lock:
            if self._training is None or not self._training.is_alive():
                self.message = "learning …"
                self._training = threading.Thread(target=self._learn, name="labeling learner")
                self._training.start()
        return self.state()

    def _learn(self) -> None:
        try:
            loss = self.project.learn(self.steps)
            self.message = f"learned: loss {loss:.3f}"
        except (ValueError, TypeError, RuntimeError) as error:
            self.message = str(error)
            log.warning("labelling: %s", error)
            return
        with self._lock:
            self.queue = []  # the network now knows better what to ask

    def picture(self, number: int) -> bytes:
        """An item as a PNG."""
        if not 0 <= number < len(self.project):
            raise Refused(HTTPStatus.NOT_FOUND, f"there is no item {number}.")
        image = require("PIL.Image", "data", "showing images")
        pixels = np.asarray(self.project.show[number]) if self.project.show is not None else _pixels(self._row(number))
        out = io.BytesIO()
        image.fromarray(pixels.squeeze() if pixels.ndim == 3 and pixels.shape[-1] == 1 else pixels).save(out, "PNG")
        return out.getvalue()

    def _row(self, number: int) -> np.ndarray:
        assert self.project.items is not None
        return self.project.items[number]


def _pixels(row: np.ndarray) -> np.ndarray:
    """What a network takes, (channels, height, width) of floats, as gray or colours of 0 to 255."""
    image = row if row.ndim == 2 else row.transpose(1, 2, 0)
    low, high = float(image.min()), float(image.max())
    return ((image - low) * (255.0 / max(high - low, 1e-12))).astype(np.uint8)


class _Handler(BaseHTTPRequestHandler):
    owner: LabelServer
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_GET(self) -> None:
        self._answer(self._get)

    def do_POST(self) -> None:
        self._answer(self._post)

    def _answer(self, find: Any) -> None:
        try:
            self._check_sender()
            content, kind = find(urlsplit(self.path).path)
            status = HTTPStatus.OK
        except Refused as refusal:
            status, kind = refusal.status, "application/json"
            content = json.dumps({"error": str(refusal)}).encode()
            self.close_connection = True
        self.send_response(status)
        for name, value in (*_HEADERS.items(), ("Content-Type", kind), ("Content-Length", str(len(content)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def _check_sender(self) -> None:
        port = self.owner.port
        allowed = {f"127.0.0.1:{port}", f"localhost:{port}"}
        if self.headers.get("Host") not in allowed:
            raise Refused(HTTPStatus.FORBIDDEN, "this page is for the browser of this machine.")
        origin = self.headers.get("Origin")
        if self.command == "POST" and origin is not None and urlsplit(origin).netloc not in allowed:
            raise Refused(HTTPStatus.FORBIDDEN, "requests from other sites may not change anything here.")

    def _get(self, path: str) -> tuple[bytes, str]:
        if path in FILES:
            name, kind = FILES[path]
            return (WEB / name).read_bytes(), f"{kind}; charset=utf-8"
        if path.startswith("/item/") and path.endswith(".png") and path[6:-4].isdecimal():
            return self.owner.picture(int(path[6:-4])), "image/png"
        if path.startswith("/api/item/") and path[10:].isdecimal():
            return _json(self.owner.item(int(path[10:])))
        questions = {"/api/state": self.owner.state, "/api/next": self.owner.next_item}
        if path not in questions:
            raise Refused(HTTPStatus.NOT_FOUND, "there is no such page.")
        return _json(questions[path]())

    def _post(self, path: str) -> tuple[bytes, str]:
        actions = {"/api/answer": self.owner.answer, "/api/undo": self.owner.undo, "/api/learn": self.owner.learn}
        if path not in actions:
            raise Refused(HTTPStatus.NOT_FOUND, "there is no such action.")
        length = self.headers.get("Content-Length", "0")
        if not length.isdecimal() or int(length) > LIMIT:
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"at most {LIMIT} bytes are read.")
        try:
            given = json.loads(self.rfile.read(int(length)) or b"{}")
        except (ValueError, RecursionError):
            raise Refused(HTTPStatus.BAD_REQUEST, "the request is no JSON.") from None
        if not isinstance(given, dict):
            raise Refused(HTTPStatus.BAD_REQUEST, "the request must be a JSON object.")
        return _json(actions[path](given))

    def log_message(self, *args: Any) -> None:
        """The terminal is for the user."""


def _json(value: Any) -> tuple[bytes, str]:
    return json.dumps(value).encode(), "application/json"


def serve(project: Project, port: int = 8090, *, batch: int = 20, steps: int = 600) -> None:
    """Open a project's page for labelling by keyboard; ends with Ctrl-C.

    Args:
        port: 0 takes a free one.
    """
    server = LabelServer(project, port, batch, steps)
    print(f"Label at {server.url}  (Ctrl-C ends)", flush=True)
    server.run()
