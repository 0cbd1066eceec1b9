"""What MindInsight and TensorBoard find in the folders that `observed.py` left; runs where both are installed.

python dashboards.py FOLDER       FOLDER/ours and FOLDER/theirs hold the runs; prints one JSON line per check

MindInsight runs as its users run it, as a server, and is asked what its pages ask it. What it tells of the run of this
package must be what it tells of the official run, but for what depends on random numbers.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

OURS, THEIRS = "./ours", "./theirs"
DIFFERENT = ("loss", "metric", "dataset_mark")  # entries of a lineage that depend on random numbers or on the order


class Insight:
    """A running server."""

    def __init__(self, port: int):
        self.address = f"http://127.0.0.1:{port}/v1/mindinsight"

    def ask(self, page: str, **query: Any) -> Any:
        return self._answer(f"{self.address}{page}?{urllib.parse.urlencode(query)}", None)

    def post(self, page: str, body: dict) -> Any:
        return self._answer(self.address + page, json.dumps(body).encode())

    @staticmethod
    def _answer(address: str, body: bytes | None) -> Any:
        request = urllib.request.Request(address, body, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=60) as stream:
                content = stream.read()
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{address} is answered by {error.code}: {error.read()[:200]!r}") from None
        return content if content[:1] == b"\x89" else json.loads(content)

    def plugins(self, job: str) -> dict[str, list[str]]:
        return self.ask("/datavisual/plugins", train_id=job, manual_update=True)["plugins"]


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[Insight]:
    """MindInsight on a free port, with everything loaded."""
    with socket.socket() as probe, tempfile.TemporaryDirectory() as workspace:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        here = str(Path(sys.executable).parent)
        environment = {**os.environ, "PATH": f"{here}{os.pathsep}{os.environ['PATH']}"}
        command = [f"{here}/mindinsight", "start", "--workspace", workspace, "--port", str(port)]
        try:
            subprocess.run(
                [*command, "--summary-base-dir", str(folder)], env=environment, check=True, stdout=subprocess.DEVNULL
            )
            insight = Insight(port)
            wait_until_loaded(insight)
            yield insight
        finally:
            stop = [f"{here}/mindinsight", "stop", "--port", str(port)]
            subprocess.run(stop, env=environment, check=False, capture_output=True, input=b"y\n")


def wait_until_loaded(insight: Insight) -> None:
    """Both runs are there and their tags do not grow any more."""
    before: Any = None
    for _ in range(60):
        time.sleep(1)
        jobs = insight.ask("/datavisual/train-jobs", offset=0, limit=10)["train_jobs"]
        insight.post("/datavisual/train-job-caches", {"train_ids": [OURS, THEIRS]})
        now = [(j["train_id"], j["cache_status"], {k: len(v) for k, v in j.get("plugins", {}).items()}) for j in jobs]
        if now == before and len(now) == 2 and all(status == "CACHED" for _, status, _ in now):
            return
        before = now
    raise AssertionError(f"MindInsight has not loaded the runs: {before}")


# ---------------------------------------------------------------------------------------------------------------------
# MindInsight


def tags(insight: Insight) -> str:
    ours, theirs = ({k: v for k, v in insight.plugins(j).items() if "graph" not in k} for j in (OURS, THEIRS))
    assert ours == theirs, f"ours {ours}, theirs {theirs}"
    return f"{sum(map(len, ours.values()))} tags"


def scalars(insight: Insight) -> str:
    def steps(job: str, tag: str) -> list[int]:
        found = insight.ask("/datavisual/scalar/metadata", train_id=job, tag=tag)["metadatas"]
        assert all(math.isfinite(entry["value"]) for entry in found)
        return sorted({entry["step"] for entry in found})

    return _same_for_all(insight, "scalar", steps)


def images(insight: Insight) -> str:
    def sizes(job: str, tag: str) -> list[tuple]:
        found = insight.ask("/datavisual/image/metadata", train_id=job, tag=tag)["metadatas"]
        picture = insight.ask("/datavisual/image/single-image", train_id=job, tag=tag, step=found[-1]["step"])
        assert picture.startswith(b"\x89PNG")
        return sorted({(entry["height"], entry["width"]) for entry in found})

    return _same_for_all(insight, "image", sizes)


def histograms(insight: Insight) -> str:
    def steps(job: str, tag: str) -> list[int]:
        found = insight.ask("/datavisual/histograms", train_id=job, tag=tag)["histograms"]
        assert all(sum(count for _, _, count in entry["buckets"]) > 0 for entry in found)
        return sorted({entry["step"] for entry in found})

    return _same_for_all(insight, "histogram", steps)


def tensors(insight: Insight) -> str:
    def kinds(job: str, tag: str) -> list[tuple]:
        (found,) = insight.ask("/datavisual/tensors", train_id=job, tag=tag, detail="stats")["tensors"]
        buckets = insight.ask("/datavisual/tensors", train_id=job, tag=tag, detail="histogram")["tensors"][0]
        assert buckets["values"][-1]["value"]["histogram_buckets"]
        last = found["values"][-1]
        cells = insight.ask(
            "/datavisual/tensors", train_id=job, tag=tag, detail="data", step=last["step"], dims="[0,:]"
        )
        assert cells["tensors"][0]["values"]
        return sorted((e["step"], e["value"]["data_type"], tuple(e["value"]["dims"])) for e in found["values"])

    return _same_for_all(insight, "tensor", kinds)


def _same_for_all(insight: Insight, plugin: str, look: Callable[[str, str], Any]) -> str:
    names = insight.plugins(THEIRS)[plugin]
    assert names, "there are none"
    for tag in names:
        ours, theirs = look(OURS, tag), look(THEIRS, tag)
        assert ours == theirs, f"{tag}: {ours}, officially {theirs}"
    return ", ".join(names)


def graphs(insight: Insight) -> str:
    """The cells of the network are found where the official graph has them."""
    wanted = {"Default/network-WithLossCell", "Default/optimizer-Momentum", "Gradients/Default"}
    layers = {"conv-Conv2d", "relu-ReLU", "pool-MaxPool2d", "flatten-Flatten", "fc-Dense"}
    for job in (THEIRS, OURS):
        scopes = set(_scopes(insight, job, None))
        assert wanted <= scopes, f"{job}: {sorted(scopes)}"
        below = {s.rpartition("/")[2] for s in scopes if "Observed/" in s}
        assert layers <= below, f"{job}: {sorted(below)}"
        assert insight.ask("/datavisual/graphs/nodes/all", train_id=job)["all_nodes_detail"]
    return f"{len(scopes)} scopes"


def _scopes(insight: Insight, job: str, name: str | None) -> Iterator[str]:
    inside = {} if name is None else {"name": name}
    for node in insight.ask("/datavisual/graphs/nodes", train_id=job, mode="normal", **inside)["nodes"]:
        if node["type"] == "name_scope":
            yield node["name"]
            yield from _scopes(insight, job, node["name"])


def dataset_graph(insight: Insight) -> str:
    ours, theirs = (
        _rounded(insight.ask("/datasets/dataset_graph", train_id=j)["dataset_graph"]) for j in (OURS, THEIRS)
    )
    assert ours == theirs, f"ours {ours}, theirs {theirs}"
    return "equal"


def _rounded(value: Any) -> Any:
    """Official MindSpore keeps numbers of transforms in single precision."""
    if isinstance(value, dict):
        return {k: _rounded(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_rounded(v) for v in value]
    if isinstance(value, str) and value.startswith("{"):
        return _rounded(json.loads(value))
    return float(f"{value:.6g}") if isinstance(value, float) else value


def lineage(insight: Insight) -> str:
    found = {entry["summary_dir"]: entry for entry in insight.post("/lineagemgr/lineages", {})["object"]}
    ours, theirs = (
        {k: v for k, v in found[job]["model_lineage"].items() if k not in DIFFERENT} for job in (OURS, THEIRS)
    )
    assert ours == theirs, f"ours {ours}, theirs {theirs}"
    metrics = [set(found[job]["model_lineage"]["metric"]) for job in (OURS, THEIRS)]
    assert metrics[0] == metrics[1] == {"accuracy", "loss"}
    return f"{len(ours)} entries"


def landscapes(insight: Insight) -> str:
    shapes = []
    for job in (OURS, THEIRS):
        intervals = insight.ask("/datavisual/landscape/intervals", train_id=job)["intervals"]
        assert [i["value"] for i in intervals] == [[1, 4]], intervals
        pages = [("interval", {"interval_id": intervals[0]["id"]}), ("final", {})]
        for kind, query in pages:
            (made,) = insight.ask("/datavisual/landscape/landscapes", train_id=job, type=kind, **query)["landscapes"]
            shapes.append((job, _landscape_shape(made)))
    assert [s for j, s in shapes if j == OURS] == [s for j, s in shapes if j == THEIRS], shapes
    return f"{len(shapes) // 2} landscapes"


def _landscape_shape(made: dict) -> tuple:
    points, path, about = made["points"], made.get("path") or {}, made["metadata"]
    kept = {k: about[k] for k in ("decomposition", "unit", "step_per_epoch", "network", "optimizer")}
    return len(points["x"]), len(points["y"]), [len(z) for z in points["z"]], path.get("intervals"), kept


# ---------------------------------------------------------------------------------------------------------------------
# TensorBoard


def tensorboard(folder: Path) -> str:
    """Scalars, images and histograms of our file, as TensorBoard reads them."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    found = EventAccumulator(str(folder / "ours"))  # it finds the file by its name
    found.Reload()
    seen = found.Tags()
    assert seen["scalars"] == ["hand scalar"] and seen["images"] == ["hand image"], seen
    assert seen["histograms"] == ["hand histogram"], seen
    assert [(s.step, s.value) for s in found.Scalars("hand scalar")] == [(1, 0.25), (2, 0.5)]
    picture = found.Images("hand image")[0]
    assert (picture.height, picture.width) == (4, 6) and picture.encoded_image_string.startswith(b"\x89PNG")
    values = found.Histograms("hand histogram")[0].histogram_value
    assert (values.min, values.max, values.num, sum(values.bucket)) == (0, 99, 100, 100), values
    assert values.sum == 4950 and values.sum_squares == 328350
    return "scalars, images, histograms"


CHECKS: dict[str, Callable[[Insight], str]] = {
    f.__name__: f
    for f in (tags, scalars, images, histograms, tensors, graphs, dataset_graph, lineage, landscapes)
}  # fmt: skip


def report(label: str, check: Callable[[], str]) -> None:
    try:
        line = {"file": label, "ok": True, "note": check()}
    except Exception as error:
        line = {"file": label, "ok": False, "note": f"{type(error).__name__}: {error}"[:900]}
    print("EXCHANGE " + json.dumps(line), flush=True)


def main(folder: Path) -> None:
    with serving(folder) as insight:
        for name, check in CHECKS.items():
            report(f"MindInsight: {name}", lambda check=check: check(insight))
    report("TensorBoard", lambda: tensorboard(folder))


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
