"""Models of other formats as ONNX messages."""
