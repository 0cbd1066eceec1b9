"""Where servers keep what they share: a handful of Redis' commands, over Redis or over one SQLite file.

Several servers meet in Redis. One server needs nothing but a file: SQLite in WAL mode survives `kill -9` and power cuts
with every finished round. `StoreError` says that the store cannot be reached just now; the servers then answer that the
cluster is in safe mode and come back by themselves.
"""
from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

from mindspore_federated.common.settings import Settings

_LOOK_SECONDS = 0.01


class StoreError(RuntimeError):
    """The store cannot be reached."""


class Store(Protocol):
    """Strings and hashes of bytes. Every method is atomic."""

    def get(self, key: str) -> bytes | None:
        """The string at `key`."""

    def put(self, key: str, value: bytes, seconds: float | None = None) -> None:
        """Set the string at `key`, for some time."""

    def put_all(self, values: Mapping[str, bytes]) -> None:
        """Set several strings at once: nobody, and no crash, sees the one without the other."""

    def put_all_new(self, values: Mapping[str, bytes]) -> bool:
        """The same unless one of them is there; whether they were set."""

    def put_new(self, key: str, value: bytes) -> bool:
        """Set the string at `key` unless there is one; whether it was set."""

    def delete(self, *keys: str) -> None:
        """Remove keys, strings or hashes."""

    def field(self, key: str, field: str) -> bytes | None:
        """One field of the hash at `key`."""

    def fields(self, key: str) -> dict[str, bytes]:
        """All fields of the hash at `key`."""

    def count(self, key: str) -> int:
        """How many fields the hash at `key` has."""

    def put_field(self, key: str, field: str, value: bytes) -> None:
        """Set one field."""

    def put_new_field(self, key: str, field: str, value: bytes) -> bool:
        """Set one field unless it is there; whether it was set."""

    def delete_field(self, key: str, field: str) -> None:
        """Remove one field."""

    def close(self) -> None:
        """Let the connection go."""


def open_store(settings: Settings, checkpoint_dir: str) -> Store:
    """The store that the settings name."""
    if settings.word("distributed_cache.type") == "redis":
        return RedisStore(settings)
    os.makedirs(checkpoint_dir, exist_ok=True)
    return LocalStore(os.path.join(checkpoint_dir, f"{settings.word('fl_name')}.state"))


def claim(store: Store, key: str, field: str, value: bytes, limit: int) -> str:
    """Take one of `limit` places in a hash: "taken", "present" (it already has the field) or "full"."""
    if store.count(key) >= limit:
        return "full"
    if not store.put_new_field(key, field, value):
        return "present"
    if store.count(key) > limit:            # two servers took the last place at once: both step back, one comes again
        store.delete_field(key, field)
        return "full"
    return "taken"


class LocalStore:
    """The store of one server, in one SQLite file.

    Reads come from a mirror in memory. SQLite's `data_version` tells when another process (a scheduler) has written, and
    then, a hundredth of a second later at most, the mirror is read again; writes go to the file first.
    """

    def __init__(self, path: str) -> None:
        self._lock = threading.Lock()
        self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")
        self._db.execute("CREATE TABLE IF NOT EXISTS entries (key TEXT, field TEXT, value BLOB, expires REAL, "
                         "PRIMARY KEY (key, field)) WITHOUT ROWID")
        self._version, self._looked = -1, float("-inf")
        self._mirror: dict[str, dict[str, tuple[bytes, float | None]]] = {}

    @contextmanager
    def _entries(self) -> Iterator[dict[str, dict[str, tuple[bytes, float | None]]]]:
        """All entries, as they are in the file now."""
        try:
            with self._lock:
                if time.monotonic() - self._looked > _LOOK_SECONDS:
                    self._look()
                yield self._mirror
        except sqlite3.Error as error:
            raise StoreError(f"the state file cannot be used: {error}") from error

    def _look(self) -> None:
        """See whether another process has written."""
        (version,) = self._db.execute("PRAGMA data_version").fetchone()
        if version != self._version:
            self._mirror = {}
            for key, field, value, expires in self._db.execute("SELECT * FROM entries"):
                self._mirror.setdefault(key, {})[field] = value, expires
            self._version = version
        self._looked = time.monotonic()

    def _write(self, key: str, field: str, value: bytes, expires: float | None, new: bool) -> bool:
        rule = "ON CONFLICT DO NOTHING" if new else "ON CONFLICT DO UPDATE SET value = excluded.value, expires = excluded.expires"
        with self._entries() as entries:
            if not self._db.execute(f"INSERT INTO entries VALUES (?, ?, ?, ?) {rule}", (key, field, value, expires)).rowcount:
                return False
            entries.setdefault(key, {})[field] = value, expires
            return True

    def get(self, key: str) -> bytes | None:
        return self.field(key, "")

    def put(self, key: str, value: bytes, seconds: float | None = None) -> None:
        self._write(key, "", value, None if seconds is None else time.time() + seconds, new=False)

    def put_all(self, values: Mapping[str, bytes]) -> None:
        self._write_all(values, "INSERT OR REPLACE")

    def put_all_new(self, values: Mapping[str, bytes]) -> bool:
        return self._write_all(values, "INSERT")

    def _write_all(self, values: Mapping[str, bytes], how: str) -> bool:
        with self._entries() as entries:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                self._db.executemany(f"{how} INTO entries VALUES (?, '', ?, NULL)", values.items())
                self._db.execute("COMMIT")
            except sqlite3.Error as error:
                self._db.execute("ROLLBACK")
                if isinstance(error, sqlite3.IntegrityError):            # one of them is there
                    return False
                raise
            for key, value in values.items():
                entries.setdefault(key, {})[""] = value, None
            return True

    def put_new(self, key: str, value: bytes) -> bool:
        return self.put_new_field(key, "", value)

    def delete(self, *keys: str) -> None:
        with self._entries() as entries:
            for key in keys:
                if key in entries:
                    self._db.execute("DELETE FROM entries WHERE key = ?", (key,))
                    del entries[key]

    def field(self, key: str, field: str) -> bytes | None:
        with self._entries() as entries:
            value, expires = entries.get(key, {}).get(field, (None, None))
        return None if expires is not None and expires <= time.time() else value

    def fields(self, key: str) -> dict[str, bytes]:
        with self._entries() as entries:
            return {field: value for field, (value, _) in entries.get(key, {}).items()}

    def count(self, key: str) -> int:
        with self._entries() as entries:
            return len(entries.get(key, {}))

    def put_field(self, key: str, field: str, value: bytes) -> None:
        self._write(key, field, value, None, new=False)

    def put_new_field(self, key: str, field: str, value: bytes) -> bool:
        return self._write(key, field, value, None, new=True)

    def delete_field(self, key: str, field: str) -> None:
        with self._entries() as entries:
            if field in entries.get(key, {}):
                self._db.execute("DELETE FROM entries WHERE key = ? AND field = ?", (key, field))
                del entries[key][field]

    def close(self) -> None:
        with self._lock:
            self._db.close()


class RedisStore:
    """The store that several servers share. Plain commands only: any Redis, any version."""

    def __init__(self, settings: Settings) -> None:
        import redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry

        host, _, port = settings.word("distributed_cache.address").rpartition(":")
        if not host or not port.isdigit():
            raise RuntimeError("The parameter 'distributed_cache.address' should be host:port, but got "
                               f"'{settings.word('distributed_cache.address')}'")
        self._errors = redis.RedisError
        self._redis: Any = redis.Redis(host=host, port=int(port), protocol=2, lib_name=None, lib_version=None,
                                       socket_timeout=10, socket_connect_timeout=2, retry=Retry(NoBackoff(), 1),
                                       **_tls(settings))  # no waiting here: safe mode tells clients at once

    def _run(self, *command: str | bytes | int) -> Any:
        try:
            return self._redis.execute_command(*command)
        except (self._errors, OSError) as error:
            raise StoreError(f"Redis cannot be reached: {error}") from error

    def get(self, key: str) -> bytes | None:
        value: bytes | None = self._run("GET", key)
        return value

    def put(self, key: str, value: bytes, seconds: float | None = None) -> None:
        self._run("SET", key, value, *(() if seconds is None else ("PX", int(seconds * 1000))))

    def put_all(self, values: Mapping[str, bytes]) -> None:
        self._run("MSET", *(part for pair in values.items() for part in pair))

    def put_all_new(self, values: Mapping[str, bytes]) -> bool:
        return bool(self._run("MSETNX", *(part for pair in values.items() for part in pair)))

    def put_new(self, key: str, value: bytes) -> bool:
        return bool(self._run("SETNX", key, value))

    def delete(self, *keys: str) -> None:
        self._run("DEL", *keys)

    def field(self, key: str, field: str) -> bytes | None:
        value: bytes | None = self._run("HGET", key, field)
        return value

    def fields(self, key: str) -> dict[str, bytes]:
        found = self._run("HGETALL", key)
        return {name.decode(): value for name, value in found.items()}

    def count(self, key: str) -> int:
        return int(self._run("HLEN", key))

    def put_field(self, key: str, field: str, value: bytes) -> None:
        self._run("HSET", key, field, value)

    def put_new_field(self, key: str, field: str, value: bytes) -> bool:
        return bool(self._run("HSETNX", key, field, value))

    def delete_field(self, key: str, field: str) -> None:
        self._run("HDEL", key, field)

    def close(self) -> None:
        self._redis.close()


def _tls(settings: Settings) -> dict[str, Any]:
    if not settings.flag("enable_ssl"):
        return {}
    files = {"ssl_ca_certs": "cacert_filename", "ssl_ca_path": "capath", "ssl_certfile": "cert_filename",
             "ssl_keyfile": "private_key_filename"}
    given = {name: settings.word(f"distributed_cache.{key}") for name, key in files.items()}
    if not any(given.values()):
        return {}
    named = bool(settings.word("distributed_cache.server_name"))
    return {"ssl": True, "ssl_check_hostname": named, **{name: value for name, value in given.items() if value}}
