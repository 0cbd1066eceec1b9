"""ONNX: `export` writes models, `load_onnx` reads them into trainable cells (with the `onnx` package)."""
