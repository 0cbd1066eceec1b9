"""The API reference: its examples run, the most used names have one, and every page can be written."""

import inspect
import sys
from pathlib import Path

import pytest

import mindspore as ms

HERE = Path(__file__).parent
DOCS = HERE.parent.parent / "docs"
#: names that are data, not operations; and those whose example needs files, several processes or a device
WITHOUT_EXAMPLE = {
    "mindspore.float16", "mindspore.float32", "mindspore.float64", "mindspore.bfloat16", "mindspore.int8", "mindspore.int32",
    "mindspore.int64", "mindspore.uint8", "mindspore.bool_", "mindspore.GRAPH_MODE", "mindspore.PYNATIVE_MODE", "mindspore.__version__",
    "mindspore.load_distributed_checkpoint", "mindspore.load_checkpoint", "mindspore.save_checkpoint", "mindspore.export",
    "mindspore.data_sink", "mindspore.ops.DataType", "mindspore.ParallelMode",
}  # fmt: skip


sys.path.insert(0, str(DOCS))
import generate_api as api  # noqa: E402
import reference_examples as examples  # noqa: E402

CHECKED = (
    "mindspore",
    "tensor",
    "cell",
    "nn",
    "ops",
    "primitives",
    "mint",
    "mint_nn",
    "mint_functional",
    "initializer",
    "amp",
)


def shown():
    """Every docstring with an example on the checked pages, once."""
    seen = {}
    for page, path, _ in api.PAGES:
        if page in CHECKED:
            for entry in api.entries(path, page):
                if ">>>" in entry.text:
                    seen.setdefault(entry.text, f"{path}.{entry.name}")
    return [(name, text) for text, name in seen.items()]


EXAMPLES = shown()


@pytest.fixture(autouse=True)
def same_settings_afterwards(tmp_path, monkeypatch):
    """Examples may set the mode and write files."""
    mode = ms.get_context("mode")
    monkeypatch.chdir(tmp_path)
    yield
    ms.set_context(mode=mode)
    ms.reset_auto_parallel_context()


@pytest.mark.parametrize("name,text", EXAMPLES, ids=[n for n, _ in EXAMPLES])
def test_example(name, text):
    example = examples.runnable(examples.parts(text)[1])
    assert not examples.failure(name, example)


def test_the_most_used_names_have_words_and_an_example():
    lacking = []
    for name in (HERE / "most_used.txt").read_text().split():
        target = inspect.getattr_static(api.resolve(name.rpartition(".")[0]), name.rpartition(".")[2], None)
        target = api.resolve(name) if target is None else target
        target = getattr(target, "__func__", getattr(target, "fget", target)) if not callable(target) else target
        text = inspect.getdoc(target) or ""
        if not text or (">>>" not in text and name not in WITHOUT_EXAMPLE):
            lacking.append(name)
    assert not lacking, f"no docstring with an example: {' '.join(lacking)}"


def test_every_layer_has_an_example():
    """All but the layers of quantisation-aware training, which older scripts build by configuration."""
    lacking = [e.name for e in api.entries("mindspore.nn", "nn") if ">>>" not in e.text and "Quant" not in e.name]
    assert set(lacking) <= {"PipelineGradReducer", "VirtualDatasetCellTriple"}, f"no example: {' '.join(lacking)}"


def test_every_operation_says_what_it_does():
    silent = [
        f"{path}.{e.name}"
        for page, path, _ in api.PAGES
        if page in CHECKED
        for e in api.entries(path, page)
        if not e.text
    ]
    assert not silent, f"no docstring: {' '.join(silent)}"


def test_every_page_is_written(tmp_path):
    counts = api.generate(tmp_path)
    index = (tmp_path / "index.md").read_text()
    for page, count in counts.items():
        assert count > 0 and f"({page}.md)" in index
        assert (tmp_path / f"{page}.md").read_text().count("\n### ") == count
