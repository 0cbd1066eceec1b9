"""Sound: WAV and SPHERE files, and the data sets made of them."""

from __future__ import annotations

import functools
import os
import re
import struct
import wave
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore.dataset._check import check_dir, check_type, check_valid_str
from mindspore.dataset.api.operations import AudioBaseDataset
from mindspore.dataset.ir.leaf import Reader
from mindspore.dataset.sources.class_folders import subfolders
from mindspore.dataset.sources.image_table import need_dir, need_file, no_data, read_lines
from mindspore.dataset.sources.source import MappableDataset, image_files

_WIDTHS = (1, 2, 3, 4)


def read_wave(path: str) -> tuple[np.ndarray, int]:
    """Samples of a WAV file as float32 of about [-1, 1], channels first, and the sample rate."""
    try:
        with wave.open(path, "rb") as stream:
            width, channels, rate = stream.getsampwidth(), stream.getnchannels(), stream.getframerate()
            data = stream.readframes(stream.getnframes())
    except (wave.Error, EOFError, OSError, RuntimeError, struct.error) as error:  # `wave` raises them all
        raise RuntimeError(f"Invalid file, failed to read waveform file {path}: {error}") from None
    if width not in _WIDTHS:
        raise RuntimeError(f"Invalid file, the samples of {path} have {width} bytes: 1 to 4 are known.")
    whole = len(data) // (width * channels) * width * channels  # a file cut short may end within a frame
    return samples(data[:whole], width, "<").reshape(-1, channels).T, rate


def samples(data: bytes, width: int, order: str) -> np.ndarray:
    """PCM of 1 to 4 bytes as float32."""
    if width == 1:
        return (np.frombuffer(data, np.uint8).astype(np.float32) - 128) / 128
    if width == 3:
        parts = np.frombuffer(data[: len(data) // 3 * 3], np.uint8).reshape(-1, 3)
        wide = np.zeros((len(parts), 4), np.uint8)
        wide[:, 1:] = parts
        return wide.view("<i4").reshape(-1).astype(np.float32) / 2147483648
    values = np.frombuffer(data[: len(data) // width * width], f"{order}i{width}")
    return values.astype(np.float32) / np.float32(2 ** (8 * width - 1) - 1)


def read_sphere(path: str) -> tuple[np.ndarray, int]:
    """Samples of a NIST SPHERE file."""
    with open(path, "rb") as stream:
        data = stream.read()
    lines = data[:1024].split(b"\n")
    if lines[0] != b"NIST_1A":
        raise RuntimeError(f"Invalid file, {path} is not a SPHERE file.")
    try:
        header = int(lines[1])
        fields = dict(re.findall(rb"(\w+) -\w+ (\S+)", data[: max(header, 0)]))
        width, rate = int(fields.get(b"sample_n_bytes", b"2")), int(fields.get(b"sample_rate", b"16000"))
    except (IndexError, ValueError):
        raise RuntimeError(f"Invalid file, the header of {path} is damaged.") from None
    if header < 0 or width not in _WIDTHS:
        raise RuntimeError(f"Invalid file, the header of {path} is damaged.")
    order = ">" if fields.get(b"sample_byte_format", b"01") == b"10" else "<"
    return samples(data[header:], width, order)[np.newaxis], rate


class SoundTable(Reader):
    """Rows of a sound file and values; the file gives a waveform and its sample rate."""

    def __init__(self, columns: list[str], rows: list[tuple], rate_type: Any = np.int32):
        self.columns = ["waveform", "sample_rate", *columns]
        self._sounds, self._rate_type = rows, rate_type

    def __len__(self):
        return len(self._sounds)

    def row(self, index):
        path, *values = self._sounds[index]
        waveform, rate = read_wave(path)
        return waveform, np.array(rate, dtype=self._rate_type), *[np.array(value) for value in values]

    def path(self, index):
        return self._sounds[index][0]


class _SoundFolder(MappableDataset, AudioBaseDataset):
    """Base: subclasses say how to read the folder."""

    op_type = ""

    def _folder(self, dataset_dir: Any, open_reader: Callable[..., Reader], arguments: dict, choice: tuple) -> None:
        check_dir(dataset_dir)
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache = choice
        MappableDataset.__init__(self, num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id, cache)
        self.dataset_dir = os.fspath(dataset_dir)
        for name, value in arguments.items():
            setattr(self, name, value)
        opener = functools.partial(open_reader, self.dataset_dir, **arguments)
        self._rows(self.op_type or type(self).__name__, opener, {"dataset_dir": self.dataset_dir, **arguments})


_ARCTIC = ["aew", "ahw", "aup", "awb", "axb", "bdl", "clb", "eey", "fem", "gka", "jmk", "ksp", "ljm", "lnh", "rms",
           "rxr", "slp", "slt"]  # fmt: skip


def open_arctic(folder: str, name: str) -> SoundTable:
    base = os.path.join(folder, f"cmu_us_{name}_arctic")
    rows = []
    for line in read_lines(need_file("CMUArcticDataset", os.path.join(base, "etc", "txt.done.data"))):
        match = re.match(r'\(\s*(\S+)\s+"(.*)"\s*\)', line)
        if match:
            path = os.path.join(base, "wav", f"{match.group(1)}.wav")
            rows.append((path, match.group(2), match.group(1).split("_")[-1]))
    if not rows:
        raise no_data("CMUArcticDataset", base)
    return SoundTable(["transcript", "utterance_id"], rows, np.uint32)


class CMUArcticDataset(_SoundFolder):
    """Read sentences: "waveform", "sample_rate", "transcript", "utterance_id"."""

    def __init__(self, dataset_dir, name=None, num_samples=None, num_parallel_workers=None, shuffle=None, sampler=None,
                 num_shards=None, shard_id=None, cache=None):  # fmt: skip
        check_dir(dataset_dir)
        name = "aew" if name is None else name
        check_valid_str(name, _ARCTIC, "name")
        choice = (num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self._folder(dataset_dir, open_arctic, {"name": name}, choice)


def open_gtzan(folder: str, usage: str) -> SoundTable:
    rows = []
    for genre in subfolders(folder):
        for path in image_files(os.path.join(folder, genre), [".wav"]):
            number = int(os.path.basename(path).split(".")[1])
            part = "train" if number < 50 else "valid" if number < 75 else "test"
            if usage in ("all", part):
                rows.append((path, genre))
    if not rows:
        raise no_data("GTZANDataset", folder)
    return SoundTable(["label"], rows, np.uint32)


class GTZANDataset(_SoundFolder):
    """Music of ten genres: "waveform", "sample_rate", "label"."""

    op_type = "kGTZANNode"

    def __init__(self, dataset_dir, usage=None, num_samples=None, num_parallel_workers=None, shuffle=None, sampler=None,
                 num_shards=None, shard_id=None, cache=None):  # fmt: skip
        check_dir(dataset_dir)
        usage = "all" if usage is None else usage
        check_valid_str(usage, ["train", "valid", "test", "all"], "usage")
        choice = (num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self._folder(dataset_dir, open_gtzan, {"usage": usage}, choice)


_LIBRI = ["dev-clean", "dev-other", "test-clean", "test-other", "train-clean-100", "train-clean-360", "train-other-500"]


def open_libritts(folder: str, usage: str) -> SoundTable:
    rows = []
    for part in [name for name in _LIBRI if os.path.isdir(os.path.join(folder, name))] if usage == "all" else [usage]:
        base = need_dir("LibriTTSDataset", os.path.join(folder, part))
        for speaker in subfolders(base):
            for chapter in subfolders(os.path.join(base, speaker)):
                rows += _chapter(os.path.join(base, speaker, chapter), speaker, chapter)
    if not rows:
        raise no_data("LibriTTSDataset", folder)
    columns = ["original_text", "normalized_text", "speaker_id", "chapter_id", "utterance_id"]
    return SoundTable(columns, rows, np.uint32)


def _chapter(base: str, speaker: str, chapter: str) -> list[tuple]:
    listing = os.path.join(base, f"{speaker}_{chapter}.trans.tsv")
    numbers = np.array(int(speaker), np.uint32), np.array(int(chapter), np.uint32)
    rows = []
    for line in read_lines(need_file("LibriTTSDataset", listing)):
        cells = line.split("\t")
        if len(cells) >= 3:
            rows.append((os.path.join(base, f"{cells[0]}.wav"), cells[1], cells[2], *numbers, cells[0]))
    return rows


class LibriTTSDataset(_SoundFolder):
    """Read books with their text, speaker, chapter and utterance."""

    def __init__(self, dataset_dir, usage=None, num_samples=None, num_parallel_workers=None, shuffle=None, sampler=None,
                 num_shards=None, shard_id=None, cache=None):  # fmt: skip
        check_dir(dataset_dir)
        usage = "all" if usage is None else usage
        check_valid_str(usage, [*_LIBRI, "all"], "usage")
        choice = (num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self._folder(dataset_dir, open_libritts, {"usage": usage}, choice)


def open_ljspeech(folder: str) -> SoundTable:
    rows = []
    for line in read_lines(need_file("LJSpeechDataset", os.path.join(folder, "metadata.csv"))):
        cells = line.split("|")
        if len(cells) >= 3:
            rows.append((os.path.join(folder, "wavs", f"{cells[0]}.wav"), cells[1], cells[2]))
    if not rows:
        raise no_data("LJSpeechDataset", folder)
    return SoundTable(["transcription", "normalized_transcription"], rows)


class LJSpeechDataset(_SoundFolder):
    """One speaker reading: "waveform", "sample_rate", "transcription", "normalized_transcription"."""

    def __init__(self, dataset_dir, num_samples=None, num_parallel_workers=None, shuffle=None, sampler=None,
                 num_shards=None, shard_id=None, cache=None):  # fmt: skip
        choice = (num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self._folder(dataset_dir, open_ljspeech, {}, choice)


def open_commands(folder: str, usage: str) -> SoundTable:
    lists = {"test": "testing_list.txt", "valid": "validation_list.txt"}
    listed = {part: {line.strip() for line in read_lines(os.path.join(folder, name)) if line.strip()}
              for part, name in lists.items() if os.path.isfile(os.path.join(folder, name))}  # fmt: skip
    rows = []
    for word in subfolders(folder):
        if word.startswith("_"):
            continue
        for path in image_files(os.path.join(folder, word), [".wav"]):
            name = f"{word}/{os.path.basename(path)}"
            part = next((key for key, names in listed.items() if name in names), "train")
            if usage in ("all", part):
                speaker, _, number = os.path.splitext(os.path.basename(path))[0].partition("_nohash_")
                rows.append((path, word, speaker, np.array(int(number or 0), dtype=np.int32)))
    if not rows:
        raise no_data("SpeechCommandsDataset", folder)
    return SoundTable(["label", "speaker_id", "utterance_number"], rows)


class SpeechCommandsDataset(_SoundFolder):
    """Single words: "waveform", "sample_rate", "label", "speaker_id", "utterance_number"."""

    def __init__(self, dataset_dir, usage=None, num_samples=None, num_parallel_workers=None, shuffle=None, sampler=None,
                 num_shards=None, shard_id=None, cache=None):  # fmt: skip
        check_dir(dataset_dir)
        usage = "all" if usage is None else usage
        check_valid_str(usage, ["train", "test", "valid", "all"], "usage")
        choice = (num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self._folder(dataset_dir, open_commands, {"usage": usage}, choice)


class TedliumReader(Reader):
    """Parts of talks: a line of a `.stm` file names the part of a `.sph` file."""

    columns = ["waveform", "sample_rate", "transcript", "talk_id", "speaker_id", "identifier"]

    def __init__(self, folder: str, release: str, usage: str, extensions: str):
        if release == "release3":
            bases = {"all": ["data"], "train": ["data"], "test": ["legacy/test"], "dev": ["legacy/dev"]}[usage]
        else:
            bases = ["train", "test", "dev"] if usage == "all" else [usage]
        if extensions not in (".sph", ".wav"):
            raise RuntimeError(f"Invalid file, the extension '{extensions}' is not supported. Give '.sph' or '.wav'.")
        self._parts: list[tuple] = []
        for base in [os.path.join(folder, name) for name in bases]:
            for path in image_files(need_dir("TedliumDataset", os.path.join(base, "stm")), [".stm"]):
                self._parts += [self._part(base, line, extensions) for line in read_lines(path) if line.strip()]
        if not self._parts:
            raise RuntimeError(
                f"Invalid data, no valid data matching the dataset API TedliumDataset. Check the file path: {folder}."
            )

    @staticmethod
    def _part(base: str, line: str, extensions: str) -> tuple:
        talk, _, speaker, begin, end, identifier, text = line.split(" ", 6)
        return os.path.join(base, "sph", talk + extensions), float(begin), float(end), text, talk, speaker, identifier

    def __len__(self):
        return len(self._parts)

    def row(self, index):
        path, begin, end, *texts = self._parts[index]
        waveform, rate = read_sphere(path) if path.endswith(".sph") else read_wave(path)
        part = waveform[:, round(begin * rate) : round(end * rate)]
        return np.ascontiguousarray(part), np.array(rate, dtype=np.int32), *[np.array(text) for text in texts]

    def path(self, index):
        return self._parts[index][0]


class TedliumDataset(_SoundFolder):
    """Talks with transcripts: "waveform", "sample_rate", "transcript", "talk_id", "speaker_id", "identifier"."""

    def __init__(self, dataset_dir, release, usage=None, extensions=None, num_samples=None, num_parallel_workers=None,
                 shuffle=None, sampler=None, num_shards=None, shard_id=None, cache=None):  # fmt: skip
        check_dir(dataset_dir)
        check_valid_str(release, ["release1", "release2", "release3"], "release")
        usage = "all" if usage is None else usage
        check_valid_str(usage, ["train", "test", "dev", "all"], "usage")
        extensions = ".sph" if extensions is None else extensions
        check_type(extensions, str, "extensions")
        choice = (num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        arguments = {"release": release, "usage": usage, "extensions": extensions}
        self._folder(dataset_dir, TedliumReader, arguments, choice)


def open_yesno(folder: str) -> SoundTable:
    rows = []
    for path in image_files(folder, [".wav"]):
        marks = os.path.splitext(os.path.basename(path))[0].split("_")
        if len(marks) != 8 or not all(mark.isdigit() for mark in marks):
            raise RuntimeError(f"Invalid file name, {path} must name eight numbers, as 1_0_1_0_1_0_1_0.wav.")
        rows.append((path, np.array([int(mark) for mark in marks], dtype=np.int32)))
    if not rows:
        raise no_data("YesNoDataset", folder)
    return SoundTable(["label"], rows)


class YesNoDataset(_SoundFolder):
    """Eight times yes or no in Hebrew: "waveform", "sample_rate", "label"."""

    op_type = "YesNoNode"

    def __init__(self, dataset_dir, num_samples=None, num_parallel_workers=None, shuffle=None, sampler=None,
                 num_shards=None, shard_id=None, cache=None):  # fmt: skip
        choice = (num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self._folder(dataset_dir, open_yesno, {}, choice)
