"""What `servable_config.py` may declare, and what is refused; nothing is started."""

import textwrap

import pytest

from mindspore_serving.engine.declaration import Place, Servable, declaring
from mindspore_serving.server import ServableStartConfig, register
from mindspore_serving.server.config import SSLConfig, split_address


@pytest.fixture
def declare(tmp_path):
    """Run a configuration; returns what it declares."""

    def run(source):
        path = tmp_path / "servable_config.py"
        path.write_text("from mindspore_serving.server import register\n" + textwrap.dedent(source))
        with declaring(Servable("net")) as servable:
            exec(compile(path.read_text(), str(path), "exec"), {})
        return servable

    return run


MODEL = """
model = register.declare_model(model_file="a.mindir", model_format="MindIR")
def f(x1, x2):
    return x1, x2
def g(instances):
    return instances
"""


def test_stages_note_where_values_come_from(declare):
    servable = declare(
        MODEL
        + """
@register.register_method(output_names=["y", "x"])
def run(x1, x2):
    a, b = register.add_stage(f, x2, x1, outputs_count=2)
    y = register.add_stage(model, a, x2, outputs_count=1)
    return y, b
"""
    )
    method = servable.methods["run"]
    assert method.inputs == ("x1", "x2") and method.outputs == ("y", "x")
    assert [stage.inputs for stage in method.stages] == [(Place(0, 1), Place(0, 0)), (Place(1, 0), Place(0, 1))]
    assert method.results == (Place(2, 0), Place(1, 1))
    assert not method.only_models and servable.models["a.mindir"].counts == {0: (2, 1)}


def test_calls_of_old_versions(declare):
    servable = declare(
        MODEL
        + """
@register.register_method(output_names=["y"])
def run(x1, x2):
    x1, x2 = register.call_preprocess(f, x1, x2)
    y = register.call_servable(x1, x2)
    y, z = register.call_postprocess_pipeline(g, y, x1)
    return y
"""
    )
    assert [stage.tag for stage in servable.methods["run"].stages] == ["Preprocess", "Model 'a.mindir'", "Postprocess"]
    assert [stage.batch for stage in servable.methods["run"].stages] == [None, None, 0]


METHOD = "@register.register_method(output_names=['y'])\ndef run(x1, x2):\n    "
CALL = "y = register.call_servable(x1, x2)\n    "
REFUSED = [
    (METHOD + "return register.add_stage(f, x1, 1, outputs_count=1)", "Each value of parameter \\*args is a placeholder"),
    (METHOD + "return 1", "Each value returned is a placeholder"),
    (METHOD + "return x1, x2", "Method return output size 2 not match registered 1"),
    (METHOD + "return register.add_stage(f, x1, outputs_count=1)", "function f input args count 2 not match the count 1"),
    (METHOD + "return register.add_stage('f', x1, outputs_count=1)", "must be function or Model"),
    (METHOD + "return register.add_stage(f, x1, x2, outputs_count=1, batch_size=-1)", "Parameter 'batch_size' should be >= 0"),
    (METHOD + CALL + "y = register.call_servable(y, x2)\n    return y", "call_servable should not be invoked more"),
    (METHOD + "y = register.call_preprocess(f, x1, x2)\n    return y", "Not find the invoke of 'call_servable'"),
    (METHOD + CALL + "if y:\n        y = x1\n    return y", "complex statements such as conditions"),
    (METHOD + CALL + "y, z = register.call_preprocess(f, x1, x2)\n    return y", "call_servable should be invoked after call_preprocess"),
    (METHOD.replace("x2", "*x2") + "return x1", "'run' input x2 cannot be VAR_POSITIONAL !"),
    (METHOD + "return x1\n" + METHOD + "return x1", "Method run has been registered more than once."),
    ("register.declare_model('a.mindir', 'MindIR')", "model file 'a.mindir' has already been used"),
    ("register.declare_model('b.mindir', 'pb')", "model format can only be OM, MindIR or MindIR_Lite"),
    ("register.declare_model('b.mindir', 'MindIR', context=1)", "Parameter 'context' should be Context"),
    ("register.declare_model(['b', 'b'], 'MindIR')", "should not be repeated"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "words"), REFUSED)
def test_refused(declare, source, words):
    with pytest.raises(RuntimeError, match=words):
        declare(MODEL + source + "\n")


def test_numbers_of_inputs_agree(declare):
    head = "\n@register.register_method(output_names=['y'])\ndef {0}(x1, x2):\n"
    stage = head + "    return register.add_stage(model, {1}, outputs_count=1)\n"
    with pytest.raises(RuntimeError, match="RegisterInputOutputInfo failed, inputs count 1 not match old count 2"):
        declare(MODEL + stage.format("a", "x1, x2") + stage.format("b", "x1"))


def test_outside_of_a_configuration():
    with pytest.raises(RuntimeError, match=r"servable_config\.py"):
        register.declare_model("a.mindir", "MindIR")
    with pytest.raises(RuntimeError, match="the model is not declared"):
        register.Model("a.mindir").call(1)


def test_context():
    context = register.Context(thread_num=2, thread_affinity_core_list=[0, 1], enable_parallel=True)
    context.append_device_info(register.CPUDeviceInfo(precision_mode="fp16"))
    for make, words in (
        (lambda: context.append_device_info(register.CPUDeviceInfo()), "Device info of type cpu has already been appended"),
        (lambda: register.Context(thread_num=0), "Parameter 'thread_num' should be >= 1"),
        (lambda: register.Context(threads=1), "Set context failed, unsupported option threads"),
        (lambda: register.GPUDeviceInfo(mode="a"), "Set gpu device info failed, unsupported option mode"),
        (lambda: register.GPUDeviceInfo(precision_mode="a"), "Gpu device info 'precision_mode' can only be 'origin', 'fp16'"),
    ):
        with pytest.raises(RuntimeError, match=words):
            make()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"servable_directory": ""}, "Parameter 'servable_directory' should not be empty str"),
        ({"servable_name": 1}, "Parameter 'servable_name' should be str, but actually <class 'int'>"),
        ({"version_number": -1}, "Parameter 'version_number' should be >= 0"),
        ({"version_number": True}, "Parameter 'version_number' should be int"),
        ({"device_ids": -1}, "The item value '-1' in parameter 'device_ids' should be >= 0"),
        ({"device_ids": (1, 1)}, "should not be repeated"),
        ({"num_parallel_workers": 65}, r"should be in range \[0,64\]"),
        ({"device_type": "TPU"}, "Unsupported device type 'TPU'"),
        ({"dec_key": b"short"}, "Parameter 'dec_key' length 5 expected to be 16, 24 or 32"),
        ({"dec_mode": "DES"}, "Parameter 'dec_mode' expected to be 'AES-GCM' or 'AES-CBC'"),
    ],
)
def test_start_config(settings, words):
    with pytest.raises(RuntimeError, match=words):
        ServableStartConfig(**{"servable_directory": ".", "servable_name": "net", **settings})


def test_addresses():
    assert split_address("x", "localhost:80") == ("localhost", 80)
    for address in ("localhost", ":80", "localhost:", "localhost:x"):
        with pytest.raises(RuntimeError, match="is illegal"):
            split_address("x", address)
    with pytest.raises(RuntimeError, match=r"out of legal range \[1 ~ 65535\]"):
        split_address("x", "localhost:65536")
    with pytest.raises(RuntimeError, match="custom_ca"):
        SSLConfig("a", "b", verify_client=True)
