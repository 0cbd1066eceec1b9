"""What a killed writer leaves is gone after the next one; what others are writing stays."""

import os
import re
import signal
import subprocess
import sys

from mindspore.mindrecord import FileReader, FileWriter

_WRITER = """
import os, signal, sys
from mindspore.mindrecord import FileWriter
writer = FileWriter(sys.argv[1])
writer.add_schema({"n": {"type": "int32"}}, "rows")
writer.write_raw_data([{"n": 1}])
os.kill(os.getpid(), signal.SIGKILL)
"""


def write(path):
    writer = FileWriter(path, overwrite=True)
    writer.add_schema({"n": {"type": "int32"}}, "rows")
    writer.write_raw_data([{"n": 7}])
    writer.commit()


def parts(folder):
    return sorted(name for name in os.listdir(folder) if name.endswith(".part"))


def test_the_next_writer_removes_what_a_killed_one_left(tmp_path):
    path = str(tmp_path / "data.mindrecord")
    done = subprocess.run([sys.executable, "-c", _WRITER, path], check=False)
    assert done.returncode == -signal.SIGKILL
    left = parts(tmp_path)
    assert left, "the writer was killed before it made its files"
    mine = [re.sub(r"-\d+-", f"-{os.getpid()}-", name) for name in left]  # as if this process were writing
    others = [".other.mindrecord." + name.rpartition("mindrecord.")[2] for name in left]
    for name in (*mine, *others):
        (tmp_path / name).write_bytes(b"")
    write(path)
    assert parts(tmp_path) == sorted((*mine, *others))
    reader = FileReader(path)
    assert [int(row["n"]) for row in reader.get_next()] == [7]
    reader.close()


def test_writing_leaves_nothing(tmp_path):
    write(str(tmp_path / "data.mindrecord"))
    assert parts(tmp_path) == []
