"""`converter_lite --fmk=ONNX --modelFile=net.onnx --outputFile=net`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from mindspore_lite.converter import Converter, FmkType
from mindspore_lite.model import ModelType
from mindspore_lite.tensor import DataType, Format
from mindspore_lite.tools import options

_LAYOUTS = ["", "NHWC", "NCHW"]
_TYPES = {"FLOAT": DataType.FLOAT32, "INT8": DataType.INT8, "UINT8": DataType.UINT8, "DEFAULT": DataType.UNKNOWN}


def main(arguments: Sequence[str] | None = None) -> int:
    """0 when the model was converted; the reason goes to standard error otherwise."""
    parser = options.parser("converter_lite", "Converts models to MindSpore Lite's format.")
    parser.add_argument("--fmk", required=True, choices=[kind.name for kind in FmkType])
    parser.add_argument("--modelFile", required=True)
    parser.add_argument("--outputFile", required=True)
    options.add(parser, "weightFile", "", "weights of a Caffe model")
    options.add(parser, "configFile", "", "options of quantisation and more")
    options.add(parser, "fp16", False, "store weights with 16 bits", options.truth)
    options.add(parser, "inputShape", {}, "name:1,3,224,224;…", options.shapes)
    options.add(parser, "saveType", "MINDIR_LITE", "", choices=["MINDIR", "MINDIR_LITE"])
    options.add(parser, "optimize", "general", "none, general, gpu_oriented or ascend_oriented")
    options.add(parser, "inputDataFormat", "", "of images, NHWC or NCHW; as the model has them, unless told", choices=_LAYOUTS)
    options.add(parser, "outputDataFormat", "", "likewise", choices=_LAYOUTS)
    options.add(parser, "inputDataType", "FLOAT", "", choices=list(_TYPES))
    options.add(parser, "outputDataType", "FLOAT", "", choices=list(_TYPES))
    options.add(parser, "decryptKey", "", "of the input, in hexadecimal digits")
    options.add(parser, "decryptMode", "AES-GCM", "", choices=["AES-GCM", "AES-CBC"])
    options.add(parser, "encryptKey", "", "of the output, in hexadecimal digits")
    options.add(parser, "encryption", False, "encrypt the output", options.truth)
    options.add(parser, "trainModel", False, "prepare the model for training; [train_param] says how", options.truth)
    options.add(parser, "check", False, "compare each layer with ONNX Runtime", options.truth)
    options.add(parser, "device", "", "CPU; other devices are not there", choices=["", "CPU"])
    options.add(parser, "optimizeTransformer", False, "accepted: attention is always fused", options.truth)
    options.add(parser, "infer", False, "run the converted model once", options.truth)
    given = parser.parse_args(arguments)
    try:
        converter = Converter()
        converter.weight_fp16, converter.input_shape, converter.infer = given.fp16, given.inputShape, given.infer
        converter.train_model, converter.check = given.trainModel, given.check
        converter.save_type = ModelType[given.saveType]
        converter.optimize = given.optimize
        if given.inputDataFormat:
            converter.input_format = Format[given.inputDataFormat]
        if given.outputDataFormat:
            converter.output_format = Format[given.outputDataFormat]
        converter.input_data_type, converter.output_data_type = (
            _TYPES[given.inputDataType],
            _TYPES[given.outputDataType],
        )
        converter.decrypt_key, converter.decrypt_mode = given.decryptKey, given.decryptMode
        converter.encrypt_key, converter.enable_encryption = given.encryptKey, given.encryption
        converter.convert(FmkType[given.fmk], given.modelFile, given.outputFile, given.weightFile, given.configFile)
    except (RuntimeError, ValueError, TypeError) as error:
        print(f"CONVERT RESULT FAILED:1\n{error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
