"""Where versions of servables lie on disk: `<directory>/<name>/servable_config.py` and `<directory>/<name>/<version>/`."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Location:
    """A version of a servable on disk. `version` 0: there are no folders of versions. `file`: a model without configuration."""

    directory: str
    name: str
    version: int
    file: str = ""

    @property
    def folder(self) -> str:
        return os.path.join(self.directory, self.name)

    def __str__(self) -> str:
        return f"servable directory: '{self.directory}', servable name: '{self.name}'"


def versions(directory: str, name: str) -> list[int]:
    """The versions on disk, ascending."""
    folder = os.path.join(directory, name)
    names = os.listdir(folder) if os.path.isdir(folder) else []
    return sorted(
        int(name)
        for name in names
        if name.isdigit() and str(int(name)) == name and int(name) and os.path.isdir(os.path.join(folder, name))
    )


def check_location(directory: str, name: str) -> None:
    """RuntimeError unless the folder and its `servable_config.py` are there."""
    folder = os.path.join(directory, name)
    where = f"servable directory '{directory}', servable name '{name}'"
    if not os.path.isdir(folder):
        raise RuntimeError(f"Check servable config failed, directory '{folder}' not exist, {where}")
    file = os.path.join(folder, "servable_config.py")
    if not os.path.isfile(file):
        raise RuntimeError(f"Check servable config failed, file '{file}' not exist,  {where}")
