"""`mindspore.train.anf_ir_pb2`: a graph as summaries and dumps hold it."""

from __future__ import annotations

from mindspore._compat.proto import messages

TEXT = """
ValueProto dtype=1:int32 bool_val=2:bool int_val=3:int64 uint_val=4:uint64 float_val=5:float double_val=6:double \
        str_val=7:string tensor_val=8:TensorProto graph=9:GraphProto *bool_vals=10:bool *int_vals=11:int64 *uint_vals=12:uint64 \
        *float_vals=13:float *double_vals=14:double *str_vals=15:string *tensor_vals=16:TensorProto *graphs=17:GraphProto \
        *values=18:ValueProto *dict_val=19:NamedValueProto type_val=20:TypeProto
AttributeProto name=1:string value=2:ValueProto
NamedValueProto key=1:string value=2:ValueProto
TensorShapeProto *dim=1:TensorShapeProto.Dimension
    Dimension size=1:int64 name=2:string
TypeProto data_type=1:int32 tensor_type=2:TypeProto.Tensor sequence_type=3:TypeProto.Sequence
    Tensor elem_type=1:int32 shape=2:TensorShapeProto
    Sequence *elem_types=1:TypeProto
ParameterProto name=1:string type=2:TypeProto default_val=3:ValueProto
OutputProto name=1:string type=2:TypeProto
InputProto name=1:string type=2:int32
NodeProto *input=1:InputProto name=2:string op_type=3:string scope=4:string *attribute=5:AttributeProto output_type=6:TypeProto \
        output_i=7:uint64 full_name=8:string instance_name=10:string
ModelProto ir_version=1:int64 domain=2:string model_version=3:int64 graph=4:GraphProto metadata_operators=5:OperatorSetProto
OperatorProto name=1:string config=2:bytes obj_info=3:bytes
OperatorSetProto *operators=1:OperatorProto summary=2:string
GraphProto *node=1:NodeProto name=2:string *parameters=3:ParameterProto *outputs=4:OutputProto *const_vals=5:NamedValueProto
TensorProto *dims=1:int64 data_type=2:int32 *float_data=3:float *int32_data=4:int32 *int64_data=5:int64 *double_data=6:double \
        *uint64_data=7:uint64 raw_data=8:bytes
"""
globals().update(messages("anf_ir.proto", "mindspore.irpb", TEXT))
