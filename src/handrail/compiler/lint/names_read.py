"""Which names a step reads, in expressions, commands, prompts and messages."""

from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import cast

from handrail.compiler.constant import find_refs
from handrail.language.problems import LanguageError
from handrail.language.templates.parse import parse_template, template_refs
from handrail.model.workflow.plan import Step
from handrail.model.workflow.settings import AgentTask
from handrail.model.workflow.values import Constant, Expression, Prompt

Path = tuple[str, ...]
"""A name followed by the fields that are read from it."""

WITH_NAMES: dict[type, tuple[str, ...]] = {
    Step: ("when", "input", "action"),
    AgentTask: ("prompt", "system_prompt", "with_values"),
}
"""The fields that can read a name, for classes with many others; of all other classes every field is searched."""
LEAVES = frozenset({type(None), str, int, float, bool, Constant})


def paths_in(value: object) -> tuple[Path, ...]:
    """List every path that a part of a plan reads, except in a step's body, whose steps are visited themselves."""
    found: list[Path] = []
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, Expression):
            found += [ref.parts for ref in find_refs(part.source) or ()]
        elif isinstance(part, Prompt):
            found += _template(part.text) if part.syntax == "template" else ()
        elif isinstance(part, tuple):
            pending += [item for item in cast("tuple[object, ...]", part) if not isinstance(item, Step)]
        else:
            inner = [getattr(part, name) for name in _fields(type(part))]
            pending += [each for each in inner if type(each) not in LEAVES and each != ()]
    return tuple(found)


@lru_cache(maxsize=128)
def _fields(kind: type) -> tuple[str, ...]:
    if not is_dataclass(kind):
        return ()
    return WITH_NAMES.get(kind) or tuple(field.name for field in fields(kind) if field.name != "kind")


@lru_cache(maxsize=1024)
def _template(text: str) -> tuple[Path, ...]:
    if "{{" not in text and "{%" not in text:
        return ()
    try:
        return tuple(ref.parts for ref in template_refs(parse_template(text)))
    except LanguageError:
        return ()
