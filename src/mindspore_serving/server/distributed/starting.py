"""`start_servable`: a distributed servable, which answers once its agents are there."""

from __future__ import annotations

import json
import os

from mindspore_serving import log
from mindspore_serving.checks import check_int, check_str
from mindspore_serving.engine.dispatcher import Deployment
from mindspore_serving.engine.location import Location, check_location
from mindspore_serving.server.config import LOGS, Wanted, split_address
from mindspore_serving.server.starting import deploy

#: variable of the environment with the secret that agents and worker share
SECRET = "MS_SERVING_SECRET"


def start_servable(
    servable_directory: str,
    servable_name: str,
    rank_table_json_file: str,
    version_number: int = 1,
    distributed_address: str = "0.0.0.0:6200",
    wait_agents_time_in_seconds: int = 0,
    secret: str | None = None,
) -> None:
    """Start a servable that was declared by `declare_servable`, and wait for its agents, which come to `distributed_address`.

    Agents must know the same `secret` (without it, the environment's MS_SERVING_SECRET); without one, whoever reaches that address
    can be an agent. What travels is not encrypted: keep it within a network of your own.
    """
    check_str("servable_directory", servable_directory)
    check_str("servable_name", servable_name)
    check_int("version_number", version_number, 0)
    check_str("rank_table_json_file", rank_table_json_file)
    check_str("distributed_address", distributed_address)
    check_int("wait_agents_time_in_seconds", wait_agents_time_in_seconds, 0)
    split_address("distributed", distributed_address)
    directory = os.path.realpath(servable_directory)
    check_location(directory, servable_name)
    hosts = rank_table(os.path.realpath(rank_table_json_file))
    group = (distributed_address, hosts, wait_agents_time_in_seconds, secret_of_group(secret))
    place = Location(directory, servable_name, version_number or 1)
    deploy([Wanted(Deployment(place, 1, logs=LOGS, group=group), {0})])


def secret_of_group(given: str | None) -> str:
    """What was given, or what the environment has."""
    if given is not None:
        check_str("secret", given)
        return given
    found = os.environ.get(SECRET, "")
    if not found:
        log.warning(f"no secret is set ({SECRET}): whoever reaches the address of the agents can be one")
    return found


def rank_table(path: str) -> list[str]:
    """The machine of each rank; RuntimeError unless the file has ranks 0, 1, 2, …"""
    try:
        with open(path, encoding="utf-8") as file:
            servers = json.load(file)["server_list"]
        found = {int(device["rank_id"]): str(server["server_id"]) for server in servers for device in server["device"]}
        count = sum(len(server["device"]) for server in servers)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RuntimeError(f"The rank table file '{path}' is illegal: {error!r}") from None
    if not found or sorted(found) != list(range(count)):
        raise RuntimeError(f"The rank table file '{path}' is illegal: its ranks must be 0, 1, 2, …, each once")
    return [found[rank] for rank in range(count)]


__all__ = ["secret_of_group", "start_servable"]
