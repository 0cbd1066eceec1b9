"""`mindspore.train.summary_pb2`: the messages of an event file."""

from __future__ import annotations

from mindspore._compat.proto import anf_ir, messages

_TEXT = """
Event !wall_time=1:double step=2:int64 version=3:string graph_def=4:GraphProto summary=5:Summary explain=6:Explain
LossLandscape landscape=1:LossLandscape.Point loss_path=2:LossLandscape.LossPath metadata=3:LossLandscape.Metadata \
        convergence_point=4:LossLandscape.Point
    Point x=1:TensorProto y=2:TensorProto z=3:TensorProto
    LossPath *intervals=1:int32 points=2:LossLandscape.Point
    Metadata decomposition=1:string unit=2:string step_per_epoch=3:int32
Summary *value=1:Summary.Value
    Image !height=1:int32 !width=2:int32 !colorspace=3:int32 !encoded_image=4:bytes
    Histogram *buckets=1:Summary.Histogram.bucket nan_count=2:int64 pos_inf_count=3:int64 neg_inf_count=4:int64 max=5:double \
            min=6:double sum=7:double count=8:int64
        bucket !left=1:double !width=2:double !count=3:int64
    Value !tag=1:string scalar_value=3:float image=4:Summary.Image tensor=8:TensorProto histogram=9:Summary.Histogram \
            loss_landscape=10:LossLandscape
Explain sample_id=1:int32 image_path=2:string *ground_truth_label=3:int32 inference=4:Explain.Inference \
        *explanation=5:Explain.Explanation *benchmark=6:Explain.Benchmark metadata=7:Explain.Metadata status=8:string \
        *hoc=9:Explain.Hoc
    Inference *ground_truth_prob=1:float *predicted_label=2:int32 *predicted_prob=3:float *ground_truth_prob_sd=4:float \
            *ground_truth_prob_itl95_low=5:float *ground_truth_prob_itl95_hi=6:float *predicted_prob_sd=7:float \
            *predicted_prob_itl95_low=8:float *predicted_prob_itl95_hi=9:float
    Explanation explain_method=1:string label=2:int32 heatmap_path=3:string
    Benchmark benchmark_method=1:string explain_method=2:string total_score=3:float *label_score=4:float
    Metadata *label=1:string *explain_method=2:string *benchmark_method=3:string
    HocLayer prob=1:float *box=2:int32
    Hoc label=1:int32 mask=2:string *layer=3:Explain.HocLayer
"""
globals().update(messages("summary.proto", "mindspore.irpb", anf_ir.TEXT + _TEXT))
