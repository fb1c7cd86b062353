"""Every key that an author may write, by the table that it stands in: walked from the shapes of the formats.

A key that several records share, such as those of every step, counts once, under the name of what they share.
"""

from collections.abc import Iterator

from handrail.authoring.native import parts as native_parts
from handrail.authoring.native import schema as native
from handrail.authoring.native import steps as native_steps
from handrail.authoring.shapes.shapes import Either, Key, ListOf, MapOf, Record, Ref, Shape, Tagged
from handrail.authoring.workrail import parts as workrail_parts
from handrail.authoring.workrail import schema as workrail
from handrail.authoring.workrail import steps as workrail_steps
from handrail.sources.config import agents_file, config, github, issues, notify, project_file, pull

SHARED: tuple[tuple[str, dict[str, Key]], ...] = (
    ("agent settings", native_parts.AGENT_SETTINGS),
    ("every step", {**native_steps.COMMON}),
    ("rounds", native_steps.ON_MAX),
    ("for_each", native_steps.EACH),
    ("roles", native_steps.ROLES),
    ("repeated agent", native_parts.REPEATED),
    ("input", native.INPUT_RECORD),
    ("json: every step", workrail_steps.COMMON),
    ("json: condition", workrail_parts.OPERATORS),
)
"""Keys that several records hold; the first that has a key names it."""


def native_keys() -> set[str]:
    """Name every key of `workflow.yaml`, each as `TABLE.KEY`."""
    return set(_walk(native.WORKFLOW, "", set()))


def workrail_keys() -> set[str]:
    """Name every key of WorkRail-style JSON."""
    return set(_walk(workrail.WORKFLOW, "json: ", set()))


def _walk(shape: Shape, family: str, seen: set[int]) -> Iterator[str]:
    if id(shape) in seen:
        return
    seen.add(id(shape))
    if isinstance(shape, Record):
        for name, key in shape.keys.items():
            table = _table(shape, name, key, family)
            yield from (f"{table}.{word}" for word in (name, *key.aliases))
    for inner in _inner(shape):
        yield from _walk(inner, family, seen)


def _table(record: Record, name: str, key: Key, family: str) -> str:
    for title, keys in SHARED:
        if keys.get(name) is key:
            return title
    return family + record.what.removeprefix("an ").removeprefix("a ")


def _inner(shape: Shape) -> list[Shape]:
    match shape:
        case Record():
            return [key.shape for key in shape.keys.values()]
        case Tagged():
            return list(shape.records.values())
        case Either():
            return list(shape.forms.values())
        case ListOf():
            return [shape.item]
        case MapOf():
            return [shape.value]
        case Ref():
            return [shape.shape()]
        case _:
            return []


def config_keys() -> set[str]:
    """Name every key of `config.toml`, of a repository and of the user."""
    tables = {
        **config.KEYS,
        "project": project_file.KEYS,
        "checks.NAME": project_file.CHECK_KEYS,
        "agents.NAME": agents_file.KEYS,
        "pull": tuple(pull.CHOICES),
        "notify": (*notify.WAYS, "channels"),
        "github": github.KEYS,
        "issues": issues.KEYS,
    }
    named = {f"config: {table}.{key}" for table, keys in tables.items() for key in keys}
    known = {name.partition(".")[0] for name in tables} | {"checks"}
    return named | {"config: checks.NAME"} | {f"config: {table}" for table in set(config.USER_TABLES) - known}
