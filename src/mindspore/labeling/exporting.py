"""Labels as files for training: CSV, COCO (boxes), MindRecord (items with their labels). Written whole or not at all."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from mindspore._base.files import write_parts
from mindspore.labeling.project import Project
from mindspore.labeling.store import Label
from mindspore.mindrecord import FileWriter


def _given(project: Project) -> list[Label]:
    return [label for label in project.store.labels() if label.value is not None]


def to_csv(project: Project, path: str | Path) -> int:
    """A row for each labelled item: its number, label, who gave it, how sure. Returns how many."""
    given = _given(project)
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["item", "label", "source", "confidence"])
    for label in given:
        value = json.dumps(label.value) if project.kind == "boxes" else project.classes[label.value]
        rows.writerow([label.item, value, label.source, f"{label.confidence:.6g}"])
    write_parts(str(path), [text.getvalue().encode()])
    return len(given)


def to_coco(project: Project, path: str | Path) -> int:
    """COCO's JSON of boxes; the file name of item 7 is 7.png, as the page shows it. Returns the number of boxes."""
    if project.kind != "boxes":
        raise TypeError(f"COCO files hold boxes; this project labels items of the kind '{project.kind}'.")
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    for label in _given(project):
        height, width = np.asarray(project.show[label.item]).shape[:2]  # type: ignore[index]
        images.append({"id": label.item, "file_name": f"{label.item}.png", "height": height, "width": width})
        for x, y, w, h, kind in label.value:
            box = {"id": len(annotations) + 1, "image_id": label.item, "category_id": kind + 1, "bbox": [x, y, w, h]}
            annotations.append({**box, "area": w * h, "iscrowd": 0})
    categories = [{"id": i + 1, "name": name} for i, name in enumerate(project.classes)]
    content = {"images": images, "annotations": annotations, "categories": categories}
    write_parts(str(path), [json.dumps(content).encode()])
    return len(annotations)


def to_mindrecord(project: Project, path: str | Path, overwrite: bool = False) -> int:
    """A MindRecord file of the labelled items (`data`) and their classes (`label`). Returns how many."""
    if project.kind == "boxes":
        raise TypeError("boxes are exported by to_coco.")
    given = _given(project)
    if not given:
        raise ValueError("nothing is labelled yet.")
    first = _content(project, given[0].item)
    schema: dict[str, dict[str, Any]] = {"item": {"type": "int64"}, "label": {"type": "int64"}}
    schema["data"] = {"type": "string"} if isinstance(first, str) else {"type": str(first.dtype), "shape": list(first.shape)}
    writer = FileWriter(str(path), 1, overwrite)
    writer.add_schema(schema, "labelled items")
    writer.write_raw_data(
        [{"item": label.item, "label": label.value, "data": _content(project, label.item)} for label in given]
    )
    writer.commit()
    return len(given)


def _content(project: Project, item: int) -> Any:
    if project.items is not None:
        return np.ascontiguousarray(project.items[item])
    shown = project.show[item]  # type: ignore[index]
    return json.dumps(shown) if isinstance(shown, dict) else shown if isinstance(shown, str) else np.asarray(shown)
