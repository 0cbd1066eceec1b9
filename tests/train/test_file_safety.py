"""Files as they are written and sealed: symbolic links, leftovers, encrypted blocks."""

import os

import numpy as np
import pytest

import mindspore as ms
from mindspore.formats import encryption
from mindspore.mindrecord import FileWriter

KEY = b"0123456789abcdef"


def test_saving_through_a_symbolic_link_replaces_the_file_it_names(tmp_path):
    (tmp_path / "models").mkdir()
    target, link = tmp_path / "models" / "real.ckpt", tmp_path / "latest.ckpt"
    link.symlink_to(target)
    for value in (1.0, 2.0):  # the file is made, then replaced
        ms.save_checkpoint([{"name": "w", "data": ms.Tensor([value])}], str(link))
        assert link.is_symlink()
        assert ms.load_checkpoint(str(target))["w"].asnumpy() == [value]
    assert sorted(os.listdir(tmp_path)) == ["latest.ckpt", "models"]
    assert os.listdir(tmp_path / "models") == ["real.ckpt"]


def test_a_shard_that_cannot_be_begun_leaves_no_part_of_the_others(tmp_path, monkeypatch):
    from mindspore.mindrecord import index

    made = []

    def create(path, *arguments, original=index.create):
        made.append(path)
        if len(made) == 2:
            raise OSError("no space left")
        original(path, *arguments)

    monkeypatch.setattr(index, "create", create)
    writer = FileWriter(str(tmp_path / "rows"), shard_num=2)
    writer.add_schema({"x": {"type": "int32"}})
    with pytest.raises(Exception, match="no space left"):
        writer.write_raw_data([{"x": 1}])
        writer.commit()
    del writer
    assert len(made) == 2
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("mode", ["AES-GCM", "AES-CBC"])
def test_nothing_may_follow_the_last_encrypted_block(mode):
    pytest.importorskip("cryptography")
    content = np.arange(100, dtype=np.uint8).tobytes()
    data = b"".join(encryption.encrypt(content, KEY, mode))
    assert encryption.decrypt(data, KEY, mode) == content
    for more in (b"\0", b"\0" * 100, data):
        with pytest.raises(encryption.WrongKeyError):
            encryption.decrypt(data + more, KEY, mode)
