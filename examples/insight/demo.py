"""A folder of real runs for the dashboard: LeNet on MNIST with several optimizers and learning rates.

    python examples/insight/demo.py [--out insight_demo] [--runs 9] [--steps 120]
    mindinsight start --summary-base-dir insight_demo

Every run records scalars, weights, images, its graph, its data pipeline and its lineage; the third one also its loss
landscape, a profile and what its network looks at.
"""

import argparse
import itertools
import sys
from pathlib import Path

import mindspore as ms
from mindspore import explainer, nn, train
from mindspore.explainer import benchmark, explanation
from mindspore.profiler import Profiler

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "mnist"))
from train import LeNet5, pipeline

OPTIMIZERS = {"momentum": lambda p, lr: nn.Momentum(p, lr, 0.9), "adam": lambda p, lr: nn.Adam(p, lr / 10), "sgd": nn.SGD}


class Validate(train.Callback):
    """Measures accuracy on held-out data now and then."""

    def __init__(self, model, data, every):
        super().__init__()
        self.model, self.data, self.every = model, data, every
        self.history = []
        self.weights = []

    def on_train_step_end(self, run_context):
        step = run_context.original_args().cur_step_num
        if step % self.every == 0:
            self.history.append((step, self.model.eval(self.data, dataset_sink_mode=False)))
            self.weights.append(self.model.train_network.trainable_params()[0].asnumpy().copy())

    def write(self, folder):
        with ms.SummaryRecord(str(folder), file_suffix="_VALID") as record:
            for (step, result), weights in zip(self.history, self.weights):
                for name, value in result.items():
                    record.add_value("scalar", f"valid/{name}", ms.Tensor(value, ms.float32))
                record.add_value("tensor", "first weights", ms.Tensor(weights))
                record.record(step)


def one_run(folder, name, rate, batch, steps, rich):
    ms.set_seed(1)
    net = LeNet5()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    model = train.Model(net, loss, OPTIMIZERS[name](net.trainable_params(), rate), {"accuracy", "loss"})
    data, valid = pipeline("train", batch), pipeline("test", 200).take(2)
    chosen = {"histogram_regular": ".*", "collect_input_data": True}
    if rich:
        chosen["collect_landscape"] = {"landscape_size": 16, "unit": "step", "num_samples": 64, "intervals": [[1, 20, 40, 60, 80, 100]]}
    custom = {"optimizer_name": name, "base_rate": rate, "batch": batch}
    collector = train.SummaryCollector(
        str(folder), 5, collect_specified_data=chosen, custom_lineage_data=custom, collect_tensor_freq=20
    )
    check = Validate(model, valid, max(1, steps // 8))
    profiler = Profiler(output_path=str(folder / "profiler"), profile_memory=True) if rich else None
    watch = [train.LambdaCallback(on_train_step_end=lambda run: profiler.step())] if profiler else []
    model.train(1, data.take(steps), callbacks=[collector, *watch, check], dataset_sink_mode=False)
    if profiler:
        profiler.analyse()
    check.write(folder)
    if rich:
        landscape(folder)
        explain(folder, net)
    evaluation = train.SummaryCollector(str(folder), 1)
    result = model.eval(valid, callbacks=[evaluation], dataset_sink_mode=False)
    print(f"{folder.name}: accuracy {result['accuracy']:.3f}", flush=True)


def landscape(folder):
    def parts():
        net, metrics = LeNet5(), {"Loss": train.Loss()}
        loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
        return train.Model(net, loss, metrics=metrics), net, pipeline("train", 64).take(1), metrics

    train.SummaryLandscape(str(folder)).gen_landscapes_with_multi_process(parts, device_ids=[0])


def explain(folder, net):
    softmax, digits = nn.Softmax(), [str(digit) for digit in range(10)]
    images, labels = next(pipeline("test", 8).create_tuple_iterator(num_epochs=1))
    runner = explainer.ImageClassificationRunner(str(folder), ([(images, labels)], digits), net, softmax)
    methods = [explanation.Gradient(net), explanation.Deconvolution(net), explanation.GuidedBackprop(net),
               explanation.GradCAM(net, layer="conv2"), explanation.RISE(net, softmax, num_masks=400, seed=1),
               explanation.Occlusion(net, softmax)]  # fmt: skip
    runner.register_saliency(methods, [benchmark.Faithfulness(10, softmax), benchmark.ClassSensitivity(), benchmark.Robustness(10)])
    runner.run()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("insight_demo"))
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--steps", type=int, default=120)
    given = parser.parse_args()
    ms.set_context(mode=ms.GRAPH_MODE)
    choices = itertools.product(("momentum", "adam", "sgd"), (0.1, 0.03, 0.01, 0.003), (64, 32))
    for number, (name, rate, batch) in enumerate(itertools.islice(choices, given.runs)):
        one_run(given.out / f"lenet_{name}_lr{rate}_b{batch}", name, rate, batch, given.steps, rich=number == 2)
    print(f"mindinsight start --summary-base-dir {given.out}")


if __name__ == "__main__":
    main()
