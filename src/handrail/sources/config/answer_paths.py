"""Where in an agent's JSON its answer is: simple paths such as `$.result.parts[0].text`."""

import re
from collections.abc import Iterator
from typing import Any, cast

from handrail.model.suggest import did_you_mean
from handrail.ports.agent_definitions import ANSWERS, JsonPath, Output, ValueMapping, Where
from handrail.sources.config.agents_table import Table

_PATH = re.compile(r"\$(?:\.[A-Za-z_][\w-]*|\[-?\d{1,6}\])*")
_PART = re.compile(r"\.([A-Za-z_][\w-]*)|\[(-?\d+)\]")
_HINT = 'write text = "$.result", or text = {path = "$.part.text", where = {"$.type" = "text"}}'


def path_of(text: object) -> JsonPath | None:
    """Parse a path; None where the text is not one."""
    if not isinstance(text, str) or not _PATH.fullmatch(text):
        return None
    return tuple(int(number) if number else key for key, number in _PART.findall(text))


def read_mapped(table: Table, output: Output) -> tuple[ValueMapping, ...]:
    """Read `answer`: the path of each value."""
    given = table.values.get("answer", {})
    if not isinstance(given, dict):
        table.wrong("answer", "`answer` must be a table of paths", _HINT)
        return ()
    if output == "text" and given:
        table.wrong("answer", "`answer` needs JSON output", 'write output = "json" or output = "jsonl"')
    if output != "text" and "text" not in given:
        table.wrong("answer", "`answer` does not say where the text is", _HINT)
    return tuple(_read_mapped(table, cast("dict[str, Any]", given)))


def read_final(table: Table, output: Output) -> Where | None:
    """Read `final`: which line marks the answer as complete."""
    given = table.values.get("final")
    if given is None:
        return None
    if output != "jsonl":
        table.wrong("final", "`final` needs JSON lines as output", 'write output = "jsonl", or remove it')
    return _read_where(table, "final", given)


def _read_mapped(table: Table, given: dict[str, Any]) -> Iterator[ValueMapping]:
    for name, value in given.items():
        if name not in ANSWERS:
            known = ", ".join(ANSWERS)
            table.wrong("answer", f"`answer` has no key '{name}'{did_you_mean(name, ANSWERS)}", f"known keys: {known}")
            continue
        whole = cast("dict[str, Any]", value) if isinstance(value, dict) else {"path": value}
        _check_keys(table, name, whole)
        path = path_of(whole.get("path"))
        if path is None:
            table.wrong("answer", f"`{name}` must be a path that begins with $", _HINT)
            continue
        yield ValueMapping(name, path, _read_where(table, "answer", whole.get("where", {})), whole.get("add") is True)


def _check_keys(table: Table, name: str, whole: dict[str, Any]) -> None:
    known = ("path", "where", "add")
    for key in whole:
        if key not in known:
            message = f"`{name}` has no key '{key}'{did_you_mean(key, known)}"
            table.wrong("answer", message, f"known keys: {', '.join(known)}")


def _read_where(table: Table, key: str, given: object) -> Where:
    pairs = cast("dict[str, object]", given) if isinstance(given, dict) else {"": None}
    found: list[tuple[JsonPath, str]] = []
    for path, text in pairs.items():
        read = path_of(path)
        if read is None or not isinstance(text, str):
            table.wrong(key, "a kind of line must be a table that maps paths to texts", 'write {"$.type" = "result"}')
        else:
            found.append((read, text))
    return tuple(found)
