"""`predict`: what networks of each task say about a file, compared with the network called by hand."""

import wave

import numpy as np
import pytest

import mindspore as ms
from mindspore import model_zoo
from mindspore.dataset import vision
from mindspore.model_zoo.tasks import TASKS

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def own_context():
    with ms.context.local_context(mode=ms.PYNATIVE_MODE):
        yield


def predict(name, file, **options):
    ms.set_seed(3)
    net = model_zoo.create(name, tiny=True, **options)
    return net, TASKS[model_zoo.entry(name).task].predict(net, str(file))


@pytest.fixture
def image(tmp_path):
    vision.write_png(str(tmp_path / "image.png"), RNG.integers(0, 255, (40, 50, 3)).astype(np.uint8))
    return tmp_path / "image.png"


def text(tmp_path, words):
    (tmp_path / "text.txt").write_text(words)
    return tmp_path / "text.txt"


def test_language_goes_on_with_the_likeliest_byte(tmp_path):
    net, said = predict("gpt2", text(tmp_path, "abcabcabc"), vocabulary=256)
    length = net.takes[0].shape[0]
    row = np.frombuffer(b"abcabcabc", np.uint8).astype(np.int32)
    wanted = net(ms.Tensor(np.pad(row, (0, length - row.size))[None])).asnumpy()[0, row.size - 1].argmax()
    assert said.startswith("abcabcabc")
    assert said[9] == (chr(wanted) if wanted < 128 else "\N{REPLACEMENT CHARACTER}")


def test_masked_words_are_filled_in(tmp_path):
    _, said = predict("bert_base", text(tmp_path, "ab_de"), vocabulary=257)
    assert said.startswith("ab") and said.endswith("de") and "_" not in said[2:-2]
    with pytest.raises(ValueError, match="there is no '_'"):
        predict("bert_base", text(tmp_path, "abcde"), vocabulary=257)


def test_each_line_gets_its_class(tmp_path):
    _, said = predict("lstm_sentiment", text(tmp_path, "good\nbad\n"), vocabulary=256)
    assert [line.split()[0] for line in said.splitlines()] == ["class", "class"]


def test_answers_are_parts_of_the_text(tmp_path):
    _, said = predict("bert_base_squad", text(tmp_path, "who?\tthe king"), vocabulary=256)
    assert said in "the king"
    with pytest.raises(ValueError, match="no tab"):
        predict("bert_base_squad", text(tmp_path, "who?"), vocabulary=256)


def test_translations_follow_their_own_beginning(tmp_path):
    net, said = predict("transformer_base", text(tmp_path, "ab"), vocabulary=256)
    assert len(said.splitlines()) <= 1
    assert len(said.encode()) <= 3 * net.takes[0].shape[0]


def test_small_vocabularies_are_named(tmp_path):
    with pytest.raises(ValueError, match="--set vocabulary=256"):
        predict("gpt2", text(tmp_path, "abc"))


def test_segmentation_writes_the_mask_and_says_the_shares(image):
    net, said = predict("unet", image)
    shares = [float(line.split()[2]) for line in said.splitlines()[:-1]]
    assert abs(sum(shares) - 1) < 0.01
    mask = vision.read_image(str(image.with_suffix(".mask.png")))
    assert mask.shape[:2] == net.takes[0].shape[1:]


def test_lines_are_read(image):
    _, said = predict("crnn", image)
    assert said == "nothing to read" or set(said) <= set("0123456789")


def test_made_images_are_written_once(tmp_path):
    net, said = predict("vae", tmp_path / "made.png")
    _, size, _ = net.shape
    assert said == f"wrote {tmp_path / 'made.png'}"
    assert vision.read_image(str(tmp_path / "made.png")).shape[:2] == (4 * size, 4 * size)
    with pytest.raises(ValueError, match="not be there yet"):
        predict("vae", tmp_path / "made.png")


def test_translated_images_are_written_beside(image):
    predict("cyclegan", image)
    assert image.with_suffix(".translated.png").is_file()


def test_sound_is_foreseen_no_better_than_chance_by_random_weights(tmp_path):
    with wave.open(str(tmp_path / "sound.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes((1000 * np.sin(np.arange(2000) / 5)).astype("<i2").tobytes())
    net, said = predict("wavenet", tmp_path / "sound.wav")
    assert abs(float(said.split()[0]) - np.log2(net.levels)) < 2


def test_points_clicks_nodes_and_moves(tmp_path):
    (tmp_path / "points.csv").write_text("0.5,0.1\n0.2,0.9\n")
    net, said = predict("pinn_heat", tmp_path / "points.csv")
    wanted = net(ms.Tensor([[0.5, 0.1], [0.2, 0.9]], ms.float32)).asnumpy()
    np.testing.assert_allclose([float(line.split()[-1]) for line in said.splitlines()], wanted, atol=1e-3)

    net = model_zoo.create("deepfm", tiny=True)
    fields = net.takes[0].shape[0]
    (tmp_path / "rows.csv").write_text("\n".join(",".join("1" for _ in range(fields)) for _ in range(3)))
    said = predict("deepfm", tmp_path / "rows.csv")[1]
    assert len({line.split()[-1] for line in said.splitlines()}) == 1  # equal rows, equal shares

    nodes, features = model_zoo.create("gcn", tiny=True).takes[0].shape
    np.savez(tmp_path / "graph.npz", features=np.ones((nodes, features)), edges=np.zeros((nodes, nodes)))
    said = predict("gcn", tmp_path / "graph.npz")[1]
    assert len(said.splitlines()) == nodes
    (tmp_path / "graph.npz").write_bytes(b"PK broken")
    with pytest.raises(ValueError, match=r"no \.npz file"):
        predict("gcn", tmp_path / "graph.npz")

    (tmp_path / "seen.csv").write_text("0,0,0,0\n0.1,0,0.1,0\n")
    assert set(predict("dqn", tmp_path / "seen.csv")[1].splitlines()) <= {"left", "right"}
    (tmp_path / "seen.csv").write_text("0,0\n")
    with pytest.raises(ValueError, match="lines of 4 numbers"):
        predict("dqn", tmp_path / "seen.csv")
