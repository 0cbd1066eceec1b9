"""Event files of MindSpore and TensorBoard: framing, messages, bulk decoding."""
