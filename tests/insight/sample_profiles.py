"""A profile of two devices in the files that official MindSpore writes, for official MindInsight and for ours to read."""

import json
from pathlib import Path

STEPS = ["step_num,start_point,end_point,total,fp_point,bp_point,iteration_interval,fp_and_bp,tail"]
STEPS += [f"{n},{n}000000,{n}900000,900000,{n}200000,{n}700000,200000,500000,200000" for n in (1, 2)]
STEPS += ["-,0,0,900000,0,0,200000.5,500000,199999.5"]


def _links(rank, cost):
    other = 1 - rank
    return json.dumps({f"{rank}-{other}": {"SDMA": [cost, 2.5, 0.125], "RDMA": [cost * 2, 5.0, 0.25]}})


def _communication(rank):
    rows = ["step_num,communication_cost,wait_cost,link_info,communication_operator_cost"]
    for step, cost in (("1", 0.5 + rank), ("2", 1.5 + rank), ("-", 1.0 + rank)):
        operators = json.dumps({"allReduce_1": [cost, 0.25, json.loads(_links(rank, cost))]})
        cells = [step, str(cost), "0.25", _links(rank, cost), operators]
        rows.append(",".join('"' + cell.replace('"', '""') + '"' if "{" in cell else cell for cell in cells))
    return "\n".join(rows) + "\n"


def _memory(rank):
    summary = {"capacity": 32, "allocations": 4, "deallocations": 3, "peak_mem": 1.5 + rank, "static_mem": 0.5}
    node = {"node_id": 0, "node_name": "Default/Conv2D-op1", "size": 0.25, "allocated": 0.75}
    breakdown = {
        "tensor_name": "Default/Conv2D-op1:0",
        "size": 0.25,
        "data_type": "float32",
        "shape": [1, 64],
        "format": "NCHW",
    }
    graph = {"graph_id": 1, "static_mem": 0.5, "allocations": 4, "deallocations": 3, "peak_mem": 1.5, "fp_start": 0, "bp_end": 1,
             "nodes": [node], "lines": [0.5, 0.75, 1.5], "breakdowns": [[breakdown], []]}  # fmt: skip
    return summary, {"1": graph}


def _timeline(rank):
    shift = 5.0 * rank
    return [
        {"name": "1", "tid": "Steps", "ts": 10.0 + shift, "dur": 100.0, "pid": 1},
        {"name": "2", "tid": "Steps", "ts": 110.0 + shift, "dur": 100.0, "pid": 1},
        {"name": "Default/Conv2D-op1", "tid": "Stream #1", "ts": 20.0 + shift, "dur": 30.0, "pid": 1},
        {"name": "Default/AllReduce-op2", "tid": "Stream #2", "ts": 60.0 + shift, "dur": 20.0, "pid": 1},
        {"name": "Default/StreamSend-op3", "tid": "Stream #2", "ts": 85.0 + shift, "dur": 1.0, "pid": 1},
        {"name": "Default/Conv2D-op1", "tid": "Stream #1", "ts": 120.0 + shift, "dur": 30.0, "pid": 1},
        {"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "Ascend"}},
    ]


def _processors():
    metrics = {"user_utilization": [10, 20, 30], "sys_utilization": [1, 2, 3]}
    machine = {**metrics, "io_utilization": [0, 0, 1], "idle_utilization": [89, 78, 66]}
    operators = [{"op_id": -1, "metrics": metrics}, {"op_id": 0, "metrics": metrics}, {"op_id": 1, "metrics": metrics}]
    return {"cpu_processor_num": 4, "sampling_interval": 1000, "time_stamp": [0, 15, 25, 35], "device_info": machine,
            "process_info": metrics, "op_info": operators}  # fmt: skip


def build(run: Path):
    """Write the profile below the folder of a run."""
    folder = run / "profiler"
    folder.mkdir(parents=True)
    for rank in (0, 1):
        summary, details = _memory(rank)
        flops = {"cube_FLOPs": 100.0 * (rank + 1), "vec_FLOPs": 20.0, "cube_FLOPS": 10.0, "vec_FLOPS": 2.0}
        info = {"context_mode": "graph", "parallel_mode": "auto_parallel", "stage_num": 1, "rank_size": 2, "ms_version": "2.3.1"}
        pipeline = {"op_info": [{"op_id": 0, "num_workers": 2}, {"op_id": 1, "num_workers": 8}]}
        tables = {
            f"profiler_info_{rank}.json": info,
            f"memory_usage_summary_{rank}.json": summary,
            f"memory_usage_details_{rank}.json": details,
            f"flops_summary_{rank}.json": flops,
            f"ascend_timeline_display_{rank}.json": _timeline(rank),
            f"minddata_cpu_utilization_{rank}.json": _processors(),
            f"pipeline_profiling_{rank}.json": pipeline,
            f"parallel_strategy_{rank}.json": {"config": {"rankId": rank}, "graph": {}},
            f"dynamic_shape_info_{rank}.json": {"op_type": {"Conv2D": [1, 2]}},
        }
        for name, content in tables.items():
            (folder / name).write_text(json.dumps(content))
        (folder / f"step_trace_raw_{rank}_detail_time.csv").write_text("\n".join(STEPS) + "\n")
        (folder / f"hccl_raw_{rank}.csv").write_text(_communication(rank))
        (folder / f"flops_{rank}.txt").write_text("op_full_name,MFLOPs,GFLOPS\nConv2D-op1,1.5,2.5\nMul-op2,3,4\n")
        (folder / f"device_queue_profiling_{rank}.txt").write_text(
            "1 64 1 2 10\n0 1 1 3 11\n1 64 2 2 20\n1 64 3 1 30\n"
        )


GET, POST = "GET", "POST"
RUN = {"train_id": "./trained"}
DIR = {"dir": "./trained"}
ASCEND = {**RUN, "device_type": "ascend"}
#: (method, path, query, body) of what is asked of both
REQUESTS = [
    (GET, "profile/devices", {**RUN, "profile": "profiler"}, None),
    (GET, "profile/profile_info", {**RUN, "profile": "profiler"}, None),
    (GET, "profile/memory-summary", {**DIR, "device_id": "1"}, None),
    (GET, "profile/memory-graphics", DIR, None),
    (GET, "profile/memory-breakdowns", {**DIR, "graph_id": "1", "node_id": "0"}, None),
    (GET, "profile/memory-breakdowns", {**DIR, "graph_id": "7", "node_id": "0"}, None),
    (GET, "profile/memory-breakdowns", {**DIR, "graph_id": "1", "node_id": "9"}, None),
    (GET, "profile/memory-graphics", {**DIR, "device_type": "gpu"}, None),
    (GET, "profile/flops-summary", {**RUN, "profile": "profiler", "device_id": "0"}, None),
    (GET, "profile/cluster-flops", RUN, None),
    (GET, "profile/cluster-peak-memory", RUN, None),
    (POST, "profile/cluster-step-trace-summary", RUN, {}),
    (POST, "profile/cluster-step-trace-summary", RUN, {"filter_condition": {"step_id": 2}}),
    (GET, "profile/communication-data", RUN, None),
    (POST, "profile/search-cluster-communication", RUN, {}),
    (POST, "profile/search-cluster-communication", RUN,
     {"filter_condition": {"step_id": 1}, "sort_condition": {"name": "communication_cost", "type": "descending"}}),
    (POST, "profile/search-cluster-link", RUN, {}),
    (POST, "profile/search-cluster-link", RUN,
     {"filter_condition": {"src_rank": "0", "link_type": "SDMA", "step_id": 2}, "group_condition": {"limit": 1, "offset": 0}}),
    (POST, "profile/search-cluster-link", RUN, {"sort_condition": {"name": "communication_cost", "type": "ascending"}}),
    (GET, "profile/marey-graph/memory-data", ASCEND, None),
    (GET, "profile/marey-graph/flops-data", RUN, None),
    (GET, "profile/marey-graph/overview-time", RUN, None),
    (GET, "profile/marey-graph/timeline", {**ASCEND, "step": "1"}, None),
    (GET, "profile/marey-graph/timeline", {**ASCEND, "step": "2", "device_list": "1"}, None),
    (GET, "profile/marey-graph/timeline", RUN, None),
    (POST, "profile/minddata-cpu-utilization-summary", {**RUN, "profile": "profiler"}, {}),
    (POST, "profile/minddata-cpu-utilization-summary", {**RUN, "profile": "profiler"},
     {"filter_condition": {"start_step": 2, "end_step": 3}}),
    (POST, "profile/dynamic-shape-detail", {}, {"dir": "./trained", "device_id": "0"}),
    (GET, "profile/parallel-strategy/graphs", {**RUN, "stage_id": "metadata"}, None),
    (GET, "profile/msprof_timeline_option", DIR, None),
    (GET, "profile/profile_info", RUN, None),
]  # fmt: skip
