"""Valid YAML that is refused nevertheless: keys that are not text, tags, and unknown aliases."""

import re

from handrail.authoring.readers.limits import quote, shorten
from handrail.authoring.readers.yaml_repair import negation, quote_value, value_at
from handrail.model.diagnostics import Report
from handrail.model.source import Mapping, Node, Scalar, Sequence, SourceText, Span

_TAG = re.compile(r"![^\s,\[\]{}]*")
_TEMPLATE = re.compile(r"\{\{[^{}\n]{0,200}\}\}")
_BRACES = re.compile(r"\{\{[ \t]*([^{}\n]{0,200}?)[ \t]*\}\}")
TEMPLATE_KEYS = ("prompt", "when", "while", "until", "expect")
"""Suffixes of the keys whose values may contain `{{ ... }}`."""


def key_not_text(key: Scalar, report: Report) -> Scalar:
    """Report a key that is a number, a boolean or empty, and return it as text."""
    start, end = key.span.start, key.span.end
    text = key.span.source.text[start:end]
    hint = f"put it in quotes: {quote(shorten(text))}" if text else "write a name before the `:`"
    report.error("key-not-text", f"a key must be text, not {_kind(key)}", key, hint)
    return Scalar(text, key.span, "made")


def key_not_scalar(node: Mapping | Sequence, report: Report) -> None:
    """Report a list or map used as a key, which is usually a `{{ ... }}` without quotes."""
    source, start = node.span.source, node.span.start
    template = _TEMPLATE.match(source.text, max(0, start - 1))
    if template is not None:
        at = Span(source, template.start(), template.end())
        line = source.line(source.position(start).line)
        hint = f"write {_rewrite_braces(quote_value(line) or quote(template[0]))}"
        report.error("flow-placeholder", f"`{shorten(template[0])}` at the start of a value needs quotes", at, hint)
        return
    report.error("key-not-text", f"a key must be text, not {_kind(node)}", node, "write a plain name as the key")


def _rewrite_braces(fixed: str) -> str:
    """Rewrite `{{ ... }}` as `${...}`, except in prompts and conditions, because elsewhere it would stay literal."""
    key = fixed.lstrip(" -").partition(":")[0]
    return fixed if key.endswith(TEMPLATE_KEYS) else _BRACES.sub(r"${\1}", fixed)


def unknown_alias(span: Span, report: Report) -> None:
    """Report an alias without an anchor, which is usually a glob without quotes."""
    name = span.source.text[span.start : span.end]
    hint = f"text that starts with `*` needs quotes: {quote(value_at(span.source, span.start))}"
    report.error(
        "yaml-syntax", f"`{shorten(name)}` is a YAML alias, but there is no `&{shorten(name[1:])}` above", span, hint
    )


def refuse_tag(source: SourceText, start: int, report: Report) -> bool:
    """Report a tag at an offset, or after an anchor there; returns whether a `not` was meant."""
    found = _TAG.search(source.text, start)
    at = Span(source, found.start(), found.end()) if found else Span(source, start, start + 1)
    tag = shorten(source.text[at.start : at.end])
    negated = negation(source, at.start)
    hint = "remove it; quotes make a value text, and text that starts with `!` needs them"
    report.error("tag-refused", f"the tag `{tag}` is not supported", at, f"write `{negated}`" if negated else hint)
    return negated is not None


def _kind(node: Node) -> str:
    match node:
        case Mapping():
            return "a mapping"
        case Sequence():
            return "a list"
        case Scalar(value=None):
            return "null"
        case Scalar(value=bool()):
            return "true or false"
        case Scalar():
            return "a number"
