"""Labels on disk: durable, undoable, never half-written."""

import subprocess
import sys
import threading

import pytest

from mindspore.labeling import Label, LabelStore

WRITER = """
import sys
from mindspore.labeling.store import LabelStore
store = LabelStore(sys.argv[1], "kill")
for item in range(100000):
    store.put(item, [item, "value"])
    print(item, flush=True)
"""


def test_what_was_acknowledged_survives_a_kill(tmp_path):
    path = tmp_path / "labels.db"
    for _ in range(3):
        program = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)
        said = [program.stdout.readline() for _ in range(7)]
        program.kill()
        said += program.communicate()[0].splitlines(keepends=True)
        last = max(int(line) for line in said if line.endswith("\n"))
        store = LabelStore(path, "kill")
        kept = {label.item: label.value for label in store.labels()}
        store.close()
        assert all(kept[item] == [item, "value"] for item in range(last + 1))


def test_people_overrule_machines_and_undo_brings_back_what_was_there():
    store = LabelStore(":memory:")
    store.put(3, 1, "model", 0.7)
    store.put(3, 2)
    store.put(3, 0, "model", 0.99)  # a machine does not overrule a person
    assert store.get(3).value == 2
    store.put(3, 5)
    assert store.undo() == 3 and store.get(3).value == 2
    assert store.undo() == 3 and (store.get(3).value, store.get(3).source, store.get(3).confidence) == (1, "model", 0.7)
    assert store.undo() is None and len(store) == 1


def test_wrong_labels_change_nothing():
    store = LabelStore(":memory:")
    for bad in (Label(-1, 0), Label(0, 0, "oracle"), Label(0, 0, "model", 1.5)):
        with pytest.raises(ValueError, match=r"source|confidence"):
            store.put_all([Label(7, 1), bad])
    with pytest.raises(TypeError):
        store.put_all([Label(7, 1), Label(8, object())])
    assert len(store) == 0


def test_a_file_of_something_else_is_refused(tmp_path):
    (tmp_path / "text").write_text("no database at all, but long enough to look at " * 20)
    with pytest.raises(ValueError, match="no file of labels"):
        LabelStore(tmp_path / "text")
    LabelStore(tmp_path / "a.db", "cats").close()
    with pytest.raises(ValueError, match="'cats'"):
        LabelStore(tmp_path / "a.db", "dogs")
    LabelStore(tmp_path / "a.db").close()  # whoever names no project looks on


def test_several_threads_write_at_once(tmp_path):
    store = LabelStore(tmp_path / "labels.db")
    threads = [threading.Thread(target=lambda n=n: [store.put(n * 100 + i, i) for i in range(20)]) for n in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [label.item for label in store.labels()] == sorted(n * 100 + i for n in range(5) for i in range(20))
