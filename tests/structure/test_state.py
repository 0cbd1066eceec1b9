"""No hidden state: what functions change outside themselves and their objects is on a list, with the reason.

Settings, and what is made for them, belong to a context (runtime/context.py). What is found here otherwise is a variable of a
module, or a class used as one, that some function rebinds, fills or changes.
"""

import ast
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src" / "mindspore"
CHANGES = {"append", "appendleft", "extend", "insert", "add", "update", "setdefault", "pop", "popitem", "popleft", "clear", "remove",
           "discard", "sort"}  # fmt: skip

#: registries: filled while modules are imported, then only read
REGISTRIES = {
    "_base/dtype.py:_BY_NUMPY", "backends/cpu/codegen/scalar.py:OPS", "backends/cpu/handlers.py:HANDLERS",
    "backends/cpu/dnnl.py:_MAKERS",
    "common/initializer.py:_INITIALIZER_ALIAS", "dataset/api/dataset.py:Dataset", "dataset/transforms/transform.py:_REGISTRY",
    "formats/decompositions.py:DECOMPOSITIONS", "formats/mindir/adapters.py:ADAPTERS", "formats/mindir/lowering.py:_RULES",
    "formats/mindir/compositions.py:COMPOSED", "nn/graph_operations.py:ADAPTERS",
    "formats/onnx/control.py:CONTROL", "formats/onnx/registry.py:OPERATORS", "formats/onnx/registry.py:_SEES_ARRAYS",
    "formats/onnx/rules.py:RULES", "formats/torch_export/registry.py:RULES", "formats/torch_export/elementwise.py:RULES",
    "model_zoo/registry.py:_ENTRIES", "_compat/pytree.py:_NODES",
}  # fmt: skip
#: lower layers call upper ones through these; set once, by an import
HOOKS = {
    "_base/seed_hook.py:_listeners": "who is told of a seed",
    "_base/tensor_hook.py:_factory": "how data pipelines make tensors",
    "prims/primitive.py:_Dispatch": "how a primitive call is carried out",
    "prims/values.py:_Classes": "the classes Tensor and Parameter",
    "runtime/deferred.py:_Host": "how graphs are compiled on the host",
}
#: what is computed from its key alone, and so is the same whoever asks
CACHES = {
    "_base/dtype.py:_PROMOTE_CACHE": "two types -> their common type",
    "compiler/parse/attributes.py:_modules": "a module's variables -> the one object that stands for them",
    "compiler/parse/calls.py:_signatures": "a function -> its signature",
    "runtime/eager.py:_PLANS": "a class of primitives -> how it may be run quickly",
}
#: of a thread each
THREADS = {
    "dataset/transforms/transform.py:_entropy", "runtime/device_streams.py:_CURRENT", "train/_amp_strategy.py:_current",
    "utils/dispatch_mode.py:_STACK",
}  # fmt: skip
#: what a process has one of
PROCESS = {
    "runtime/watch/eager.py:_Installed": "the operations of all threads are carried out alike; each looks for its own watch",
    "_base/collector.py:_Pauses": "the interpreter has one collector for all threads",
    "_base/queues.py:_OPEN": "queues are known by name to both their ends",
    "_base/recursion.py:_Users": "the interpreter has one limit for all threads",
    "_base/watch.py:WATCHED": "an array is written by whoever holds it",
    "_compat/c_expression/__init__.py:MSContext": "one instance is what that interface promises",
    "_compat/c_expression/amp.py:_pushed": "push and pop are functions of their own in that interface",
    "_compat/private_helpers.py:_current": "the network and data of the run, for packages that ask by an official function",
    "backends/cpu/arena.py:_SHARED": "memory is shared by all graphs that do not run at the same time",
    "backends/cpu/cache.py:_Setting": "compiled code on disk is shared, also by processes",
    "backends/cpu/jit.py:_MACHINES": "LLVM's machines for this CPU, used by one thread at a time",
    "backends/cpu/jit.py:_UNUSED": "what LLVM made and nobody needs any more, until somebody has its lock",
    "backends/cpu/preparation.py:_FILLED": "one limit on the memory of all graphs",
    "common/changes.py:_Changes": "a count that only grows; cells are used by every thread",
    "communication/_comm_helper.py:GlobalComm": "the run of processes that this one belongs to",
    "dataset/api/iterators.py:ITERATORS_LIST": "iterators to close when the process ends",
    "dataset/settings.py:_settings": "settings of data pipelines, which import nothing from here",
    "dataset/dataloader/_utils/worker.py:_CURRENT": "which worker this process is",
    "log.py:_State": "loggers belong to the process",
    "mindrecord/config.py:_settings": "settings of files, which import nothing from here",
    "prims/summary.py:_pending": "what networks hand to the one SummaryRecord that may be open",
    "utils/runtime_execution_order_check.py:_Collection": "the run of processes that this one belongs to",
    "prims/world.py:_World": "the run of processes that this one belongs to",
    "profiler/mstx.py:mstx": "a profiler watches all threads",
    "profiler/recorder.py:_Current": "a profiler watches all threads",
    "runtime/dump/session.py:_Sessions": "dumps are asked for by the environment",
    "runtime/transports/watchdog.py:_Process": "what this process waits for",
    "train/_checkpoint/save.py:_Background": "one checkpoint is written at a time",
    "train/summary/summary_record.py:SummaryRecord": "one may be open at a time",
}
LISTED = {*REGISTRIES, *HOOKS, *CACHES, *THREADS, *PROCESS}


def test_state_outside_contexts_is_listed_with_its_reason():
    found = {f"{path.relative_to(SOURCE).as_posix()}:{name}" for path in SOURCE.rglob("*.py") for name in changed(path)}
    assert not sorted(found - LISTED), "belongs to a context (runtime/context.py), or to the list with a reason"
    assert not sorted(LISTED - found), "is no longer changed by anything: take it off the list"


def test_the_scan_finds_each_way_of_changing(tmp_path):
    path = tmp_path / "module.py"
    path.write_text(
        "a, b, c, d, e, quiet = [], {}, 0, {}, [], []\nclass K: x = 0\nclass M:\n    @classmethod\n    def f(cls): cls.n = 1\n"
        "def f(p):\n    global c\n    c += 1\n    a.append(1)\n    b['x'] = 1\n    del d['x']\n    K.x = 2\n    e[0].y.z = 1\n"
        "    quiet = []\n    quiet.append(p)\n    p.append(1)\n"
    )
    assert changed(path) == {"a", "b", "c", "d", "e", "K", "M"}


def changed(path):
    """Names of a module's own variables and classes that its functions change."""
    tree = ast.parse(path.read_text())
    own = {name.id for node in tree.body for target in targets(node) for name in ast.walk(target) if isinstance(name, ast.Name)}
    own |= {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and any(
            "cls" in changed_by(f) for f in node.body if isinstance(f, ast.FunctionDef) and is_classmethod(f)
        ):
            found.add(node.name)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found |= changed_by(node) & own - locals_of(node)
    return found


def is_classmethod(function):
    return any(isinstance(d, ast.Name) and d.id == "classmethod" for d in function.decorator_list)


def targets(node):
    if isinstance(node, (ast.Assign, ast.Delete)):
        return node.targets
    return [node.target] if isinstance(node, (ast.AugAssign, ast.AnnAssign)) else []


def locals_of(function):
    shared = {name for node in ast.walk(function) if isinstance(node, ast.Global) for name in node.names}
    names = {a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)}
    names |= {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return names - shared


def changed_by(function):
    """Names that a function assigns to as a global, or whose parts it assigns, deletes or changes by a method."""
    shared = {name for node in ast.walk(function) if isinstance(node, ast.Global) for name in node.names}
    found = set()
    for node in ast.walk(function):
        for target in targets(node):
            for part in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
                name = root(part)
                if not isinstance(part, ast.Name) or name in shared:
                    found.add(name)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGES:
            found.add(root(node.func.value))
    return found - {None}


def root(node):
    """The name at the beginning of `a.b[c].d`."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None
