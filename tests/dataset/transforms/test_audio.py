"""Audio, against SciPy and formulas."""

import math

import numpy as np
import pytest
import scipy.fft
import scipy.signal
from hypothesis import given, settings
from hypothesis import strategies as st

from mindspore.dataset import audio
from mindspore.dataset.audio import BorderType, FadeShape, GainType, MelType, NormMode, NormType, WindowType

RNG = np.random.default_rng(5)
WAVE = (RNG.standard_normal((2, 600)) * 0.3).astype(np.float64)
SPECTRUM = np.abs(RNG.standard_normal((2, 33, 12))).astype(np.float64)
COMPLEX = RNG.standard_normal((2, 33, 12, 2))


# -- filters


def gain_at(op, frequency, rate=44100):
    """The gain of a filter at a frequency, from its impulse response."""
    impulse = np.zeros(44100)
    impulse[0] = 0.5
    response = np.fft.rfft(op(impulse)) / 0.5
    return abs(response[round(frequency * len(impulse) / rate)])


@pytest.mark.parametrize(
    ("op", "frequency", "gain"),
    [
        (audio.LowpassBiquad(44100, 1000.0), 10, 1.0),
        (audio.LowpassBiquad(44100, 1000.0), 1000, 0.707),
        (audio.LowpassBiquad(44100, 1000.0), 20000, 0.0),
        (audio.HighpassBiquad(44100, 1000.0), 10, 0.0),
        (audio.HighpassBiquad(44100, 1000.0), 20000, 1.0),
        (audio.AllpassBiquad(44100, 1000.0), 700, 1.0),
        (audio.BandpassBiquad(44100, 1000.0), 1000, 1.0),
        (audio.BandrejectBiquad(44100, 1000.0), 1000, 0.0),
        (audio.EqualizerBiquad(44100, 1000.0, -6.0), 1000, 10 ** (-6 / 20)),
        (audio.BassBiquad(44100, -6.0), 1, 10 ** (-6 / 20)),
        (audio.TrebleBiquad(44100, -6.0), 21000, 10 ** (-6 / 20)),
        (audio.RiaaBiquad(44100), 1000, 1.0),
    ],
)
def test_filter_gains(op, frequency, gain):
    assert gain_at(op, frequency) == pytest.approx(gain, abs=0.02)


def test_filters_like_scipy():
    a, b = [1.0, 0.4, -0.2], [0.3, 0.2, 0.1]
    expected = scipy.signal.lfilter(b, a, WAVE)
    np.testing.assert_allclose(audio.LFilter(a, b, False)(WAVE), expected)
    np.testing.assert_allclose(audio.LFilter(a, b)(WAVE * 9), np.clip(expected * 9, -1, 1))
    np.testing.assert_allclose(audio.Biquad(0.3, 0.2, 0.1, 1.0, 0.4, -0.2)(WAVE), np.clip(expected, -1, 1))
    twice = scipy.signal.lfilter(b, a, expected[:, ::-1])[:, ::-1]
    np.testing.assert_allclose(audio.Filtfilt(a, b, False)(WAVE), twice)


# -- spectrograms


@pytest.mark.parametrize("kind", list(WindowType))
@pytest.mark.parametrize("border", [BorderType.REFLECT, BorderType.CONSTANT])
def test_spectrogram_frame_by_frame(kind, border):
    n_fft, length, hop = 64, 50, 20
    name = ("kaiser", 12.0) if kind is WindowType.KAISER else kind.value
    window = np.pad(scipy.signal.get_window(name, length), (7, 7))
    padded = np.pad(WAVE, [(0, 0), (32, 32)], mode=border.value)
    frames = [padded[:, i : i + n_fft] * window for i in range(0, padded.shape[1] - n_fft + 1, hop)]
    expected = np.abs(np.stack([np.fft.rfft(frame) for frame in frames], axis=-1)) ** 2
    done = audio.Spectrogram(n_fft, length, hop, window=kind, pad_mode=border)(WAVE)
    np.testing.assert_allclose(done, expected, atol=1e-10)


def test_spectrogram_options():
    complex_values = audio.Spectrogram(64, power=0.0)(WAVE)
    np.testing.assert_allclose(audio.ComplexNorm(2.0)(complex_values), audio.Spectrogram(64)(WAVE))
    magnitude, phase = audio.Magphase()(complex_values)
    np.testing.assert_allclose(magnitude * np.exp(1j * phase), complex_values[..., 0] + 1j * complex_values[..., 1])
    np.testing.assert_allclose(audio.Angle()(complex_values), phase)
    window = scipy.signal.get_window("hann", 64)
    ratio = audio.Spectrogram(64, normalized=True)(WAVE) * (window @ window)
    np.testing.assert_allclose(ratio, audio.Spectrogram(64)(WAVE))
    assert audio.Spectrogram(64, onesided=False)(WAVE).shape[-2] == 64
    assert audio.Spectrogram(64)(WAVE.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("normalized", [False, True])
def test_inverse_spectrogram_restores_the_waveform(normalized):
    spectrum = audio.Spectrogram(64, power=0.0, normalized=normalized)(WAVE)
    again = audio.InverseSpectrogram(length=600, n_fft=64, normalized=normalized)(spectrum)
    np.testing.assert_allclose(again, WAVE, atol=1e-10)


def test_griffin_lim_restores_magnitudes():
    tone = 0.5 * np.sin(np.arange(2000) * 0.2)[None]
    spectrum = audio.Spectrogram(64)(tone)
    op = audio.GriffinLim(64, 60, length=2000)
    op.set_rng(np.random.default_rng(0))
    again = audio.Spectrogram(64)(op(spectrum))
    assert np.abs(np.sqrt(again) - np.sqrt(spectrum)).mean() < 0.1 * np.sqrt(spectrum).mean()


def test_filter_banks():
    bank = audio.melscale_fbanks(201, 0.0, 8000.0, 20, 16000)
    assert bank.shape == (201, 20) and (bank >= 0).all() and bank.max() <= 1
    peaks = bank.argmax(axis=0) * 40
    mel = 2595 * np.log10(1 + peaks / 700)
    assert np.abs(np.diff(mel) - np.diff(mel).mean()).max() < 45  # evenly spaced, up to the grid
    slaney = audio.melscale_fbanks(2001, 0.0, 8000.0, 10, 16000, NormType.SLANEY, MelType.SLANEY)
    np.testing.assert_allclose(slaney.sum(axis=0) * 4, 1, rtol=0.02)  # unit area
    linear = audio.linear_fbanks(101, 0.0, 4000.0, 4, 8000)
    np.testing.assert_allclose(linear[20:81].sum(axis=1), 1, atol=1e-5)
    with pytest.raises(ValueError, match="f_min"):
        audio.melscale_fbanks(1, 5, 1, 1, 1)


def test_dct_like_scipy():
    bands = RNG.standard_normal((8, 3))
    for norm, name in ((NormMode.NONE, None), (NormMode.ORTHO, "ortho")):
        expected = scipy.fft.dct(bands, type=2, axis=0, norm=name)[:5]
        np.testing.assert_allclose(audio.create_dct(5, 8, norm).T @ bands, expected, atol=1e-5)


def test_mel_and_cepstra_are_compositions():
    spectrum = audio.Spectrogram(64)(WAVE)
    mels = audio.MelScale(8, 8000, n_stft=33)(spectrum)
    np.testing.assert_allclose(mels, audio.melscale_fbanks(33, 0.0, 4000.0, 8, 8000).T @ spectrum, rtol=1e-5)
    options = {"n_fft": 64, "n_mels": 8}
    np.testing.assert_allclose(audio.MelSpectrogram(8000, **options)(WAVE), mels)
    expected = audio.create_dct(4, 8, NormMode.ORTHO).T @ np.log(mels + 1e-6)
    np.testing.assert_allclose(audio.MFCC(8000, 4, log_mels=True, melkwargs=options)(WAVE), expected, atol=1e-4)
    lines = audio.linear_fbanks(33, 0.0, 4000.0, 6, 8000).T @ spectrum
    expected = audio.create_dct(4, 6, NormMode.ORTHO).T @ np.log(lines + 1e-6)
    done = audio.LFCC(8000, 6, 4, log_lf=True, speckwargs={"n_fft": 64})(WAVE)
    np.testing.assert_allclose(done, expected, atol=1e-4)


def test_inverse_mel_scale_explains_the_mels():
    bank = audio.melscale_fbanks(20, 0.0, 4000.0, 6, 8000).astype(np.float64)
    mels = bank.T @ RNG.uniform(size=(20, 5))
    op = audio.InverseMelScale(20, 6, 8000, max_iter=5000)
    op.set_rng(np.random.default_rng(0))
    found = op(mels)
    assert found.shape == (1, 20, 5) and (found >= 0).all()
    assert np.abs(bank.T @ found[0] - mels).mean() < 0.05 * mels.mean()


def test_time_stretch_and_centroid():
    assert audio.TimeStretch(64, 33, 1.5)(COMPLEX).shape == (2, 33, 8, 2)
    np.testing.assert_array_equal(audio.TimeStretch(64, 33)(COMPLEX), COMPLEX)
    tone = np.sin(np.arange(4000) * 2 * math.pi * 1000 / 8000)[None]
    centroid = audio.SpectralCentroid(8000, 256)(tone)
    np.testing.assert_allclose(centroid[0, 0, 3:-3], 1000, atol=5)


def test_pitch():
    rate, tone = 8000, np.sin(np.arange(8000) * 2 * math.pi * 200 / 8000)[None]
    np.testing.assert_allclose(audio.DetectPitchFrequency(rate)(tone)[0, 5:-5], 200, rtol=0.02)
    higher = audio.PitchShift(rate, 12)(tone)
    assert higher.shape == tone.shape
    peak = np.abs(np.fft.rfft(higher[0])).argmax()
    assert peak == pytest.approx(400, abs=4)


# -- loudness, coding, effects


def test_decibels():
    db = audio.AmplitudeToDB(top_db=30.0)(SPECTRUM)
    expected = 10 * np.log10(SPECTRUM)
    np.testing.assert_allclose(db, np.maximum(expected, expected.max() - 30))
    np.testing.assert_allclose(audio.DBToAmplitude(1.0, 1.0)(10 * np.log10(SPECTRUM)), SPECTRUM)


def test_gains():
    np.testing.assert_allclose(audio.Gain(6.0)(WAVE), WAVE * 10**0.3)
    np.testing.assert_allclose(audio.Vol(2.0)(WAVE), np.clip(WAVE * 2, -1, 1))
    np.testing.assert_allclose(audio.Vol(4.0, GainType.POWER)(WAVE), np.clip(WAVE * 2, -1, 1))
    np.testing.assert_allclose(audio.Vol(20.0, GainType.DB)(WAVE), np.clip(WAVE * 10, -1, 1))
    np.testing.assert_allclose(audio.DCShift(0.5)(WAVE), np.clip(WAVE + 0.5, -1, 1))
    limited = audio.DCShift(0.5, 0.02)(WAVE)
    np.testing.assert_allclose(limited[WAVE <= 0.52], np.clip(WAVE + 0.5, -1, 1)[WAVE <= 0.52])
    bent = WAVE * math.pi / 2
    np.testing.assert_allclose(audio.Contrast(75.0)(WAVE), np.sin(bent + 0.1 * np.sin(bent * 4)))


@pytest.mark.parametrize("shape", list(FadeShape))
def test_fades_begin_and_end_quiet(shape):
    done = audio.Fade(50, 60, shape)(np.ones((1, 600)))
    np.testing.assert_allclose(done[0, [0, -1]], 0, atol=1e-9)
    assert (np.diff(done[0, :50]) >= 0).all() and (np.diff(done[0, -60:]) <= 0).all()
    assert (done[0, 50:-60] == 1).all()


@settings(max_examples=20, deadline=None)
@given(st.sampled_from([16, 256, 1024]), st.integers(0, 2**32 - 1))
def test_mu_law_round_trip(levels, seed):
    wave = np.random.default_rng(seed).uniform(-1, 1, 50)
    codes = audio.MuLawEncoding(levels)(wave)
    assert codes.dtype == np.int32 and codes.min() >= 0 and codes.max() < levels
    again = audio.MuLawDecoding(levels)(codes.astype(np.float64))
    np.testing.assert_allclose(again, wave, atol=8 / levels * math.log1p(levels) / 4)


def test_mu_law_decoding_computes_in_the_type_of_the_samples():
    """Rounding the coded value to float32 first tells the last digits."""
    codes = np.random.default_rng(0).integers(0, 256, 1000).astype(np.float32)
    coded = (codes / np.float32(255) * np.float32(2) - np.float32(1)).astype(np.float64)
    expected = np.sign(coded) * np.expm1(np.abs(coded) * math.log1p(255)) / 255
    found = audio.MuLawDecoding(256)(codes)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("method", list(audio.ResampleMethod))
def test_resample_keeps_a_tone(method):
    tone = np.sin(np.arange(1600) * 2 * math.pi * 440 / 16000)
    done = audio.Resample(16000, 11025, method, 32)(tone)
    assert done.shape == (math.ceil(1600 * 11025 / 16000),)
    expected = np.sin(np.arange(len(done)) * 2 * math.pi * 440 / 11025)
    np.testing.assert_allclose(done[100:-100], expected[100:-100], atol=0.01)
    np.testing.assert_array_equal(audio.Resample(8000, 8000)(tone), tone)


def test_effects_stay_in_range_and_keep_shape():
    for op in (
        audio.Overdrive(),
        audio.Phaser(8000),
        audio.Phaser(8000, sinusoidal=False),
        audio.Flanger(8000),
        audio.Flanger(
            8000, 1.0, 3.0, 20.0, 71.0, 0.7, 30.0, audio.Modulation.TRIANGULAR, audio.Interpolation.QUADRATIC
        ),
    ):
        done = op(WAVE)
        assert done.shape == WAVE.shape and np.abs(done).max() <= 1
    silent = np.zeros((1, 50))
    np.testing.assert_array_equal(audio.Flanger(8000)(silent), silent)
    np.testing.assert_array_equal(audio.Phaser(8000)(silent), silent)
    dithered = audio.Dither()(WAVE)
    np.testing.assert_allclose(dithered * 2**15, np.rint(dithered * 2**15))
    np.testing.assert_allclose(dithered, WAVE, atol=1e-3)


# -- masks and features


def test_masks():
    done = audio.MaskAlongAxis(2, 5, 7.0, 2)(SPECTRUM)
    assert (done[..., 2:7] == 7).all() and (done[..., 7:] == SPECTRUM[..., 7:]).all()
    done = audio.FrequencyMasking(False, 4, 3, 0.0)(SPECTRUM)
    assert (done[:, 3:7] == 0).all() and (done[:, 7:] == SPECTRUM[:, 7:]).all()
    for seed in range(10):
        op = audio.TimeMasking(True, 5)
        op.set_rng(np.random.default_rng(seed))
        for before, after in zip(SPECTRUM, op(SPECTRUM)):
            hidden = np.flatnonzero((before != after).any(axis=0))
            assert len(hidden) <= 5 and (not len(hidden) or hidden[-1] - hidden[0] == len(hidden) - 1)
    with pytest.raises(RuntimeError, match="frequency dimension"):
        audio.FrequencyMasking(True, 99)(SPECTRUM)
    with pytest.raises(RuntimeError, match="masked dimension"):
        audio.MaskAlongAxis(30, 9, 1.0, 1)(SPECTRUM)


def test_deltas_of_a_line_are_its_slope():
    line = np.arange(20.0)[None, None] * 3
    np.testing.assert_allclose(audio.ComputeDeltas(5)(line)[0, 0, 2:-2], 3)


def test_sliding_mean():
    frames = RNG.standard_normal((30, 4))
    whole = audio.SlidingWindowCmn(60, 60, center=True)(frames)
    np.testing.assert_allclose(whole, frames - frames.mean(axis=0), atol=1e-12)
    scaled = audio.SlidingWindowCmn(60, 60, True, True)(frames)
    np.testing.assert_allclose(scaled, (frames - frames.mean(axis=0)) / frames.std(axis=0), atol=1e-9)
    near = audio.SlidingWindowCmn(10, 1, center=True)(frames)
    np.testing.assert_allclose(near[15], frames[15] - frames[10:20].mean(axis=0), atol=1e-12)


def test_voice_activity_cuts_the_silence_before_speech():
    rate = 8000
    rng = np.random.default_rng(0)
    quiet = rng.standard_normal(2 * rate) * 1e-4
    t = np.arange(rate) / rate
    voice = sum(np.sin(2 * math.pi * 200 * k * t) / k for k in range(1, 10)) * 0.3
    wave = np.concatenate([quiet, voice, voice])[None]
    done = audio.Vad(rate)(wave)
    start = wave.shape[1] - done.shape[1]
    assert 2 * rate - 3000 < start < 2 * rate + 1000
    np.testing.assert_array_equal(done, wave[:, start:])


# -- errors


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: audio.Gain()(3), TypeError, "NumPy audio"),
        (lambda: audio.Gain()(np.array(1.0)), RuntimeError, "<..., time>.*dimension 0"),
        (lambda: audio.Gain()(np.array(["a"])), RuntimeError, "string"),
        (lambda: audio.Angle()(WAVE), RuntimeError, "complex=2"),
        (lambda: audio.LowpassBiquad(8000, 10.0)(WAVE.astype(np.int16)), RuntimeError, r"\[float, double\]"),
        (lambda: audio.LowpassBiquad(0, 1.0), ValueError, "sample_rate"),
        (lambda: audio.LowpassBiquad(1, 1.0, 2), ValueError, r"Q.*\(0, 1\]"),
        (lambda: audio.Spectrogram(10, 20), ValueError, "win_length: 20 and n_fft: 10"),
        (lambda: audio.Spectrogram(window=1), TypeError, "window"),
        (lambda: audio.MelScale(f_min=5, f_max=3), ValueError, "f_max should be greater"),
        (lambda: audio.MFCC(dct_type=1), ValueError, "dct_type must be 2"),
        (lambda: audio.LFilter([1.0], [1.0, 2.0]), ValueError, "same"),
        (lambda: audio.DeemphBiquad(1), ValueError, "44100 or 48000"),
        (lambda: audio.Resample(rolloff=2.0), ValueError, "rolloff"),
        (lambda: audio.Vol(0, GainType.POWER), ValueError, "gain"),
        (lambda: audio.Fade(999)(WAVE), RuntimeError, "fade_in_len"),
        (lambda: audio.Vad(8000, noise_up_time=0.001), ValueError, "noise_down_time"),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("orig, new", [(16000, 8000), (8000, 12000), (20158, 16000), (7, 16001)])
def test_resampled_sine_is_the_sine_at_the_other_rate(orig, new):
    """Also for rates with no common factor, where a table of all phases would not fit into memory."""
    seconds, tone = 0.04 if orig > 100 else 9.0, min(orig, new) / 40
    waveform = np.sin(2 * np.pi * tone * np.arange(int(seconds * orig)) / orig)
    found = audio.Resample(orig, new)(waveform)
    expected = np.sin(2 * np.pi * tone * np.arange(found.shape[-1]) / new)
    inner = slice(len(found) // 4, -len(found) // 4)  # the ends lack neighbours
    np.testing.assert_allclose(found[inner], expected[inner], atol=0.02)
