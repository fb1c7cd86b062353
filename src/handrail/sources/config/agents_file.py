"""Agents that are described by data: the user's `agents.toml`, and `[agents.NAME]` of a repository's configuration."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast, get_args

from handrail.model.diagnostics import Report
from handrail.model.suggest import did_you_mean
from handrail.model.workflow.settings import Access
from handrail.ports.agent_definitions import (
    PLACES,
    STATUSES,
    AgentDefinition,
    BrokenDefinition,
    LoadedDefinition,
    Output,
    Protocol,
    Words,
)
from handrail.ports.agents import OutcomeStatus
from handrail.sources.config.agents_table import Table
from handrail.sources.config.answer_paths import read_final, read_mapped
from handrail.sources.config.toml_file import TomlFile, read_toml
from handrail.sources.folders import Folders

NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
KEYS = (
    *("command", "protocol", "env", "variables", "output", "answer", "final", "resume", "model"),
    *("system_prompt", "access", "exit_codes", "mcp", "install", "program", "project_files", "without_project_files"),
)
_BRACES = re.compile(r"\{([a-z_]+)\}")
_LEVELS: tuple[Access, ...] = get_args(Access)


def read_user_agents(folders: Folders, report: Report) -> tuple[LoadedDefinition, ...]:
    """Read the agents of the user's `config.toml`, and of `agents.toml` beside it, which take precedence."""
    path = folders.config / "config.toml"
    main = definitions_in(read_toml(path, Path(path.anchor), report), report)
    return (*main, *read_agents_file(folders.config / "agents.toml", report))


def read_agents_file(path: Path, report: Report) -> tuple[LoadedDefinition, ...]:
    """Read a file that contains `[agents.NAME]` and nothing else."""
    file = read_toml(path, Path(path.anchor), report)
    for name in file.tables:
        if name != "agents":
            message = f"unknown table '{name}'{did_you_mean(name, ['agents'])}"
            report.warning("config-key", message, file.place(name), "write [agents.NAME]")
    return definitions_in(file, report)


def definitions_in(file: TomlFile, report: Report) -> tuple[LoadedDefinition, ...]:
    """Read every `[agents.NAME]` of a file; a broken one is reported, and refused when it is asked for."""
    found: list[LoadedDefinition] = []
    for name, values in file.table("agents", report).items():
        if not isinstance(values, dict):
            report.error(
                "config-value", f"'agents.{name}' must be a table", file.place("agents", name), "[agents.NAME]"
            )
            continue
        found.append(_read_definition(Table(file, name, cast("dict[str, Any]", values), Report()), report))
    return tuple(found)


def _read_definition(table: Table, report: Report) -> LoadedDefinition:
    """Read one definition; its errors are collected separately, so that those of another do not refuse it."""
    _check_names(table)
    made = _override(table) if "program" in table.values else _read_full_definition(table)
    for each in table.report:
        report.add(each)
    wrong = next((each for each in table.report if each.is_error), None)
    if wrong is None:
        return made
    return BrokenDefinition(table.name, f"{wrong.file}:{wrong.line}: {wrong.message}", wrong.hint or "correct it")


def _check_names(table: Table) -> None:
    if not NAME.fullmatch(table.name):
        hint = "use lowercase letters, digits, - and _, as in [agents.my-agent]"
        table.wrong("", "this is not a valid agent name", hint)
    for key in table.values:
        if key not in KEYS:
            table.unknown(key, f"unknown key '{key}'{did_you_mean(key, KEYS)}", f"known keys: {', '.join(KEYS)}")


def _override(table: Table) -> AgentDefinition:
    others = [key for key in table.values if key in KEYS and key not in ("program", "env")]
    if others:
        hint = "write `program` and `env` for an agent that Handrail knows, or `command` for one of your own"
        table.wrong(others[0], f"`program` and `{others[0]}` cannot be used together", hint)
    program = _text(table, "program", "/opt/bin/claude")
    return AgentDefinition(name=table.name, program=program, env=_env(table))


def _read_full_definition(table: Table) -> AgentDefinition:
    protocol = cast("Protocol", _read_choice(table, "protocol", get_args(Protocol)))
    if protocol == "acp":
        return AgentDefinition(
            name=table.name,
            protocol=protocol,
            command=_command(table, ("workspace", "folder")),
            env=_env(table),
            variables=_words(table, "variables"),
            access=_access(table),
            install=_text(table, "install", "npm install -g my-agent"),
            project_files=_project_files(table),
            without_project_files=_words(table, "without_project_files"),
        )
    output = cast("Output", _read_choice(table, "output", get_args(Output)))
    return AgentDefinition(
        name=table.name,
        command=_command(table, PLACES),
        env=_env(table),
        variables=_words(table, "variables"),
        output=output,
        mapped=read_mapped(table, output),
        final=read_final(table, output),
        resume=_template(table, "resume", "session"),
        model=_template(table, "model", "model"),
        system_prompt=_template(table, "system_prompt", "system_prompt"),
        access=_access(table),
        exit_codes=_exit_codes(table),
        mcp=_flag(table, "mcp"),
        install=_text(table, "install", "pip install my-agent"),
        project_files=_project_files(table),
        without_project_files=_words(table, "without_project_files"),
    )


def _project_files(table: Table) -> Words:
    """Read the paths of files in a repository; one that leads out of it, or has another wildcard, is an error."""
    example = '[".my-agent.toml", ".my-agent/**"]'
    found = _words(table, "project_files", example)
    for each in found:
        plain = each.removesuffix("/**")
        if plain.startswith("/") or not plain or {"", ".", ".."} & set(plain.split("/")) or set("*?[") & set(plain):
            hint = f"write paths from the repository's root, or FOLDER/**: {example}"
            table.wrong("project_files", f"'{each}' is not a path inside a repository", hint)
    return found


def _read_choice(table: Table, key: str, known: tuple[str, ...]) -> str:
    value = table.values.get(key, known[0])
    if value in known:
        return cast("str", value)
    hint = f"write {key} = " + " or ".join(f'"{each}"' for each in known)
    table.wrong(key, f"`{key}` cannot be {value!r}{did_you_mean(str(value), known)}", hint)
    return known[0]


def _flag(table: Table, key: str) -> bool:
    value = table.values.get(key, False)
    if not isinstance(value, bool):
        table.wrong(key, f"`{key}` must be true or false", f"write {key} = true")
    return value is True


def _text(table: Table, key: str, example: str) -> str:
    value = table.values.get(key, "")
    if isinstance(value, str) and (value.strip() or key not in table.values):
        return value
    table.wrong(key, f"`{key}` must be a text", f'write {key} = "{example}"')
    return ""


def _words(table: Table, key: str, example: str = '["FIRST", "SECOND"]') -> Words:
    value = table.values.get(key, [])
    if isinstance(value, list) and all(isinstance(each, str) for each in cast("list[object]", value)):
        return tuple(cast("list[str]", value))
    table.wrong(
        key, f"`{key}` must be a list of texts, one for each word: no shell splits it", f"write {key} = {example}"
    )
    return ()


def _command(table: Table, places: Iterable[str]) -> Words:
    words = _words(table, "command", '["my-agent", "--message={prompt}"]')
    if not words or not words[0].strip():
        if "command" not in table.values or words:
            table.wrong("command", "it has no command", 'write command = ["my-agent", "--message={prompt}"]')
        return words
    if "{" in words[0]:
        table.wrong("command", "the program cannot contain `{...}`", "name the program in the first word")
    _check_braces(table, "command", words, tuple(places))
    if any("{options}" in word and word != "{options}" for word in words):
        table.wrong("command", "`{options}` must be a separate word", 'write command = ["my-agent", "{options}"]')
    return words


def _template(table: Table, key: str, place: str) -> Words:
    words = _words(table, key, f'["--{key}", "{{{place}}}"]')
    _check_braces(table, key, words, (place,))
    if words and not any(f"{{{place}}}" in word for word in words):
        table.wrong(key, f"`{key}` has no place for the {place}", f'write {key} = ["--{key}", "{{{place}}}"]')
    return words


def _check_braces(table: Table, key: str, words: Words, places: tuple[str, ...]) -> None:
    for found in (name for word in words for name in _BRACES.findall(word)):
        if found not in places:
            known = ", ".join(f"{{{each}}}" for each in places)
            message = f"`{key}` does not support {{{found}}}{did_you_mean(found, places)}"
            table.wrong(key, message, f"supported here: {known}")


def _env(table: Table) -> tuple[tuple[str, str], ...]:
    value = table.values.get("env", {})
    pairs = cast("dict[str, object]", value) if isinstance(value, dict) else {"": None}
    texts = {name: text for name, text in pairs.items() if isinstance(text, str)}
    if len(texts) == len(pairs):
        return tuple(sorted(texts.items()))
    table.wrong("env", "`env` must be a table of texts", 'write env = {MY_AGENT_QUIET = "1"}')
    return ()


def _access(table: Table) -> tuple[tuple[Access, Words], ...]:
    """Read the levels of access; a level that is not listed is not supported, since nothing is known of the program."""
    value = table.values.get("access", ["full"])
    hint = 'write access = ["full"], or access = {read = ["--read-only"], full = []}'
    given: dict[str, Any] = {}
    if isinstance(value, dict):
        given = cast("dict[str, Any]", value)
    elif isinstance(value, list):
        given = {str(each): [] for each in cast("list[object]", value)}
    for level, words in given.items():
        if level not in _LEVELS:
            table.wrong("access", f"there is no access level '{level}'{did_you_mean(level, _LEVELS)}", hint)
        elif not isinstance(words, list) or not all(isinstance(each, str) for each in cast("list[object]", words)):
            table.wrong("access", f"the words for access '{level}' must be a list of texts", hint)
    if not given:
        table.wrong("access", "it has no level of access, so no step could use it", hint)
    return tuple((level, tuple(given[level])) for level in _LEVELS if isinstance(given.get(level), list))


def _exit_codes(table: Table) -> tuple[tuple[int, OutcomeStatus], ...]:
    value = table.values.get("exit_codes", {})
    pairs = cast("dict[str, Any]", value) if isinstance(value, dict) else {"": None}
    found: list[tuple[int, OutcomeStatus]] = []
    for code, status in pairs.items():
        if not code.isdecimal() or int(code) > 255 or status not in STATUSES:
            known = ", ".join(sorted(STATUSES))
            message = f"`exit_codes` must map exit codes to one of {known}{did_you_mean(str(status), STATUSES)}"
            table.wrong("exit_codes", message, 'write exit_codes = {3 = "rate_limited"}')
            continue
        found.append((int(code), status))
    return tuple(found)
