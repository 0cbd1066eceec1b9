"""`mindspore.train.node_strategy_pb2`: the messages of files that say how parameters are cut."""

from __future__ import annotations

from mindspore._compat.proto import messages

_TEXT = """
ParallelStrategy *dim=1:uint32
ParallelStrategys !stage=1:uint32 *parallel_strategy=2:ParallelStrategy
ParallelStrategyItem !node_name=1:string !parallel_strategys=2:ParallelStrategys
DevMatrix *dim=1:uint32
TensorMap *dim=1:int32
ParamSplitShape *dim=1:int64
IndicesOffset *dim=1:int64
ParallelLayouts *dev_matrix=1:DevMatrix *tensor_map=2:TensorMap *param_split_shape=3:ParamSplitShape *indices_offset=4:IndicesOffset \
!field=5:int32 !opt_weight_shard_step=6:int32 !opt_weight_shard_size=7:int32
ParallelLayoutItem !param_name=1:string !parallel_layouts=2:ParallelLayouts
ParallelGroupRanks *dim=1:uint32
ParallelGroupItem !group_name=1:string !parallel_group_ranks=2:ParallelGroupRanks
ParallelGroupMap *parallel_group_item=1:ParallelGroupItem !ckpt_restore_rank_list=2:ParallelGroupRanks
ParallelStrategyMap !current_stage=1:uint32 *parallel_strategy_item=2:ParallelStrategyItem *parallel_layout_item=3:ParallelLayoutItem
"""
globals().update(messages("node_strategy.proto", "mindspore.straspb", _TEXT))
