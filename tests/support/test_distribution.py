"""The companion distribution: packages that ask pip or `importlib.metadata` for `mindspore` find this one."""

import importlib.metadata as metadata
import tomllib
from pathlib import Path

import mindspore as ms

ROOT = Path(__file__).resolve().parents[2]


def project(*folder):
    return tomllib.loads((ROOT.joinpath(*folder) / "pyproject.toml").read_text())["project"]


def test_the_name_that_packages_ask_for_is_installed():
    assert metadata.version("mindspore") == ms.__version__
    assert metadata.requires("mindspore") == [f"pymindspore=={ms.__version__}"]


def test_it_holds_no_module():
    folders = {str(path).split("/")[0] for path in metadata.files("mindspore") or ()}
    assert folders == {f"mindspore-{ms.__version__}.dist-info"}


def test_both_distributions_have_one_version():
    main, companion = project(), project("packaging", "mindspore")
    assert main["version"] == companion["version"] == ms.__version__
    assert companion["dependencies"] == [f"{main['name']}=={main['version']}"]
    assert companion["requires-python"] == main["requires-python"]
