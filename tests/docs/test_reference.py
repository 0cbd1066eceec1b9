"""The API reference: every public name says what it does and shows an example, the examples run, and the pages hold together."""

import inspect
import json
import os
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

import mindspore as ms

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent.parent / "docs"))
import generate_api  # noqa: E402
from reference import errors, examples, guides, names  # noqa: E402

#: namespaces of which every name has words, an example, and an explanation of every argument
COMPLETE = (
    "tensor", "cell", "ops", "primitives", "nn", "mint", "mint_nn", "mint_functional", "mint_linalg", "mint_special",
    "mint_optim", "numpy", "scipy_linalg", "initializer", "train", "model", "amp", "optim", "lr_scheduler",
    "distribution", "bijector", "pipeline", "transforms", "vision", "text", "audio",
)  # fmt: skip
#: of those, the ones whose example would need a file that is too large to make here
NEEDS_A_FILE = {
    "mindspore.dataset.vision.DecodeVideo": "a video",
    "mindspore.dataset.vision.VideoDecoder": "a video",
    "mindspore.dataset.vision.read_video": "a video",
    "mindspore.dataset.vision.read_video_timestamps": "a video",
    "mindspore.dataset.text.JiebaTokenizer": "jieba's dictionary",
    "mindspore.dataset.text.SentencePieceTokenizer": "a SentencePiece model",
    "mindspore.dataset.text.SentencePieceVocab": "a SentencePiece model",
}
#: names that are data, or whose example would need files, several processes or a device: of the most used ones
WITHOUT_EXAMPLE = {
    "mindspore.float16", "mindspore.float32", "mindspore.float64", "mindspore.bfloat16", "mindspore.int8", "mindspore.int32",
    "mindspore.int64", "mindspore.uint8", "mindspore.bool_", "mindspore.GRAPH_MODE", "mindspore.PYNATIVE_MODE", "mindspore.__version__",
    "mindspore.load_distributed_checkpoint", "mindspore.load_checkpoint", "mindspore.save_checkpoint", "mindspore.export",
    "mindspore.data_sink", "mindspore.ops.DataType", "mindspore.ParallelMode",
}  # fmt: skip

ENTRIES = {page.name: names.entries(page) for page in names.PAGES}


def shown() -> list:
    """Every example that a page shows, once."""
    seen: dict[str, str] = {}
    for found in ENTRIES.values():
        for entry in found:
            if entry.example:
                seen.setdefault(entry.example, entry.full_name)
    return [pytest.param(name, example, id=name) for example, name in seen.items()]


@pytest.fixture(autouse=True)
def same_settings_afterwards(tmp_path, monkeypatch):
    """Examples may set the mode and write files."""
    mode = ms.get_context("mode")
    monkeypatch.chdir(tmp_path)
    yield
    ms.set_context(mode=mode)
    ms.reset_auto_parallel_context()


@pytest.mark.parametrize("name,example", shown())
def test_example(name, example):
    assert not examples.failure(name, example)


@pytest.mark.parametrize("page", COMPLETE)
def test_every_name_has_words_and_an_example(page):
    lacking = [e.full_name for e in ENTRIES[page] if not e.words or not (e.example or e.full_name in NEEDS_A_FILE)]
    assert not lacking, f"no docstring, or none with an example: {' '.join(lacking)}"


@pytest.mark.parametrize("page", COMPLETE)
def test_every_argument_is_explained(page):
    lacking = [f"{e.full_name}({a.name})" for e in ENTRIES[page] for a in e.parameters if not a.explained]
    assert not lacking, f"neither the docstring nor docs/reference/glossary.txt explains: {' '.join(lacking)}"


def test_every_name_says_what_it_does():
    silent = [e.full_name for found in ENTRIES.values() for e in found if not e.words]
    assert not silent, f"no docstring: {' '.join(silent)}"


def test_the_most_used_names_have_words_and_an_example():
    lacking = []
    for name in (HERE / "most_used.txt").read_text().split():
        target = inspect.getattr_static(names.resolve(name.rpartition(".")[0]), name.rpartition(".")[2], None)
        target = names.resolve(name) if target is None else target
        target = getattr(target, "__func__", getattr(target, "fget", target)) if not callable(target) else target
        text = inspect.getdoc(target) or ""
        if not text or (">>>" not in text and name not in WITHOUT_EXAMPLE):
            lacking.append(name)
    assert not lacking, f"no docstring with an example: {' '.join(lacking)}"


class Links(HTMLParser):
    """Where a page's links lead, its anchors, and whether its elements are closed in the order they were opened."""

    EMPTY = {"meta", "link", "input", "wbr"}

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.anchors: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.links += [value for key, value in attrs if key in ("href", "src") and value and not value.startswith("data:")]
        self.anchors += [value for key, value in attrs if key == "id"]
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"</{tag}> closes nothing"


def test_the_pages_hold_together(tmp_path):
    counts = generate_api.generate(tmp_path)
    assert all(counts.values())
    pages = {path.relative_to(tmp_path).as_posix(): path for path in tmp_path.rglob("*.html")}
    written = len(guides.guides())
    assert len(pages) == sum(counts.values()) + len(counts) + written + 1  # one per name, namespace and guide, the front page
    assert {g.source for g in guides.guides()} >= {(guides.DOCS / page).resolve() for _, shelf in guides.SHELVES for page in shelf}
    parsed = {}
    for name, path in pages.items():
        parser = parsed[path] = Links()
        parser.feed(path.read_text(encoding="utf-8"))
        assert not parser.open, f"{name} leaves {parser.open} open"
        assert len(set(parser.anchors)) == len(parser.anchors), f"{name} has an anchor twice"
    for name, path in pages.items():
        missing = [link for link in parsed[path].links if "://" not in link and not leads_somewhere(path, link, parsed)]
        assert not missing, f"{name} leads to {missing[:3]}, which are not there"
    index = json.loads((tmp_path / "index.js").read_text(encoding="utf-8").removeprefix("window.INDEX = ").rstrip(";\n"))
    lost = [place for _, place, _ in index if not leads_somewhere(tmp_path / "index.html", place, parsed)]
    assert not lost, f"the search leads to {lost[:3]}, which are not there"


def leads_somewhere(page, link, parsed):
    """Whether the file of a link is there, and in it the anchor."""
    file, _, anchor = unquote(link).partition("#")
    target = Path(os.path.normpath(page.parent / file)) if file else page
    return anchor in parsed[target].anchors if anchor and target in parsed else target.is_file() and not anchor


def test_an_example_shows_the_method_and_the_alias():
    function = ">>> print(ops.add(Tensor([1]), ops.abs(x)))\n[2]"
    assert examples.as_method(function, "add", "add") == ">>> print(Tensor([1]).add(ops.abs(x)))\n[2]"
    assert examples.renamed(function, "ops.abs", "mint.abs") == ">>> print(ops.add(Tensor([1]), mint.abs(x)))\n[2]"
    assert examples.runnable(">>> ops.abs(x)").splitlines()[0] == ">>> from mindspore import ops"


def test_an_example_with_another_result_fails():
    assert examples.failure("sum", ">>> 1.0 + 1.0\n2.0000001") == ""
    assert "Expected" in examples.failure("sum", ">>> 1.0 + 1.0\n2.1")
    assert "Expected" in examples.failure("words", ">>> 'this'\n'that'")


def test_errors_are_read_from_the_code():
    assert ("ValueError", "`rounding_mode` is not one of (None, 'floor', 'trunc').") in errors.raised(ms.ops.div)
    assert ("ValueError", "For 'block_diag', the inputs must have at most 2 dimensions.") in errors.raised(
        ms.ops.block_diag
    )
    assert any(error == "ValueError" and "keep_prob" in when for error, when in errors.raised(ms.nn.Dropout))


def test_a_class_shows_what_its_objects_are_called_with():
    calls = {entry.name: entry.call for entry in ENTRIES["primitives"]}
    assert calls["MatMul"] == "(x, y)" and calls["ScatterAdd"] == "(input_x, indices, updates)"
    assert calls["ApplyMomentum"] == "(var, accum, lr, grad, momentum)"
