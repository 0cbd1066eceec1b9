"""What docstrings, comments and documents point to exists."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "mindspore"
MENTION = re.compile(r"(?<![\w./<{*-])((?:[a-z_]+/)+[a-z_0-9]+\.py)\b")


def test_files_that_are_mentioned_exist():
    known = {p.relative_to(base).as_posix() for base in (ROOT, ROOT / "src", SOURCE) for p in base.rglob("*.py")
             if ".venv" not in p.parts}  # fmt: skip
    suffixes = {"/".join(path.split("/")[start:]) for path in known for start in range(path.count("/"))}
    texts = [*SOURCE.rglob("*.py"), *SOURCE.rglob("*.md"), *(ROOT / "docs").glob("*.md"), ROOT / "CONTRIBUTING.md"]
    wrong = [
        f"{path.relative_to(ROOT)}: {mention}"
        for path in texts
        for mention in MENTION.findall(path.read_text())
        if mention not in known | suffixes
    ]
    assert not wrong, "\n".join(wrong)


def test_modules_that_the_protocol_of_primitives_mentions_exist():
    text = (SOURCE / "prims" / "primitive.py").read_text().partition('"""\n\nfrom')[0]
    for mention in re.findall(r"\bcompiler/[\w/.]+", text):
        assert (SOURCE / mention.rstrip(".")).exists(), mention
