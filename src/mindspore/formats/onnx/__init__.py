"""ONNX: graphs to messages, messages to programs."""
