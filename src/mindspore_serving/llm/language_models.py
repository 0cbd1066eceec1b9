"""The language models of a server, by name. Loads nothing heavy: a server without them does not need their libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mindspore_serving.engine.errors import Kind, ServingError

if TYPE_CHECKING:
    from mindspore_serving.llm.language_model import LanguageModel, TextEncoder


class LanguageModels:
    """The models that write texts, and those that only make vectors of them."""

    def __init__(self) -> None:
        self.by_name: dict[str, LanguageModel] = {}
        self.encoders: dict[str, TextEncoder] = {}

    @property
    def names(self) -> list[str]:
        return [*self.by_name, *self.encoders]

    def add(self, model: LanguageModel) -> None:
        for one in (model, *model.adapted()):
            self._check(one.name)
            self.by_name[one.name] = one

    def add_encoder(self, model: TextEncoder) -> None:
        self._check(model.name)
        self.encoders[model.name] = model

    def _check(self, name: str) -> None:
        if name in self.names:
            raise ValueError(f"there are two language models or adapters of the name {name!r}")

    def find(self, name: object) -> LanguageModel:
        """A model that writes texts."""
        if isinstance(name, str) and name in self.encoders:
            raise ServingError(f"The model {name!r} is an encoder: it makes embeddings (/v1/embeddings), no texts")
        if not isinstance(name, str) or name not in self.by_name:
            raise ServingError(f"The model {name!r} does not exist; there are {sorted(self.names)}", Kind.NOT_FOUND)
        return self.by_name[name]

    def embedder(self, name: object) -> LanguageModel | TextEncoder:
        """A model that makes vectors of texts; all do."""
        return self.encoders[name] if isinstance(name, str) and name in self.encoders else self.find(name)

    def stop(self) -> None:
        for model in self.by_name.values():
            model.engine.stop()
        for encoder in self.encoders.values():
            encoder.engine.stop()
