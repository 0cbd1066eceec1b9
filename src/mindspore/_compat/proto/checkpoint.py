"""`mindspore.train.checkpoint_pb2`: the messages of a `.ckpt` file."""

from __future__ import annotations

from mindspore._compat.proto import messages

_TEXT = """
TensorProto *dims=1:int64 !tensor_type=2:string !tensor_content=3:bytes
MapTensorProto *tensor=1:TensorProto
Checkpoint *value=1:Checkpoint.Value
    Value !tag=1:string tensor=2:TensorProto maptensor=3:MapTensorProto
"""
globals().update(messages("checkpoint.proto", "", _TEXT))
