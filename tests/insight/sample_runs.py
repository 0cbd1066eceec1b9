"""A small folder of runs with everything that the dashboard shows."""

import json
import struct

import event_writer as w

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c494441"
    "54789c63f8cfc000000301010018dd8db00000000049454e44ae426082"
)


def landscape():
    axis = w.message((1, 2), (2, 11), (3, struct.pack("<2f", -1, 1)))
    heights = w.message((1, 2), (1, 2), (2, 11), (3, struct.pack("<4f", 1, 2, 3, 4)))
    plane = w.message((1, axis), (2, axis), (3, heights))
    path = w.message((1, 1), (1, 3), (2, plane))
    return w.message((1, "plane"), (10, w.message((1, plane), (2, path), (3, w.message((1, "PCA"), (2, "step"), (3, 7))))))


def lineage(loss, rate, accuracy):
    train = w.message((1, w.message((1, "Adam"), (2, (rate,)), (4, 3), (8, 32))), (3, w.message((1, "LeNet"), (2, (loss,)))))
    evaluation = w.message((2, f'{{"accuracy": {accuracy}}}'))
    user = w.message((4, w.message((1, "note"), (2, "first"))))
    return [w.message((1, 1.7e9), (6, train)), w.message((1, 1.7e9), (7, evaluation)), w.message((1, 1.7e9), (10, user))]


def graph():
    shape = w.message((1, 14), (2, w.message((1, 11), (2, w.message((1, w.message((1, 2))), (1, w.message((1, 3))))))))
    nodes = [
        w.message((1, w.message((1, "x"))), (2, "1"), (3, "ReLU"), (4, "Default/net"), (6, shape), (8, "Default/net/ReLU-op1")),
        w.message(
            (1, w.message((1, "1"))), (1, w.message((1, "c1"))), (2, "2"), (3, "Add"), (4, "Default"), (6, shape),
            (8, "Default/Add-op2"), (9, "In file /home/me/net.py(12)/        y = x + 1/\n")),
    ]  # fmt: skip
    constant = w.message((1, "c1"), (2, w.message((1, 5), (3, 1))))
    return w.message((1, 1.7e9), (4, w.message(*((1, n) for n in nodes), (3, w.message((1, "x"), (2, shape))), (5, constant))))


def build(base):
    """Two runs of MindSpore with all kinds of values, and one of TensorBoard."""
    for name, shift in (("one", 0.0), ("two", 1.0)):
        events = [w.event(1.7e9 + s, s, w.own_scalar("loss", shift + 1 / s)) for s in range(1, 301)]
        tensor = w.tensor("t", [2, 3], [1, 2, 3, float("nan"), 5, float("inf")])
        values = [w.image("pic", PNG, 1, 1), w.histogram("w", [(0.0, 1.0, 4), (1.0, 1.0, 6)]), tensor, landscape()]
        things = [*(w.event(1.7e9, 5, value) for value in values), graph()]
        w.write(base / name / "events.out.events.summary.1700000000.host_MS", w.version("MindSpore.Event:1"), *events, *things)
        about = lineage(0.1 + shift, 0.01 * (1 + shift), 0.9 - shift / 2)
        w.write(base / name / "events.out.events.summary.1700000000.host_lineage", *about)
    w.write(base / "board" / "events.out.tfevents.1.host", w.version(), *(w.event(1.7e9, s, w.tensor_scalar("loss", s)) for s in range(5)))


#: the smallest piece of sound: four samples
_FORMAT = struct.pack("<IHHIIHH", 16, 1, 1, 8000, 8000, 1, 8)
WAV = b"RIFF" + struct.pack("<I", 40) + b"WAVEfmt " + _FORMAT + b"data" + struct.pack("<I", 4) + b"\x80" * 4


def media(base):
    """A run with what TensorBoard's writers keep besides: texts, sound in both forms, a curve, a layout, embeddings."""
    recall, precision = [1.0, 0.5, 0.0], [0.25, 0.75, 1.0]
    values = [
        w.board_tensor("words", "text", [2], [b"<b>first</b>", "\u00e4".encode()]),
        w.board_tensor("beep", "audio", [1, 2], [WAV, b"a label"]), w.old_audio("old beep", WAV), w.old_audio("no sound", b"<html>"),
        w.board_tensor("pr", "pr_curves", [6, 3], [0.0] * 12 + precision + recall),
        w.board_tensor("layout", "custom_scalars", [], [b"?"]), w.board_tensor("points", "mesh", [3], recall),
        w.board_tensor("own", "somebodys", [], [b"?"]),
    ]  # fmt: skip
    w.write(base / "media" / "events.out.tfevents.1.host", w.version(), *(w.event(1.7e9, 7, value) for value in values))
    (base / "media" / "projector_config.pbtxt").write_text("")


def add_extras(base):
    """A profile, explanations, a study of the tuner, hostile names."""
    folder = base / "one" / "profiler" / "PROFILER_OUTPUT"
    folder.mkdir(parents=True)
    tables = {
        "step_trace_time": ["step,total_ms,compute_ms,data_wait_ms,other_ms", *(f"{i},10,6,3,1" for i in range(1, 21))],
        "op_statistic": ["name,kind,count,total_us,mean_us,max_us", "conv,kernel,20,9000,450,500", "relu,kernel,20,1000,50,60"],
        "dataset": ["step,workers,threads,tasks,rows,total_us,max_us", "source: Images,1,1,20,640,2000,200",
                    "Decode,2,2,20,640,400000,30000"],
        "data_queue": ["time_us,ready", "1,0", "2,3"],
        "memory_record": ["time_us,where,bytes", *(f"{i * 1000},host,{(50 + i) * 1000000}" for i in range(20))],
    }  # fmt: skip
    for name, rows in tables.items():
        (folder / f"{name}.csv").write_text("\n".join(rows) + "\n")
    (folder / "trace_view.json").write_text('{"traceEvents": []}')
    (folder / "flops.csv").write_text("graph,place,calls,flops\nstep,conv,20,3000000\nstep,fc,20,1000000\n")
    for rank, compute in enumerate((6, 6, 16)):
        folder = base / "two" / "profiler" / f"rank_{rank}" / "PROFILER_OUTPUT"
        folder.mkdir(parents=True)
        rows = ["step,total_ms,compute_ms,data_wait_ms,other_ms", *(f"{i},20,{compute},3,1" for i in range(1, 6))]
        (folder / "step_trace_time.csv").write_text("\n".join(rows) + "\n")
    (base / "one" / "cat.png").write_bytes(PNG)
    meta = w.message((7, w.message((1, "cat"), (1, "dog"), (2, "GradCAM"), (3, "Faithfulness"))))
    inference, heat = w.message((2, 0), (3, struct.pack("<f", 0.75))), w.message((1, "GradCAM"), (2, 0), (3, "cat.png"))
    layer = w.message((1, (0.5,)), (2, 1), (2, 2), (2, 30), (2, 40))
    hoc = w.message((1, 0), (2, "mask"), (3, layer))
    sample = w.message((1, 1), (2, "cat.png"), (3, 0), (4, inference), (5, heat), (9, hoc))
    score = w.message((6, w.message((1, "Faithfulness"), (2, "GradCAM"), (3, (0.5,)))))
    events = [w.message((1, 1.7e9), (6, one)) for one in (meta, sample, score)]
    w.write(base / "one" / "events.out.events.summary.1700000001.host_explain", *events)
    trials = [{"number": i, "state": "done", "parameters": {"rate": 0.1 / i}, "value": 1.0 / i, "seconds": 1.0} for i in range(1, 6)]
    study = {"name": "search", "method": "gp (ucb)", "target": "loss", "goal": "minimize", "parameters": {"rate": None}, "trials": trials}
    (base / "study_search").mkdir()
    (base / "study_search" / "study.json").write_text(json.dumps(study))
    hostile = "<img src=x onerror=window.pwned=1>"
    w.write(base / "hostile" / "events.out.tfevents.9.host", w.event(1.7e9, 1, w.board_scalar(hostile, 1.0)))
