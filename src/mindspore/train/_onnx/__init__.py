"""ONNX: `export` writes models, `load_onnx` reads them into trainable cells. Needs the `onnx` package."""
