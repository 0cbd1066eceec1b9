"""Registration records of operators for other devices: builders that collect facts and hand them out as a dict."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class _TypeFormats(type):
    """`DataType.F16_Default` is ("float16", "DefaultFormat"), for every type and layout."""

    _TYPES = {
        "None": "", "BOOL": "bool", "I4": "int4", "I8": "int8", "U8": "uint8", "I16": "int16", "U16": "uint16",
        "I32": "int32", "U32": "uint32", "I64": "int64", "U64": "uint64", "F16": "float16", "F32": "float32",
        "F64": "float64", "BF16": "bfloat16", "C64": "complex64", "C128": "complex128",
    }  # fmt: skip
    _FORMATS = {
        "None": "", "Default": "DefaultFormat", "5HD": "NC1HWC0", "FracZ": "FRACTAL_Z", "FracNZ": "FRACTAL_NZ",
        "C1HWNCoC0": "C1HWNCoC0", "NCHW": "NCHW", "NHWC": "NHWC", "HWCN": "HWCN", "NDHWC": "NDHWC",
        "ChannelLast": "ChannelLast", "NDC1HWC0": "NDC1HWC0", "Default_Tuple": "DefaultFormat_tuple",
        "Default_List": "DefaultFormat_list", "FracZNLSTM": "FRACTAL_ZN_LSTM", "FracZ_3D": "FRACTAL_Z_3D",
    }  # fmt: skip

    def __getattr__(cls, name: str) -> tuple[str, ...]:
        kind, _, layout = name.partition("_")
        if kind in cls._TYPES and layout in cls._FORMATS:
            parts = cls._FORMATS[layout].split("_tuple")[0].split("_list")[0]
            extra = (layout.rpartition("_")[2].lower(),) if layout in ("Default_Tuple", "Default_List") else ()
            return (cls._TYPES[kind], parts, *extra)
        raise AttributeError(f"DataType has no type and layout called {name!r}")


class DataType(metaclass=_TypeFormats):
    """Types and layouts for registration records, e.g. `DataType.F32_Default`.

    Examples:
        >>> from mindspore import ops
        >>> ops.DataType.F32_Default
        ('float32', 'DefaultFormat')
    """


class RegOp:
    """Collects what an operator takes and gives; every method returns the builder."""

    kind = ""
    #: the arguments by position of `input` and `output`, and of `attr`
    of_input: tuple[str, ...] = ("index", "name", "param_type")
    of_attribute: tuple[str, ...] = ("name", "value_type", "value")

    def __init__(self, op_name: str = ""):
        if not isinstance(op_name, str) or not op_name:
            raise ValueError(f"The name of an operator must be a non-empty string, but got {op_name!r}.")
        self.info: dict[str, Any] = {"op_name": op_name, "imply_type": self.kind}
        self._inputs: list[dict] = []
        self._outputs: list[dict] = []
        self._attrs: list[dict] = []
        self._formats: list[tuple] = []

    def input(self, *args: Any, **kwargs: Any) -> Any:
        """One more input: its index, name and kind.

        Examples:
            >>> from mindspore import ops
            >>> type(ops.CustomRegOp('my_kernel').input(0, 'x')).__name__
            'CustomRegOp'
        """
        self._inputs.append(_facts("input", self.of_input, args, kwargs))
        return self

    def output(self, *args: Any, **kwargs: Any) -> Any:
        """One more output: its index, name and kind."""
        self._outputs.append(_facts("output", self.of_input, args, kwargs))
        return self

    def attr(self, *args: Any, **kwargs: Any) -> Any:
        """One more attribute: its name and type."""
        self._attrs.append(_facts("attr", self.of_attribute, args, kwargs))
        return self

    def dtype_format(self, *args: Any) -> Any:
        """A combination of types and layouts of all inputs and outputs."""
        self._formats.append(args)
        return self

    def get_op_info(self) -> dict:
        """Everything collected."""
        return {
            **self.info, "attr": self._attrs, "inputs": self._inputs, "outputs": self._outputs,
            "dtype_format": self._formats,
        }  # fmt: skip

    def __getattr__(self, name: str) -> Callable:
        """Further facts (`fusion_type`, `kernel_name`, `partial_flag` …) are kept as they are given."""
        if name.startswith("_") or name == "info":
            raise AttributeError(name)

        def record(value: Any = True) -> Any:
            self.info[name] = value
            return self

        return record


def _facts(method: str, names: tuple[str, ...], args: tuple, named: dict[str, Any]) -> dict:
    """What is known of an input, output or attribute, by name."""
    if len(args) > len(names):
        raise TypeError(f"'{method}' takes at most {len(names)} arguments by position, but got {len(args)}.")
    return {k: v for k, v in {**dict(zip(names, args)), **named}.items() if v is not None}


class TBERegOp(RegOp):
    """Registration of a tensor-boost-engine operator.

    Examples:
        >>> ops.TBERegOp("Twice").input(0, "x").output(0, "y").get_op_info()["op_name"]
        'Twice'
    """

    kind = "TBE"
    of_input = ("index", "name", "need_compile", "param_type", "shape", "value_depend")
    of_attribute = ("name", "param_type", "value_type", "value", "default_value")

    def async_flag(self, async_flag: bool = False) -> TBERegOp:
        return self._fact("async_flag", async_flag)

    def binfile_name(self, binfile_name: str) -> TBERegOp:
        return self._fact("binfile_name", binfile_name)

    def compute_cost(self, compute_cost: int = 10) -> TBERegOp:
        return self._fact("compute_cost", compute_cost)

    def dynamic_compile_static(self, dynamic_compile_static: bool = False) -> TBERegOp:
        return self._fact("dynamic_compile_static", dynamic_compile_static)

    def dynamic_rank_support(self, dynamic_rank_support: bool) -> TBERegOp:
        return self._fact("dynamic_rank_support", dynamic_rank_support)

    def dynamic_shape(self, dynamic_shape: bool = False) -> TBERegOp:
        return self._fact("dynamic_shape", dynamic_shape)

    def input_to_attr_index(self, input_to_attr_index: tuple) -> TBERegOp:
        return self._fact("input_to_attr_index", input_to_attr_index)

    def is_dynamic_format(self, is_dynamic_format: bool = False) -> TBERegOp:
        return self._fact("is_dynamic_format", is_dynamic_format)

    def kernel_name(self, kernel_name: str) -> TBERegOp:
        return self._fact("kernel_name", kernel_name)

    def need_check_supported(self, need_check_supported: bool = False) -> TBERegOp:
        return self._fact("need_check_supported", need_check_supported)

    def op_pattern(self, pattern: str | None = None) -> TBERegOp:
        return self._fact("op_pattern", pattern)

    def partial_flag(self, partial_flag: bool = True) -> TBERegOp:
        return self._fact("partial_flag", partial_flag)

    def real_input_index(self, real_input_index: list) -> TBERegOp:
        return self._fact("real_input_index", real_input_index)

    def reshape_type(self, reshape_type: str) -> TBERegOp:
        return self._fact("reshape_type", reshape_type)

    def unknown_shape_formats(self, unknown_shape_formats: list) -> TBERegOp:
        return self._fact("unknown_shape_formats", unknown_shape_formats)

    def _fact(self, name: str, value: Any) -> TBERegOp:
        self.info[name] = value
        return self


class CustomRegOp(RegOp):
    """Registration of a custom operator.

    Examples:
        >>> from mindspore import ops
        >>> type(ops.CustomRegOp('my_kernel')).__name__
        'CustomRegOp'
    """

    kind = "Custom"
    of_attribute = ("name", "param_type", "value_type", "default_value")

    def __init__(self, op_name: str = "Custom"):
        super().__init__(op_name)

    def target(self, target: str | None = None) -> CustomRegOp:
        """The device it is for."""
        self.info["target"] = target
        return self

    def fusion_type(self, fusion_type: str) -> CustomRegOp:
        """How it may be fused."""
        self.info["fusion_type"] = fusion_type
        return self


class AiCPURegOp(RegOp):
    """Registration of an AI-CPU operator.

    Examples:
        >>> info = ops.AiCPURegOp("Twice").input(0, "x").output(0, "y").get_op_info()
        >>> info["op_name"]
        'Twice'
    """

    kind = "AiCPU"


class CpuRegOp(RegOp):
    """Registration of a CPU operator.

    Examples:
        >>> ops.CpuRegOp("Twice").input(0, "x").output(0, "y").get_op_info()["op_name"]
        'Twice'
    """

    kind = "CPU"


class AkgAscendRegOp(RegOp):
    """Registration of a generated operator for Ascend.

    Examples:
        >>> ops.AkgAscendRegOp("Twice").input(0, "x").output(0, "y").get_op_info()["op_name"]
        'Twice'
    """

    kind = "AKG"


class AkgGpuRegOp(RegOp):
    """Registration of a generated operator for GPUs.

    Examples:
        >>> ops.AkgGpuRegOp("Twice").input(0, "x").output(0, "y").get_op_info()["op_name"]
        'Twice'
    """

    kind = "AKG"


def op_info_register(op_info: Any) -> Callable:
    """Attach a registration record to a function; nothing here runs on the devices it speaks of.

    Examples:
        >>> @ops.op_info_register({"op_name": "Twice"})
        ... def twice(x):
        ...     return 2 * x
        >>> twice(4)
        8
    """

    def decorate(fn: Callable) -> Callable:
        fn.op_info = op_info  # type: ignore[attr-defined]
        return fn

    return decorate


__all__ = [
    "AiCPURegOp", "AkgAscendRegOp", "AkgGpuRegOp", "CpuRegOp", "CustomRegOp", "DataType", "TBERegOp",
    "op_info_register",
]  # fmt: skip
