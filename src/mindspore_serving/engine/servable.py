"""From a folder to a servable that runs: `<directory>/<name>/servable_config.py` and the version's folder beside it."""

from __future__ import annotations

import os
import re
import sys

from mindspore.formats.mindir.files import Decrypt
from mindspore_serving.engine.agent_group import GroupPlace
from mindspore_serving.engine.declaration import Method, ModelDeclaration, Place, Servable, Stage, declaring
from mindspore_serving.engine.distributed import remote_subgraphs
from mindspore_serving.engine.location import Location, versions
from mindspore_serving.engine.models import LoadedModel, decryption, input_shapes, load_subgraphs
from mindspore_serving.engine.pipeline import Pipeline

_MINDIR_NAME = re.compile(r"[^:]*:([^:]+):\d+")


def read_config(location: Location) -> Servable:
    """Import `servable_config.py` and return what it declares."""
    path = os.path.join(location.folder, "servable_config.py")
    with open(path, encoding="utf-8") as file:
        source = file.read()
    if location.folder not in sys.path:
        sys.path.insert(0, location.folder)  # modules beside the configuration
    with declaring(Servable(location.name)) as servable:
        exec(compile(source, path, "exec"), {"__name__": "servable_config", "__file__": path})
    return servable


def bare_model(location: Location, decrypt: Decrypt | None) -> Servable:
    """A servable of one model file: the method `predict` has the file's inputs; a batch dimension is one that is open."""
    path = os.path.join(location.directory, location.file)
    try:
        inputs = input_shapes(path, decrypt)
    except (OSError, ValueError) as error:
        raise RuntimeError(f"Load model failed, model file '{path}': {error}") from None
    batched = all(shape and shape[0] == -1 for shape in inputs.values())
    model = ModelDeclaration(location.file, (location.file,), "mindir", batched)
    loaded = LoadedModel(model, load_subgraphs(model, location.directory, decrypt))
    outputs = tuple(info.name for info in loaded.subgraphs[0].outputs)
    places = tuple(Place(0, number) for number in range(len(inputs)))
    stage = Stage(places, len(outputs), f"Model '{location.file}'", model=model.key)
    results = tuple(Place(1, number) for number in range(len(outputs)))
    method = Method("predict", _plain(tuple(inputs)), _plain(outputs), [stage], results)
    return Servable(location.name, {model.key: model}, {"predict": method})


def _plain(names: tuple[str, ...]) -> tuple[str, ...]:
    """Names without what MindIR puts around them: 'Net_1:x:2' is x."""
    found = tuple(match[1] if (match := _MINDIR_NAME.fullmatch(name)) else name for name in names)
    return found if len(set(found)) == len(names) else names


class RunningServable:
    """A servable with its models loaded."""

    def __init__(
        self, location: Location, key: bytes | None = None, mode: str = "AES-GCM", place: GroupPlace | None = None
    ) -> None:
        """`place`: where the agents of a distributed model come to."""
        decrypt = decryption(key, mode)
        self._place = place
        self.declaration = bare_model(location, decrypt) if location.file else read_config(location)
        if not self.declaration.methods:
            raise RuntimeError("There is no method registered for servable")
        local = any(not model.ranks for model in self.declaration.models.values())
        folder = location.directory if location.file else self._version_folder(location) if local else location.folder
        self.models = {name: self._load(location, model, folder, decrypt) for name, model in self.declaration.models.items()}
        self.declaration.call_model = lambda name, instances, subgraph: self.models[name].call(instances, subgraph)
        self.pipelines = {name: Pipeline(method, self.models) for name, method in self.declaration.methods.items()}

    def _version_folder(self, location: Location) -> str:
        if not versions(location.directory, location.name):
            raise RuntimeError(
                f"There is no valid version directory of models while there are models declared in servable_config.py, {location}"
            )
        folder = os.path.join(location.folder, str(location.version))
        if not os.path.isdir(folder):
            raise RuntimeError(
                "Start servable failed: There is no specified version directory of models, specified version number: "
                f"{location.version}, {location}"
            )
        return folder

    def _load(self, location: Location, model: ModelDeclaration, folder: str, decrypt: Decrypt | None) -> LoadedModel:
        if model.ranks:
            if self._place is None:
                raise RuntimeError("a distributed servable is started by distributed.start_servable")
            return LoadedModel(model, remote_subgraphs(model, self._place))
        for file in model.files:
            if os.path.realpath(os.path.join(folder, file)) != os.path.join(os.path.realpath(folder), os.path.normpath(file)):
                raise RuntimeError(f"The model file '{file}' must lie within the version's folder")
        try:
            return LoadedModel(model, load_subgraphs(model, folder, decrypt))
        except (OSError, ValueError, RuntimeError) as error:
            raise RuntimeError(
                f"Load model failed, {location}, model file: '{list(model.files)}', version number {location.version}: {error}"
            ) from error
