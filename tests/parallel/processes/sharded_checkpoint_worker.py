"""Processes that store a network together, and read what any number of processes have stored."""

import json
import os
import sys
from pathlib import Path

import numpy as np
from cases import case, run

from mindspore import Parameter, Tensor
from mindspore.communication import comm_func, get_group_size, get_rank, init
from mindspore.parallel import load_sharded_checkpoint, save_sharded_checkpoint
from mindspore.train import ReplicaCheck

init()
RANK, SIZE = get_rank(), get_group_size()
FOLDER = Path(sys.argv[1])


def weights(seed=0):
    draw = np.random.default_rng(seed)
    large = draw.normal(size=(1001, 300)).astype("f")
    own = np.full(3, RANK, "f")  # such as running statistics
    return {"large": large, "small": draw.normal(size=5).astype("f"), "count": np.array(7), "own": own}


def parameters(arrays):
    return [Parameter(Tensor(a), name=n) for n, a in arrays.items()]


def saved(folder, step, **more):
    save_sharded_checkpoint(parameters(weights(step)), str(folder), step, append_dict={"note": f"of {RANK}"}, **more)


def assert_is(loaded, step, own=None):
    for name, value in weights(step).items():
        if name != "own":
            np.testing.assert_array_equal(loaded[name].asnumpy(), value)
    assert loaded["own"].asnumpy().tolist() == [RANK if own is None else own] * 3


@case
def each_writes_a_share():
    folder = FOLDER / "shares"
    saved(folder, 3)
    assert_is(load_sharded_checkpoint(str(folder)), 3)
    assert load_sharded_checkpoint(str(folder))["note"] == f"of {RANK}"
    sizes = [os.path.getsize(f) for f in (folder / "step_3").glob("rank_*")]
    assert len(sizes) == SIZE and max(sizes) < 1001 * 300 * 4 / SIZE * 1.1 + 2000


@case
def others_can_read_it():
    """A process of another run has another rank."""
    loaded = load_sharded_checkpoint(str(FOLDER / "shares"), rank=SIZE + 1)
    assert_is(loaded, 3, own=1)


@case
def in_the_background():
    folder = FOLDER / "background"
    for step in (1, 2, 3, 4):
        saved(folder, step, async_save=True, keep=2)
    from mindspore.train._checkpoint.save import wait_async_saves

    wait_async_saves()
    comm_func.barrier()
    assert sorted(p.name for p in folder.iterdir()) == ["step_3", "step_4"]
    assert_is(load_sharded_checkpoint(str(folder)), 4)
    assert_is(load_sharded_checkpoint(str(folder), 3), 3)


@case
def what_is_not_complete_does_not_count():
    folder = FOLDER / "crash"
    saved(folder, 5)
    if RANK == 0:
        (folder / "step_9").mkdir()
        (folder / "step_9" / "rank_0.abcd.safetensors").write_bytes(b"half")
    comm_func.barrier()
    assert_is(load_sharded_checkpoint(str(folder)), 5)
    saved(folder, 9)  # the same step once more, over what the crash has left
    assert_is(load_sharded_checkpoint(str(folder)), 9)
    assert len(list((folder / "step_9").iterdir())) == SIZE + 1


@case
def damage_is_noticed():
    folder = FOLDER / f"damage_{RANK}"
    alone = FOLDER / "shares" / "step_3"
    (folder / "step_3").mkdir(parents=True)
    for file in alone.iterdir():
        (folder / "step_3" / file.name).write_bytes(file.read_bytes())
    victim = next(f for f in (folder / "step_3").glob("rank_0*"))
    content = bytearray(victim.read_bytes())
    content[-1] ^= 1
    victim.write_bytes(content)
    for change, words in ((lambda: None, "damaged"), (lambda: victim.write_bytes(content[:-4]), "the manifest says")):
        change()
        try:
            load_sharded_checkpoint(str(folder), rank=0)
        except ValueError as error:
            assert words in str(error), error
        else:
            raise AssertionError("damage was not noticed")


@case
def replicas_are_compared():
    arrays = {n: a for n, a in weights().items() if n != "own"}
    check = ReplicaCheck(every=1)
    check.compare(parameters(arrays), 1)
    arrays["small"] = arrays["small"].copy()
    if RANK == 1:
        arrays["small"].view(np.uint32)[2] ^= 1 << 7
    try:
        check.compare(parameters(arrays), 2)
    except RuntimeError as error:
        suspects = "rank 1 holds" if SIZE > 2 else "differ between ranks 0, 1"
        assert "'small'" in str(error) and suspects in str(error) and "step 2" in str(error), error
    else:
        raise AssertionError("a flipped bit was not noticed")


if __name__ == "__main__":
    run(RANK)
    if RANK == 0:
        (FOLDER / "processes.json").write_text(json.dumps(SIZE))
