"""Routes of the page on what TensorBoard's writers keep besides: texts, sound, curves of precision and recall.

What has no page is named with the reason, so that nobody looks for it in vain.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.responses import Response

from mindinsight.events import event, values
from mindinsight.events.wire import Malformed
from mindinsight.index.store import Run
from mindinsight.server import errors
from mindinsight.server.calls import Call, route
from mindinsight.server.workspace import damaged

_LONGEST_TEXT = 1_000_000
_REASONS = {
    "custom_scalars": "a layout of charts: pin the tags it names on the page of scalars",
    "mesh": "a mesh of points in space: its numbers are on the page of tensors",
}
_PROJECTOR = "projector_config.pbtxt"


def _value(call: Call, kind: int, read: Callable[[bytes], Any]) -> Any:
    """What a tag has at the step that is asked for."""
    run, tag, step = call.workspace.run(call.query.get("train_id")), call.needed("tag"), call.integer("step")
    found = call.workspace.store.things(run.id, kind, tag, step)
    if not found:
        raise errors.wrong_value(f"There is no {tag!r} at step {step}.")
    try:
        return read(call.workspace.bytes_of(run, found[-1]))
    except Malformed as error:
        raise damaged(error) from None


@route("GET", "/board/text")
def text(call: Call) -> Any:
    """The texts of a step."""
    found = _value(call, event.TEXT, values.texts)
    return {"texts": [one[:_LONGEST_TEXT] for one in found]}


@route("GET", "/board/audio")
def audio(call: Call) -> Any:
    """The sound of a step, as it was encoded."""
    data = _value(call, event.AUDIO, values.audio)
    return Response(data, media_type=values.audio_type(data))


@route("GET", "/board/curve")
def curve(call: Call) -> Any:
    """Precision over recall at a step."""
    recall, precision = _value(call, event.CURVE, values.curve)
    return {"recall": recall.tolist(), "precision": precision.tolist()}


@route("GET", "/board/unshown")
def unshown(call: Call) -> Any:
    """What a run holds that no page shows: its name, its plugin, and why."""
    run = call.workspace.run(call.query.get("train_id"))
    found = {thing.tag: thing for thing in call.workspace.store.things(run.id, event.UNSHOWN)}
    rows = [_named(tag, values.plugin_of(call.workspace.bytes_of(run, thing))) for tag, thing in found.items()]
    return {"unshown": rows + _embeddings(call, run)}


def _named(tag: str, plugin: str) -> dict[str, str]:
    return {"tag": tag, "plugin": plugin, "reason": _REASONS.get(plugin, f"there is no page for values of the plugin {plugin!r}")}


def _embeddings(call: Call, run: Run) -> list[dict[str, str]]:
    """TensorBoard's projector keeps files of its own beside the events."""
    if not (call.workspace.path(run.name) / _PROJECTOR).is_file():
        return []
    return [{"tag": _PROJECTOR, "plugin": "projector", "reason": "embeddings are in files of TensorBoard's projector, which are not read"}]
