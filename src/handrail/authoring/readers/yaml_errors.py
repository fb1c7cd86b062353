"""Rewrites the YAML parser's errors in plain words, at the place of the mistake, with the fix."""

import re
from collections.abc import Callable
from typing import TypeAlias

from handrail.authoring.readers.limits import BOM, SyntaxProblem, quote, shorten
from handrail.authoring.readers.yaml_events import YamlSyntaxError
from handrail.authoring.readers.yaml_repair import MAX_LINE_LENGTH, negation, quote_placeholders, quote_value, value_at
from handrail.frozen import frozen
from handrail.model.source import Scalar, SourceText, Span

_NUMBERED_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})")
_GLUED = re.compile(r"([ -]*[A-Za-z_][\w-]{0,60}:)([^\s:/].{0,80})")
"""A key with no space between its colon and its value."""
_BLOCK = re.compile(r":[ \t]+[|>][-+0-9]*[ \t]*$")
"""A key whose text is on the lines below."""
_PLACEHOLDER = re.compile(r"\$\{[^}\n]*\}?")


@frozen
class _ErrorContext:
    """A parser error with its positions as offsets in the source, and the last scalar that was read before it."""

    source: SourceText
    problem: str
    context: str
    at: int
    opened: int
    last: Scalar | None

    @property
    def char(self) -> str:
        return self.source.text[self.at : self.at + 1]

    def span(self, start: int, length: int = 1) -> Span:
        return Span(self.source, start, min(start + length, len(self.source.text)))

    def line_of(self, offset: int) -> int:
        return self.source.position(offset).line


def explain(source: SourceText, broken: YamlSyntaxError, last: Scalar | None) -> SyntaxProblem:
    """Explain a parser error in plain words."""
    shift = 1 if source.text.startswith(BOM) else 0
    at = broken.at + shift if broken.at is not None else (last.span.end if last else 0)
    at = min(at, len(source.text))
    opened = broken.context_at + shift if broken.context_at is not None else at
    case = _ErrorContext(source, broken.problem, broken.context, at, opened, last)
    placeholder = _explain_flow_placeholder(case)
    if placeholder is not None:
        return placeholder
    for words, make in _EXPLANATIONS:
        if words in case.context or words in case.problem:
            return make(case)
    return SyntaxProblem(f"this is not valid YAML: {shorten(case.problem)}", case.span(at))


def _explain_flow_placeholder(case: _ErrorContext) -> SyntaxProblem | None:
    text = case.source.text
    start = case.at - 1 if case.char == "{" else case.at
    found = _PLACEHOLDER.match(text, start) if start >= 0 and "flow" in case.context else None
    if found is None:
        return None
    line = case.source.line(case.line_of(start))
    hint = f"write {quote_placeholders(line)}" if len(line) <= MAX_LINE_LENGTH else f'write "{shorten(found[0])}"'
    message = f"`{shorten(found[0])}` in flow style needs quotes"
    return SyntaxProblem(message, Span(case.source, start, found.end()), hint, "flow-placeholder")


def _explain_bad_start(case: _ErrorContext) -> SyntaxProblem:
    if case.char == "\t":
        return _explain_tab(case)
    value = value_at(case.source, case.at)
    sign = "a backtick" if case.char == "`" else f"`{case.char}`"
    return SyntaxProblem(f"a value cannot start with {sign}", case.span(case.at), f"put it in quotes: {quote(value)}")


def _explain_tab(case: _ErrorContext) -> SyntaxProblem:
    return SyntaxProblem("found a tab where YAML requires spaces", case.span(case.at), "indent with spaces only")


def _explain_mark(case: _ErrorContext) -> SyntaxProblem:
    sign, name = ("*", "alias") if "alias" in case.context else ("&", "anchor")
    hint = f"text that starts with `{sign}` needs quotes: {quote(value_at(case.source, case.opened))}"
    return SyntaxProblem(f"a value that starts with `{sign}` is read as a YAML {name}", case.span(case.opened), hint)


def _explain_unclosed_quote(case: _ErrorContext) -> SyntaxProblem:
    sign = case.source.text[case.opened : case.opened + 1]
    hint = f"add the closing {sign} at the end of the text"
    return SyntaxProblem(f"the quote {sign} is never closed", case.span(case.opened), hint)


def _explain_escape(case: _ErrorContext) -> SyntaxProblem:
    start = case.source.text.rfind("\\", case.opened, case.at + 1)
    start = start if start >= 0 else case.at
    number = _NUMBERED_ESCAPE.match(case.source.text, start)
    if number is not None:
        hint = 'write the character itself, or its code with 8 digits, such as "\\U0001f600"'
        return SyntaxProblem(f"`{number[0]}` is not a valid character code", case.span(start, len(number[0])), hint)
    sign = shorten(case.source.text[start : start + 2])
    hint = "in double quotes write `\\\\` for a backslash, or use single quotes"
    return SyntaxProblem(f"`{sign}` is not a valid YAML escape", case.span(start, 2), hint)


def _explain_second_colon(case: _ErrorContext) -> SyntaxProblem:
    here = case.line_of(case.at)
    first = case.line_of(case.last.span.start) if case.last is not None else here
    glued = _GLUED.match(case.source.line(first)) if first < here else None
    if glued is not None:
        start = case.source.offset(first, glued.start(2) + 1)
        hint = f"write {glued[1].strip(' -')} {glued[2]}"
        return SyntaxProblem("a `:` needs a space after it", case.span(start - 1), hint)
    if first < here:
        hint = f"align the key with its siblings; line {first} lacks a `:`, or already has a value"
        return SyntaxProblem(
            f"this line continues the text of line {first}, so it cannot contain a key", case.span(case.at), hint
        )
    fixed = quote_value(case.source.line(here))
    hint = f"a value that contains `: ` needs quotes: {fixed}" if fixed else "a value that contains `: ` needs quotes"
    return SyntaxProblem("a second `:` in one value", case.span(case.at), hint)


def _explain_no_colon(case: _ErrorContext) -> SyntaxProblem:
    here = case.line_of(case.opened)
    glued = _GLUED.match(case.source.line(here))
    if glued is not None:
        at = case.source.offset(here, glued.start(2) + 1)
        return SyntaxProblem(
            "a `:` needs a space after it", case.span(at - 1), f"write {glued[1].strip(' -')} {glued[2]}"
        )
    if _BLOCK.search(case.source.line(here - 1)):
        hint = "indent every line of the text further than its key"
        return SyntaxProblem(f"the text that starts on line {here - 1} is not indented", case.span(case.opened), hint)
    hint = "write `key: value`; text of several lines needs `|` after its key"
    return SyntaxProblem("a key without a `:`", case.span(case.opened), hint)


def _explain_bracket(case: _ErrorContext) -> SyntaxProblem:
    sign = case.source.text[case.opened : case.opened + 1]
    closing = "]" if sign == "[" else "}"
    hint = f"add the missing `{closing}`"
    if case.line_of(case.at) > case.line_of(case.opened) or case.at >= len(case.source.text):
        return SyntaxProblem(f"the `{sign}` is never closed", case.span(case.opened), hint)
    return SyntaxProblem(f"expected `,` or `{closing}` here", case.span(case.at), f"{hint}, or quote the text")


def _explain_indentation(case: _ErrorContext) -> SyntaxProblem:
    last = case.last
    line_number = case.line_of(case.at)
    if last is not None and last.style in {"single", "double"} and case.line_of(last.span.end) == line_number:
        return _explain_text_after_quote(case, last)
    line = case.source.line(line_number)
    before = line[: case.at - case.source.offset(line_number, 1)]
    if case.char == ":":
        return SyntaxProblem("a key is missing before the `:`", case.span(case.at), "write a name before it")
    if "{{" in before:
        hint = "a value that starts with `{{` needs quotes: " + (quote_value(line) or '"{{ ... }}"')
        return SyntaxProblem("text after a `{{ ... }}` without quotes", case.span(case.at), hint, "flow-placeholder")
    if before.rstrip()[-1:] in {"]", "}"}:
        fixed = quote_value(line)
        hint = f"put the whole value in quotes: {fixed}" if fixed else "put the whole value in quotes"
        return SyntaxProblem(f"text after the closing `{before.rstrip()[-1]}`", case.span(case.at), hint)
    hint = "keys of one mapping, and the `-` of one list, start in the same column"
    return SyntaxProblem("unexpected indentation", case.span(case.at), hint)


def _explain_text_after_quote(case: _ErrorContext, last: Scalar) -> SyntaxProblem:
    sign = case.source.text[last.span.start : last.span.start + 1]
    first = case.line_of(last.span.start)
    if first < case.line_of(case.at):
        hint = f"close it on line {first}"
        return SyntaxProblem(
            f"the quote {sign} opened here is closed only on line {case.line_of(case.at)}", last.span, hint
        )
    hint = "put the whole value in quotes, or none of it"
    if sign == "'":
        hint += "; inside single quotes an apostrophe is written twice"
    return SyntaxProblem("text after the closing quote", case.span(case.at), hint)


def _explain_no_content(case: _ErrorContext) -> SyntaxProblem:
    if case.char in {"]", "}"}:
        opening = "[" if case.char == "]" else "{"
        hint = f"remove it, or quote the text that contains it; no `{opening}` is open here"
        return SyntaxProblem(f"`{case.char}` closes nothing", case.span(case.at), hint)
    return SyntaxProblem("a value is missing here", case.span(case.at), "write a value, or quote the text here")


def _explain_misplaced(case: _ErrorContext) -> SyntaxProblem:
    hint = f"put lists and mappings on the next line; text that starts with `{shorten(case.char)}` needs quotes"
    return SyntaxProblem(f"`{shorten(case.char)}` cannot start a value on this line", case.span(case.at), hint)


def _explain_block_header(case: _ErrorContext) -> SyntaxProblem:
    sign = case.source.text[case.opened : case.opened + 1]
    hint = f"start the text on the next line, indented; text that starts with `{sign}` needs quotes"
    return SyntaxProblem(f"unexpected text after `{sign}`", case.span(case.at), hint)


def _explain_directive(case: _ErrorContext) -> SyntaxProblem:
    return SyntaxProblem(
        "a line that starts with `%` is a YAML directive", case.span(case.opened), "remove it or quote it"
    )


def _explain_tag(case: _ErrorContext) -> SyntaxProblem:
    negated = negation(case.source, case.opened)
    hint = "remove it; text that starts with `!` needs quotes: " + quote(value_at(case.source, case.opened))
    hint = f"write `{negated}`" if negated is not None else hint
    return SyntaxProblem("YAML tags are not part of the format", case.span(case.opened), hint, "tag-refused")


def _explain_document(case: _ErrorContext) -> SyntaxProblem:
    return SyntaxProblem("text after the end of the document", case.span(case.at), "the whole file must be one mapping")


_Explain: TypeAlias = Callable[[_ErrorContext], SyntaxProblem]

_EXPLANATIONS: tuple[tuple[str, _Explain], ...] = (
    ("cannot start any token", _explain_bad_start),
    ("found a tab character", _explain_tab),
    ("scanning an alias", _explain_mark),
    ("scanning an anchor", _explain_mark),
    ("unexpected end of stream", _explain_unclosed_quote),
    ("unexpected document", _explain_unclosed_quote),
    ("escape", _explain_escape),
    ("hexdecimal", _explain_escape),
    ("hexadecimal", _explain_escape),
    ("chr() arg", _explain_escape),
    ("mapping values are not allowed", _explain_second_colon),
    ("could not find expected ':'", _explain_no_colon),
    ("expected ',' or", _explain_bracket),
    ("scanning a block scalar", _explain_block_header),
    ("node content", _explain_no_content),
    ("are not allowed in this context", _explain_misplaced),
    ("not allowed here", _explain_misplaced),
    ("document start", _explain_document),
    ("directive", _explain_directive),
    ("incompatible YAML document", _explain_directive),
    ("tag", _explain_tag),
    ("parsing a block", _explain_indentation),
)
"""Words in the parser's problem or context, and the function that explains them; the first match is used."""
