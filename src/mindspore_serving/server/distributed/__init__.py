"""Models that are cut over several processes and machines. Façade: re-exports only."""

from mindspore_serving.server.distributed.agents import startup_agents
from mindspore_serving.server.distributed.declaring import declare_servable
from mindspore_serving.server.distributed.starting import start_servable

__all__ = ["declare_servable", "start_servable", "startup_agents"]
