"""Explanations in official files, for official MindInsight and for ours to read: of three samples, and of one that is uncertain."""

import json
import math
import struct
import zlib
from pathlib import Path

import event_writer as w

_GREY, _RGB, _RGBA = 0, 2, 6


def png(width: int, height: int, kind: int, row: bytes) -> bytes:
    """A picture whose rows are alike."""

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress((b"\0" + row) * height)) + chunk(b"IEND", b"")


def _floats(*numbers):
    return struct.pack(f"<{len(numbers)}f", *numbers)


def _inference(truth, labels, shares, *more):
    return w.message((1, _floats(*truth)), *((2, label) for label in labels), (3, _floats(*shares)), *more)


def _score(metric, total, *by_label):
    return w.message((1, metric), (2, "GradCAM"), (3, (total,)), (4, _floats(*by_label)))


def build(base: Path):
    """Write the runs `explained` and `uncertain`."""
    run, other = base / "explained", base / "uncertain"
    run.mkdir(parents=True)
    (other / "_explain_1700000002").mkdir(parents=True)
    (run / "cat.png").write_bytes(png(4, 3, _RGB, bytes([250, 100, 7, 40, 50, 60, 0, 0, 0, 255, 255, 255])))
    (run / "heat.png").write_bytes(png(4, 3, _GREY, bytes([0, 51, 102, 255])))
    (run / "over.png").write_bytes(png(2, 2, _RGBA, bytes([1, 2, 3, 4] * 2)))
    names = [(1, "cat"), (1, "dog"), (1, "a_b"), (2, "GradCAM"), (2, "RISE"), (3, "Faithfulness"), (3, "Localization")]
    maps = [w.message((1, "GradCAM"), (2, 0), (3, "heat.png")), w.message((1, "RISE"), (2, 0), (3, "over.png")),
            w.message((1, "RISE"), (2, 1), (3, "heat.png"))]  # fmt: skip
    layers = [w.message((1, (share,)), *((2, n) for n in box)) for share, box in ((0.5, (1, 0, 2, 2)), (0.625, (0, 0, 1, 1, 2, 1, 2, 2)))]
    boxes = w.message((1, 0), (2, "gaussian:2"), *((3, layer) for layer in layers))
    spread = [(4, 0.1), (5, 0.6), (6, 0.9), (7, 0.2), (8, 0.3), (9, 0.7)]
    explained = [
        w.message((7, w.message(*names))),
        w.message((1, 1), (2, "cat.png"), (3, 0), (4, _inference([0.75], [0], [0.75])), *((5, one) for one in maps), (9, boxes)),
        w.message((1, 2), (2, "cat.png"), (3, 1), (4, _inference([0.25], [0], [0.875]))),
        w.message((1, 3), (2, "cat.png"), (4, _inference([], [1, 2], [0.5, 0.4]))),
        w.message((6, _score("Faithfulness", 0.123456789, 0.5, math.nan, 1.0)), (6, _score("Localization", math.nan, 0.25, 0.125, 0.0))),
    ]
    uncertain = [
        w.message((7, w.message(*names))),
        w.message((1, 1), (2, "cat.png"), (3, 0), (4, _inference([0.75], [1], [0.5], *((n, _floats(value)) for n, value in spread)))),
    ]
    (other / "_explain_1700000002" / "manifest.json").write_text(json.dumps({"saliency_map": True, "hierarchical_occlusion": True}))
    for place, records, number in ((run, explained, 1), (other, uncertain, 2)):
        events = [w.message((1, 1.7e9), (6, record)) for record in records]
        w.write(place / f"events.out.events.summary.170000000{number}.host_explain", *events)


_BODIES = [{}, {"labels": ["cat"]}, {"labels": ["dog"], "sorted_name": "confidence"},
           {"sorted_name": "confidence", "sorted_type": "ascending"},
           {"sorted_name": "uncertainty"}, {"prediction_types": ["FN"]}, {"prediction_types": ["TP", "FP"]}, {"limit": 1, "offset": 1},
           {"explainers": ["RISE"]}, {"drop_empty": False}, {"labels": 3}, {"labels": [3]}, {"sorted_name": "x"}, {"sorted_type": "x"},
           {"prediction_types": ["x"]}, {"limit": 0}]  # fmt: skip
#: (method, path, query, body) of what is asked of both
REQUESTS = [(method, f"explainer/{path}", query, body) for run in ("./explained", "./uncertain") for method, path, query, body in [
    ("GET", "explain-job", {"train_id": run}, None),
    ("GET", "evaluation", {"train_id": run}, None),
    *(("POST", path, {}, {"train_id": run, **body}) for path in ("saliency", "hoc") for body in _BODIES),
]]  # fmt: skip
REQUESTS += [
    ("POST", "explainer/hoc", {}, {"train_id": "./explained", "drop_empty": 3}),
    ("POST", "explainer/saliency", {}, {"train_id": "./explained", "explainers": 3}),
    ("POST", "explainer/saliency", {}, {"train_id": "./none"}),
    ("GET", "explainer/explain-job", {}, None),
    *(("IMAGE", "explainer/image", {"train_id": "./explained", "path": path, "type": kind}, None)
      for path, kind in (("cat.png", "original"), ("heat.png", "overlay"), ("cat.png", "overlay"), ("over.png", "overlay"),
                         ("1_cat_0.jpg", "outcome"), ("1_cat_1.jpg", "outcome"))),
]  # fmt: skip
