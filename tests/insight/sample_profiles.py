"""Profiles in the files that official MindSpore writes, for official MindInsight and for ours to read: of two devices, and of a pipeline."""

# ruff: noqa: E501  (tables are as wide as the files they are for)

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


# ---------------------------------------------------------------------------------------------------------------------
# Four ranks in two stages, with every table of operators and of data preparation, and the raw files of Ascend's own profiler


def _cell(value):
    text = value if isinstance(value, str) else json.dumps(value)
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',"{') else text


def _csv(head, *rows):
    return "\n".join([head, *(",".join(_cell(cell) for cell in row) for row in rows)]) + "\n"


def _operators(rank):
    info = {"input_0": {"format": "NCHW", "data_type": "NUMBER_TYPE_FLOAT32", "shape": "1,64"}}
    conv, cast = "Default/conv1-Conv2d/Conv2D-op1", "Default/Cast-op2"
    return {
        f"aicore_intermediate_{rank}_type.csv": _csv("kernel_type,total_time,execution_frequency,percent",
                                                     ["Conv2D", 0.0125, 5, 0.8], ["Cast", 0.003125, 2, 0.2]),
        f"aicore_intermediate_{rank}_detail.csv": _csv("full_kernel_name,execution_time,execution_frequency",
                                                       [conv, 0.0025, 5], [cast, 0.0015625, 2]),
        f"framework_raw_{rank}.csv": _csv("task_id,stream_id,block_dim,full_kernel_name,op_name,kernel_name,kernel_type,subgraph,op_info,graph_id",
                                          [1, 8, 1, conv, conv, "Conv2D-op1", "Conv2D", "Default", info, 1],
                                          [2, 8, 1, cast, cast, "Cast-op2", "Cast", "Default", "", 1]),
        f"flops_{rank}.txt": f"full_kernel_name,MFLOPs,GFLOPS,MFLOPs,GFLOPS\n{conv},1.5,2.25,0.5,0.125\n",
        f"aicpu_intermediate_{rank}.csv": _csv("serial_number,kernel_name,total_time,dispatch_time,run_start,run_end",
                                               [1, "InitData-op3", 1.53, 0.12, 10, 20], [2, "GetNext-op4", 0.79, 0.11, 20, 30],
                                               [3, "GetNext-op4", 0.81, 0.13, 30, 40]),
        f"gpu_op_type_info_{rank}.csv": _csv("op_type,type_occurrences,total_time,proportion,avg_time",
                                             ["Conv2D", 4, 1200.12345, 0.75, 300.0308], ["MatMul", 2, 400.5, 0.25, 200.25]),
        f"gpu_op_detail_info_{rank}.csv": _csv("op_side,op_type,op_name,op_full_name,op_occurrences,op_total_time(us),op_avg_time(us),total_proportion,cuda_activity_cost_time(us),cuda_activity_call_count",
                                               ["Device", "Conv2D", "Conv2D-op1", conv, 4, 1200.1, 300.025, 0.75, 1100.5, 8]),
        f"gpu_activity_data_{rank}.csv": _csv("name,type,op_full_name,stream_id,block_dim,grid_dim,occurrences,total_duration(us),avg_duration(us),max_duration(us),min_duration(us)",
                                              ["implicit_gemm", "cuLaunchKernel", conv, 23, "256,1,1", "1,2,3", 4, 800.1239, 200.03, 210.5, 0.1234567]),
        f"cpu_op_type_info_{rank}.csv": _csv("op_type,type_occurrences,execution_frequency,total_compute_time,avg_time,percent",
                                             ["Add", 3, 6, 0.75, 0.125, 0.6], ["Concat", 1, 2, 0.5, 0.25, 0.4]),
        f"cpu_op_detail_info_{rank}.csv": _csv("op_side,op_type,op_name,full_op_name,op_occurrences,op_total_time(ms),op_avg_time(ms),total_proportion,subgraph",
                                               ["Host", "Add", "Add-op9", "Default/Add-op9", 2, 0.25, 0.125, 0.2, "Default"]),
        f"pynative_op_intermediate_{rank}_type.csv": _csv("op_type,execution_time,execution_frequency,percent", ["Add", 0.5, 2, 50.0], ["Mul", 0.5, 1, 50.0]),
        f"pynative_op_intermediate_{rank}_detail.csv": _csv("op_name,execution_time", ["Add-op1", 0.25], ["Mul-op2", 1.5]),
    }  # fmt: skip


def _preparation(rank):
    head = "op_id,op_type,num_workers,output_queue_size,output_queue_average_size,output_queue_length,output_queue_usage_rate,sample_interval,parent_id,children_id"
    parts = [[0, "BatchOp", 4, "", "", "", "", 10, "", [1]], [1, "MapOp", 8, [10, 20, 30], 20.0, 64, 0.3125, 10, 0, [2]],
             [2, "GeneratorOp", 1, [60, 58], 59.0, 64, 0.921875, 10, 1, ""]]  # fmt: skip
    queue = ["1 64 1 0 10", "0 0 1 2 10", "0 1 1 1 11", "0 2 1 3 11", "1 64 2 64 20", "0 0 2 4 20", "0 1 2 2 21", "0 2 2 6 21", "1 64 3 0 30"]
    return {
        f"minddata_pipeline_raw_{rank}.csv": _csv(head, *parts),
        f"device_queue_profiling_{rank}.txt": "\n".join(queue) + "\n",
        f"minddata_aicpu_{rank}.txt": "GetNext_dequeue_wait 1000 1500 0\nGetNext_dequeue_wait 3000 3250 2\nother 1 2 3\n",
        f"minddata_cpu_utilization_{rank}.json": json.dumps({**_processors(), "device_info": {
            "user_utilization": [80, 90], "sys_utilization": [5, 5], "io_utilization": [0, 0], "idle_utilization": [15, 5]}}),
        f"pipeline_profiling_{rank}.json": json.dumps({"op_info": [{"op_id": 0, "num_workers": 4}]}),
    }  # fmt: skip


def _tensor(*shape):
    return {"dataType": "DT_TENSOR", "tensorType": {"elemType": "DT_FLOAT32", "shape": {"dim": [{"size": str(n)} for n in shape]}}}


def _strategy(rank):
    def attribute(name, **value):
        return {"name": name, "value": value}

    pair = {"dtype": "DT_TUPLE", "values": [{"dtype": "DT_INT64", "intVal": "2"}, {"dtype": "DT_INT64", "intVal": "1"}]}
    nodes = [
        {"name": "1", "opType": "Load", "scope": "Default", "fullName": "weight", "input": [{"name": "weight"}, {"name": "gone"}],
         "outputType": _tensor(8, 4)},
        {"name": "2", "opType": "MatMul", "scope": "Default/net", "fullName": "Default/net/MatMul-op2",
         "input": [{"name": "1"}, {"name": "cst1"}],
         "attribute": [attribute("in_strategy", **pair), attribute("gen_strategy", **pair),
                       attribute("transpose", dtype="DT_BOOL", boolVal=True), attribute("scale", dtype="DT_FLOAT32", floatVal=0.5)],
         "outputType": {"dataType": "DT_TUPLE", "sequenceType": {"elemTypes": [_tensor(8, 4), {"dataType": "DT_INT32"}]}}},
        {"name": "3", "opType": "AllReduce", "scope": "Gradients", "fullName": "Gradients/AllReduce-op3",
         "instanceName": "grad_mirror_net", "input": [{"name": "2"}],
         "attribute": [attribute("group", dtype="DT_STRING", strVal=f"group-{rank % 2}"),
                       attribute("group_ranks", dtype="DT_STRING", strVal="0-1")]},
        {"name": "4", "opType": "Split", "scope": "Default", "fullName": "Default/Split-op4", "instanceName": "redistribution_op"},
        {"name": "5", "opType": "Nameless"},
    ]  # fmt: skip
    graph = {"node": nodes, "constVals": [{"key": "cst1"}, {}], "parameters": [{"name": "weight"}]}
    return json.dumps({"config": {"rankId": rank, "stageId": rank // 2}, "graph": graph})


def _raw(folder, rank):
    """What Ascend's own profiler writes: events of processes and threads, for two graphs."""
    place = folder / f"PROF_00000{rank}_2023081814270{rank}_ABC"
    (place / f"device_{rank}").mkdir(parents=True)
    (place / "mindstudio_profiler_output").mkdir()
    (place / f"device_{rank}" / f"info.json.{rank}").write_text(json.dumps({"rank_id": rank, "devices": str(rank)}))

    def named(kind, process, name, thread=0):
        return {"name": kind, "pid": process, "tid": thread, "ph": "M", "args": {"name": name}}

    def ran(name, process, thread, at, lasted, **args):
        return {"name": name, "pid": process, "tid": thread, "ph": "X", "ts": str(at), "dur": lasted, "args": args}

    steps = [named("process_name", 5, "Step Trace"), named("thread_name", 5, "Step Trace(Model ID:1)", 1),
             named("thread_name", 5, "Step Trace(Model ID:3)", 3), {"name": "process_sort_index", "pid": 5, "ph": "M", "args": {"sort_index": 9}},
             ran("Iteration 1", 5, 1, 1000.5, 50.0), ran("FP_BP Time", 5, 1, 1002.25, 40.0), ran("Iteration 1", 5, 3, 1100.125, 10.0)]  # fmt: skip
    events = [named("process_name", 1, "Ascend Hardware"), named("process_name", 2, "HCCL"), named("process_name", 3, "CANN"),
              named("process_name", 4, "Overlap Analysis"), named("thread_name", 1, "Stream 7", 7),
              {"name": "process_sort_index", "pid": 4, "ph": "M", "args": {"sort_index": 3}},
              ran("Default/net/MatMul-op2", 1, 7, 1003.5, 4.5, **{"Model Id": 1}), ran("Default/net/Add-op3", 1, 7, 1009, 1.0, **{"Model Id": 1}),
              ran("Default/head/Mul-op4", 1, 7, 1012, 2.0, **{"Model Id": 3}), ran("elsewhere", 1, 99, 1, 1.0),
              ran("hcom_allReduce", 2, 1, 1020.75, 3.0), ran("launch", 3, 1, 1001, 0.5), ran("Computing", 4, 2, 1003.5, 8.0)]  # fmt: skip
    for name, found in ((f"step_trace_{rank}_20230818142800.json", steps), (f"msprof_{rank}_20230818142800.json", events),
                        (f"msprof_{rank}_20230818142700.json", [])):  # fmt: skip
        (place / "mindstudio_profiler_output" / name).write_text(json.dumps(found))
    models = "Device_id,Model ID,Iteration ID\n0,1,1\n0,3,1\n"
    (place / "mindstudio_profiler_output" / f"step_trace_{rank}_20230818142800.csv").write_text(models)
    return {f"cpu_op_execute_timestamp_{rank}.txt": "Default/net/Print-op8;Print;1030000,0.5,12 1040000,0.25,13\nDefault/Cast-op2;Cast;1050000,0.125,12\n"}


def build_pipeline(run: Path):
    """Write the profile of a pipeline below the folder of a run."""
    folder = run / "profiler"
    folder.mkdir(parents=True)
    for rank in range(4):
        streams = "stream_5_0_AllReduce-op3_start_point,stream_5_0_AllReduce-op3_end_point,stream_5_0_AllReduce-op3"
        rows = [[n, n * 1000000, n * 1000000 + 900000, 900000, n * 1000000 + 200000, n * 1000000 + 700000, 200000 + 50000 * rank, 500000, 200000,
                 n * 1000000 + 300000, n * 1000000 + 400000, 100000] for n in (1, 2)]  # fmt: skip
        mean = ["-", 0, 900000, 900000, 200000, 700000, 200000 + 50000 * rank, 500000, 200000, 300000, 400000, 100000]
        pipeline = [[10.5, 4.25, 9.0, 1.5 + rank, 2.75], [11.5, 4.25, 9.0, 1.5 + rank, 2.75], [11.0, 4.25, 9.0, 1.5 + rank, 2.75]]
        info = {"context_mode": "graph", "parallel_mode": "semi_auto_parallel", "stage_num": 2, "rank_size": 4, "ms_version": "2.3.1",
                "diff_time": 2.5 * rank}  # fmt: skip
        scopes = {"data": {"nodes": [{"name": "Total"}], "links": [{"source": "Total", "target": "Default", "value": 4.5}]}}
        shown = [*_timeline(rank), {"name": "Default", "tid": 100001, "ph": "X", "scope_level": 0, "ts": 1, "dur": 2},
                 {"name": "net", "tid": 100001, "ph": "X", "scope_level": "1", "ts": 1, "dur": 2}]  # fmt: skip
        names = "computation,communication_alone,stage,receive_alone,collective_communication_alone"
        files = {
            f"profiler_info_{rank}.json": json.dumps(info),
            f"step_trace_raw_{rank}_detail_time.csv": _csv(f"{STEPS[0]},{streams}", *rows, mean),
            f"step_trace_point_info_{rank}.json": json.dumps({"fp_start": "Default/Cast-op2", "bp_end": "Gradients/AllReduce-op3"}),
            f"ascend_cluster_analyse_pipeline-parallel_2_4_{rank}.csv": _csv(names, *pipeline),
            f"hccl_raw_{rank}.csv": _communication(rank % 2),
            f"flops_summary_{rank}.json": json.dumps({"FLOPs": 100.0 * (1 + rank // 2), "FLOPS": 10.0 - 4 * (rank == 3), "FLOPS_Utilization": 0.5}),
            f"flops_scope_{rank}.json": json.dumps(scopes),
            f"ascend_timeline_display_{rank}.json": json.dumps(shown),
            f"ascend_timeline_summary_{rank}.json": json.dumps({"total_time": 5.5, "num_of_streams": 2, "num_of_ops": 3, "op_exe_times": 9}),
            f"parallel_strategy_{rank}.json": _strategy(rank),
            **_operators(rank), **_preparation(rank), **_raw(folder, rank),
        }  # fmt: skip
        for name, content in files.items():
            (folder / name).write_text(content)


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

PIPE = {"train_id": "./pipe"}
PIPE_DIR = {"dir": "./pipe"}
NAMED = {**PIPE, "profile": "profiler"}
KINDS = ["aicore_type", "aicore_detail", "aicpu_type", "aicpu_detail", "gpu_op_type", "gpu_op_info", "gpu_cuda_activity", "cpu_op_type", "cpu_op_info",
         "pynative_type", "pynative_detail"]  # fmt: skip
REQUESTS += [(POST, "profile/ops/search", NAMED, {"op_type": kind, "device_id": "1"}) for kind in KINDS]
REQUESTS += [
    (POST, "profile/ops/search", NAMED, {"op_type": "aicore_detail", "filter_condition": {"is_display_detail": False, "is_display_full_op_name": False}}),
    (POST, "profile/ops/search", NAMED, {"op_type": "aicore_detail", "filter_condition": {"op_name": {"partial_match_str_in": ["CONV"]}}}),
    (POST, "profile/ops/search", NAMED, {"op_type": "cpu_op_type", "filter_condition": {"op_type": {"in": ["Add"]}}}),
    (POST, "profile/ops/search", NAMED, {"op_type": "cpu_op_type", "filter_condition": {"op_type": {"not_in": ["Add"]}}}),
    (POST, "profile/ops/search", NAMED, {"op_type": "aicore_type", "sort_condition": {"name": "total_time", "type": "ascending"},
                                         "group_condition": {"limit": 1, "offset": 1}}),
    (POST, "profile/ops/search", NAMED, {"op_type": "aicore_type", "sort_condition": {"name": "op_type"}}),
    *((POST, "profile/ops/search", NAMED, {"op_type": "aicore_type", **wrong}) for wrong in (
        {"op_type": "none"}, {"device_id": 1}, {"device_id": "x"}, {"group_condition": {"limit": 0}}, {"group_condition": 1},
        {"sort_condition": {"name": "none"}}, {"sort_condition": {"type": "none"}}, {"filter_condition": []},
        {"filter_condition": {"op_type": {"in": "Add"}}}, {"filter_condition": {"op_name": {"in": [1]}}},
        {"filter_condition": {"op_type": {"none": []}}})),
    (POST, "profile/ops/search", PIPE, {"op_type": "aicore_type"}),
    *((GET, "profile/training-trace/graph", {**PIPE_DIR, "type": step, "device_id": "2"}, None) for step in "0123"),
    *((GET, "profile/training-trace/target-time-info", {**PIPE_DIR, "type": part}, None) for part in ("iteration_interval", "fp_and_bp", "tail", "fp", "x")),
    *((GET, f"profile/{path}", {**NAMED, "type": kind, "device_id": "0"}, None)
      for path in ("queue_info", "minddata_op") for kind in ("get_next", "device_queue", "x")),
    (GET, "profile/process_summary", {**NAMED, "device_id": "0"}, None),
    (GET, "profile/summary/propose", NAMED, None),
    (GET, "profile/summary/cluster-propose", PIPE, None),
    (POST, "profile/minddata-pipeline/op-queue", NAMED, {}),
    (POST, "profile/minddata-pipeline/op-queue", NAMED, {"filter_condition": {"is_display_op_detail": True, "op_id": {"in": [1, 2]}}}),
    (POST, "profile/minddata-pipeline/op-queue", NAMED, {"filter_condition": {"none": 1}}),
    *((GET, "profile/minddata-pipeline/queue", {**NAMED, "op_id": number}, None) for number in "019"),
    *((GET, f"profile/{path}", {**PIPE_DIR, "device_type": kind, "scope_name_num": "1"}, None)
      for path in ("timeline", "timeline-summary") for kind in ("ascend", "gpu", "cpu")),
    (GET, "profile/flops-scope", PIPE, None),
    *((POST, "profile/cluster-step-trace-summary", PIPE, {"filter_condition": wanted}) for wanted in ({}, {"step_id": 1, "stage_id": 2})),
    *((GET, "profile/parallel-strategy/graphs", {**PIPE, "stage_id": stage}, None) for stage in ("metadata", "0", "1")),
    (GET, "profile/msprof_timeline_option", PIPE_DIR, None),
    *((GET, "profile/msprof_timeline", {**PIPE_DIR, **wanted}, None) for wanted in (
        {}, {"rank_list": "0,3"}, {"merge_model": "false"}, {"kind": "detail"}, {"kind": "detail", "scope_name": "true", "rank_list": "1"},
        {"kind": "detail", "model_list": "1"}, {"kind": "detail", "model_list": "3,1", "rank_list": "0"}, {"kind": "none"})),
    (GET, "profile/training-trace/graph", {"dir": "./none"}, None),
    (GET, "profile/queue_info", {**PIPE, "profile": "none"}, None),
    (GET, "profile/cluster-flops", {}, None),
]  # fmt: skip
