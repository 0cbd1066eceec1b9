"""`Converter`: models of other formats to `.ms` (or `.mindir`) files."""

from __future__ import annotations

import os
from enum import Enum
from typing import Any

from mindspore_lite import _checks as check
from mindspore_lite.config import read_config
from mindspore_lite.model import ModelType
from mindspore_lite.tensor import DataType, Format

__all__ = ["FmkType", "Converter"]

_IO_TYPES = [DataType.FLOAT32, DataType.INT8, DataType.UINT8, DataType.UNKNOWN]
_CHIPS = ["default", "910b"]


class FmkType(Enum):
    """Formats that models come in."""

    TF = 0
    CAFFE = 1
    ONNX = 2
    MINDIR = 3
    TFLITE = 4
    PYTORCH = 5


class Converter:
    """Converts models; properties say how.

    Examples:
        >>> converter = mslite.Converter()
        >>> converter.weight_fp16 = True
        >>> converter.save_type = mslite.ModelType.MINDIR_LITE
        >>> converter.convert(mslite.FmkType.ONNX, "net.onnx", "net")
        CONVERT RESULT SUCCESS:0
    """

    def __init__(self) -> None:
        self._config: dict[str, dict[str, str]] = {}
        self._weight_fp16 = False
        self._input_shape: dict[str, list[int]] = {}
        self._input_format = Format.NHWC
        self._layouts = {"input": "", "output": ""}  # that were asked for; images stay as the source has them otherwise
        self._input_data_type = DataType.FLOAT32
        self._output_data_type = DataType.FLOAT32
        self._save_type = ModelType.MINDIR_LITE
        self._decrypt_key = ""
        self._decrypt_mode = "AES-GCM"
        self._enable_encryption = False
        self._encrypt_key = ""
        self._infer = False
        self._train_model = False
        self._check = False
        self._optimize = "general"
        self._device = ""
        self._device_id = 0
        self._rank_id = 0

    def __str__(self) -> str:
        names = ("weight_fp16", "input_shape", "input_format", "input_data_type", "output_data_type", "save_type",
                 "enable_encryption", "infer", "optimize", "device")  # fmt: skip
        values = ",\n".join(f"{name}: {getattr(self, name)}" for name in names)
        return f"config_info: {self.get_config_info()},\n{values}."

    # -- what goes in ---------------------------------------------------------------------------------------------
    @property
    def input_shape(self) -> dict[str, list[int]]:
        """Shapes of inputs by name; -1 leaves a size open."""
        return self._input_shape

    @input_shape.setter
    def input_shape(self, value: dict[str, list[int]]) -> None:
        check.shapes("input_shape", value)
        self._input_shape = {name: list(sizes) for name, sizes in value.items()}

    @property
    def input_format(self) -> Format:
        """Layout of images among the inputs."""
        return self._input_format

    @input_format.setter
    def input_format(self, value: Format) -> None:
        check.instance("input_format", value, Format)
        if value not in (Format.NCHW, Format.NHWC):
            raise ValueError("input_format must be in [Format.NCHW, Format.NHWC].")
        self._input_format = value
        self._layouts["input"] = value.name

    @property
    def output_format(self) -> Format:
        """The order of the dimensions of images among the outputs; as the source has them, unless set."""
        return Format[self._layouts["output"] or "NHWC"]

    @output_format.setter
    def output_format(self, value: Format) -> None:
        check.instance("output_format", value, Format)
        if value not in (Format.NCHW, Format.NHWC):
            raise ValueError("output_format must be in [Format.NCHW, Format.NHWC].")
        self._layouts["output"] = value.name

    @property
    def input_data_type(self) -> DataType:
        return self._input_data_type

    @input_data_type.setter
    def input_data_type(self, value: DataType) -> None:
        _check_io_type("input_data_type", value)
        self._input_data_type = value

    @property
    def decrypt_key(self) -> str:
        raise TypeError("decrypt_key is write-only.")

    @decrypt_key.setter
    def decrypt_key(self, value: str) -> None:
        check.instance("decrypt_key", value, str)
        self._decrypt_key = value

    @property
    def decrypt_mode(self) -> str:
        return self._decrypt_mode

    @decrypt_mode.setter
    def decrypt_mode(self, value: str) -> None:
        check.one_of("decrypt_mode", value, str, ["AES-GCM", "AES-CBC"])
        self._decrypt_mode = value

    # -- what comes out -------------------------------------------------------------------------------------------
    @property
    def output_data_type(self) -> DataType:
        return self._output_data_type

    @output_data_type.setter
    def output_data_type(self, value: DataType) -> None:
        _check_io_type("output_data_type", value)
        self._output_data_type = value

    @property
    def save_type(self) -> ModelType:
        return self._save_type

    @save_type.setter
    def save_type(self, value: ModelType) -> None:
        check.instance("save_type", value, ModelType)
        self._save_type = value

    @property
    def weight_fp16(self) -> bool:
        """Whether weights are stored with 16 bits."""
        return self._weight_fp16

    @weight_fp16.setter
    def weight_fp16(self, value: bool) -> None:
        check.instance("weight_fp16", value, bool)
        self._weight_fp16 = value

    @property
    def enable_encryption(self) -> bool:
        return self._enable_encryption

    @enable_encryption.setter
    def enable_encryption(self, value: bool) -> None:
        check.instance("enable_encryption", value, bool)
        self._enable_encryption = value

    @property
    def encrypt_key(self) -> str:
        raise TypeError("encrypt_key is write-only.")

    @encrypt_key.setter
    def encrypt_key(self, value: str) -> None:
        check.instance("encrypt_key", value, str)
        self._encrypt_key = value

    # -- how ------------------------------------------------------------------------------------------------------
    @property
    def infer(self) -> bool:
        """Whether the model is run once when it has been converted."""
        return self._infer

    @infer.setter
    def infer(self, value: bool) -> None:
        check.instance("infer", value, bool)
        self._infer = value

    @property
    def check(self) -> bool:
        """Whether each layer's result is compared with ONNX Runtime's before the model is written."""
        return self._check

    @check.setter
    def check(self, value: bool) -> None:
        check.instance("check", value, bool)
        self._check = value

    @property
    def train_model(self) -> bool:
        """Whether the model is to be trained on the device; `[train_param]` says how."""
        return self._train_model

    @train_model.setter
    def train_model(self, value: bool) -> None:
        check.instance("train_model", value, bool)
        self._train_model = value

    @property
    def optimize(self) -> str:
        return self._optimize

    @optimize.setter
    def optimize(self, value: str) -> None:
        check.instance("optimize", value, str)
        kind, *chips = value.split(":") if "ascend_oriented" in value else [value]
        if kind not in ("none", "general", "gpu_oriented", "ascend_oriented"):
            raise ValueError(
                "optimize must be 'none', 'general', 'gpu_oriented', 'ascend_oriented' or 'ascend_oriented:910b'."
            )
        if len(chips) > 1:
            raise ValueError("chip_name must be single")
        if chips and chips[0] not in _CHIPS:
            raise ValueError(f"chip_name must be in [{', '.join(_CHIPS)}], but got {chips[0]}.")
        if kind == "gpu_oriented":
            self.device = "GPU"
        elif kind == "ascend_oriented":
            self.device = "Ascend"
        self._optimize = kind

    @property
    def device(self) -> str:
        return self._device

    @device.setter
    def device(self, value: str) -> None:
        check.one_of("device", value, str, ["Ascend"])
        self._device = value

    @property
    def device_id(self) -> int:
        return self._device_id

    @device_id.setter
    def device_id(self, value: int) -> None:
        check.instance("device_id", value, int)
        self._device_id = value

    @property
    def rank_id(self) -> int:
        return self._rank_id

    @rank_id.setter
    def rank_id(self, value: int) -> None:
        check.instance("rank_id", value, int)
        self._rank_id = value

    def get_config_info(self) -> dict[str, dict[str, str]]:
        """The options set so far, by section."""
        return {name: dict(options) for name, options in self._config.items()}

    def set_config_info(self, section: str = "", config_info: dict[str, str] | None = None) -> None:
        """Set options of a section, as a configuration file would."""
        check.instance("section", section, str)
        if config_info is not None:
            check.section("config_info", config_info)
        if section and config_info is not None:
            self._config.setdefault(section, {}).update(config_info)

    def convert(
        self, fmk_type: FmkType, model_file: str, output_file: str, weight_file: str = "", config_file: str = ""
    ) -> None:
        """Convert a model. Nothing is written unless all of it can be converted."""
        check.instance("fmk_type", fmk_type, FmkType)
        for name, value in (("model_file", model_file), ("output_file", output_file), ("weight_file", weight_file),
                            ("config_file", config_file)):  # fmt: skip
            check.instance(name, value, str)
        for name, value in (("model_file", model_file), ("weight_file", weight_file), ("config_file", config_file)):
            if (value or name == "model_file") and not os.path.exists(value):
                raise RuntimeError(f"Perform convert method failed, {name} does not exist!")
        from mindspore_lite import conversion

        try:
            conversion.convert(self._request(fmk_type, model_file, output_file, weight_file, config_file))
        except (ValueError, TypeError, OSError, ImportError, MemoryError) as error:
            raise RuntimeError(f"Converter model failed! error is {error}") from error
        print("CONVERT RESULT SUCCESS:0", flush=True)

    def _request(self, kind: FmkType, model: str, output: str, weights: str, config_file: str) -> Any:
        from mindspore_lite.conversion import Request

        config = self.get_config_info()
        for section, options in (read_config(config_file) if config_file else {}).items():
            config[section] = {**options, **config.get(section, {})}
        return Request(
            kind=kind.name, model=model, output=output, weights=weights, config=config,
            lite=self._save_type is ModelType.MINDIR_LITE,
            shapes={name: tuple(sizes) for name, sizes in self._input_shape.items()},
            half=self._weight_fp16, optimise=self._optimize != "none", run=self._infer,
            train=self._train_model, check=self._check,
            decrypt_key=_key(self._decrypt_key), decrypt_mode=self._decrypt_mode,
            encrypt_key=_key(self._encrypt_key) if self._enable_encryption else None,
            input_layout=self._layouts["input"], output_layout=self._layouts["output"],
            input_type=_WHOLE.get(self._input_data_type, ""), output_type=_WHOLE.get(self._output_data_type, ""),
        )  # fmt: skip


#: types that a model must have for them to be asked for; floats are the default
_WHOLE = {DataType.INT8: "Int8", DataType.UINT8: "UInt8"}


def _check_io_type(name: str, value: DataType) -> None:
    check.instance(name, value, DataType)
    if value not in _IO_TYPES:
        raise ValueError(f"{name} must be in [{', '.join(map(str, _IO_TYPES))}].")


def _key(text: str) -> bytes | None:
    """A key, given as hexadecimal digits or as text of 16, 24 or 32 characters."""
    if not text:
        return None
    try:
        return bytes.fromhex(text)
    except ValueError:
        return text.encode()
