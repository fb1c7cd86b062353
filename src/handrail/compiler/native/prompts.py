"""Finds a prompt (inline text, a path, or a name looked up in three places), reads its header and checks its names."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Literal

from handrail.compiler.native.context import Lowering, ReadPrompt, text_of
from handrail.language.expressions.check import check
from handrail.language.expressions.filters import entry_type
from handrail.language.expressions.refs import refs
from handrail.language.expressions.syntax import Conditional, Expression
from handrail.language.problems import LanguageError
from handrail.language.templates.check import LOOP, check_template
from handrail.language.templates.parse import parse_template
from handrail.language.templates.syntax import For, If, Output, Part, Template, Text
from handrail.model.names import path_problem
from handrail.model.source import Node, Scalar, SourceText, Span
from handrail.model.suggest import did_you_mean
from handrail.model.workflow.types import ChoiceType, Type
from handrail.model.workflow.values import BareHole, Prompt

HEADER = re.compile(r"\s*<!--\s*(version|description|template)\s*:\s*(.*?)\s*-->[ \t]*\n?", re.IGNORECASE | re.DOTALL)
ORDERED = re.compile(r"(\d+)-(.+)\.md")
OWN_PROMPT = re.compile(r"\{\{-?\s*\.?current_step\.prompt\s*-?\}\}")
"""How a handoff template refers to the prompt of its step."""
IsOwn = Callable[[tuple[str, ...]], bool]
"""Whether the value at a path is the workflow's own."""
_MISSING = {"prompt": "missing-prompt", "schema": "missing-schema"}


def lower_prompt(work: Lowering, node: Node) -> Prompt:
    """Lower a prompt, checking the names in it against those in force."""
    text = text_of(node)
    if text is None or not isinstance(node, Scalar):
        return Prompt("")
    if " " in text or "\n" in text:
        return _inline(work, node, text)
    source = _find(work, node, text)
    if source is None:
        return Prompt("")
    if source.path not in work.prompts:
        work.prompts[source.path] = _read(work, source)
    read = work.prompts[source.path]
    if read is None:
        return Prompt("")
    if read.template is not None:
        for found in check_template(read.template, work.scope.names):
            problem = work.improve_problem(found, read.source.text[read.base :])
            at = Span(read.source, read.base + problem.start, read.base + problem.end)
            work.report.error(problem.code, problem.message, at, problem.hint)
        return replace(read.prompt, bare=_find_bare_holes(work, read.template))
    return read.prompt


def _inline(work: Lowering, node: Scalar, text: str) -> Prompt:
    if not text.strip():
        work.report.error("empty-prompt", "the prompt has no text", node, "write what the agent should do")
        return Prompt(text)
    try:
        template = parse_template(text)
    except LanguageError as error:
        work.explain([error.problem], node)
        return Prompt(text)
    work.explain(check_template(template, work.scope.names), node)
    return Prompt(text, bare=_find_bare_holes(work, template))


def _find_bare_holes(work: Lowering, template: Template) -> tuple[BareHole, ...]:
    """Find the holes whose values need no marks; the root names of a value decide, whatever filters it passes."""
    return tuple(_holes_in_parts(template.parts, work.scope.names, work.scope.is_own))


def _holes_in_parts(parts: Iterable[Part], types: Mapping[str, Type], is_own: IsOwn) -> Iterator[BareHole]:
    for part in parts:
        match part:
            case Text():
                pass
            case Output():
                yield from _holes_in_output(part, types, is_own)
            case If():
                for branch in part.branches:
                    yield from _holes_in_parts(branch.body, types, is_own)
                yield from _holes_in_parts(part.otherwise, types, is_own)
            case For():
                yield from _holes_in_for(part, types, is_own)


def _holes_in_output(output: Output, types: Mapping[str, Type], is_own: IsOwn) -> Iterator[BareHole]:
    if _is_own(output.expression, is_own):
        yield BareHole(output.number)
    elif isinstance(type_ := check(output.expression, types).type, ChoiceType):
        yield BareHole(output.number, type_.values)


def _holes_in_for(part: For, types: Mapping[str, Type], is_own: IsOwn) -> Iterator[BareHole]:
    own = _is_own(part.source, is_own)

    def is_own_inside(path: tuple[str, ...]) -> bool:
        return own or path[0] == "loop" if path[0] in (part.name, "loop") else is_own(path)

    item = entry_type(check(part.source, types).type)
    yield from _holes_in_parts(part.body, {**types, part.name: item, "loop": LOOP}, is_own_inside)
    yield from _holes_in_parts(part.otherwise, types, is_own)


def _is_own(expression: Expression, is_own: IsOwn) -> bool:
    if isinstance(expression, Conditional):
        # The text of a condition itself is never rendered.
        return _is_own(expression.then, is_own) and _is_own(expression.otherwise, is_own)
    return all(is_own(ref.parts) for ref in refs(expression))


def _find(work: Lowering, node: Scalar, name: str) -> SourceText | None:
    if name.endswith(".md"):
        return find_bundled_file(work, node, name, "prompt")
    files = work.document.bundle.files
    ordered = _find_numbered_prompts(work, name)
    for path in (*ordered, f"prompts/{name}.md", f"{name}.md"):
        if path in files:
            return files[path]
        if path in work.document.bundle.refused:
            return find_bundled_file(work, node, path, "prompt")
    builtin = work.catalog.builtins.prompt(name) if re.fullmatch(r"[\w.-]+", name) else None
    if builtin is None:
        guess = did_you_mean(name, (*_list_prompt_names(work), *work.catalog.builtins.prompt_names()))
        places = f"looked for prompts/NN-{name}.md, prompts/{name}.md and '{name}' in the library"
        hint = f"{places}; a prompt that contains a space is taken as text"
        work.report.error("missing-prompt", f"there is no prompt '{name}'{guess}", node, hint)
    return builtin


def _find_numbered_prompts(work: Lowering, name: str) -> list[str]:
    found: list[tuple[int, str]] = []
    for path in (*work.document.bundle.files, *work.document.bundle.refused):
        match = ORDERED.fullmatch(path.removeprefix("prompts/")) if path.startswith("prompts/") else None
        if match is not None and match[2] == name:
            found.append((int(match[1]), path))
    return [path for _, path in sorted(found)]


def _list_prompt_names(work: Lowering) -> list[str]:
    names: list[str] = []
    for path in work.document.bundle.files:
        match = re.fullmatch(r"(?:prompts/)?(?:\d+-)?(.+)\.md", path)
        if match is not None:
            names.append(match[1])
    return names


def _read(work: Lowering, source: SourceText) -> ReadPrompt | None:
    headers, base = read_header(source.text)
    body = source.text[base:]
    if not body.strip():
        hint = "write what the agent should do" + (", below the header" if headers else "")
        work.report.error("empty-prompt", "the prompt has no text", Span(source, 0, 0), hint)
        return None
    plain = headers.get("template", "").lower() == "off"
    prompt = Prompt(
        body, "plain" if plain else "template", source.path, headers.get("version"), headers.get("description")
    )
    if plain:
        return ReadPrompt(prompt, None, source, base)
    try:
        return ReadPrompt(prompt, parse_template(body), source, base)
    except LanguageError as error:
        at = Span(source, base + error.problem.start, base + error.problem.end)
        work.report.error(error.problem.code, error.problem.message, at, error.problem.hint)
        return None


def read_header(text: str) -> tuple[dict[str, str], int]:
    """Read the comments at the top of a prompt file; return them and the offset at which the prompt begins."""
    headers: dict[str, str] = {}
    at = 0
    while match := HEADER.match(text, at):
        headers[match[1].lower()] = match[2]
        at = match.end()
    while at < len(text) and headers and text[at] in "\r\n":
        at += 1
    return headers, at


def find_bundled_file(work: Lowering, node: Scalar, path: str, what: Literal["prompt", "schema"]) -> SourceText | None:
    """Return the bundled file at a path, or report why it cannot be read."""
    bundle = work.document.bundle
    reason = path_problem(path)
    if reason is not None:
        hint = f"{what}s must be inside the workflow's folder"
        work.report.error("path-escape", f"the {what} '{path}' {reason}", node, hint)
    elif path in bundle.refused:
        work.report.error("path-escape", f"the {what} '{path}' cannot be used: {bundle.refused[path]}", node)
    elif path not in bundle.files:
        guess = did_you_mean(path, bundle.files)
        work.report.error(_MISSING[what], f"there is no file '{path}' in the workflow's folder{guess}", node)
    else:
        return bundle.files[path]
    return None
