"""Joining a run, ranks and groups."""

import pytest

from mindspore import communication as comm
from mindspore.communication import GlobalComm
from mindspore.communication._comm_helper import Backend, _is_initialized
from mindspore.prims import world

WORLD = "hccl_world_group"


@pytest.fixture(autouse=True)
def alone():
    """Whatever another test of this process has joined."""
    comm.release()


@pytest.fixture
def joined(alone, monkeypatch):
    for name in ("MS_WORKER_NUM", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "RANK_SIZE", "MS_SIMULATION_LEVEL"):
        monkeypatch.delenv(name, raising=False)
    comm.init()
    yield
    comm.release()


def test_before_joining_a_process_is_alone():
    assert not _is_initialized()
    assert (comm.get_rank(), comm.get_group_size(), comm.get_local_rank(), comm.get_local_rank_size()) == (0, 1, 0, 1)
    assert GlobalComm.WORLD_COMM_GROUP == WORLD and GlobalComm.BACKEND == "hccl"
    for call in (comm.get_comm_name, comm.get_process_group_ranks, lambda: comm.create_group("g", [0])):
        with pytest.raises(RuntimeError, match="has not been inited"):
            call()


def test_joining_and_leaving(joined):
    assert _is_initialized() and GlobalComm.INITED
    assert GlobalComm.BACKEND == "mccl" and GlobalComm.WORLD_COMM_GROUP == "mccl_world_group"
    assert comm.get_rank(comm.NCCL_WORLD_COMM_GROUP) == 0
    comm.init("hccl")  # again: only the name changes
    assert GlobalComm.WORLD_COMM_GROUP == WORLD
    comm.release()
    assert not GlobalComm.INITED


def test_groups(joined):
    comm.create_group("g", [0])
    assert comm.get_group_size("g") == 1 and comm.get_process_group_ranks("g") == [0]
    assert comm.get_world_rank_from_group_rank("g", 0) == 0 and comm.get_group_rank_from_world_rank(0, "g") == 0
    comm.create_group("g", [0])  # the same members: fine
    comm.destroy_group("g")
    with pytest.raises(RuntimeError, match="'g' does not exist"):
        comm.get_rank("g")


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: comm.init(3), TypeError, "must be a string"),
        (lambda: comm.init("gloo"), RuntimeError, "one of 'hccl', 'nccl' and 'mccl'"),
        (lambda: comm.get_rank(3), TypeError, "must be type of string"),
        (lambda: comm.create_group("g", (0,)), TypeError, "must be a list"),
        (lambda: comm.create_group("g", []), ValueError, "must not be empty"),
        (lambda: comm.create_group("g", [1]), ValueError, "less than 1, but got 1"),
        (lambda: comm.create_group("g", [0, 0]), ValueError, "repeat"),
        (lambda: comm.create_group(WORLD, [0]), ValueError, "exists already"),
        (lambda: comm.destroy_group(WORLD), ValueError, "does not support destroying"),
        (lambda: comm.destroy_group("none"), RuntimeError, "does not exist"),
        (lambda: comm.get_world_rank_from_group_rank(WORLD, 1), ValueError, "less than 1"),
        (lambda: Backend("gloo"), ValueError, "'hccl', 'nccl' or 'mccl'"),
    ],
)
def test_wrong_use_is_named(joined, call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_a_launcher_that_started_more_processes_is_not_ignored(monkeypatch):
    for name, value in (("MS_WORKER_NUM", "2"), ("MS_SCHED_PORT", "1"), ("MS_TOPO_TIMEOUT", "1")):
        monkeypatch.setenv(name, value)
    with pytest.raises(RuntimeError, match="no scheduler answers"):
        comm.init()
    assert not GlobalComm.INITED


def test_dry_run(monkeypatch):
    for name, value in (("RANK_SIZE", "8"), ("RANK_ID", "3"), ("MS_SIMULATION_LEVEL", "1")):
        monkeypatch.setenv(name, value)
    comm.init()
    try:
        assert (comm.get_rank(), comm.get_group_size()) == (3, 8)
        comm.create_group("even", [0, 2, 4])
        with pytest.raises(RuntimeError, match="no member"):
            comm.get_rank("even")
        comm.create_group("some", [5, 3])
        assert comm.get_rank("some") == 1 and comm.get_group_rank_from_world_rank(5, "some") == 0
    finally:
        comm.release()
    assert world.transport().size == 1
