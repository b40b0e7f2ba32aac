"""Change settings in ``groundwire.toml`` and lose no line of it."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from collections.abc import Mapping
from pathlib import Path

from groundwire.core.errors import CannotDo, SettingError

Value = str | float | int

_HEADER = re.compile(r"^[ \t]*\[[ \t]*search[ \t]*\][ \t]*(?:#[^\n]*)?\r?$", re.MULTILINE)
_NEXT = re.compile(r"^[ \t]*\[", re.MULTILINE)
_SET = re.compile(r"^[ \t]*[A-Za-z_]+[ \t]*=[^\n]*$", re.MULTILINE)
_VALUE = r"""(?:"[^"\n]*"|'[^'\n]*'|[^#\s"']+)"""


def write_settings(path: Path, values: Mapping[str, Value]) -> None:
    """Set keys of the table ``[search]`` in a settings file; every other line, comments included, stays as it is.

    Raises:
        SettingError: the file is not TOML.
        CannotDo: the file holds its settings in a form that this cannot change safely; it is left as it was.
    """
    path = path.resolve()
    before = path.read_bytes().decode("utf-8") if path.exists() else ""
    try:
        tree = tomllib.loads(before)
    except tomllib.TOMLDecodeError as error:
        raise SettingError(f"{path} is not readable as TOML: {error}") from error
    after = before
    for name, value in values.items():
        after = _with_key(after, name, json.dumps(value))
    if not _holds(after, {**tree, "search": {**_table_of(tree), **values}}):
        wanted = ", ".join(f"{name} = {json.dumps(value)}" for name, value in values.items())
        raise CannotDo(f"{path} was left as it is, for its form is not one that can be changed safely. Set {wanted}")
    draft = path.with_name(f"{path.name}.tmp")
    draft.write_bytes(after.encode("utf-8"))
    if path.exists():
        shutil.copymode(path, draft)
    draft.replace(path)


def _table_of(tree: Mapping[str, object]) -> dict[str, object]:
    table = tree.get("search", {})
    return dict(table) if isinstance(table, dict) else {}


def _holds(text: str, expected: Mapping[str, object]) -> bool:
    try:
        return tomllib.loads(text) == expected
    except tomllib.TOMLDecodeError:
        return False


def _with_key(text: str, name: str, value: str) -> str:
    """The text with one key of ``[search]`` set; the caller checks that it says what was meant."""
    line_end = "\r\n" if "\r\n" in text else "\n"
    header = _HEADER.search(text)
    if header is None:
        gap = "" if not text else line_end if text.endswith("\n") else 2 * line_end
        return f"{text}{gap}[search]{line_end}{name} = {value}{line_end}"
    following = _NEXT.search(text, header.end())
    end = following.start() if following else len(text)
    body = text[header.end() : end]
    changed, times = re.subn(
        rf"(?m)^([ \t]*{name}[ \t]*=[ \t]*){_VALUE}", lambda found: found[1] + value, body, count=1
    )
    if times:
        return text[: header.end()] + changed + text[end:]
    last = max((found.end() for found in _SET.finditer(text, header.end(), end)), default=header.end())
    last -= text[:last].endswith("\r")
    return f"{text[:last]}{line_end}{name} = {value}{text[last:]}"


def systems_of(path: Path) -> dict[str, object]:
    """The tables ``[systems.NAME]`` of a settings file, by name.

    Raises:
        SettingError: the file is not there, is not TOML, or has no such table.
    """
    try:
        tree = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingError(f"the systems cannot be read from {path}: {error}") from error
    found = tree.get("systems")
    if not isinstance(found, dict) or not found:
        raise SettingError(f"{path} has no [systems.NAME]; a system is such a table, with search.preset and the like")
    return found
