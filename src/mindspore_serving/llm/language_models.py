"""The language models of a server, by name. Loads nothing heavy: a server without them does not need their libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mindspore_serving.engine.errors import Kind, ServingError

if TYPE_CHECKING:
    from mindspore_serving.llm.language_model import LanguageModel


class LanguageModels:
    """The language models of a server, by name."""

    def __init__(self) -> None:
        self.by_name: dict[str, LanguageModel] = {}

    def add(self, model: LanguageModel) -> None:
        self.by_name[model.name] = model

    def find(self, name: object) -> LanguageModel:
        if not isinstance(name, str) or name not in self.by_name:
            raise ServingError(f"The model {name!r} does not exist; there are {sorted(self.by_name)}", Kind.NOT_FOUND)
        return self.by_name[name]

    def stop(self) -> None:
        for model in self.by_name.values():
            model.engine.stop()
