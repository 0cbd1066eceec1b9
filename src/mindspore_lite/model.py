"""Running models: `Model`, `ModelParallelRunner`, `ModelGroup`."""

from __future__ import annotations

import os
import threading
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore_lite import _checks as check
from mindspore_lite import loading
from mindspore_lite.base_model import BaseModel, input_tensors, run
from mindspore_lite.config import read_config
from mindspore_lite.context import Context
from mindspore_lite.tensor import Tensor

if TYPE_CHECKING:
    from mindspore.formats.program import Program
    from mindspore_lite.model_file import LiteModel
    from mindspore_lite.session import Session
    from mindspore_lite.weight_pool import WeightPool

__all__ = ["ModelType", "Model", "ModelParallelRunner", "ModelGroup", "ModelGroupFlag"]


class ModelType(Enum):
    """Kinds of model files: `.mindir` and `.ms`."""

    MINDIR = 0
    MINDIR_LITE = 4


class Model(BaseModel):
    """A model that runs one inference at a time.

    Examples:
        >>> model = mslite.Model()
        >>> model.build_from_file("net.ms", mslite.ModelType.MINDIR_LITE)
        >>> inputs = model.get_inputs()
        >>> inputs[0].set_data_from_numpy(image)
        >>> outputs = model.predict(inputs)
    """

    def __init__(self) -> None:
        super().__init__()
        self.model_path_ = ""
        self.provider = ""
        self._pool: WeightPool | None = None  # of the group that shares weights

    def __str__(self) -> str:
        return f"model_path: {self.model_path_}."

    def share_weights(self, pool: WeightPool) -> None:
        """Take weights from a group's pool when the model is built; RuntimeError if it has been built."""
        if self._session is not None:
            raise RuntimeError("ModelGroup's add model failed: weights are shared by models that are added before they are built.")
        self._pool = pool

    def build_from_file(
        self,
        model_path: str,
        model_type: ModelType,
        context: Context | None = None,
        config_path: str = "",
        config_dict: dict[str, dict[str, str]] | None = None,
        dec_key: bytes | None = None,
        dec_mode: str = "AES-GCM",
        dec_num_parallel: int = 0,
    ) -> None:
        """Load a model and make it ready to run."""
        check.instance("model_path", model_path, str)
        check.instance("model_type", model_type, ModelType)
        context = Context() if context is None else context
        check.instance("context", context, Context)
        check.instance("config_path", config_path, str)
        self.provider = context.ascend.provider
        if not os.path.exists(model_path):
            raise RuntimeError("build_from_file failed, model_path does not exist!")
        if config_path:
            if not os.path.exists(config_path):
                raise RuntimeError("build_from_file failed, config_path does not exist!")
            _load_config(config_path)
        if config_dict:
            check.sections("config_dict", config_dict)
        if dec_key:
            check.instance("dec_key", dec_key, bytes)
            check.instance("dec_mode", dec_mode, str)
            check.instance("dec_num_parallel", dec_num_parallel, int)
            if not dec_mode:
                raise ValueError("dec_mode must not be empty string!")
        self.model_path_ = model_path
        self._start(_session(load_model(model_path, model_type, dec_key or None, dec_mode), context, self._pool))

    def build_from_buffer(self, model_buffer: bytes, model_type: ModelType, context: Context | None = None) -> None:
        """Load a model from the content of a file."""
        import tempfile

        check.instance("model_buffer", model_buffer, bytes)
        check.instance("model_type", model_type, ModelType)
        context = Context() if context is None else context
        check.instance("context", context, Context)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.ms" if model_type is ModelType.MINDIR_LITE else "model.mindir")
            with open(path, "wb") as stream:
                stream.write(model_buffer)
            self._start(_session(load_model(path, model_type), context, self._pool))

    def program(self) -> Program:
        """The graph and weights for the shapes at hand, for tools; RuntimeError where values of inputs decide shapes."""
        return self._built().program()

    def predict(self, inputs: Any, outputs: Any = None) -> list[Tensor]:
        """Run the model on tensors or arrays, one for each input."""
        if not isinstance(inputs, (list, tuple)):
            raise TypeError(f"inputs must be list or tuple, but got {type(inputs)}.")
        own = self.get_inputs()
        if len(own) != len(inputs):
            raise RuntimeError(f"model input len:{len(own)} not equal input len:{len(inputs)}!")
        given: list[Tensor] = []
        for tensor, value in zip(own, inputs):
            if isinstance(value, np.ndarray):
                if list(value.shape) != tensor.shape and any(n < 0 for n in tensor.shape):
                    tensor = Tensor(value)
                else:
                    tensor.set_data_from_numpy(value)
                given.append(tensor)
            elif isinstance(value, Tensor):
                given.append(value)
            else:
                raise TypeError("inputs element must be Tensor, of numpy.")
        return super().predict(given, outputs)


def _load_config(path: str) -> dict[str, dict[str, str]]:
    try:
        return read_config(path)
    except ValueError as error:
        raise RuntimeError(f"load configuration failed! Error is {error}") from None


def load_model(
    path: str, model_type: ModelType | None = None, key: bytes | None = None, mode: str = "AES-GCM"
) -> LiteModel:
    """The model of a `.ms` or `.mindir` file; RuntimeError when it is none."""
    lite = model_type is ModelType.MINDIR_LITE if model_type is not None else not path.endswith(".mindir")
    try:
        return loading.load(path, lite, key, mode)
    except ValueError as error:
        raise RuntimeError(f"build_from_file failed! Error is the file {path} cannot be used: {error}") from None


def _session(model: LiteModel, context: Context, pool: WeightPool | None = None) -> Session:
    return loading.start(model, context, pool)


class ModelParallelRunner:
    """A model that serves several threads: up to `workers_num` inferences run at a time, others wait.

    The workers share the weights and the compiled code.
    """

    def __init__(self) -> None:
        self.model_path_ = ""
        self._session: Session | None = None
        self._free = threading.Semaphore(0)

    def __str__(self) -> str:
        return f"model_path: {self.model_path_}."

    def build_from_file(self, model_path: str, context: Context | None = None) -> None:
        """Load a model and make it ready to run."""
        check.instance("model_path", model_path, str)
        if not os.path.exists(model_path):
            raise RuntimeError("ModelParallelRunner's build from file failed, model_path does not exist!")
        context = Context() if context is None else context
        check.instance("context", context, Context)
        workers = context.parallel.workers_num or os.cpu_count() or 1
        self._session = _session(load_model(model_path), context)
        self._free = threading.Semaphore(workers)
        self.model_path_ = model_path

    def _built(self) -> Session:
        if self._session is None:
            raise RuntimeError("Session is null, please build model first!")
        return self._session

    def get_inputs(self) -> list[Tensor]:
        """New input tensors, to be filled and given to `predict`."""
        return input_tensors(self._built())

    def predict(self, inputs: Any, outputs: Any = None) -> list[Tensor]:
        """Run the model. May be called by many threads at once."""
        check.elements("inputs", inputs, Tensor, (list, tuple))
        if outputs is not None:
            if not isinstance(outputs, list):
                raise TypeError(f"outputs must be list, bug got {type(outputs)}.")
            for place, item in enumerate(outputs):
                if not isinstance(item, Tensor):
                    raise TypeError(f"outputs element must be Tensor, bug got {type(item)} at index {place}.")
        with self._free:
            return run(self._built(), inputs, outputs)


class ModelGroupFlag(Enum):
    """What the models of a group share."""

    SHARE_WEIGHT = 1
    SHARE_WORKSPACE = 2
    SHARE_WEIGHT_WORKSPACE = 3


class ModelGroup:
    """Models that share memory: weights of equal content are held once. Workspaces are shared by all models of a process here.

    Examples:
        >>> encoder, decoder = mslite.Model(), mslite.Model()
        >>> group = mslite.ModelGroup(mslite.ModelGroupFlag.SHARE_WEIGHT)
        >>> group.add_model([encoder, decoder])
        >>> encoder.build_from_file("encoder.ms", mslite.ModelType.MINDIR_LITE)
        >>> decoder.build_from_file("decoder.ms", mslite.ModelType.MINDIR_LITE)
    """

    def __init__(self, flags: ModelGroupFlag = ModelGroupFlag.SHARE_WORKSPACE):
        if not isinstance(flags, ModelGroupFlag):
            raise RuntimeError(
                "Parameter flags should be ModelGroupFlag.SHARE_WORKSPACE or ModelGroupFlag.SHARE_WEIGHT"
                " or ModelGroupFlag.kShareWeightAndWorkspace"
            )
        self._flags = flags
        self._paths: list[str] = []
        self._models: list[Model] = []
        self._pool: WeightPool | None = None

    def add_model(self, models: Any) -> None:
        """Add paths of models (shared workspace) or Models (shared weights)."""
        if not isinstance(models, (list, tuple)):
            raise TypeError(f"models must be list/tuple, but got {type(models)}")
        if not models:
            raise RuntimeError("models cannot be empty")
        kind = type(models[0]) if isinstance(models[0], (str, Model)) else None
        for place, item in enumerate(models):
            if kind is None or not isinstance(item, kind):
                raise TypeError(f"models element must be all str or Model, but got {type(item)} at index {place}.")
        refused = ModelGroupFlag.SHARE_WEIGHT if kind is str else ModelGroupFlag.SHARE_WORKSPACE
        if self._flags is refused:
            raise RuntimeError("ModelGroup's add model failed.")
        if kind is str:
            self._paths.extend(models)
            return
        from mindspore_lite.weight_pool import WeightPool

        self._pool = self._pool or WeightPool()
        for model in models:
            model.share_weights(self._pool)
        self._models.extend(models)

    def cal_max_size_of_workspace(self, model_type: ModelType, context: Context) -> None:
        """Look at what the models need; RuntimeError if one cannot be built."""
        check.instance("context", context, Context)
        check.instance("model_type", model_type, ModelType)
        for path in self._paths:
            if not os.path.exists(path):
                raise RuntimeError("ModelGroup's cal max size of workspace failed.")
            _session(load_model(path, model_type), context)
