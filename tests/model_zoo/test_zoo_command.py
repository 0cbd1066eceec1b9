"""`python -m mindspore.model_zoo`: what it does, and what it says when it cannot."""

import numpy as np
import pytest

import mindspore as ms
import mindspore.dataset as ds
from mindspore import model_zoo, train
from mindspore.model_zoo.command import main


def run(capsys, *arguments):
    code = main(list(arguments))
    caught = capsys.readouterr()
    return code, caught.out, caught.err


@pytest.fixture(autouse=True)
def own_context():
    with ms.context.local_context():
        yield


def test_list_names_networks_with_papers(capsys):
    code, out, _ = run(capsys, "list", "--task", "images")
    assert code == 0
    assert any(line.split()[0] == "resnet50" and "He et al. 2016" in line for line in out.splitlines())


def test_summary_counts_what_a_closed_form_gives(capsys):
    code, out, _ = run(capsys, "summary", "lenet5", "--batch", "1")
    convolutions = 2 * (6 * 28 * 28 * 25 + 16 * 10 * 10 * 25 * 6)
    products = 2 * (400 * 120 + 120 * 84 + 84 * 10)
    net = model_zoo.create("lenet5")
    counted = model_zoo.summary.__globals__["flops"](net.set_train(False), model_zoo.sample(net))
    assert code == 0
    assert convolutions + products <= counted <= 1.05 * (convolutions + products)
    assert "61,706" in out


def test_training_learns_exports_and_goes_on(capsys, tmp_path):
    options = ("lenet5", "--size", "28", "--data", "synthetic", "--limit", "640")
    recipe = ("--epochs", "4", "--batch", "32", "--optimizer", "adam", "--rate", "0.002")
    code, out, _ = run(capsys, "train", *options, *recipe, "--out", str(tmp_path))
    assert code == 0
    assert float(out.split("accuracy ")[1].split()[0]) > 0.9
    assert (tmp_path / "summary").is_dir()
    weights = str(tmp_path / "lenet5.ckpt")
    code, out, _ = run(capsys, "eval", *options, "--weights", weights)
    assert code == 0
    assert float(out.split()[1]) > 0.9
    code, out, _ = run(capsys, "export", "lenet5", "--size", "28", "--weights", weights, "--out", str(tmp_path / "net"))
    assert code == 0
    assert (tmp_path / "net.mindir").is_file()
    code, _, err = run(capsys, "eval", *options, "--classes", "7", "--weights", weights)
    assert code == 2
    assert "fc3.weight has shape (10, 84) there and (7, 84) here. Give the --classes" in err


def interrupted(monkeypatch, *arguments):
    """Train until the second epoch is stored, and interrupt it."""
    real, saved = train.ExactResume.on_train_step_end, []

    def stop_at_the_second(self, run_context):
        real(self, run_context)
        saved.extend([1] * (run_context.original_args().cur_step_num % self.save_steps == 0))
        if len(saved) == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(train.ExactResume, "on_train_step_end", stop_at_the_second)
        return main(list(arguments))


@pytest.fixture
def seeded_data():
    """The command's seed does not reach the data's order within a context of a test's own."""
    before = ds.config.get_seed()
    ds.config.set_seed(1)
    yield
    ds.config.set_seed(before)


def test_an_interrupted_run_goes_on_by_the_same_command(capsys, tmp_path, monkeypatch, seeded_data):
    command = ("train", "lenet5", "--tiny", "--data", "synthetic", "--limit", "192", "--epochs", "4", "--batch", "64", "--out")
    assert interrupted(monkeypatch, *command, str(tmp_path / "a")) == 130
    assert f"interrupted: the same command goes on after the last whole epoch in '{tmp_path / 'a'}'" in capsys.readouterr().err
    code, went_on, _ = run(capsys, *command, str(tmp_path / "a"))
    assert code == 0
    assert f"going on with the interrupted run in '{tmp_path / 'a'}'" in went_on
    _, whole, _ = run(capsys, *command, str(tmp_path / "b"))
    losses = [line for line in whole.splitlines() if line.startswith("epoch")]
    assert [line for line in went_on.splitlines() if line.startswith("epoch")] == losses[2:]
    assert not list((tmp_path / "a" / "resume").iterdir())
    for name, value in ms.load_checkpoint(str(tmp_path / "b" / "lenet5.ckpt")).items():
        np.testing.assert_array_equal(ms.load_checkpoint(str(tmp_path / "a" / "lenet5.ckpt"))[name].asnumpy(), value.asnumpy())


def test_an_interrupted_run_is_not_taken_for_another(capsys, tmp_path, monkeypatch):
    command = ("train", "lenet5", "--tiny", "--data", "synthetic", "--limit", "192", "--epochs", "4", "--out", str(tmp_path))
    interrupted(monkeypatch, *command, "--batch", "64")
    state = (tmp_path / "resume" / "resume.ckpt").read_bytes()
    capsys.readouterr()
    changes = {("--batch", "32"): "4 epochs in batches of 32", ("--batch", "64", "--classes", "5"): "parameters: ",
               ("--batch", "64", "--amp", "O2"): "mixed precision: O0 there, O2 here"}  # fmt: skip
    for options, words in changes.items():
        code, _, err = run(capsys, *command, *options)
        assert code == 2
        assert "holds an interrupted run of another kind" in err and words in err and "remove the folder" in err
    assert (tmp_path / "resume" / "resume.ckpt").read_bytes() == state


def test_pynative_and_mixed_precision_train_too(capsys):
    options = ("--data", "synthetic", "--limit", "64", "--epochs", "1", "--batch", "32", "--size", "28")
    assert run(capsys, "train", "lenet5", *options, "--mode", "pynative")[0] == 0
    assert run(capsys, "train", "lenet5", *options, "--amp", "O2")[0] == 0


def test_folders_of_images_give_the_number_of_classes(capsys, tmp_path):
    vision = pytest.importorskip("mindspore.dataset.vision")
    for part in ("train", "val"):
        for kind in range(3):
            (tmp_path / part / f"kind{kind}").mkdir(parents=True)
            for i in range(4):
                image = np.full((40, 48, 3), 60 * kind + i, np.uint8)
                vision.write_png(str(tmp_path / part / f"kind{kind}" / f"{i}.png"), image)
    options = ("lenet5", "--size", "32", "--data", str(tmp_path), "--epochs", "1", "--batch", "4")
    code, _, _ = run(capsys, "train", *options)
    assert code == 0
    code, _, err = run(capsys, "train", *options, "--classes", "7")
    assert code == 2
    assert "has 3 classes, but the network was made for 7" in err
    code, out, _ = run(capsys, "predict", "lenet5", str(tmp_path / "val/kind0/0.png"))
    assert code == 0
    assert len(out.splitlines()) == 5
    (tmp_path / "train/kind1/2.png").write_text("no image")
    code, _, err = run(capsys, "train", *options)
    assert code == 2
    assert err.startswith("error:")
    assert "kind1/2.png" in err



@pytest.mark.parametrize("arguments, words", [
    (("summary", "resent50"), "did you mean resnet50"),
    (("summary", "zzzzzz"), "`list` shows all names"),
    (("train", "lenet5", "--data", "/no/such/folder"), "There is no data at '/no/such/folder'"),
    (("train", "lenet5", "--data", "synthetic", "--limit", "8", "--batch", "16"), "fewer rows than a batch"),
    (("summary", "lenet5", "--size", "9"), "'image_size' must be at least 16"),
    (("summary", "vit_b_16", "--size", "100"), "must be a multiple of the patch"),
    (("summary", "lenet5", "--classes", "0"), "'num_classes' must be a positive int"),
    (("summary", "lenet5", "--set", "width=3"), "has no option 'width'"),
    (("summary", "lenet5", "--set", "width"), "--set takes OPTION=NUMBER"),
    (("eval", "lenet5", "--data", "synthetic", "--weights", "none.ckpt"), "There is no file 'none.ckpt'"),
    (("train", "lenet5", "--data", "synthetic", "--devices", "2", "--mode", "pynative"), "goes with --mode graph"),
    (("train", "lenet5", "--data", "synthetic", "--out", __file__), "--out wants a folder"),
    (("train", "gpt2", "--tiny", "--data", "/no/such/text"), "There is no data at '/no/such/text'"),
    (("export", "lenet5", "--out", "no/such/folder/net"), "There is no folder 'no/such/folder'"),
    (("summary", "gpt2", "--tiny", "--set", "heads=5"), "must be a multiple of its heads, but there are 5"),
    (("summary", "gpt2", "--tiny", "--set", "depth=-1"), "'depth' must be a whole number, 0 or more, but got -1"),
    (("summary", "gpt2", "--tiny", "--set", "depth=1.5"), "'depth' must be a whole number"),
])  # fmt: skip
def test_mistakes_are_named(capsys, arguments, words):
    code, _, err = run(capsys, *arguments)
    assert code == 2
    assert words in err


def test_images_of_the_wrong_size_are_refused_in_both_modes():
    net = model_zoo.create("vit_b_16", tiny=True)
    for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
        with ms.context.local_context(mode=mode), pytest.raises(ValueError, match="takes images of 28 × 28 pixels"):
            net(ms.ops.zeros((1, 3, 30, 30)))


@pytest.mark.parametrize("arguments", [
    ("train", "lenet5", "--data", "synthetic", "--devices", "0"), ("train", "lenet5", "--data", "synthetic", "--rate", "nan"),
    ("train", "lenet5", "--data", "synthetic", "--limit", "-1"), ("train", "lenet5", "--data", "synthetic", "--batch", "0"),
    ("eval", "lenet5", "--data", "synthetic", "--batch", "0"),
])  # fmt: skip
def test_numbers_that_are_not_positive_are_refused(capsys, arguments):
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    assert ended.value.code == 2
    assert f"argument {arguments[-2]}: must be a positive" in capsys.readouterr().err


@pytest.mark.parametrize("command", [("predict", "lenet5"), ("predict", "yolov8n", "--tiny"), ("predict", "crnn", "--tiny")])
def test_files_that_are_no_images_are_named(capsys, tmp_path, command):
    (tmp_path / "words.png").write_text("no image")
    for file, said in (("words.png", "is no image"), ("none.png", "There is no file"), (".", "it is a folder")):
        code, _, err = run(capsys, *command[:2], str(tmp_path / file), *command[2:])
        assert code == 2
        assert said in err


def test_folders_where_files_are_wanted_are_named(capsys, tmp_path):
    for name in ("gcn", "dlrm"):
        code, _, err = run(capsys, "train", name, "--tiny", "--data", str(tmp_path))
        assert code == 2
        assert "is a folder, but networks for" in err
