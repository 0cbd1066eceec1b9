"""Settings of a data join: a YAML file of `{def_val, help, choices}` per key, and command line flags over it."""
from __future__ import annotations

import argparse
import ast
from typing import Any


def parse_yaml(yaml_path: str) -> tuple[dict[str, Any], dict[str, str], dict[str, list[Any]]]:
    """Defaults, help texts and choices by key."""
    import yaml

    with open(yaml_path, encoding="utf-8") as source:
        try:
            entries = yaml.safe_load(source)
        except yaml.YAMLError as error:
            raise ValueError(f"Failed to parse yaml {yaml_path}: {error}") from None
    if not isinstance(entries, dict) or not all(isinstance(one, dict) for one in entries.values()):
        raise ValueError(f"Failed to parse yaml {yaml_path}: each key should hold def_val, help and choices")

    def column(name: str) -> dict[str, Any]:
        return {key: entry[name] for key, entry in entries.items() if name in entry}

    return column("def_val"), column("help"), column("choices")


def get_config(cfg_file: str) -> argparse.Namespace:
    """The settings of a file, with flags of the command line over them."""
    defaults, helps, choices = parse_yaml(cfg_file)
    parser = argparse.ArgumentParser(description="data join")
    for key, value in defaults.items():
        if not isinstance(value, (list, dict)):
            kind = ast.literal_eval if isinstance(value, bool) else type(value)
            parser.add_argument(f"--{key}", type=kind, default=value, choices=choices.get(key),
                                help=helps.get(key, "").replace("%", "%%"))
    return parser.parse_args()
