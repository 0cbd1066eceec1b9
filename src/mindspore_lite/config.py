"""Configuration files: `[section]` and `key = value` lines, as converter_lite and `build_from_file` read them."""

from __future__ import annotations

import configparser

Sections = dict[str, dict[str, str]]


def read_config(path: str) -> Sections:
    """The sections of a file; ValueError when it is none."""
    parser = configparser.ConfigParser(strict=False, interpolation=None, delimiters=("=",), comment_prefixes=("#", ";"))
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # names keep their case
    try:
        with open(path, encoding="utf-8") as stream:
            parser.read_file(stream)
    except (configparser.Error, UnicodeDecodeError) as error:
        raise ValueError(f"The configuration file {path} cannot be read: {error}") from None
    return {name: dict(parser[name]) for name in parser.sections()}
