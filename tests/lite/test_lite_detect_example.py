"""The example of object detection: what surrounds the network, and that it finds what the network says."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

PATH = Path(__file__).resolve().parents[2] / "examples" / "lite" / "detect.py"


@pytest.fixture(scope="module")
def detect():
    pytest.importorskip("cv2")
    spec = importlib.util.spec_from_file_location("detect_example", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_targets_say_is_decoded_again(detect):
    for seed in range(20):
        _, boxes = detect.scene(np.random.default_rng(seed))
        wanted, there = detect.targets(boxes)
        answer = np.full((8, detect.CELLS, detect.CELLS), -9, np.float32)
        answer[0][there > 0] = 9
        answer[1:5] = wanted[:4]
        for label in range(3):
            answer[5 + label][(wanted[4] == label) & (there > 0)] = 9
        found = detect.decoded(answer)
        assert len(found) == len(boxes)
        for box in boxes:
            assert any(detect.overlap(box, other) > 0.9 and other.label == box.label for other in found)


def test_overlaps(detect):
    a = detect.Box(0, 1, 0, 0, 2, 2)
    assert detect.overlap(a, a) == 1
    assert detect.overlap(a, detect.Box(0, 1, 1, 0, 3, 2)) == pytest.approx(1 / 3)
    assert detect.overlap(a, detect.Box(0, 1, 2, 2, 3, 3)) == 0


@pytest.mark.slow
def test_it_finds_shapes(detect, tmp_path):
    subprocess.run([sys.executable, PATH, "--frames=2"], cwd=tmp_path, check=True, timeout=280)
    assert (tmp_path / "detected_0001.png").exists()
    detector, right = detect.ShapeDetector(str(tmp_path / "shapes.ms")), 0
    for seed in range(100, 140):
        image, boxes = detect.scene(np.random.default_rng(seed))
        found = detector(image)
        right += all(any(detect.overlap(b, f) > 0.5 and f.label == b.label for f in found) for b in boxes)
    assert right >= 28
