"""Learnt and random augmentation policies.

AutoAugment (Cubuk et al. 2019), RandAugment (Cubuk et al. 2020), TrivialAugment (Müller and Hutter 2021), uniform
augmentation (LingChen et al. 2020) and user-given sub-policies. The first three pick from one table of operations,
each with a range of magnitudes; they differ in how they pick.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..transforms.checks import (
    FLOAT_MAX_INTEGER,
    check_operation,
    check_positive,
    check_range,
    check_type,
    checked,
    integer,
    of_type,
    operations,
)
from ..transforms.compound import CompoundOperation, run_in_order
from ..transforms.transform import Transform, transform_from_json
from .enums import AutoAugmentPolicy, Inter
from .functional import colour, geometry
from .image_transform import ImageTransform, check_channels, fill, rgb

# One entry: (operation, probability, index of the magnitude or None). Sub-policies as published, two operations each.
_IMAGENET = """
Posterize .4 8, Rotate .6 9; Solarize .6 5, AutoContrast .6; Equalize .8, Equalize .6; Posterize .6 7, Posterize .6 6;
Equalize .4, Solarize .2 4; Equalize .4, Rotate .8 8; Solarize .6 3, Equalize .6; Posterize .8 5, Equalize 1;
Rotate .2 3, Solarize .6 8; Equalize .6, Posterize .4 6; Rotate .8 8, Color .4 0; Rotate .4 9, Equalize .6;
Equalize 0, Equalize .8; Invert .6, Equalize 1; Color .6 4, Contrast 1 8; Rotate .8 8, Color 1 2;
Color .8 8, Solarize .8 7; Sharpness .4 7, Invert .6; ShearX .6 5, Equalize 1; Color .4 0, Equalize .6;
Equalize .4, Solarize .2 4; Solarize .6 5, AutoContrast .6; Invert .6, Equalize 1; Color .6 4, Contrast 1 8;
Equalize .8, Equalize .6
"""
_CIFAR10 = """
Invert .1, Contrast .2 6; Rotate .7 2, TranslateX .3 9; Sharpness .8 1, Sharpness .9 3; ShearY .5 8, TranslateY .7 9;
AutoContrast .5, Equalize .9; ShearY .2 7, Posterize .3 7; Color .4 3, Brightness .6 7; Sharpness .3 9, Brightness .7 9;
Equalize .6, Equalize .5; Contrast .6 7, Sharpness .6 5; Color .7 7, TranslateX .5 8; Equalize .3, AutoContrast .4;
TranslateY .4 3, Sharpness .2 6; Brightness .9 6, Color .2 8; Solarize .5 2, Invert 0; Equalize .2, AutoContrast .6;
Equalize .2, Equalize .6; Color .9 9, Equalize .6; AutoContrast .8, Solarize .2 8; Brightness .1 3, Color .7 0;
Solarize .4 5, AutoContrast .9; TranslateY .9 9, TranslateY .7 9; AutoContrast .9, Solarize .8 3;
Equalize .8, Invert .1; TranslateY .7 9, AutoContrast .9
"""
_SVHN = """
ShearX .9 4, Invert .2; ShearY .9 8, Invert .7; Equalize .6, Solarize .6 6; Invert .9, Equalize .6;
Equalize .6, Rotate .9 3; ShearX .9 4, AutoContrast .8; ShearY .9 8, Invert .4; ShearY .9 5, Solarize .2 6;
Invert .9, AutoContrast .8; Equalize .6, Rotate .9 3; ShearX .9 4, Solarize .3 3; ShearY .8 8, Invert .7;
Equalize .9, TranslateY .6 6; Invert .9, Equalize .6; Contrast .3 3, Rotate .8 4; Invert .8, TranslateY 0 2;
ShearY .7 6, Solarize .4 8; Invert .6, Rotate .8 4; ShearY .3 7, TranslateX .9 3; ShearX .1 6, Invert .6;
Solarize .7 2, TranslateY .6 7; ShearY .8 4, Invert .8; ShearX .7 9, TranslateY .8 3; ShearY .8 5, AutoContrast .7;
ShearX .7 2, Invert .1
"""


def _parse_policy(text: str) -> list[list[tuple[str, float, int | None]]]:
    policy = []
    for sub_policy in text.split(";"):
        steps = []
        for step in sub_policy.split(","):
            name, chance, *level = step.split()
            steps.append((name, float(chance), int(level[0]) if level else None))
        policy.append(steps)
    return policy


_POLICIES = {
    AutoAugmentPolicy.IMAGENET: _parse_policy(_IMAGENET),
    AutoAugmentPolicy.CIFAR10: _parse_policy(_CIFAR10),
    AutoAugmentPolicy.SVHN: _parse_policy(_SVHN),
}
_SIGNED = ("ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate", "Brightness", "Color", "Contrast", "Sharpness")
_PLAIN = ("Identity", "AutoContrast", "Equalize")


def magnitude_ranges(wide: bool, size: tuple[int, ...]) -> dict[str, tuple[float, float]]:
    """From the weakest to the strongest magnitude of each operation; the wide ones are TrivialAugment's."""
    if wide:
        strength, shear, turn, bits = 0.99, 0.99, 135.0, 2.0
        shift = {"TranslateX": (0.0, 32.0), "TranslateY": (0.0, 32.0)}
    else:
        strength, shear, turn, bits = 0.9, 0.3, 30.0, 4.0
        shift = {"TranslateX": (0.0, 150 / 331 * size[1]), "TranslateY": (0.0, 150 / 331 * size[0])}
    return {
        "ShearX": (0.0, shear),
        "ShearY": (0.0, shear),
        **shift,
        "Rotate": (0.0, turn),
        **dict.fromkeys(("Brightness", "Color", "Contrast", "Sharpness"), (0.0, strength)),
        "Posterize": (8.0, bits),
        "Solarize": (255.0, 0.0),
    }


def magnitude_of(name: str, limits: tuple[float, float], level: int, bins: int) -> float:
    value = limits[0] + (limits[1] - limits[0]) * level / (bins - 1)
    return round(value) if name == "Posterize" else value


def augment(image: np.ndarray, name: str, magnitude: float, inter: Inter, fill_value: tuple) -> np.ndarray:
    """One operation of the policies. Shears are tangents, shifts pixels, rotations degrees."""
    if name in ("ShearX", "ShearY"):
        degrees = math.degrees(magnitude)
        shear = (degrees, 0.0) if name == "ShearX" else (0.0, degrees)
        return geometry.affine(image, 0.0, (0, 0), 1.0, shear, inter, fill_value)
    if name in ("TranslateX", "TranslateY"):
        shift = (magnitude, 0.0) if name == "TranslateX" else (0.0, magnitude)
        return geometry.affine(image, 0.0, shift, 1.0, (0.0, 0.0), inter, fill_value)
    if name == "Rotate":
        return geometry.rotate(image, magnitude, inter, False, None, fill_value)
    return _COLOUR_OPERATIONS[name](image, magnitude)


_COLOUR_OPERATIONS: dict[str, Callable[[np.ndarray, float], np.ndarray]] = {
    "Brightness": lambda image, m: colour.adjust_brightness(image, 1 + m),
    "Color": lambda image, m: colour.adjust_saturation(image, 1 + m),
    "Contrast": lambda image, m: colour.adjust_contrast(image, 1 + m),
    "Sharpness": lambda image, m: colour.adjust_sharpness(image, 1 + m),
    "Posterize": lambda image, m: colour.posterize(image, int(m)),
    "Solarize": lambda image, m: colour.solarize(image, m, m),
    "AutoContrast": lambda image, m: colour.auto_contrast(image, 0.0, ()),
    "Equalize": lambda image, m: colour.equalize(image),
    "Invert": lambda image, m: colour.invert(image),
    "Identity": lambda image, m: image,
}


class _PolicyTransform(ImageTransform):
    """Base: `draw` gives the steps (operation, magnitude), applied in order to a three-channel uint8 image."""

    random = True
    keeps_pil = False
    interpolation: Inter
    fill_value: tuple

    def _check(self, image: np.ndarray) -> None:
        if image.dtype != np.uint8:
            raise RuntimeError(
                f"{self.json_name}: the data type of image tensor does not match the requirement of operator. "
                f"Expecting tensor in type of (uint8). But got type {image.dtype}."
            )
        check_channels(image, self.json_name, (3,), (3,))

    def signed(self, name: str, magnitude: float) -> float:
        return -magnitude if name in _SIGNED and self.rng.random() < 0.5 else magnitude

    def transform(self, image: np.ndarray, *steps: tuple[str, float]) -> np.ndarray:
        for name, magnitude in steps:
            image = augment(image, name, magnitude, self.interpolation, self.fill_value)
        return image


class AutoAugment(_PolicyTransform):
    """One of 25 learnt pairs of operations, each applied with its own probability.

    Examples:
        >>> vision.AutoAugment(vision.AutoAugmentPolicy.CIFAR10)(np.zeros((8, 8, 3), np.uint8)).shape
        (8, 8, 3)
    """

    @checked(policy=of_type(AutoAugmentPolicy), interpolation=of_type(Inter), fill_value=fill)
    def __init__(
        self,
        policy: AutoAugmentPolicy = AutoAugmentPolicy.IMAGENET,
        interpolation: Inter = Inter.NEAREST,
        fill_value: Any = 0,
    ):
        self.policy = policy
        self.interpolation = interpolation
        self.fill_value = rgb(fill_value)

    def draw(self, image: np.ndarray) -> tuple:
        if image.ndim != 3:
            raise RuntimeError(f"AutoAugment: input tensor is not in shape of <H,W,C>, but got rank: {image.ndim}")
        if image.shape[2] != 3:
            raise RuntimeError(f"AutoAugment: channel of input image should be 3, but got: {image.shape[2]}")
        ranges = magnitude_ranges(False, image.shape)
        sub_policies = _POLICIES[self.policy]
        steps = []
        for name, chance, level in sub_policies[self.rng.integers(len(sub_policies))]:
            magnitude = 0.0 if level is None else magnitude_of(name, ranges[name], level, bins=10)
            magnitude = self.signed(name, magnitude)
            if self.rng.random() <= chance:
                steps.append((name, magnitude))
        return tuple(steps)


_bins = integer(2, FLOAT_MAX_INTEGER)


def _magnitude_below_bins(arguments: dict) -> None:
    check_type(arguments["magnitude"], (int,), "magnitude")
    check_range(arguments["magnitude"], 0, arguments["num_magnitude_bins"], "magnitude", right_open=True)


class RandAugment(_PolicyTransform):
    """`num_ops` random operations, all with one magnitude.

    Examples:
        >>> vision.RandAugment()(np.zeros((8, 8, 3), np.uint8)).shape
        (8, 8, 3)
    """

    @checked(
        _magnitude_below_bins,
        num_ops=integer(0, FLOAT_MAX_INTEGER),
        num_magnitude_bins=_bins,
        interpolation=of_type(Inter),
        fill_value=fill,
    )
    def __init__(
        self,
        num_ops: int = 2,
        magnitude: int = 9,
        num_magnitude_bins: int = 31,
        interpolation: Inter = Inter.NEAREST,
        fill_value: Any = 0,
    ):
        self.num_ops = num_ops
        self.magnitude = magnitude
        self.num_magnitude_bins = num_magnitude_bins
        self.interpolation = interpolation
        self.fill_value = rgb(fill_value)

    def draw(self, image: np.ndarray) -> tuple:
        self._check(image)
        ranges = magnitude_ranges(False, image.shape)
        names = [*_PLAIN, *ranges]
        steps = []
        for index in self.rng.integers(len(names), size=self.num_ops):
            name, magnitude = names[index], 0.0
            if name in ranges:
                magnitude = magnitude_of(name, ranges[name], self.magnitude, self.num_magnitude_bins)
            steps.append((name, self.signed(name, magnitude)))
        return tuple(steps)


class TrivialAugmentWide(_PolicyTransform):
    """One random operation with a random magnitude from a wide range.

    Examples:
        >>> vision.TrivialAugmentWide()(np.zeros((8, 8, 3), np.uint8)).shape
        (8, 8, 3)
    """

    @checked(num_magnitude_bins=_bins, interpolation=of_type(Inter), fill_value=fill)
    def __init__(self, num_magnitude_bins: int = 31, interpolation: Inter = Inter.NEAREST, fill_value: Any = 0):
        self.num_magnitude_bins = num_magnitude_bins
        self.interpolation = interpolation
        self.fill_value = rgb(fill_value)

    def draw(self, image: np.ndarray) -> tuple:
        self._check(image)
        ranges = magnitude_ranges(True, image.shape)
        names = [*_PLAIN, *ranges]
        name, magnitude = names[self.rng.integers(len(names))], 0.0
        if name in ranges:
            level = int(self.rng.integers(self.num_magnitude_bins))
            magnitude = magnitude_of(name, ranges[name], level, self.num_magnitude_bins)
        return ((name, self.signed(name, magnitude)),)


# ---------------------------------------------------------------------------------------------------------------------
# Policies of the user's transforms


def _check_uniform(arguments: dict) -> None:
    transforms, num_ops = arguments["transforms"], arguments["num_ops"]
    check_type(num_ops, (int,), "num_ops")
    check_positive(num_ops, "num_ops")
    check_type(transforms, (list, tuple), "transforms list")
    if num_ops > len(transforms):
        raise ValueError("num_ops is greater than transforms list size.")
    operations(list(transforms), "transforms")


class UniformAugment(CompoundOperation):
    """`num_ops` of the transforms, chosen at random, each then applied with probability one half.

    Examples:
        >>> augment = vision.UniformAugment([vision.Invert(), vision.HorizontalFlip()], num_ops=1)
        >>> augment(np.zeros((8, 8, 3), np.uint8)).shape
        (8, 8, 3)
    """

    random = True

    @checked(_check_uniform)
    def __init__(self, transforms: list[Callable], num_ops: int = 2):
        super().__init__(list(transforms))
        self.num_ops = num_ops

    def apply(self, *columns: Any) -> Any:
        chosen = np.sort(self.rng.choice(len(self.transforms), size=self.num_ops, replace=False))
        wanted = [self.transforms[i] for i in chosen if self.rng.random() < 0.5]
        columns = run_in_order(wanted, columns)
        return columns[0] if len(columns) == 1 else columns


def _policy(value: Any, name: str) -> None:
    check_type(value, (list,), name)
    if not value:
        raise ValueError(f"{name} can not be empty.")
    for i, sub_policy in enumerate(value):
        check_type(sub_policy, (list,), f"{name}[{[i]}]")
        if not sub_policy:
            raise ValueError(f"{name}[{i}] can not be empty.")
        for j, step in enumerate(sub_policy):
            if not (isinstance(step, tuple) and len(step) == 2):
                raise ValueError(f"Value {name}[{i}][{j}] needs to be a 2-tuple.")
            label = f"op of (op, prob) in {name}[{i}][{j}]"
            if not callable(step[0]):
                raise TypeError(f"{label} is neither a c_transform op (TensorOperation) nor a callable pyfunc.")
            check_operation(step[0], label)
            check_range(step[1], 0, 1, f"prob of (op, prob) {name}[{i}][{j}]")


class RandomSelectSubpolicy(Transform):
    """One sub-policy chosen at random: a list of (transform, probability), applied in order.

    Examples:
        >>> policy = [[(vision.Invert(), 1.0)]]
        >>> vision.RandomSelectSubpolicy(policy)(np.full((1, 1, 3), 55, np.uint8)).tolist()
        [[[200, 200, 200]]]
    """

    random = True

    @checked(policy=_policy)
    def __init__(self, policy: list[list[tuple[Callable, float]]]):
        self.policy = policy

    @property
    def releases_gil(self) -> bool:  # type: ignore[override]
        return all(getattr(op, "releases_gil", False) for sub_policy in self.policy for op, _ in sub_policy)

    def set_rng(self, rng: np.random.Generator) -> None:
        super().set_rng(rng)
        for sub_policy in self.policy:
            for op, _ in sub_policy:
                if hasattr(op, "set_rng"):
                    op.set_rng(rng)

    def apply(self, *columns: Any) -> Any:
        sub_policy = self.policy[self.rng.integers(len(self.policy))]
        columns = run_in_order([op for op, chance in sub_policy if self.rng.random() < chance], columns)
        return columns[0] if len(columns) == 1 else columns

    def to_json(self) -> tuple[str, dict[str, Any] | None]:
        policy = []
        for sub_policy in self.policy:
            steps = []
            for op, chance in sub_policy:
                name, params = op.to_json()  # type: ignore[attr-defined]
                steps.append({"prob": chance, "tensor_op": {"tensor_op_name": name, "tensor_op_params": params}})
            policy.append(steps)
        return self.json_name, {"policy": policy}

    @classmethod
    def from_json(cls, params: Any) -> Any:
        def step(entry: dict[str, Any]) -> tuple[Any, float]:
            op = entry["tensor_op"]
            return transform_from_json(op["tensor_op_name"], op.get("tensor_op_params") or {}), entry["prob"]

        return cls([[step(entry) for entry in sub_policy] for sub_policy in params["policy"]])


__all__ = ["AutoAugment", "RandAugment", "RandomSelectSubpolicy", "TrivialAugmentWide", "UniformAugment"]
