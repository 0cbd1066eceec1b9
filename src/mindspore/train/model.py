"""Model: training, evaluation and prediction in a few calls."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from mindspore import context, nn
from mindspore.common.tensor import Tensor
from mindspore.communication.comm_func import broadcast
from mindspore.communication.management import get_group_size
from mindspore.context import ParallelMode  # noqa: F401 - older scripts import it from here
from mindspore.nn.cell import Cell
from mindspore.train import amp
from mindspore.train._progress import ProgressBar
from mindspore.train.callback import LossMonitor, TimeMonitor, _CallbackManager, _InternalCallbackParam
from mindspore.train.callback._callback import Callback, RunContext, handle_loss
from mindspore.train.callback._monitored import check_bool
from mindspore.train.dataset_helper import DatasetHelper, _as_tuple
from mindspore.train.metrics import Loss, get_metrics
from mindspore.train.sink import SunkSteps, is_compiled

_OPTIONS = ("loss_scale_manager", "keep_batchnorm_fp32", "boost_config_dict", "acc_level")
_INPUT_KINDS = (Tensor, int, float, str, type(None))


def _check_dataset(owner: str, dataset: Any) -> None:
    if not hasattr(dataset, "create_tuple_iterator"):
        raise TypeError(
            f"For '{owner}', the dataset must be one of mindspore.dataset, such as GeneratorDataset, but got {type(dataset).__name__}."
        )


def _check_sinking(owner: str, name: str, sink_mode: Any) -> None:
    """A pipeline in debug mode runs row by row in the calling thread, so that it can be stepped through: it feeds no queue."""
    check_bool(owner, name, sink_mode)
    if sink_mode:
        from mindspore.dataset.settings import settings

        if settings().debug_mode:
            raise ValueError(
                "Dataset sink mode is not supported when dataset pipeline debug mode is on. "
                "Please manually turn off sink mode."
            )


class Model:
    """A network with what it takes to train, evaluate and use it.

    Args:
        network: the network; it computes predictions when `loss_fn` is given, else the loss.
        loss_fn: computes the loss of prediction and label.
        optimizer: updates the parameters.
        metrics: a dict of names to Metrics, or a set of names.
        eval_network: computes what the metrics need; default: loss, prediction and label.
        eval_indexes: where loss, prediction and label are among the outputs of `eval_network`.
        amp_level: mixed precision, "O0" to "O3" or "auto".
        boost_level: "O0", "O1" or "O2"; has no effect, and says so.
        loss_scale_manager, keep_batchnorm_fp32: details of mixed precision.

    Examples:
        >>> import numpy as np
        >>> from mindspore import dataset as ds, nn
        >>> from mindspore.train import Model
        >>> x = np.random.rand(8, 3).astype(np.float32)
        >>> data = ds.NumpySlicesDataset({"x": x, "y": x.sum(1, keepdims=True)}).batch(4)
        >>> net = nn.Dense(3, 1)
        >>> model = Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1), metrics={"mse"})
        >>> model.train(2, data)
        >>> sorted(model.eval(data))
        ['mse']
    """

    def __init__(
        self,
        network: Cell,
        loss_fn: Any = None,
        optimizer: Any = None,
        metrics: Any = None,
        eval_network: Cell | None = None,
        eval_indexes: list[int] | None = None,
        amp_level: str = "O0",
        boost_level: str = "O0",
        **kwargs: Any,
    ):
        for name in kwargs:
            if name not in _OPTIONS:
                raise ValueError(f"For 'Model', the further arguments are {', '.join(_OPTIONS)}, but got '{name}'.")
        if not isinstance(network, Cell):
            raise TypeError(f"For 'Model', 'network' must be a Cell, but got {type(network).__name__}.")
        if loss_fn is not None and not callable(loss_fn):
            raise TypeError(f"For 'Model', 'loss_fn' must be a Cell such as nn.MSELoss(), but got {loss_fn!r}.")
        if optimizer is None and amp_level != "O0":
            raise ValueError("For 'Model', 'amp_level' needs an 'optimizer': mixed precision is set up for training.")
        if optimizer is None and kwargs.get("loss_scale_manager") is not None:
            raise ValueError("For 'Model', 'loss_scale_manager' needs an 'optimizer'.")
        # Settings of `parallel.AutoParallel` hold for what is compiled: for the training step that is built of the network.
        self._with_settings = getattr(network, "around", None)
        self._network = network if self._with_settings is None else network.network
        self._loss_fn = loss_fn
        self._optimizer = optimizer
        self._amp_level = amp_level
        self._boost_level = kwargs.get("acc_level", boost_level)
        if self._boost_level in ("O1", "O2"):
            warnings.warn(
                f"Model: 'boost_level' {self._boost_level!r} has no effect here. Freeze layers with boost.GradientFreeze, "
                "accumulate gradients with boost.GradientAccumulation, combine those of devices with nn.AdaSumByGradWrapCell.",
                stacklevel=2,
            )
        self._loss_scale_manager = kwargs.get("loss_scale_manager")
        self._check_graph_cell(kwargs)
        self._train_network = self._set_up(self._build_train_network(kwargs))
        self._metric_fns = get_metrics(metrics)
        evaluation, self._eval_indexes = self._build_eval_network(eval_network, eval_indexes)
        self._eval_network = self._set_up(evaluation) if evaluation is not None else None
        self._predict_network = network
        self.batch_num = -1
        self._sunk_steps: SunkSteps | None = None

    def _set_up(self, network: Cell) -> Cell:
        """What is compiled, with the parallel settings that the model's network came with."""
        return network if self._with_settings is None else self._with_settings(network)

    # -- networks -------------------------------------------------------------------------------------------------
    @property
    def train_network(self) -> Cell:
        """The network of one training step.

        Examples:
            >>> net = nn.Dense(1, 1)
            >>> model = train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.25))
            >>> model.train_network is not None
            True
        """
        return self._train_network

    def replace_train_network(self, network: Cell) -> None:
        """Train by another form of the step, with the same parameters.

        Examples:
            >>> from mindspore import nn
            >>> from mindspore.train import Model
            >>> net = nn.Dense(3, 1)
            >>> model = Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1))
            >>> model.replace_train_network(model.train_network)
        """
        self._train_network, self._sunk_steps = network, None

    @property
    def eval_network(self) -> Cell | None:
        """The network of one evaluation step.

        Examples:
            >>> train.Model(nn.Dense(1, 1), nn.MSELoss(), metrics={"mse"}).eval_network.__class__.__name__
            'WithEvalCell'
        """
        return self._eval_network

    @property
    def predict_network(self) -> Cell:
        """The network that predicts.

        Examples:
            >>> train.Model(nn.Dense(1, 1)).predict_network.cls_name
            'Dense'
        """
        return self._predict_network

    def _check_graph_cell(self, kwargs: dict) -> None:
        graph_cell = getattr(nn, "GraphCell", None)
        if graph_cell is None or not isinstance(self._network, graph_cell):
            return
        if self._loss_fn is not None or self._optimizer is not None or kwargs:
            raise ValueError("For 'Model', a GraphCell holds its whole computation: give it no loss_fn or optimizer.")

    def _build_train_network(self, kwargs: dict) -> Cell:
        if self._optimizer is not None:
            settings = {k: kwargs[k] for k in ("loss_scale_manager", "keep_batchnorm_fp32") if k in kwargs}
            return amp.build_train_network(
                self._network, self._optimizer, self._loss_fn, self._amp_level, self._boost_level, **settings
            )
        if self._loss_fn is not None:
            return nn.WithLossCell(self._network, self._loss_fn)
        return self._network

    def _build_eval_network(self, given: Cell | None, indexes: Any) -> tuple[Cell | None, list[int] | None]:
        if not self._metric_fns:
            return given, None
        if given is not None:
            if indexes is not None and not (isinstance(indexes, list) and len(indexes) == 3):
                raise ValueError(
                    f"For 'Model', 'eval_indexes' must be None or a list of three ints, but got {indexes}."
                )
            return given, indexes
        if self._loss_fn is None:
            raise ValueError("For 'Model', 'metrics' need a 'loss_fn' or an 'eval_network' to evaluate with.")
        lowered = self._amp_level in ("O2", "O3", "auto")
        return nn.WithEvalCell(self._network, self._loss_fn, lowered), [0, 1, 2]

    # -- training -------------------------------------------------------------------------------------------------
    def train(
        self,
        epoch: int,
        train_dataset: Any,
        callbacks: Any = None,
        dataset_sink_mode: bool = False,
        sink_size: int = -1,
        initial_epoch: int = 0,
    ) -> None:
        """Train for `epoch` epochs.

        Args:
            epoch: the number of the last epoch.
            train_dataset: gives the inputs of the training network: data and label when there is a `loss_fn`.
            callbacks: a Callback or a list of Callbacks.
            dataset_sink_mode: an epoch is `sink_size` batches; on accelerators they are made by few calls of one
                executable, and callbacks see one step per epoch.
            sink_size: batches per epoch when sinking; -1 means the whole dataset.
            initial_epoch: how many epochs were trained before.

        Examples:
            >>> net = nn.Dense(1, 1)
            >>> one = np.ones((4, 1), "float32")
            >>> data = ds.NumpySlicesDataset((one, one)).batch(2)
            >>> model = train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.25))
            >>> model.train(20, data)
            >>> bool(abs(net(Tensor([[1.0]])).item() - 1) < 0.01)
            True
        """
        sink_size = self._check_run("Model.train", epoch, train_dataset, dataset_sink_mode, sink_size, initial_epoch)
        self._train(epoch, train_dataset, callbacks, dataset_sink_mode, sink_size, initial_epoch)

    def fit(
        self,
        epoch: int,
        train_dataset: Any,
        valid_dataset: Any = None,
        valid_frequency: int | list[int] = 1,
        callbacks: Any = None,
        dataset_sink_mode: bool = False,
        valid_dataset_sink_mode: bool = False,
        sink_size: int = -1,
        initial_epoch: int = 0,
    ) -> None:
        """Train, and evaluate after every `valid_frequency` epochs (or after the epochs of a list).

        Callbacks find the results of the evaluation as `metrics` and, with "eval_loss", as `eval_results`.

        Examples:
            >>> net = nn.Dense(1, 1)
            >>> one = np.ones((4, 1), "float32")
            >>> data = ds.NumpySlicesDataset((one, one)).batch(2)
            >>> model = train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1), metrics={"mse"})
            >>> model.fit(2, data, data) is None
            True
        """
        sink_size = self._check_run("Model.fit", epoch, train_dataset, dataset_sink_mode, sink_size, initial_epoch)
        _check_sinking("Model.fit", "valid_dataset_sink_mode", valid_dataset_sink_mode)
        if not isinstance(valid_frequency, (int, list)):
            raise TypeError(
                f"For 'Model.fit', 'valid_frequency' must be an int or a list, not {type(valid_frequency)}."
            )
        if valid_dataset is not None:
            _check_dataset("Model.fit", valid_dataset)
        if valid_dataset is not None and not self._metric_fns:
            raise ValueError("For 'Model.fit', 'valid_dataset' needs the argument 'metrics' of the Model.")
        _refuse_plain_hooks(callbacks)
        validation = (valid_dataset, valid_frequency)
        self._train(epoch, train_dataset, callbacks, dataset_sink_mode, sink_size, initial_epoch, validation)

    def _check_run(
        self, owner: str, epoch: Any, dataset: Any, sink_mode: Any, sink_size: Any, initial_epoch: Any
    ) -> int:
        _check_sinking(owner, "dataset_sink_mode", sink_mode)
        for name, value in (("epoch", epoch), ("sink_size", sink_size), ("initial_epoch", initial_epoch)):
            if not isinstance(value, int) or isinstance(value, bool):
                raise TypeError(f"For '{owner}', '{name}' must be an int, but got {type(value).__name__}.")
        if epoch <= 0 or initial_epoch < 0:
            raise ValueError(f"For '{owner}', 'epoch' must be positive and 'initial_epoch' not negative.")
        if initial_epoch >= epoch:
            raise ValueError(f"For '{owner}', 'initial_epoch' {initial_epoch} must be smaller than 'epoch' {epoch}.")
        if sink_size < -1 or sink_size == 0:
            raise ValueError(f"For '{owner}', 'sink_size' must be -1 or positive, but got {sink_size}.")
        _check_dataset(owner, dataset)
        size = dataset.get_dataset_size()
        if size == 0:
            raise ValueError(f"For '{owner}', the dataset has no data.")
        return size if sink_size == -1 else sink_size

    def _train(
        self,
        epoch: int,
        dataset: Any,
        callbacks: Any,
        sink_mode: bool,
        sink_size: int,
        initial_epoch: int,
        validation: tuple[Any, Any] = (None, 1),
    ) -> None:
        params = _InternalCallbackParam(
            cur_step_num=0, cur_epoch_num=initial_epoch, epoch_num=epoch - initial_epoch, mode="train",
            batch_num=sink_size if sink_mode else dataset.get_dataset_size(),
            train_network=self._train_network, network=self._network, loss_fn=self._loss_fn, optimizer=self._optimizer,
            train_dataset=dataset, train_dataset_element=None, list_callback=_as_list(callbacks),
            parallel_mode=context.get_auto_parallel_context("parallel_mode"), device_number=get_group_size(), net_outputs=None,
            last_save_ckpt_step=None, latest_ckpt_file=None, loss_scale_mananger=self._loss_scale_manager,
            dataset_sink_mode=sink_mode and context.get_context("device_target") != "CPU", sink_size=sink_size,
        )  # fmt: skip
        self.batch_num = params.batch_num
        if context.get_auto_parallel_context("parameter_broadcast") and params.device_number > 1:
            for parameter in self._train_network.get_parameters():
                parameter.set_data(broadcast(parameter, 0))
        with _CallbackManager(params.list_callback) as manager:
            run = RunContext(params)
            manager.on_train_begin(run)
            done = params.pop("resume_step", 0)  # steps that an earlier run has made
            params.cur_step_num = done
            if done:
                dataset.set_init_step(done)
            helper = DatasetHelper(dataset, params.dataset_sink_mode, sink_size, epoch)
            for number in range(initial_epoch + done // params.batch_num + 1, epoch + 1):
                params.cur_epoch_num = number
                manager.on_train_epoch_begin(run)
                self._train_epoch(helper, params, run, manager)
                self._validate(validation, params, manager)
                manager.on_train_epoch_end(run)
                params.pop("metrics", None)
                params.pop("eval_results", None)
                if run.get_stop_requested():
                    break
            if done:
                dataset.set_init_step(0)
            manager.on_train_end(run)

    def _train_epoch(self, helper: DatasetHelper, params: Any, run: RunContext, manager: Callback) -> None:
        if params.dataset_sink_mode:
            self._train_sunk(helper, params, run, manager)
        else:
            self._train_steps(helper, params, run, manager)
        if hasattr(params.train_dataset, "reset"):
            params.train_dataset.reset()

    def _train_steps(self, helper: DatasetHelper, params: Any, run: RunContext, manager: Callback) -> None:
        talkative = any(isinstance(c, (LossMonitor, TimeMonitor)) for c in params.list_callback)
        bar = ProgressBar(f"epoch {params.cur_epoch_num}", 0 if talkative else params.batch_num)
        for batch in self._checked(helper):
            params.cur_step_num += 1
            params.train_dataset_element = batch
            manager.on_train_step_begin(run)
            self._train_network.set_train(True)
            params.net_outputs = self._train_network(*batch)
            self._update_loss_scale(params.net_outputs)
            manager.on_train_step_end(run)
            if bar.active:
                bar.update((params.cur_step_num - 1) % params.batch_num + 1, f"loss {handle_loss(params.net_outputs)}")
            if run.get_stop_requested():
                break
        bar.close()

    def _train_sunk(self, helper: DatasetHelper, params: Any, run: RunContext, manager: Callback) -> None:
        """All steps of an epoch as one: callbacks see its begin and its end."""
        self._train_network.set_train(True)
        if self._sunk_steps is None:
            self._sunk_steps = SunkSteps(self._train_network, is_compiled(self._train_network))
        manager.on_train_step_begin(run)
        made, params.net_outputs = self._sunk_steps.run(self._checked(helper), params.batch_num)
        params.cur_step_num += made
        manager.on_train_step_end(run)

    def _checked(self, helper: DatasetHelper) -> Iterator[tuple]:
        for batch in helper:
            if self._loss_fn is not None and len(batch) != 2:
                raise ValueError(
                    f"With a 'loss_fn', the dataset must give data and label, but it gives {len(batch)} columns."
                )
            yield batch

    def _update_loss_scale(self, outputs: Any) -> None:
        manager = self._loss_scale_manager
        if manager is not None and getattr(manager, "get_drop_overflow_update", lambda: False)():
            manager.update_loss_scale(bool(np.all(outputs[1].asnumpy())))

    def _validate(self, validation: tuple[Any, Any], params: Any, manager: Any) -> None:
        dataset, frequency = validation
        if dataset is None:
            return
        epoch = params.cur_epoch_num
        if epoch not in frequency if isinstance(frequency, list) else epoch % frequency:
            return
        kept = {
            name: params[name] for name in ("mode", "cur_step_num", "batch_num", "dataset_sink_mode", "net_outputs")
        }
        watching = [c for c in manager._callbacks if isinstance(c, TimeMonitor) or not _is_own(c)]
        loss = Loss()
        with _CallbackManager(watching) as inner:
            self._evaluate(dataset, inner, params, loss)
        params.update(kept)

    # -- evaluation -----------------------------------------------------------------------------------------------
    def eval(self, valid_dataset: Any, callbacks: Any = None, dataset_sink_mode: bool = False) -> dict[str, Any]:
        """The metrics of the model on a dataset.

        Examples:
            >>> net = nn.Dense(1, 1, weight_init="ones", bias_init="zeros")
            >>> one = np.ones((4, 1), "float32")
            >>> data = ds.NumpySlicesDataset((one, 0 * one)).batch(2)
            >>> train.Model(net, nn.MSELoss(), metrics={"mse"}).eval(data)
            {'mse': 1.0}
        """
        _check_sinking("Model.eval", "dataset_sink_mode", dataset_sink_mode)
        if not self._metric_fns:
            raise ValueError("For 'Model.eval', the Model needs the argument 'metrics'.")
        _check_dataset("Model.eval", valid_dataset)
        params = _InternalCallbackParam(list_callback=_as_list(callbacks), network=self._network)
        with _CallbackManager(params.list_callback) as manager:
            return self._evaluate(valid_dataset, manager, params)

    def _evaluate(self, dataset: Any, manager: Callback, params: Any, loss: Loss | None = None) -> dict[str, Any]:
        assert self._eval_network is not None and self._metric_fns is not None
        params.update(
            eval_network=self._eval_network, valid_dataset=dataset, batch_num=dataset.get_dataset_size(), mode="eval",
            cur_step_num=0, dataset_sink_mode=False,
        )  # fmt: skip
        for metric in self._metric_fns.values():
            metric.clear()
        run = RunContext(params)
        manager.on_eval_begin(run)
        manager.on_eval_epoch_begin(run)
        self._eval_network.set_train(False)
        for batch in DatasetHelper(dataset, False, -1, 1):
            params.cur_step_num += 1
            params.eval_dataset_element = batch
            manager.on_eval_step_begin(run)
            self._eval_network.set_train(False)
            params.net_outputs = self._eval_network(*batch)
            manager.on_eval_step_end(run)
            self._update_metrics(params.net_outputs, loss)
            if run.get_stop_requested():
                break
        manager.on_eval_epoch_end(run)
        if hasattr(dataset, "reset"):
            dataset.reset()
        params.metrics = {name: metric.eval() for name, metric in self._metric_fns.items()}
        if loss is not None:
            params.eval_results = params.metrics | ({"eval_loss": loss.eval()} if loss._total_num else {})
        manager.on_eval_end(run)
        return params.metrics

    def _update_metrics(self, outputs: Any, loss: Loss | None) -> None:
        values = _as_tuple(outputs)
        indexes = self._eval_indexes
        if indexes is not None and len(values) < 3:
            raise ValueError(f"The evaluation network must give at least three outputs, but it gives {len(values)}.")
        if loss is not None and indexes is not None:
            loss.update(values[indexes[0]])
        for metric in (self._metric_fns or {}).values():
            if indexes is None:
                metric.update(*values)
            elif isinstance(metric, Loss):
                metric.update(values[indexes[0]])
            else:
                metric.update(values[indexes[1]], values[indexes[2]])

    # -- prediction and compilation -------------------------------------------------------------------------------
    def predict(self, *predict_data: Any, backend: str | None = None, config: Any = None) -> Any:
        """The network's output for these inputs.

        Examples:
            >>> net = nn.Dense(1, 1, weight_init="ones", bias_init="zeros")
            >>> print(train.Model(net).predict(Tensor([[3.0]])))
            [[3.]]
        """
        if backend not in (None, "lite"):
            raise ValueError(f"For 'Model.predict', 'backend' must be None or 'lite', but got {backend!r}.")
        for item in predict_data:
            if not isinstance(item, _INPUT_KINDS):
                raise TypeError(
                    f"For 'Model.predict', the inputs must be Tensors, numbers or strings, not {type(item)}."
                )
            if isinstance(item, Tensor) and item.size == 0:
                raise ValueError("For 'Model.predict', an input is empty.")
        self._predict_network.set_train(False)
        return self._predict_network(*predict_data)

    def build(
        self,
        train_dataset: Any = None,
        valid_dataset: Any = None,
        sink_size: int = -1,
        epoch: int = 1,
        sink_mode: bool = True,
    ) -> None:
        """Compile the training and evaluation networks for the shapes of datasets, before the first step.

        Examples:
            >>> net = nn.Dense(1, 1)
            >>> one = np.ones((4, 1), "float32")
            >>> data = ds.NumpySlicesDataset((one, one)).batch(2)
            >>> model = train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1))
            >>> model.build(data, sink_mode=False) is None
            True
        """
        if train_dataset is None and valid_dataset is None:
            raise ValueError("For 'Model.build', give 'train_dataset', 'valid_dataset' or both.")
        if not isinstance(epoch, int) or epoch <= 0:
            raise ValueError(f"For 'Model.build', 'epoch' must be a positive int, but got {epoch!r}.")
        if train_dataset is not None:
            self._compile(self._train_network, train_dataset, True)
        if valid_dataset is not None:
            if not self._metric_fns:
                raise RuntimeError("For 'Model.build', 'valid_dataset' needs the argument 'metrics' of the Model.")
            assert self._eval_network is not None
            self._compile(self._eval_network, valid_dataset, False)

    @staticmethod
    def _compile(network: Cell, dataset: Any, training: bool) -> None:
        network.set_train(training)
        if context.get_context("mode") == context.GRAPH_MODE:
            for batch in DatasetHelper(dataset, False, -1, 1):
                network.compile(*batch)
                break

    def infer_train_layout(self, train_dataset: Any, dataset_sink_mode: bool = True, sink_size: int = -1) -> dict:
        """How the parameters of the training network are cut over devices.

        Examples:
            >>> net = nn.Dense(1, 1)
            >>> one = np.ones((4, 1), "float32")
            >>> data = ds.NumpySlicesDataset((one, one)).batch(2)
            >>> model = train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.25))
            >>> ms.set_auto_parallel_context(parallel_mode="semi_auto_parallel")
            >>> isinstance(model.infer_train_layout(data), dict)
            True
        """
        self._need_auto_parallel("infer_train_layout")
        self._compile(self._train_network, train_dataset, True)
        return self._train_network.parameter_layout_dict

    def infer_predict_layout(self, *predict_data: Any, skip_backend_compile: bool = False) -> dict:
        """How the parameters of the network are cut over devices for prediction.

        Examples:
            >>> ms.set_auto_parallel_context(parallel_mode="semi_auto_parallel")
            >>> isinstance(train.Model(nn.Dense(1, 1)).infer_predict_layout(Tensor([[3.0]])), dict)
            True
        """
        self._need_auto_parallel("infer_predict_layout")
        self._predict_network.set_train(False)
        self._predict_network.compile(*predict_data)
        return self._predict_network.parameter_layout_dict

    def _need_auto_parallel(self, owner: str) -> None:
        if self._with_settings is not None:
            return
        mode = context.get_auto_parallel_context("parallel_mode")
        if mode not in ("semi_auto_parallel", "auto_parallel"):
            raise RuntimeError(
                f"'{owner}' needs the parallel mode semi_auto_parallel or auto_parallel, but it is {mode}."
            )


def _as_list(callbacks: Any) -> list:
    if callbacks is None:
        return []
    return list(callbacks) if isinstance(callbacks, Iterable) else [callbacks]


def _is_own(callback: Callback) -> bool:
    return type(callback).__module__.startswith("mindspore.train.")


def _refuse_plain_hooks(callbacks: Any) -> None:
    """In `fit`, hooks without a prefix would run in training and evaluation alike."""
    plain = {"begin", "end", "epoch_begin", "epoch_end", "step_begin", "step_end"}
    for callback in _as_list(callbacks):
        used = sorted(plain & set(vars(type(callback))))
        if used and not _is_own(callback):
            raise ValueError(
                f"For 'Model.fit', {type(callback).__name__} must use hooks that start with on_train_ or on_eval_ "
                f"instead of {', '.join(used)}."
            )


__all__ = ["Model"]
