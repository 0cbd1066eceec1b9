"""Examples of methods of Cell (see `ops.examples` for the form): its own file has no room for them."""

TABLE = """
apply
    >>> names = []
    >>> _ = nn.SequentialCell(nn.Dense(2, 3), nn.ReLU()).apply(lambda cell: names.append(cell.cls_name))
    >>> names
    ['Dense', 'ReLU', 'SequentialCell']
bprop_debug
    >>> nn.ReLU().bprop_debug
    False
buffers
    >>> net = nn.ReLU()
    >>> net.register_buffer("steps", Tensor([5]))
    >>> [int(x) for x in net.buffers()]
    [5]
cast_inputs
    >>> net = nn.ReLU()
    >>> net.cast_inputs((Tensor([1.0]),), ms.float16)[0].dtype
    mindspore.float16
cells
    >>> [cell.cls_name for cell in nn.SequentialCell(nn.Dense(2, 3), nn.ReLU()).cells()]
    ['Dense', 'ReLU']
check_names
    >>> nn.Dense(2, 3).check_names() is None
    True
compile
    >>> net = nn.Dense(2, 3)
    >>> net.compile(ops.ones((1, 2))) is None
    True
compile_and_run
    >>> nn.Dense(2, 3).compile_and_run(ops.ones((1, 2))).shape
    (1, 3)
compile_signature
    >>> net = nn.Dense(2, 3)
    >>> net.compile_signature() == net.compile_signature()
    True
generate_scope
    >>> net = nn.SequentialCell(nn.Dense(2, 3))
    >>> net.generate_scope() is None
    True
get_buffer
    >>> net = nn.ReLU()
    >>> net.register_buffer("steps", Tensor([5]))
    >>> print(net.get_buffer("steps"))
    [5]
get_extra_state
    >>> class Counter(nn.Cell):
    ...     def get_extra_state(self):
    ...         return {"seen": 3}
    >>> Counter().get_extra_state()
    {'seen': 3}
get_flags
    >>> nn.ReLU().add_flags(fast=True).get_flags()["fast"]
    True
get_inputs
    >>> net = nn.ReLU()
    >>> net.set_inputs(Tensor([1.0]))
    >>> len(net.get_inputs())
    1
get_scope
    >>> nn.ReLU().get_scope() is None
    True
get_sub_cell
    >>> net = nn.SequentialCell(nn.Dense(2, 3), nn.ReLU())
    >>> net.get_sub_cell("1").cls_name
    'ReLU'
insert_child_to_cell
    >>> net = nn.Cell()
    >>> net.insert_child_to_cell("layer", nn.Dense(2, 3))
    >>> net.layer.cls_name
    'Dense'
insert_param_to_cell
    >>> net = nn.Cell()
    >>> net.insert_param_to_cell("scale", Parameter(Tensor([2.0]), name="scale"))
    >>> print(net.scale.asnumpy())
    [2.]
jit_config_dict
    >>> net = nn.ReLU().set_jit_config(ms.JitConfig(jit_level="O1"))
    >>> net.jit_config_dict["jit_level"]
    'O1'
load_state_dict
    >>> net, other = nn.Dense(2, 1), nn.Dense(2, 1)
    >>> _ = net.load_state_dict(other.state_dict())
    >>> bool((net.weight == other.weight).all())
    True
memory_report
    >>> net = nn.Dense(2, 1)
    >>> net.compile(ops.ones((1, 2)))
    >>> sorted(net.memory_report())
    ['peak_bytes', 'ratio', 'total_bytes']
named_buffers
    >>> net = nn.ReLU()
    >>> net.register_buffer("steps", Tensor([5]))
    >>> [name for name, _ in net.named_buffers()]
    ['steps']
offload
    >>> nn.ReLU().offload() is None
    True
param_prefix
    >>> net = nn.SequentialCell(nn.Dense(2, 3))
    >>> net[0].param_prefix
    ''
parameter_layout_dict
    >>> nn.ReLU().parameter_layout_dict
    {}
parameters_broadcast_dict
    >>> nn.ReLU().parameters_broadcast_dict() is None
    True
pipeline_stage
    >>> net = nn.ReLU()
    >>> net.pipeline_stage = 1
    >>> net.pipeline_stage
    1
register_backward_hook
    >>> net, seen = nn.ReLU(), []
    >>> _ = net.register_backward_hook(lambda cell, grad_input, grad_output: seen.append(grad_output[0].item()))
    >>> _ = ops.grad(net)(Tensor([2.0]))
    >>> seen
    [1.0]
register_backward_pre_hook
    >>> net, seen = nn.ReLU(), []
    >>> _ = net.register_backward_pre_hook(lambda cell, grad_output: seen.append(grad_output[0].item()))
    >>> _ = ops.grad(net)(Tensor([2.0]))
    >>> seen
    [1.0]
register_buffer
    >>> net = nn.ReLU()
    >>> net.register_buffer("steps", Tensor([5]))
    >>> print(net.steps)
    [5]
register_forward_hook
    >>> net = nn.ReLU()
    >>> _ = net.register_forward_hook(lambda cell, inputs, output: output * 10)
    >>> print(net(Tensor([2.0])))
    [20.]
register_forward_pre_hook
    >>> net = nn.ReLU()
    >>> _ = net.register_forward_pre_hook(lambda cell, inputs: (inputs[0] + 1,))
    >>> print(net(Tensor([2.0])))
    [3.]
register_load_state_dict_post_hook
    >>> net, seen = nn.Dense(2, 1), []
    >>> _ = net.register_load_state_dict_post_hook(lambda cell, keys: seen.append(cell.cls_name))
    >>> _ = net.load_state_dict(net.state_dict())
    >>> seen
    ['Dense']
register_load_state_dict_pre_hook
    >>> net, seen = nn.Dense(2, 1), []
    >>> _ = net.register_load_state_dict_pre_hook(lambda *args: seen.append("before"))
    >>> _ = net.load_state_dict(net.state_dict())
    >>> seen
    ['before']
register_state_dict_post_hook
    >>> net, seen = nn.Dense(2, 1), []
    >>> _ = net.register_state_dict_post_hook(lambda *args: seen.append("after"))
    >>> _ = net.state_dict()
    >>> seen
    ['after']
register_state_dict_pre_hook
    >>> net, seen = nn.Dense(2, 1), []
    >>> _ = net.register_state_dict_pre_hook(lambda *args: seen.append("before"))
    >>> _ = net.state_dict()
    >>> seen
    ['before']
remove_redundant_parameters
    >>> nn.Dense(2, 1).remove_redundant_parameters() is None
    True
run_around
    >>> net = nn.ReLU()
    >>> print(net.run_around(net.construct, (Tensor([-1.0, 2.0]),), {}))
    [0. 2.]
set_auto_parallel
    >>> nn.ReLU().set_auto_parallel() is None
    True
set_boost: Choose a way of acceleration, such as "less_bn".
    >>> nn.ReLU().set_boost("less_bn").cls_name
    'ReLU'
set_broadcast_flag
    >>> nn.ReLU().set_broadcast_flag().cls_name
    'ReLU'
set_data_parallel
    >>> nn.ReLU().set_data_parallel() is None
    True
set_extra_state
    >>> class Counter(nn.Cell):
    ...     def set_extra_state(self, state):
    ...         self.seen = state["seen"]
    >>> net = Counter()
    >>> net.set_extra_state({"seen": 3})
    >>> net.seen
    3
set_jit_config
    >>> net = nn.ReLU().set_jit_config(ms.JitConfig(jit_level="O1"))
    >>> print(net(Tensor([-1.0, 2.0])))
    [0. 2.]
set_param_ps
    >>> nn.Dense(2, 1).set_param_ps() is None
    True
shard
    >>> net = nn.ReLU().shard(((1,),))
    >>> print(net(Tensor([-1.0, 2.0])))
    [0. 2.]
state_dict
    >>> sorted(nn.SequentialCell(nn.Dense(2, 1)).state_dict())
    ['0.bias', '0.weight']
untrainable_params
    >>> net = nn.BatchNorm2d(3)
    >>> [param.name for param in net.untrainable_params()]
    ['mean', 'variance']
update_cell_prefix
    >>> nn.SequentialCell(nn.Dense(2, 3)).update_cell_prefix() is None
    True
update_cell_type
    >>> net = nn.ReLU()
    >>> net.update_cell_type("quant")
    >>> net.cell_type
    'quant'
"""
