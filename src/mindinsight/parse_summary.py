"""`mindinsight parse_summary`: the scalars of a run as CSV, its images as files."""

from __future__ import annotations

import csv
import os
import re
import sys
import time
from pathlib import Path

from mindinsight.events import event
from mindinsight.events.bulk import Batch, Decoder
from mindinsight.events.reader import read
from mindinsight.events.values import image, image_type
from mindinsight.events.wire import Malformed

_SUFFIXES = {"image/jpeg": "jpg", "image/gif": "gif", "image/bmp": "bmp", "image/webp": "webp"}


def parse_summary(folder: Path, output: Path) -> int:
    """Write `output_YYYYmmdd_HHMMSS_ffffff/{scalar.csv, image/{tag}_{step}.png}`."""
    names = sorted(p for p in folder.glob("*") if re.search(r"summary\.\d+|tfevents", p.name) and not p.name.endswith("_lineage"))
    if not folder.is_dir() or not names:
        print(f"There is no summary file in {folder}.", file=sys.stderr)
        return 1
    now = time.time()
    target = output / f"output_{time.strftime('%Y%m%d_%H%M%S', time.localtime(now))}_{int(now % 1 * 1e6):06d}"
    try:
        (target / "image").mkdir(parents=True)
    except OSError as error:
        print(f"{target} cannot be made: {error.strerror}", file=sys.stderr)
        return 1
    decoder, scalars, images = Decoder(), 0, 0
    with open(target / "scalar.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["tag", "step", "value"])
        for path in names:
            handle = os.open(path, os.O_RDONLY)
            try:
                for stretch in read(handle, 0, decoder):
                    scalars += _write_scalars(writer, stretch.batch)
                    images += _write_images(handle, target / "image", stretch.batch)
                    if stretch.damage:
                        print(f"{path.name} is {stretch.damage}; the rest is read.", file=sys.stderr)
            finally:
                os.close(handle)
    print(f"{scalars} scalars and {images} images are in {target}")
    return 0


def _write_scalars(writer: csv.writer, batch: Batch) -> int:  # type: ignore[valid-type]
    count = 0
    for tag, (steps, _, values) in batch.series.items():
        writer.writerows((tag, step, value) for step, value in zip(steps.tolist(), values.tolist()))  # type: ignore[attr-defined]
        count += len(steps)
    return count


def _write_images(handle: int, target: Path, batch: Batch) -> int:
    count = 0
    for thing in batch.things:
        if thing.kind != event.IMAGE:
            continue
        try:
            found = image(os.pread(handle, thing.length, thing.offset))
        except Malformed:
            continue
        name = re.sub(r"[^\w.-]", "_", thing.tag)[:100]  # a tag is no path
        suffix = _SUFFIXES.get(image_type(found.data), "png")
        (target / f"{name}_{thing.step}.{suffix}").write_bytes(found.data)
        count += 1
    return count
