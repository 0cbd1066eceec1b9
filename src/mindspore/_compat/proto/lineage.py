"""`mindspore.train.lineage_pb2`: where the result of a training came from."""

from __future__ import annotations

from mindspore._compat.proto import messages

TEXT = """
LineageEvent !wall_time=1:double step=2:int64 version=3:string train_lineage=6:TrainLineage \
        evaluation_lineage=7:EvaluationLineage dataset_graph=9:DatasetGraph user_defined_info=10:UserDefinedInfo
UserDefinedInfo *user_info=1:UserDefinedInfo *map_dict=2:UserDefinedInfo.MapDictEntry \
        *map_int32=3:UserDefinedInfo.MapInt32Entry *map_str=4:UserDefinedInfo.MapStrEntry \
        *map_double=5:UserDefinedInfo.MapDoubleEntry
    MapDictEntry key=1:string value=2:UserDefinedInfo
    MapInt32Entry key=1:string value=2:int32
    MapStrEntry key=1:string value=2:string
    MapDoubleEntry key=1:string value=2:double
TrainLineage hyper_parameters=1:TrainLineage.HyperParameters train_dataset=2:TrainLineage.TrainDataset \
        algorithm=3:TrainLineage.Algorithm model=4:TrainLineage.Model
    HyperParameters optimizer=1:string learning_rate=2:float loss_function=3:string epoch=4:int32 parallel_mode=5:string \
            device_num=6:int32 batch_size=8:int32
    TrainDataset train_dataset_path=1:string train_dataset_size=2:int32
    Algorithm network=1:string loss=2:float
    Model path=3:string size=4:int64
EvaluationLineage metric=2:string valid_dataset=3:EvaluationLineage.ValidDataset
    ValidDataset valid_dataset_path=1:string valid_dataset_size=2:int32
DatasetGraph *children=1:DatasetGraph parameter=2:OperationParameter *operations=3:Operation sampler=4:Operation
Operation operationParam=1:OperationParameter *size=2:int32 *weights=3:float
OperationParameter *mapStr=1:OperationParameter.MapStrEntry *mapStrList=2:OperationParameter.MapStrListEntry \
        *mapBool=3:OperationParameter.MapBoolEntry *mapInt=4:OperationParameter.MapIntEntry \
        *mapDouble=5:OperationParameter.MapDoubleEntry
    MapStrEntry key=1:string value=2:string
    MapStrListEntry key=1:string value=2:StrList
    MapBoolEntry key=1:string value=2:bool
    MapIntEntry key=1:string value=2:int32
    MapDoubleEntry key=1:string value=2:double
StrList *strValue=1:string
"""
globals().update(messages("lineage.proto", "mindspore.irpb", TEXT))
