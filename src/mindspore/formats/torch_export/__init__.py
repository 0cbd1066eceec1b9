"""Programs of `torch.export` as ONNX messages: for the Lite converter and for networks made from PyTorch modules."""
