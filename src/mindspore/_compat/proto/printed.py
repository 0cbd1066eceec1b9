"""`mindspore.train.print_pb2`: the file of `set_context(print_file_path=...)`."""

from __future__ import annotations

from mindspore._compat.proto import messages

TEXT = """
TensorProto *dims=1:int64 !tensor_type=2:string !tensor_content=3:bytes
Print *value=1:Print.Value
    Value desc=1:string tensor=2:TensorProto
"""
globals().update(messages("print.proto", "mindspore.prntpb", TEXT))
