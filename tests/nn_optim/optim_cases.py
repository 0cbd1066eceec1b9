"""Runs of optimizers on two small parameters, one of them named like that of a normalisation layer."""

import json
from pathlib import Path

import numpy as np

import mindspore as ms
from mindspore import Parameter, Tensor, nn

STEPS = 3
#: parameters after each step and all state after the last, as MindSpore 2.10 computes them
OFFICIAL = json.loads((Path(__file__).parent / "official_numbers.json").read_text())


def start():
    return {
        "w": np.linspace(-1, 1, 6).reshape(2, 3).astype(np.float32),
        "norm.beta": np.linspace(0.5, 1.0, 3).astype(np.float32),
    }


def gradient(name, step):
    shape = start()[name].shape
    angles = np.arange(int(np.prod(shape))) + step + len(name)
    return np.sin(angles).reshape(shape).astype(np.float32)


def parameters():
    return {name: Parameter(Tensor(value), name=name) for name, value in start().items()}


def run(optimizer, params, steps=STEPS):
    """The parameters' values after each step."""
    history = []
    for step in range(steps):
        optimizer(tuple(Tensor(gradient(p.name, step)) for p in optimizer.parameters))
        history.append([p.asnumpy().ravel() for p in params.values()])
    return history


def check_against_official(optimizer, params, expected):
    for got, want in zip(run(optimizer, params), expected["history"], strict=True):
        np.testing.assert_allclose(np.concatenate(got), np.concatenate(want), rtol=2e-6, atol=2e-6)
    state = optimizer.parameters_dict()
    assert set(state) == set(expected["state"])
    for name, (dtype, shape, values) in expected["state"].items():
        array = state[name].asnumpy()
        assert (array.dtype, array.shape) == (np.dtype(dtype), tuple(shape)), name
        np.testing.assert_allclose(array.ravel(), values, rtol=1e-5, atol=1e-5, err_msg=name)


#: name -> (class, keyword arguments)
NN = {
    "SGD": ("SGD", {"learning_rate": 0.1}),
    "SGD_momentum": ("SGD", {"learning_rate": 0.1, "momentum": 0.9, "dampening": 0.5, "weight_decay": 0.01}),
    "SGD_nesterov": ("SGD", {"learning_rate": 0.1, "momentum": 0.9, "nesterov": True, "loss_scale": 2.0}),
    "Momentum": ("Momentum", {"learning_rate": 0.1, "momentum": 0.9}),
    "Adam": ("Adam", {"learning_rate": 0.01}),
    "Adam_nesterov": ("Adam", {"learning_rate": 0.01, "use_nesterov": True, "weight_decay": 0.05, "loss_scale": 2.0}),
    "Adam_amsgrad": ("Adam", {"learning_rate": 0.01, "use_amsgrad": True}),
    "Adam_lazy": ("Adam", {"learning_rate": 0.01, "use_lazy": True}),
    "Adam_offload": ("Adam", {"learning_rate": 0.01, "use_offload": True}),
    "AdamWeightDecay": ("AdamWeightDecay", {"learning_rate": 0.01, "weight_decay": 0.1}),
    "AdamOffload": ("AdamOffload", {"learning_rate": 0.01, "weight_decay": 0.1}),
    "LazyAdam": ("LazyAdam", {"learning_rate": 0.01, "weight_decay": 0.1}),
    "AdaMax": ("AdaMax", {"learning_rate": 0.01, "weight_decay": 0.1}),
    "Adagrad": ("Adagrad", {"learning_rate": 0.1, "accum": 0.2, "weight_decay": 0.01}),
    "RMSProp": ("RMSProp", {"learning_rate": 0.1, "momentum": 0.5, "weight_decay": 0.1}),
    "RMSProp_centered": (
        "RMSProp", {"learning_rate": 0.01, "momentum": 0.5, "decay": 0.8, "centered": True, "epsilon": 1e-3},
    ),
    "FTRL_decay": ("FTRL", {"learning_rate": 0.1, "weight_decay": 0.1, "lr_power": -0.4}),
    "Adadelta": ("Adadelta", {"learning_rate": 1.0, "weight_decay": 0.1}),
    "Rprop": ("Rprop", {"learning_rate": 0.1, "weight_decay": 0.1}),
    "ASGD": ("ASGD", {"learning_rate": 0.1, "t0": 2.0, "weight_decay": 0.1}),
    "ProximalAdagrad": ("ProximalAdagrad", {"learning_rate": 0.1, "l1": 0.05, "l2": 0.1, "weight_decay": 0.01}),
    "AdaFactor": ("AdaFactor", {"learning_rate": None}),
    "AdaFactor_fixed": (
        "AdaFactor", {"learning_rate": 0.1, "scale_parameter": False, "relative_step": False, "weight_decay": 0.1},
    ),
    "AdaFactor_warmup": ("AdaFactor", {"learning_rate": None, "warmup_init": True, "beta1": 0.9}),
    "AdaFactor_half": ("AdaFactor", {"learning_rate": None, "compression": True}),
}  # fmt: skip

EXPERIMENTAL = {
    "SGD": ("SGD", {"lr": 0.1}),
    "SGD_momentum": ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.5, "weight_decay": 0.01}),
    "SGD_nesterov": ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "maximize": True}),
    "Adam": ("Adam", {"lr": 0.01, "weight_decay": 0.1}),
    "Adam_maximize": ("Adam", {"lr": 0.01, "maximize": True}),
    "AdamW": ("AdamW", {"lr": 0.01}),
    "AdamW_amsgrad": ("AdamW", {"lr": 0.01, "amsgrad": True, "maximize": True}),
    "Adadelta": ("Adadelta", {"lr": 1.0, "weight_decay": 0.1}),
    "Adagrad": ("Adagrad", {"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.1, "initial_accumulator_value": 0.1}),
    "Adamax": ("Adamax", {"lr": 0.01, "weight_decay": 0.1}),
    "ASGD": ("ASGD", {"lr": 0.1, "t0": 1.0, "weight_decay": 0.1}),
    "NAdam": ("NAdam", {"lr": 0.01, "weight_decay": 0.1}),
    "RAdam": ("RAdam", {"lr": 0.01, "betas": (0.9, 0.5), "weight_decay": 0.1}),
    "RAdam_slow": ("RAdam", {"lr": 0.01}),
    "RMSprop": ("RMSprop", {"lr": 0.01, "weight_decay": 0.1}),
    "RMSprop_centered": ("RMSprop", {"lr": 0.01, "centered": True, "momentum": 0.9, "alpha": 0.8}),
    "Rprop": ("Rprop", {"lr": 0.1}),
}

SCHEDULERS = {
    "StepLR": {"step_size": 2, "gamma": 0.5},
    "LinearLR": {"start_factor": 0.5, "total_iters": 4},
    "ExponentialLR": {"gamma": 0.9},
    "PolynomialLR": {"total_iters": 4, "power": 2.0},
    "MultiStepLR": {"milestones": [2, 4, 4], "gamma": 0.5},
    "ConstantLR": {"factor": 0.5, "total_iters": 3},
    "CosineAnnealingLR": {"T_max": 3, "eta_min": 0.01},
    "CosineAnnealingWarmRestarts": {"T_0": 2, "T_mult": 2, "eta_min": 0.01},
    "CyclicLR": {"base_lr": 0.01, "max_lr": 0.1, "step_size_up": 2, "step_size_down": 3},
    "CyclicLR_2": {"base_lr": 0.01, "max_lr": 0.1, "step_size_up": 2, "mode": "triangular2"},
    "CyclicLR_exp": {"base_lr": 0.01, "max_lr": 0.1, "step_size_up": 2, "mode": "exp_range", "gamma": 0.9},
}


class FallingDecay(nn.Cell):
    """A weight decay that depends on the step."""

    def construct(self, global_step):
        return 0.1 / (1.0 + global_step.astype(ms.float32))


#: optimizers with parameter groups, from the two parameters
GROUPS = {
    "group_lr": lambda w, b: nn.Momentum([{"params": [w], "lr": 0.05, "weight_decay": 0.1}, {"params": [b]}], 0.1, 0.9),
    "group_dynamic": lambda w, b: nn.Momentum(
        [{"params": [w], "lr": [0.05, 0.04, 0.03], "weight_decay": 0.1}, {"params": [b]}], 0.1, 0.9, loss_scale=2.0
    ),
    "group_schedule": lambda w, b: nn.Adam(
        [{"params": [w], "lr": nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5)}, {"params": [b], "weight_decay": 0.2}], 0.01
    ),
    "group_order": lambda w, b: nn.SGD(
        [{"params": [b], "lr": 0.01}, {"params": [w], "weight_decay": 0.1}, {"order_params": [w, b]}], 0.1, momentum=0.5
    ),
    "decay_schedule": lambda w, b: nn.Momentum([w, b], 0.1, 0.9, weight_decay=FallingDecay()),
    "adamw_decay_schedule": lambda w, b: nn.AdamWeightDecay(
        [{"params": [w], "weight_decay": FallingDecay()}, {"params": [b], "lr": 0.05}], 0.1
    ),
    "warmup": lambda w, b: nn.SGD([w, b], nn.WarmUpLR(0.1, 2)),
}
