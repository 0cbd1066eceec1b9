"""TensorFlow's frozen graphs and SavedModels as ONNX messages, read without TensorFlow."""
