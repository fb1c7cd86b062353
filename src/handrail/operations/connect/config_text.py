"""Inserts one server into the text of a configuration, and removes it, without changing anything else in the text.

An edit is one insertion. The result is parsed again: it must say what the text said before, plus the server.
"""

import json
import re
import tomllib
from copy import deepcopy
from typing import Any, TypeAlias, cast

from handrail.operations.connect.jsonc import Member, blank_comments, members, read_jsonc
from handrail.ports.agent_profiles import ConfigForm

Data: TypeAlias = dict[str, Any]
NAME = "handrail"
UNIT = "  "


class UneditableText(Exception):
    """A text that cannot be edited; its message is the end of a sentence about the file."""


def read_config(form: ConfigForm, text: str) -> Data:
    """Parse a configuration; an empty text is an empty configuration."""
    if not text.strip():
        return {}
    try:
        read = tomllib.loads(text) if form == "toml" else read_jsonc(text)
    except (ValueError, RecursionError) as error:
        words = " ".join(str(error).split()) or type(error).__name__
        raise UneditableText(f"it cannot be read as {form.upper()}: {words}") from error
    if not isinstance(read, dict):
        raise UneditableText("it is not a table of settings")
    return cast("Data", read)


def find_entry(form: ConfigForm, text: str, table: str) -> Data | None:
    """Return the entry of Handrail, or None if there is none."""
    servers = read_config(form, text).get(table, {})
    if not isinstance(servers, dict):
        raise UneditableText(f"'{table}' in it is not a table")
    found = cast("Data", servers).get(NAME)
    return cast("Data", found) if isinstance(found, dict) else None if found is None else {"": found}


def write_entry(form: ConfigForm, table: str, entry: Data) -> str:
    """Return the lines that a person would put into an empty configuration."""
    return _toml_lines(table, entry) if form == "toml" else f"{_render_document(table, entry)}\n"


def insertion(form: ConfigForm, text: str, table: str, entry: Data) -> tuple[int, str]:
    """Return where to insert what; raise UnfitText if the result would not be right."""
    if find_entry(form, text, table) is not None:
        raise UneditableText("it already has such an entry")
    before = read_config(form, text)
    at, words = _toml_insertion(text, table, entry) if form == "toml" else _json_insertion(text, table, entry)
    words = words.replace("\n", "\r\n") if "\r\n" in text else words
    wanted = deepcopy(before)
    wanted.setdefault(table, {})[NAME] = entry
    if read_config(form, text[:at] + words + text[at:]) != wanted:
        raise UneditableText("it is written in a way that Handrail cannot add to")
    return at, words


def remove_entry(form: ConfigForm, text: str, table: str, *, with_table: bool) -> str:
    """Remove the entry from a text that was rewritten since, and its table if that becomes empty."""
    wanted = read_config(form, text)
    del wanted[table][NAME]
    if with_table and not wanted[table]:
        del wanted[table]
    made = (
        _remove_toml_entry(text, table) if form == "toml" else _remove_json_entry(text, table, gone=table not in wanted)
    )
    left = read_config(form, made)
    if left != wanted and left != {key: value for key, value in wanted.items() if key != table or value}:
        raise UneditableText("it was rewritten in a way that Handrail cannot undo")
    return made


def _json_insertion(text: str, table: str, entry: Data) -> tuple[int, str]:
    if not text.strip():
        return len(text), f"{_render_document(table, entry)}\n"
    plain = blank_comments(text)
    root = plain.index("{")
    around = members(plain, root)
    line = text[: around[0].start].rpartition("\n")[2] if around else ""
    unit = line if line and not line.strip() else UNIT
    servers = next((each for each in around if each.key == table), None)
    if servers is None:
        return root + 1, f"\n{_render_member(table, {NAME: entry}, unit, 1)}" + ("," if around else "\n")
    inside = members(plain, servers.value)
    return servers.value + 1, f"\n{_render_member(NAME, entry, unit, 2)}" + ("," if inside else f"\n{unit}")


def _render_member(key: str, value: Data, unit: str, depth: int) -> str:
    lines = f"{json.dumps(key)}: {json.dumps(value, indent=unit, ensure_ascii=False)}".split("\n")
    return "\n".join(f"{unit * depth}{line}" for line in lines)


def _render_document(table: str, entry: Data) -> str:
    return json.dumps({table: {NAME: entry}}, indent=UNIT, ensure_ascii=False)


def _remove_json_entry(text: str, table: str, *, gone: bool) -> str:
    plain = blank_comments(text)
    around = members(plain, plain.index("{"))
    servers = next(each for each in around if each.key == table)
    if gone:
        return _cut(text, around, table)
    return _cut(text, members(plain, servers.value), NAME)


def _cut(text: str, inside: list[Member], key: str) -> str:
    number = next(number for number, each in enumerate(inside) if each.key == key)
    one = inside[number]
    if number + 1 < len(inside):
        return text[: one.start] + text[inside[number + 1].start :]
    if number:
        return text[: inside[number - 1].end] + text[one.end :]
    return text[: one.start].rstrip() + text[one.end :].lstrip()


def _toml_lines(table: str, entry: Data) -> str:
    lines = [f"{key} = {_toml(value)}" for key, value in entry.items()]
    return "\n".join((f"[{table}.{NAME}]", *lines)) + "\n"


def _toml(value: object) -> str:
    if isinstance(value, dict):
        pairs = (f"{json.dumps(key)} = {_toml(part)}" for key, part in cast("Data", value).items())
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(value, list):
        return f"[{', '.join(_toml(part) for part in cast('list[object]', value))}]"
    return json.dumps(value, ensure_ascii=False)


def _toml_insertion(text: str, table: str, entry: Data) -> tuple[int, str]:
    ends = "" if not text or text.endswith("\n") else "\n"
    space = "\n" if text.strip() else ""
    return len(text), f"{ends}{space}{_toml_lines(table, entry)}"


def _remove_toml_entry(text: str, table: str) -> str:
    own = rf"\[{re.escape(table)}\.\"?{NAME}\"?(?:\.[^\]]*)?\][^\n]*\n"
    return re.sub(rf"(?:\r?\n)?^[ \t]*{own}(?:(?![ \t]*\[)[^\n]*(?:\n|\Z))*", "", text, flags=re.MULTILINE)
