"""Text: vocabularies, tokenizers, normalisation, vectors."""

import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mindspore._base.dtype as mstype
from mindspore.dataset import text

A = np.array
VOCAB = text.Vocab.from_list(["我", "爱", "fav", "##ori", "##te", "world", "[UNK]"], ["<pad>", "<unk>"])


# -- vocabulary


def test_vocab_numbering():
    assert VOCAB.vocab()["<pad>"] == 0 and VOCAB.vocab()["我"] == 2
    last = text.Vocab.from_list(["a", "b"], ["x"], special_first=False)
    assert last.vocab() == {"a": 0, "b": 1, "x": 2}
    assert text.Vocab.from_dict({"a": 3}).ids_to_tokens(3) == "a"
    assert VOCAB.tokens_to_ids(["我", "zz"]) == [2, -1]
    assert VOCAB.tokens_to_ids("爱") == 3
    assert VOCAB.ids_to_tokens([0, 99]) == ["<pad>", ""]


def test_vocab_from_file(tmp_path):
    path = tmp_path / "v.txt"
    path.write_text("a,1\nb,2\nc\n", encoding="utf-8")
    assert text.Vocab.from_file(str(path), ",").vocab() == {"a": 0, "b": 1, "c": 2}
    assert text.Vocab.from_file(str(path), ",", 2, ["<s>"]).vocab() == {"<s>": 0, "a": 1, "b": 2}
    with pytest.raises(RuntimeError, match="duplicate word:a"):
        text.Vocab.from_file(str(path), ",", None, ["a"])
    with pytest.raises(RuntimeError, match="path="):
        text.Vocab.from_file(str(tmp_path / "none"))


class Rows:
    """The least a data set has to be."""

    def __init__(self, rows):
        self.rows = rows

    def create_dict_iterator(self, num_epochs=-1, output_numpy=False):
        return iter(self.rows)


def test_vocab_from_dataset():
    rows = Rows([{"t": A(["b", "a", "a"]), "n": A([1])}, {"t": A(["c", "b", "a"]), "n": A([2])}])
    assert text.Vocab.from_dataset(rows, "t").vocab() == {"a": 0, "b": 1, "c": 2}
    assert text.Vocab.from_dataset(rows, ["t"], (2, None), 1, ["<s>"]).vocab() == {"<s>": 0, "a": 1}
    with pytest.raises(RuntimeError, match="not of string type"):
        text.Vocab.from_dataset(rows)
    with pytest.raises(RuntimeError, match="does not exist"):
        text.Vocab.from_dataset(rows, "x")


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: text.Vocab.from_list(["a", "a"]), ValueError),
        (lambda: text.Vocab.from_list(["a"], ["a"]), ValueError),
        (lambda: text.Vocab.from_dict({"a": -1}), ValueError),
        (lambda: text.Vocab.from_dict({1: 1}), TypeError),
        (lambda: text.Vocab().vocab(), RuntimeError),
        (lambda: VOCAB.tokens_to_ids([1]), TypeError),
        (lambda: VOCAB.ids_to_tokens([-1]), ValueError),
        (lambda: text.Lookup(text.Vocab()), TypeError),
    ],
)
def test_vocab_errors(build, error):
    with pytest.raises(error):
        build()


def test_lookup():
    assert text.Lookup(VOCAB, "<unk>")(A([["我", "zz"]])).tolist() == [[2, 1]]
    assert text.Lookup(VOCAB, data_type=mstype.int16)(A("爱")).dtype == np.int16
    with pytest.raises(RuntimeError, match='token: "zz"'):
        text.Lookup(VOCAB)(A(["zz"]))
    with pytest.raises(RuntimeError, match="nope"):
        text.Lookup(VOCAB, "nope")(A("我"))


# -- tokenizers


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30))
def test_offsets_point_at_the_tokens(sentence):
    data = sentence.encode()
    for op in (
        text.WhitespaceTokenizer(True),
        text.UnicodeCharTokenizer(True),
        text.UnicodeScriptTokenizer(True, True),
        text.RegexTokenizer("[a-z]", "[a-z]", True),
    ):
        words, starts, ends = op(A(sentence + "x"))
        full = data + b"x"
        assert [full[s:e].decode() for s, e in zip(starts, ends)] == words.tolist()
    assert "".join(text.UnicodeScriptTokenizer(True)(A(sentence + "x"))) == sentence + "x"


@pytest.mark.parametrize(
    ("op", "sentence", "expected"),
    [
        (text.WhitespaceTokenizer(), " lead\ttab\n nl ", ["lead", "tab", "nl"]),
        (text.WhitespaceTokenizer(), "", [""]),
        (text.UnicodeCharTokenizer(), "a😀中", ["a", "😀", "中"]),
        (text.UnicodeScriptTokenizer(), "Hello,中国 12.5€", ["Hello", ",", "中国", "12.5€"]),
        (
            text.UnicodeScriptTokenizer(),
            "ひらがなカタカナ漢字 mix한글",
            ["ひらがな", "カタカナ", "漢字", "mix", "한글"],
        ),
        (text.UnicodeScriptTokenizer(True), "a  b", ["a", "  ", "b"]),
        (text.RegexTokenizer("\\s+", "\\s+"), "a  b", ["a", "  ", "b"]),
        (text.RegexTokenizer("\\p{Han}", "\\p{Han}"), "ab中c国", ["ab", "中", "c", "国"]),
        (text.BasicTokenizer(), "Hi, 北京[CLS]12.5€", ["Hi", ",", "北", "京", "[CLS]", "12", ".", "5€"]),
        (text.BasicTokenizer(True), "naïve Straße ﬁ", ["naive", "strasse", "fi"]),
        (text.BasicTokenizer(True), "[CLS] A [unused1] [MASK]x", ["[CLS]", "a", "[unused1]", "[MASK]", "x"]),
        (text.BasicTokenizer(preserve_unused_token=False), "[CLS]", ["[", "CLS", "]"]),
        (text.BasicTokenizer(True, True), "A b", ["a", " ", "b"]),
        (text.BasicTokenizer(False, False, text.NormalizeForm.NFKC), "①", ["1"]),
        (
            text.BertTokenizer(VOCAB, lower_case=True),
            "Favorite World 我 x",
            ["fav", "##ori", "##te", "world", "我", "[UNK]"],
        ),
        (text.PythonTokenizer(str.split), "a b", ["a", "b"]),
    ],
)
def test_tokenizers(op, sentence, expected):
    assert op(A(sentence)).tolist() == expected


def test_wordpiece():
    words = A(["favorite", "我", "xyz", "a" * 200])
    assert text.WordpieceTokenizer(VOCAB)(words).tolist() == ["fav", "##ori", "##te", "我", "[UNK]", "[UNK]"]
    kept = text.WordpieceTokenizer(VOCAB, unknown_token="")(A(["favori", "xyz"]))
    assert kept.tolist() == ["fav", "##ori", "xyz"]
    _, starts, ends = text.WordpieceTokenizer(VOCAB, with_offsets=True)(words[:1])
    assert (starts.tolist(), ends.tolist()) == ([0, 3, 6], [3, 6, 8])


def test_tokenizer_errors():
    for wrong in (A(["a"]), A(3), A(b"a")):
        with pytest.raises(RuntimeError, match="string"):
            text.WhitespaceTokenizer()(wrong)
    with pytest.raises(RuntimeError, match="rank: 1"):
        text.BasicTokenizer()(A(["a"]))
    with pytest.raises(RuntimeError, match="error pattern"):
        text.RegexTokenizer("(")(A("a"))
    with pytest.raises(TypeError, match="NormalizeForm"):
        text.BasicTokenizer(normalization_form=1)
    with pytest.raises(RuntimeError, match="division by zero"):
        text.PythonTokenizer(lambda x: 1 / 0)(A("a"))


# -- strings


@settings(max_examples=40, deadline=None)
@given(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20),
    st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]),
)
def test_normal_forms(sentence, form):
    done = text.NormalizeUTF8(text.NormalizeForm[form])(A(sentence))
    assert str(done) == str(A(unicodedata.normalize(form, sentence)))


def test_case_fold_and_replace():
    assert text.CaseFold()(A(["Straße", "ΣΊΣΥΦΟΣ", "ﬁ"])).tolist() == ["strasse", "σίσυφοσ", "fi"]
    assert text.RegexReplace("([a-z])([0-9])", "$2$1")(A(["a1b2", "c3"])).tolist() == ["1a2b", "3c"]
    assert str(text.RegexReplace("a", "b", False)(A("aa"))) == "ba"
    assert str(text.RegexReplace("\\p{P}", "")(A("a,b。c"))) == "abc"
    with pytest.raises(RuntimeError, match="not string"):
        text.CaseFold()(A(3))


def test_wikipedia_filter():
    op = text.FilterWikipediaXML()
    assert str(op(A("Welcome to China 42"))) == "welcome to china four two"
    assert str(op(A("[[Foo|bar]] {{x}} R &nbsp; b"))) == "bar r b"
    assert str(op(A("<text>#REDIRECT x</text>"))) == ""


# -- sequences


def test_sequences():
    grams = text.Ngram([1, 2], ("_", 2), ("|", 1), "-")(A(["a", "b"]))
    assert grams.tolist() == ["a", "b", "_-a", "a-b", "b-|"]
    assert text.Ngram(5)(A(["a", "b"])).tolist() == [""]
    assert text.SlidingWindow(2)(A([1, 2, 3])).tolist() == [[1, 2], [2, 3]]
    assert text.Truncate(2)(A([[1, 2, 3], [4, 5, 6]])).tolist() == [[1, 2], [4, 5]]
    assert text.AddToken("T", False)(A([["a"], ["b"]])).tolist() == [["a", "T"], ["b", "T"]]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 8), st.integers(0, 8), st.integers(0, 18))
def test_truncated_pairs_fit_and_stay_balanced(first, second, limit):
    a, b = text.TruncateSequencePair(limit)(np.arange(first), np.arange(second))
    assert len(a) + len(b) == min(limit, first + second)
    assert a.tolist() == list(range(len(a))) and b.tolist() == list(range(len(b)))
    if len(a) < first and len(b) < second:
        assert abs(len(a) - len(b)) <= 1


def test_to_number():
    assert text.ToNumber(mstype.int32)(A(["1", "-2", "1.5"])).tolist() == [1, -2, 1]
    assert text.ToNumber(mstype.float32)(A("1e3")) == 1000
    assert text.ToNumber(mstype.int64)(A("9223372036854775807")) == 2**63 - 1
    for word, kind in (("a", mstype.int32), ("1000", mstype.int8), ("-1", mstype.uint8), ("70000", mstype.float16)):
        with pytest.raises(RuntimeError, match=word):
            text.ToNumber(kind)(A([word]))
    with pytest.raises(TypeError, match="not numeric"):
        text.ToNumber(mstype.string)


def test_bytes_and_strings():
    array = A(["a", "é"])
    np.testing.assert_array_equal(text.to_str(text.to_bytes(array)), array)
    with pytest.raises(TypeError):
        text.to_str("a")


# -- vectors


def test_vectors(tmp_path):
    plain, header = tmp_path / "v.txt", tmp_path / "v.vec"
    plain.write_text("ok 1 2 3\nBad 4 5 6\n")
    header.write_text("2 3\nok 1 2 3\nBad 4 5 6\n")
    for vectors in (text.Vectors.from_file(str(plain)), text.FastText.from_file(str(header))):
        assert text.ToVectors(vectors)(A(["Bad", "zz"])).tolist() == [[4, 5, 6], [0, 0, 0]]
        assert text.ToVectors(vectors, [9, 9, 9], True)(A(["OK", "zz"])).tolist() == [[1, 2, 3], [9, 9, 9]]
    assert text.ToVectors(text.Vectors.from_file(str(plain), 1))(A("Bad")).tolist() == [0, 0, 0]
    grams = tmp_path / "c.txt"
    grams.write_text("1gram-o 1 2\n2gram-ok 3 4\n3gram-#BEGIN#ok 1 1\n")
    assert text.ToVectors(text.CharNGram.from_file(str(grams)))(A("ok")).tolist() == [2, 2.5]
    for kind, path in ((text.FastText, plain), (text.GloVe, plain), (text.Vectors, tmp_path / "none")):
        with pytest.raises(RuntimeError):
            kind.from_file(str(path))
    broken = tmp_path / "b.txt"
    for content in ("ok 1 2 3\nbad 4 5\n", "ok 1 x\n", ""):
        broken.write_text(content)
        with pytest.raises(RuntimeError):
            text.Vectors.from_file(str(broken))


# -- Chinese segmentation


@pytest.fixture
def segmenter(tmp_path):
    words = tmp_path / "dict.utf8"
    words.write_text("今天 1000 t\n天气 800 n\n真好 300 a\n真 500 d\n好 900 a\n今 10 t\n", encoding="utf-8")
    model = tmp_path / "hmm.utf8"
    low = "-3.14e+100"
    emit = "清:-5,华:-9,大:-6,学:-9"
    model.write_text(
        f"#start\n-0.26 {low} {low} -1.46\n#trans\n{low} -0.51 -0.91 {low}\n-0.58 {low} {low} -0.80\n"
        f"{low} -0.33 -1.26 {low}\n-0.72 {low} {low} -0.66\n"
        f"#B\n清:-4,大:-6\n#E\n华:-8,学:-4\n#M\n华:-5,大:-5\n#S\n{emit}\n",
        encoding="utf-8",
    )
    return lambda mode, **kw: text.JiebaTokenizer(str(model), str(words), mode, **kw)


def test_jieba(segmenter):
    sentence = A("今天天气真好 ok，")
    assert segmenter(text.JiebaMode.MP)(sentence).tolist() == ["今天", "天气", "真好", " ", "o", "k", "，"]
    assert segmenter(text.JiebaMode.MIX)(sentence).tolist() == ["今天", "天气", "真好", " ", "ok", "，"]
    assert segmenter(text.JiebaMode.HMM)(A("清华大学")).tolist() == ["清华大学"]
    op = segmenter(text.JiebaMode.MP, with_offsets=True)
    op.add_word("天天", 5000)
    words, starts, ends = op(A("今天天气"))
    assert words.tolist() == ["今天", "天气"] or "天天" in words.tolist()
    assert starts[0] == 0 and ends[-1] == 12
    op.add_dict({"今天天气": 100000})
    assert op(A("今天天气"))[0].tolist() == ["今天天气"]


def test_jieba_files(segmenter, tmp_path):
    user = tmp_path / "user.txt"
    user.write_text("\ufeff天气真好 99999\n", encoding="utf-8")
    op = segmenter(text.JiebaMode.MP)
    op.add_dict(str(user))
    assert op(A("天气真好")).tolist() == ["天气真好"]
    with pytest.raises(ValueError, match="is not exist"):
        text.JiebaTokenizer("/nowhere/a", "/nowhere/b")
    broken = tmp_path / "broken.utf8"
    broken.write_text("1 2 3\n")
    with pytest.raises(ValueError, match="not a segmentation model"):
        text.JiebaTokenizer(str(broken), op.mp_path, text.JiebaMode.HMM)(A("天"))


def test_sentencepiece(tmp_path):
    pytest.importorskip("sentencepiece")
    corpus = tmp_path / "c.txt"
    corpus.write_text("the quick brown fox jumps over the lazy dog\nhello world\n" * 20)
    vocab = text.SentencePieceVocab.from_file([str(corpus)], 40, 0.9995, text.SentencePieceModel.UNIGRAM, {})
    pieces = text.SentencePieceTokenizer(vocab, text.SPieceTokenizerOutType.STRING)(A("hello fox"))
    assert "".join(pieces).replace("▁", " ").strip() == "hello fox"
    text.SentencePieceVocab.save_model(vocab, str(tmp_path), "m.model")
    again = text.SentencePieceTokenizer(str(tmp_path / "m.model"), text.SPieceTokenizerOutType.INT)
    assert again(A("hello fox")).dtype == np.int32


def test_sentencepiece_arguments():
    with pytest.raises(TypeError, match="out_type"):
        text.SentencePieceTokenizer("m.model", 1)
    with pytest.raises(TypeError, match="mode"):
        text.SentencePieceTokenizer(1, text.SPieceTokenizerOutType.INT)
